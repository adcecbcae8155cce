"""Compare two or more runs on the same questions."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from vidence.engine.store import RunStore
from vidence.errors import UsageError
from vidence.records import ClusterNoun, Clusters, Estimate, Item, Record
from vidence.report.pairing import PairedRuns, paired_answers
from vidence.report.provenance import Origin, how_asked, is_asked, origin_of, trial_origin
from vidence.report.results import SEED, Run
from vidence.report.scores import is_moderate, natural_order
from vidence.report.unread import Unanswered, Unread, difference, unanswered, unread
from vidence.statistics.crossed import crossed_mean
from vidence.statistics.groups import group_rule
from vidence.statistics.paired import Comparison, Decision, Ranking, check_margin, holm, rank, verdict
from vidence.statistics.power import Design, intraclass_correlation, paired_detectable
from vidence.statistics.resampling import Resampling
from vidence.statistics.sequential import Watch
from vidence.tables.table import has_interval
from vidence.text import quoted

POWER = 0.8
# Of the plan, what makes two runs another comparison than that of their models; and of the facts. What was
# asked is said of runs that asked.
_DATA = ("split", "repeats")
_ASKED = (
    *("protocol", "selector", "frames", "style", "prompts", "layout", "audio", "frame_times", "size"),
    *("jpeg_quality", "sampling", "shuffle_choices", "strategy"),
)
_MARKED = ("parser", "text_parser", "judge", "judge_models", "judge_panel")
_MET_ASKING = ("prompts_digest", "selector_version")
_MET = ("benchmark_version", "judge_version", "judge_prompts_digest", "vidence")
NOT_ASKED = "not asked"


class TagDifference(Record):
    """The second run minus the first, on the questions with one value of a tag.

    `p_holm` is adjusted for all values of all listed tags. `is_clear` is whether it is below the level.
    """

    tag: str
    value: str
    comparison: Comparison
    p_holm: float
    is_clear: bool


class Setting(Record):
    """A setting other than the model in which the runs differ, with each run's value."""

    name: str
    values: tuple[str, ...]


class Provenance(Record):
    """How the replies of a run were obtained; `n_sent` counts the trials sent to a model.

    It is 0 if replies were recorded elsewhere or produced by a rule.
    """

    run: str
    origin: Origin
    how: str
    n_trials: int
    n_sent: int


class OnSameQuestions(Record):
    """Facts about runs on the same questions, besides their scores.

    `macro_tag` is the tag of macro means; empty for means over questions. `n_clusters` counts sources or
    videos, as `clustered_by` says; `n_videos` counts videos. `provenance` and `settings` are in the order of
    the runs.
    """

    macro_tag: str
    clustered_by: ClusterNoun
    n_clusters: int
    n_videos: int
    provenance: tuple[Provenance, ...]
    settings: tuple[Setting, ...]
    notes: tuple[str, ...]


class Compared(OnSameQuestions):
    """Two runs on the same questions; every difference is the second minus the first.

    `headline` is the comparison that both plans ask for: macro means of `macro_tag`, or means over questions
    if that is empty. `over_items` is always the latter. `detectable` is the smallest difference over
    questions that such a comparison detects with probability `POWER`; None if unknown, inf if no difference
    would be detected. `unread` shows how the headline depends on unanswered trials and on the parser.
    `at_margin` is set if a margin was given; its difference is the headline at the level ``1 - 2 alpha`` of
    two one-sided tests. `look` is set if the comparison may be tested after every source.
    """

    first: str
    second: str
    headline: Comparison
    over_items: Comparison
    unread: Unread
    detectable: float | None
    tags: tuple[TagDifference, ...]
    at_margin: Decision | None = None
    look: Decision | None = None

    def __repr__(self) -> str:
        estimate, p = self.headline.difference, self.headline.p_value
        ends = (
            f"{100 * estimate.low:+.1f} to {100 * estimate.high:+.1f}"
            if has_interval(estimate)
            else estimate.reason
        )
        message = f"{100 * estimate.value:+.1f} points ({ends}), p = {p:.3g}, {estimate.n:,} questions"
        return f"Compared({self.second!r} less {self.first!r}: {message})"


