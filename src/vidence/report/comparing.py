"""Two runs, or more, on the same questions: what can be said of their difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from vidence.errors import UsageError
from vidence.records import Record
from vidence.report.pairing import Paired, own_answer
from vidence.report.results import SEED, Run
from vidence.report.scores import NO_VALUE, is_moderate, natural_order
from vidence.statistics.agreement import AnswerAgreement, ItemAgreement, answer_agreement, item_agreement
from vidence.statistics.paired import Comparison, Ranking, holm, rank, verdict
from vidence.statistics.paired import compare as compare_values
from vidence.statistics.power import Design, intraclass_correlation, paired_detectable
from vidence.statistics.resampling import Resampling

POWER = 0.8
# Of the plan, what makes two runs another comparison than that of their models; and of the facts.
_ASKED = (
    *("split", "protocol", "selector", "n_frames", "style", "prompts", "layout", "frame_times", "size"),
    *("jpeg_quality", "sampling", "shuffle_choices", "strategy", "repeats"),
)
_MARKED = ("parser", "text_parser", "judge", "judge_models")
_MET = (
    *("prompts_digest", "selector_version", "benchmark_version", "judge_version", "judge_prompts_digest"),
    "vidence",
)


class TagDifference(Record):
    """The second run less the first on the questions with one value of a tag.

    `p_holm` is the p-value adjusted for all values of all tags that are listed. `is_clear` says whether it
    is small enough.
    """

    tag: str
    value: str
    comparison: Comparison
    n_videos: int
    p_holm: float
    is_clear: bool


class Setting(Record):
    """Something besides the model in which the runs differ, with what each has."""

    name: str
    values: tuple[str, ...]


class Compared(Record):
    """Two runs on the same questions; every difference is the second less the first.

    `headline` is the comparison of what both plans ask for: macro means of `macro_tag`, or means over
    questions where that is empty. `over_items` is always the latter. `detectable` is the smallest difference
    over questions that a comparison like this finds with a chance of `POWER`; None where it cannot be said,
    inf where no difference would be found.
    """

    first: str
    second: str
    headline: Comparison
    over_items: Comparison
    macro_tag: str
    n_videos: int
    n_first_failed: int
    n_second_failed: int
    right: ItemAgreement | None
    answers: AnswerAgreement | None
    detectable: float | None
    tags: tuple[TagDifference, ...]
    settings: tuple[Setting, ...]
    notes: tuple[str, ...]

    @property
    def level(self) -> float:
        """Coverage of the intervals."""
        return self.headline.difference.level


class Ranked(Record):
    """Several runs on the same questions; `names` and `settings` have the order in which they were given."""

    names: tuple[str, ...]
    ranking: Ranking
    macro_tag: str
    n_items: int
    n_videos: int
    settings: tuple[Setting, ...]
    notes: tuple[str, ...]


def compare_runs(paired: Paired, *, level: float = 0.95) -> Compared | Ranked:
    """Compare two runs, or rank more; the same runs give the same numbers, bit for bit.

    Args:
        paired: two runs or more on the same questions.
        level: coverage of the intervals; 1 less the level of the tests.
    """
    rng = np.random.default_rng(SEED)
    if len(paired.runs) == 2:
        return compare_two(paired, rng=rng, settings=Resampling(level=level))
    return rank_runs(paired, level=level)


def compare_two(paired: Paired, *, rng: np.random.Generator, settings: Resampling) -> Compared:
    """Compare two runs.

    Args:
        paired: two runs on the same questions.
        rng: where draws and swaps come from; the same state gives the same result.
        settings: level and numbers of draws.

    Raises:
        UsageError: not two runs.
    """
    if len(paired.runs) != 2:
        raise UsageError(f"{len(paired.runs)} runs; expected two (`rank_runs` takes more)")
    tag, tag_notes = _macro_tag(paired)
    two = _Two(paired=paired, rng=rng, settings=settings)
    over_items = two.compare(paired)
    first, second = paired.runs
    return Compared(
        first=paired.names[0],
        second=paired.names[1],
        headline=two.compare(paired, groups=paired.groups(tag)) if tag else over_items,
        over_items=over_items,
        macro_tag=tag,
        n_videos=paired.n_videos,
        n_first_failed=_n_failed(first),
        n_second_failed=_n_failed(second),
        right=two.right(),
        answers=two.answers(),
        detectable=_detectable(paired, rng=rng, level=settings.level),
        tags=tuple(two.by_tag()),
        settings=differing_settings(paired.runs),
        notes=(*paired.notes, *tag_notes, *_repeat_notes(paired)),
    )


def rank_runs(paired: Paired, *, level: float) -> Ranked:
    """Rank two runs or more, with a test of every pair.

    Args:
        paired: two runs or more on the same questions.
        level: coverage of the intervals; 1 less the level of the tests.
    """
    tag, tag_notes = _macro_tag(paired)
    ranking = rank(
        {name: paired.values[:, i] for i, name in enumerate(paired.names)},
        clusters=paired.clusters,
        groups=paired.groups(tag) if tag else None,
        level=level,
    )
    return Ranked(
        names=paired.names,
        ranking=ranking,
        macro_tag=tag,
        n_items=len(paired.items),
        n_videos=paired.n_videos,
        settings=differing_settings(paired.runs),
        notes=(*paired.notes, *tag_notes, *_repeat_notes(paired)),
    )


def _macro_tag(paired: Paired) -> tuple[str, list[str]]:
    """The tag whose macro mean all plans ask for, or nothing; and what to say about other headlines."""
    headlines = {run.plan.headline for run in paired.runs}
    if headlines == {"micro"}:
        return "", []
    listed = " and ".join(sorted(headlines))
    if len(headlines) > 1:
        return "", [f"The plans ask for different averages ({listed}); means over questions are compared."]
    kind, _, tag = headlines.pop().partition(":")
    if kind != "macro":
        return "", [
            "The protocol leaves unreadable replies out of each score; here they count as wrong, since only "
            "the same questions can be compared."
        ]
    if paired.groups(tag) is None:
        return "", [f"Not every question has the tag {tag!r}; means over questions are compared."]
    return tag, []


def _n_failed(run: Run) -> int:
    return sum(row.outcome == "failed" for row in run.rows)


def _repeat_notes(paired: Paired) -> list[str]:
    repeats = [run.plan.repeats for run in paired.runs]
    if max(repeats) == 1:
        return []
    listed = ", ".join(f"{name}: {n}" for name, n in zip(paired.names, repeats, strict=True))
    return [f"Repeats of a question count as one value, their mean ({listed})."]


@dataclass(frozen=True, kw_only=True)
class _Two:
    """Two runs, where draws come from, and how many."""

    paired: Paired
    rng: np.random.Generator
    settings: Resampling

    def compare(self, part: Paired, *, groups: Sequence[str] | None = None) -> Comparison:
        """The second run less the first on some of the questions."""
        return compare_values(
            part.values[:, 1],
            part.values[:, 0],
            clusters=part.clusters,
            groups=groups,
            level=self.settings.level,
        )

    def right(self) -> ItemAgreement | None:
        """Agreement on right and wrong; None for other scores."""
        values, clusters = self.paired.values, self.paired.clusters
        if not np.isin(values, (0, 1)).all():
            return None
        return item_agreement(
            values[:, 1], values[:, 0], clusters=clusters, rng=self.rng, settings=self.settings
        )

    def answers(self) -> AnswerAgreement | None:
        """Agreement on the letters of the first repeat; None where no question has choices."""
        items = [item for item in self.paired.items if item.answer_kind == "choice"]
        if not items:
            return None
        first, second = (
            {row.item.item_id: own_answer(row) for row in reversed(run.rows)} for run in self.paired.runs
        )
        return answer_agreement(
            [second[item.item_id] for item in items],
            [first[item.item_id] for item in items],
            right=[item.answer for item in items],
            clusters=[item.video_id for item in items],
            rng=self.rng,
            settings=self.settings,
        )

    def by_tag(self) -> list[TagDifference]:
        """The differences on the questions with each value of each tag, adjusted together."""
        items = self.paired.items
        found: list[tuple[str, str, Paired, Comparison]] = []
        for tag in dict.fromkeys(tag for item in items for tag in item.tags):
            places: dict[str, list[int]] = {}
            for i, item in enumerate(items):
                places.setdefault(item.tags.get(tag, NO_VALUE), []).append(i)
            if is_moderate(tuple(places)):
                for value in sorted(places, key=natural_order):
                    part = self.paired.part(places[value])
                    found.append((tag, value, part, self.compare(part)))
        adjusted = holm([comparison.p_value for *_, comparison in found]) if found else ()
        return [
            TagDifference(
                tag=tag,
                value=value,
                comparison=comparison,
                n_videos=part.n_videos,
                p_holm=p_holm,
                is_clear=verdict(p_holm, comparison.difference) == "clear",
            )
            for (tag, value, part, comparison), p_holm in zip(found, adjusted, strict=True)
        ]


def _detectable(paired: Paired, *, rng: np.random.Generator, level: float) -> float | None:
    """The smallest difference that would be found; None where it cannot be said.

    The mean square of the differences takes the place of the discordance, which it is for scores of 0 and 1.
    """
    differences = paired.values[:, 1] - paired.values[:, 0]
    apart = float((differences**2).mean())
    n, n_videos = len(differences), paired.n_videos
    if apart == 0 or n_videos < 2 or 1 - level >= POWER:
        return None
    icc = 0.0
    if n_videos < n and np.ptp(differences) > 0:
        icc = min(max(intraclass_correlation(differences, clusters=paired.clusters), 0.0), 1.0)
    design = Design.of(paired.clusters, icc=icc)
    return paired_detectable(discordance=apart, design=design, rng=rng, power=POWER, level=level)


# --------------------------------------------------------------------------- what else differs


def differing_settings(runs: Sequence[Run]) -> tuple[Setting, ...]:
    """In what besides the model the runs differ: how they were asked, read and judged, and the versions."""
    found = []
    for name, values in _settings(runs).items():
        if len(set(values)) > 1:
            found.append(Setting(name=name, values=tuple(values)))
    return tuple(found)


def _settings(runs: Sequence[Run]) -> Mapping[str, list[str]]:
    settings: dict[str, list[str]] = {}
    for name in _ASKED:
        settings[name] = [_words(getattr(run.plan, name)) for run in runs]
    for name in _MARKED:
        of = [run.parser if name == "parser" else getattr(run.plan, name) for run in runs]
        settings[name] = [_words(value) for value in of]
    if not any(run.plan.judge_models for run in runs):
        settings.pop("judge")
    for name in _MET:
        settings[name] = [_words(getattr(run.facts, name))[:12] for run in runs]
    return settings


def _words(value: object) -> str:
    match value:
        case Record():
            built: dict[str, object] = msgspec.to_builtins(value)
            return ", ".join(f"{key} {_words(inner)}" for key, inner in built.items())
        case tuple():
            return ", ".join(str(v) for v in value) or "none"
        case None | "":
            return "none"
        case True | False:
            return "yes" if value else "no"
        case _:
            return str(value)