class Ranked(OnSameQuestions):
    """Several runs on the same questions.

    `names` and `unanswered` are in the given order of runs; every pair of the ranking is the later minus the
    earlier one.
    """

    names: tuple[str, ...]
    ranking: Ranking
    n_items: int
    unanswered: tuple[Unanswered, ...]

    def __repr__(self) -> str:
        return f"Ranked({', '.join(map(repr, self.names))}; {self.n_items:,} questions)"


def compare_runs(
    paired: PairedRuns, *, level: float = 0.95, margin: float | None = None, anytime: bool = False
) -> Compared | Ranked:
    """Compare two runs, or rank more; results are deterministic.

    Args:
        paired: two or more runs on the same questions.
        level: coverage of the intervals; 1 minus the level of the tests.
        margin: the largest difference in points that counts as none; None: no equivalence test.
        anytime: also test the difference of two runs after every source, see `statistics.sequential`.

    Raises:
        UsageError: a margin of 0 or less, a margin or `anytime` with more than two runs, or `anytime` with
            several people.
    """
    share = None if margin is None else margin / 100
    if share is not None:
        check_margin(share)
    is_of_two, who = len(paired.runs) == 2, ", ".join(paired.names)
    if anytime and (not is_of_two or any(len(run.people) > 1 for run in paired.runs)):
        raise UsageError(f"--anytime looks at the difference of two runs of models, not of {who}; name two")
    if share is not None and not is_of_two:
        raise UsageError(f"--margin says of two runs whether they are equivalent, not of {who}; name two")
    if not is_of_two:
        return rank_runs(paired, level=level)
    rng = np.random.default_rng(SEED)
    compared = compare_two(paired, rng=rng, settings=Resampling(level=level))
    if share is not None:
        tests = _difference(paired, compared.macro_tag, level=2 * level - 1).difference
        compared = msgspec.structs.replace(compared, at_margin=Decision.at(share, compared.headline, tests))
    if anytime:
        look = _look(paired, tag=compared.macro_tag, level=level, margin=share)
        compared = msgspec.structs.replace(compared, look=look)
    return compared


def _look(paired: PairedRuns, *, tag: str, level: float, margin: float | None) -> Decision:
    """Test the difference after every source, in the order of a run with ``--until``."""
    items, seed = paired.items, SEED
    for run in paired.runs:
        seed = run.plan.seed if run.plan.until else seed
        if run.ended is not None:
            with RunStore(run.folder) as store:
                items = store.items()
    watch = Watch(items, seed=seed, tag=tag, level=level, margin=margin)
    for item, (first, second) in zip(paired.items, paired.values.tolist(), strict=True):
        watch.add(item.item_id, second - first)
    return watch.look()


def compare_two(paired: PairedRuns, *, rng: np.random.Generator, settings: Resampling) -> Compared:
    """Compare two runs.

    Args:
        paired: two runs on the same questions.
        rng: source of bootstrap draws and permutations; the same state gives the same result.
        settings: level and numbers of draws.

    Raises:
        UsageError: not two runs.
    """
    if len(paired.runs) != 2:
        raise UsageError(f"{len(paired.runs)} runs; expected two (`rank_runs` takes more)")
    tag, tag_notes = _macro_tag(paired)
    over_items = _difference(paired, level=settings.level)
    headline = _difference(paired, tag, level=settings.level) if tag else over_items
    return Compared(
        first=paired.names[0],
        second=paired.names[1],
        headline=headline,
        over_items=over_items,
        macro_tag=tag,
        clustered_by=paired.noun,
        n_clusters=paired.clusters.n,
        n_videos=paired.n_videos,
        unread=unread(paired, tag=tag, level=settings.level),
        detectable=_detectable(paired, rng=rng, level=settings.level),
        tags=tuple(_by_tag(paired, level=settings.level)),
        provenance=provenance(paired.names, paired.runs),
        settings=differing_settings(paired.runs),
        notes=(*paired.notes, *tag_notes, *_repeat_notes(paired), *_without_sample(paired)),
    )


def _without_sample(paired: PairedRuns) -> list[str]:
    """Return a note if people read samples of some runs only."""
    named = list(zip(paired.names, paired.runs, strict=True))
    read = [pair for pair in named if pair[1].rows[0].sample is not None]
    unread = [pair for pair in named if pair not in read]
    if not read or not unread:
        return []
    names = [", ".join(name for name, _ in some) for some in (read, unread)]
    return [
        f"People read a sample of {names[0]}, and not one of {names[1]}: differences with these stay raw, "
        "since errors that both share cancel in it, and would not with one side corrected. "
        f"`vidence replies check-sample {quoted(unread[0][1].folder)}` draws or takes one."
    ]


def rank_runs(paired: PairedRuns, *, level: float) -> Ranked:
    """Rank two or more runs, with a test of every pair.

    Args:
        paired: two or more runs on the same questions.
        level: coverage of the intervals; 1 minus the level of the tests.
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
        ranking=_as_read(paired, ranking, tag=tag),
        macro_tag=tag,
        n_items=len(paired.items),
        clustered_by=paired.noun,
        n_clusters=paired.clusters.n,
        n_videos=paired.n_videos,
        unanswered=unanswered(paired),
        provenance=provenance(paired.names, paired.runs),
        settings=differing_settings(paired.runs),
        notes=(*paired.notes, *tag_notes, *_repeat_notes(paired), *_without_sample(paired)),
    )


def _as_read(paired: PairedRuns, ranking: Ranking, *, tag: str) -> Ranking:
    """Add people-corrected values to the means and differences of a ranking."""
    place, replaced = {name: i for i, name in enumerate(paired.names)}, msgspec.structs.replace
    means = (
        paired.as_read(mean, place[name], tag=tag)
        for name, mean in zip(ranking.names, ranking.means, strict=True)
    )
    pairs = (
        replaced(
            pair, difference=paired.as_read(pair.difference, place[pair.second], place[pair.first], tag=tag)
        )
        for pair in ranking.pairs
    )
    return replaced(ranking, means=tuple(means), pairs=tuple(pairs))


def _macro_tag(paired: PairedRuns) -> tuple[str, list[str]]:
    """Return the macro-average tag of all plans, or none, and notes on differing headlines."""
    headlines = {run.plan.headline for run in paired.runs}
    if headlines == {"micro"}:
        return "", []
    listed = " and ".join(sorted(headlines))
    if len(headlines) > 1:
        return "", [f"The plans ask for different averages ({listed}); means over questions are compared."]
    kind, _, tag = headlines.pop().partition(":")
    if group_rule(f"{kind}:{tag}") is not None:
        return "", [f"The headline is of groups ({listed}); means over questions are compared."]
    if kind != "macro":
        return "", [
            "The protocol leaves unreadable replies out of each score; here they count as wrong, since only "
            "the same questions can be compared."
        ]
    if paired.groups(tag) is None:
        return "", [f"Not every question has the tag {tag!r}; means over questions are compared."]
    return tag, []


def _repeat_notes(paired: PairedRuns) -> list[str]:
    repeats = [run.plan.repeats for run in paired.runs]
    if max(repeats) == 1:
        return []
    listed = ", ".join(f"{name}: {n}" for name, n in zip(paired.names, repeats, strict=True))
    return [f"Repeats of a question count as one value, their mean ({listed})."]


def _difference(part: PairedRuns, tag: str = "", *, level: float) -> Comparison:
    """Return the second run minus the first, as mean over questions or over the values of a tag.

    With several people, it is the mean over their answers, with people and sources as crossed factors.
    """
    comparison = difference(part, tag, level=level)
    comparison = msgspec.structs.replace(
        comparison, difference=part.as_read(comparison.difference, 1, 0, tag=tag)
    )
    if all(len(run.people) < 2 for run in part.runs):
        return comparison
    items = {item.item_id: item for item in part.items}
    pairs = {key: pair for key, pair in paired_answers(*part.runs).items() if key[1] in items}
    if not pairs:
        return comparison
    first, second = np.array(list(pairs.values())).T
    of_people, p_value = answers_difference(pairs, items, tag=tag, noun=part.noun, level=level)
    comparison = msgspec.structs.replace(comparison, difference=of_people, p_value=p_value)
    if tag:
        return comparison
    return msgspec.structs.replace(
        comparison, mean_first=float(second.mean()), mean_second=float(first.mean())
    )


def answers_difference(
    pairs: Mapping[tuple[str, str], tuple[float, float]],
    items: Mapping[str, Item],
    *,
    tag: str = "",
    noun: ClusterNoun | None = None,
    level: float,
) -> tuple[Estimate, float]:
    """Return the mean difference over people's answers, crossed with sources, and its p-value.

    Args:
        pairs: the two scores of each answer, by person and item.
        items: the items by id.
        tag: if given, the mean is over its values, weighted equally.
        noun: what the clusters of the whole run are called, if these answers are part of it.
        level: coverage of the interval.
    """
    asked = [items[item_id] for _, item_id in pairs]
    return crossed_mean(
        [second - first for first, second in pairs.values()],
        people=[person for person, _ in pairs],
        clusters=Clusters.of(asked, noun=noun),
        items=[item.item_id for item in asked],
        groups=[item.group(tag) or "" for item in asked] if tag else None,
    ).difference(level=level)


def _by_tag(paired: PairedRuns, *, level: float) -> Iterator[TagDifference]:
    """Yield the differences for each value of each tag, adjusted together."""
    parts: dict[tuple[str, str], PairedRuns] = {}
    for tag in dict.fromkeys(tag for item in paired.items for tag in item.tags):
        places = paired.places(tag)
        if is_moderate(tuple(places)):
            values = sorted(places, key=natural_order)
            parts |= {(tag, value): paired.part(places[value]) for value in values}
    comparisons = [_difference(part, level=level) for part in parts.values()]
    adjusted = holm([comparison.p_value for comparison in comparisons]) if comparisons else ()
    for (tag, value), comparison, p_holm in zip(parts, comparisons, adjusted, strict=True):
        yield TagDifference(
            tag=tag,
            value=value,
            comparison=comparison,
            p_holm=p_holm,
            is_clear=verdict(p_holm, comparison.difference) == "clear",
        )


def _detectable(paired: PairedRuns, *, rng: np.random.Generator, level: float) -> float | None:
    """Return the smallest detectable difference; None if unknown.

    The mean square of the differences replaces the discordance, which it equals for scores of 0 and 1.
    """
    differences = paired.values[:, 1] - paired.values[:, 0]
    apart = float((differences**2).mean())
    n, n_clusters = len(differences), paired.clusters.n
    if apart == 0 or n_clusters < 2 or 1 - level >= POWER:
        return None
    icc = 0.0
    if n_clusters < n and np.ptp(differences) > 0:
        icc = min(max(intraclass_correlation(differences, clusters=paired.clusters), 0.0), 1.0)
    design = Design.of(paired.clusters, icc=icc)
    return paired_detectable(discordance=apart, design=design, rng=rng, power=POWER, level=level)


# --------------------------------------------------------------------------- what else differs


def provenance(names: Sequence[str], runs: Sequence[Run]) -> tuple[Provenance, ...]:
    """Return how the replies of each run were obtained."""
    return tuple(
        Provenance(
            run=name,
            origin=origin_of(run),
            how=how_asked(run),
            n_trials=len(run.rows),
            n_sent=sum(trial_origin(run, row) == "asked" for row in run.rows),
        )
        for name, run in zip(names, runs, strict=True)
    )


def differing_settings(runs: Sequence[Run]) -> tuple[Setting, ...]:
    """Return how the runs differ besides the model: asking, parsing, judging and versions.

    A plan's frames and prompts count only for runs that asked a model; others have `NOT_ASKED`.
    """
    plan_names, fact_names = (*_DATA, *_ASKED, *_MARKED), (*_MET_ASKING, *_MET)
    settings = {name: [_words(getattr(run.plan, name)) for run in runs] for name in plan_names}
    settings["parser"] = [run.reader for run in runs]
    if not any(run.plan.judge_models for run in runs):
        settings.pop("judge")
    settings |= {name: [_words(getattr(run.facts, name))[:12] for run in runs] for name in fact_names}
    for name in (*_ASKED, *_MET_ASKING):
        settings[name] = [
            value if is_asked(run) else NOT_ASKED for value, run in zip(settings[name], runs, strict=True)
        ]
    return tuple(
        Setting(name=name, values=tuple(values))
        for name, values in settings.items()
        if len({*values} - {NOT_ASKED}) > 1
    )


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
