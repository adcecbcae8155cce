"""Scores of a run: trials aggregated by question, averages with intervals, and text-only baselines."""

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from vidence.ask.judging.humanpcr import NAMES as JUDGES  # on whose scale people give points
from vidence.engine.plan import Stratum
from vidence.errors import UsageError
from vidence.records import WITHIN, ClusterNoun, Clusters, Estimate, Item, OutcomeName, by_key, source_noun
from vidence.report.checked import Checked, as_read, uncorrected
from vidence.report.results import OUTCOMES, Row, Run
from vidence.statistics.chance import longest_choice, margin, numeric_median
from vidence.statistics.crossed import crossed_interval
from vidence.statistics.groups import GroupRule, group_rule
from vidence.statistics.intervals import SHARE, UNBOUNDED, ClusteredMean, mean_interval
from vidence.statistics.ratios import ratio_of_means
from vidence.statistics.resampling import Resampling
from vidence.tables.table import (
    FEW_VIDEOS,
    Cell,
    Column,
    Measure,
    RowSpec,
    Table,
    count,
    difference,
    several,
    share,
    tabulate,
    videos_cell,
)
from vidence.text import letter_index, quoted

NO_VALUE = "(none)"  # of a tag that a question lacks
ANSWERED = "answered"  # the average over readable replies alone
_VALUES = (attrgetter("correct"), attrgetter("score.points"))  # of a trial: its mark, a judge's points
NUMERIC = "numeric"  # the average over the questions whose choices are numbers
MOST_VALUES = 40
MOST_CHARACTERS = 60  # of the value of a tag that gets a table: longer ones are titles, and no groups
LEAST_MEDIAN = 10  # questions whose choices are numbers; of fewer the median rule says nothing
# Rules that look at no video, with what they are called and do; `constant` is followed by its letter.
RULES: Mapping[str, tuple[str, str]] = {
    "chance": ("chance", "blind guessing"),
    "constant": ("always", "always the letter that is right most often in this run"),
    "longest": ("longest", "always the longest choice"),
    "median": ("median", "always the median number; nothing where not all choices are numbers"),
}


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Source of the bootstrap draws and tests, and the level of intervals."""

    rng: np.random.Generator
    level: float = 0.95

    def fresh(self) -> np.random.Generator:
        """Return a generator in the same initial state, so that no figure depends on earlier ones."""
        return copy.deepcopy(self.rng)


@dataclass(frozen=True, kw_only=True)
class ScoredQuestions:
    """The scored questions among some trials.

    Shapes: `values` (n_items,): each question's mean score over repeats, 0 to 1. `rows` are the trials with a
    score, and `at` (n_rows,) the position of each one's question. `clusters` names each question's source.
    `n_outcomes` counts these questions' trials. `n_unscored` counts other questions that wait for a judge,
    `n_hidden` those with hidden answers. `sample` is the run's, and `stays_raw` says why it corrects nothing
    here.
    """

    items: tuple[Item, ...]
    rows: Sequence[Row]
    at: NDArray[np.intp]
    values: NDArray[np.float64]
    clusters: Clusters
    n_outcomes: dict[OutcomeName, int]
    n_unscored: int
    n_hidden: int
    sample: Checked | None = None
    stays_raw: str = ""

    @property
    def n_videos(self) -> int:
        """Return the number of videos (or other media); those of one source count once."""
        return len(set(self.clusters))

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        value: Callable[[Row], float | None] = lambda row: row.correct,
        *,
        noun: ClusterNoun | None = None,
    ) -> "ScoredQuestions":
        """Aggregate trials by question, keeping the order.

        `noun` is what the clusters of the whole run are called, if these trials are part of it.
        """
        every = {row.item.item_id: row.item for row in rows}
        known = [(row, score) for row in rows if (score := value(row)) is not None]
        items = {row.item.item_id: row.item for row, _ in known}
        kept = tuple(item for item_id, item in every.items() if item_id in items)
        place = {item.item_id: position for position, item in enumerate(kept)}
        at = np.array([place[row.item.item_id] for row, _ in known], np.intp)
        n_hidden = sum(item.is_hidden for item in every.values())
        samples = {id(row.sample): row.sample for row in rows}
        return cls(
            items=kept,
            rows=[row for row, _ in known],
            at=at,
            values=_means(at, [score for _, score in known]),
            clusters=Clusters.of(kept, noun=noun),
            n_outcomes=dict(Counter(row.outcome for row in rows if row.item.item_id in items)),
            n_unscored=len(every) - len(kept) - n_hidden,
            n_hidden=n_hidden,
            sample=next(filter(None, samples.values()), None),
            stays_raw="several runs" if len(samples) > 1 else "",
        )

    def together(self, rule: GroupRule, tag: str) -> "ScoredQuestions":
        """Replace the questions by their groups, with a score each; repeats count as their mean.

        Incomplete groups, from an interrupted run or --where, are left out. A group is complete if it has as
        many questions as the largest, and as its structure requires. The tag ``structure`` says how a group's
        questions depend on each other.
        """
        groups: dict[str, dict[int, list[Row]]] = {}
        for row in self.rows:
            repeats = groups.setdefault(row.item.tags.get(tag, row.item.item_id), {})
            repeats.setdefault(row.trial.repeat, []).append(row)
        n_whole = max((len(rows) for repeats in groups.values() for rows in repeats.values()), default=0)
        firsts, values = [], []
        for repeats in groups.values():
            item = next(iter(repeats.values()))[0].item
            whole = [
                [row.correct or 0.0 for row in rows] for rows in repeats.values() if len(rows) == n_whole
            ]
            scores = [rule(each, item.tags.get("structure", "")) for each in whole]
            if known := [score for score in scores if score is not None]:
                firsts.append(item)
                values.append(sum(known) / len(known))
        return replace(
            self,
            items=tuple(firsts),
            rows=(),
            at=self.at[:0],
            values=np.array(values, np.float64),
            clusters=Clusters.of(firsts, noun=self.clusters.noun),
            stays_raw="of groups",
        )

    def mean(
        self, *, groups: Sequence[str] | None = None, points: bool = False, level: float
    ) -> Estimate | None:
        """Return the mean with its interval, as in all tables and figures; None without values.

        If people read a sample of the replies, `Estimate.corrected` has the corrected value.

        Args:
            groups: if given, the mean is over these groups, weighted equally.
            points: the values are a judge's points, not 0 to 1.
            level: coverage of the interval.
        """
        if not self.items:
            return None
        bounds, clusters = UNBOUNDED if points else SHARE, self.clusters
        raw = mean_interval(self.values, clusters=clusters, groups=groups, bounds=bounds, level=level)
        is_other = points and any(row.score.scorer not in JUDGES for row in self.rows)
        if self.sample is not None and (why := "another scale" if is_other else self.stays_raw):
            return uncorrected(raw, why)
        return as_read(raw, [self.sample], self.items, clusters=clusters, groups=groups, points=points)


def _means(at: NDArray[np.intp], values: Sequence[float]) -> NDArray[np.float64]:
    """Return each question's mean value, (n_items,); `at` is the question of each value."""
    return np.bincount(at, values) / np.bincount(at)


@dataclass(frozen=True, kw_only=True)
class SimpleRules:
    """Scores of rules that see no video, computed once for all trials of a run.

    `letter` is the letter that is right most often, the first of equals; None if no question has choices.
    `hits` has, for each scored trial of a question with choices, by id and repeat, each rule's score, 0 to 1;
    ``median`` only if all choices are numbers.
    """

    letter: str | None
    hits: Mapping[tuple[str, int], Mapping[str, float]]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "SimpleRules":
        """Compute the rules on the scored trials."""
        choice = [
            row
            for row in rows
            if row.correct is not None and row.item.answer_kind == "choice" and row.item.choices
        ]
        right = Counter(row.item.answer for row in choice)
        letter = min(right, key=lambda letter: (-right[letter], letter), default=None)
        hits: dict[tuple[str, int], dict[str, float]] = {}
        for row in choice:
            item, index = row.item, letter_index(row.item.answer)
            values = {"chance": 1 / len(item.choices), "constant": float(item.answer == letter)}
            picked = {"longest": longest_choice(item.choices), "median": numeric_median(item.choices)}
            values |= {rule: float(at == index) for rule, at in picked.items() if at is not None}
            hits[item.item_id, row.trial.repeat] = values
        return cls(letter=letter, hits=hits)

    def applies(self, rule: str, row: Row) -> bool:
        """Whether a rule applies to this trial."""
        return rule in self.hits.get((row.item.item_id, row.trial.repeat), {})

    def over(self, rule: str, aggregate: "Aggregate") -> tuple[NDArray[np.float64], int]:
        """Return a rule's score on each scored question, (n_items,), and how many it applies to.

        Where the rule does not apply it has no answer, as a model that follows it would not.
        """
        scored = aggregate.scored
        hits = [self.hits.get((row.item.item_id, row.trial.repeat), {}).get(rule) for row in scored.rows]
        n = len({place for place, hit in zip(scored.at.tolist(), hits, strict=True) if hit is not None})
        return _means(scored.at, [hit or 0.0 for hit in hits]), n

    def on(self, rule: str, aggregate: "Aggregate") -> Cell:
        """Return a rule's score on an aggregate's trials, averaged as their scores are.

        Empty if it applies to no question, or for ``median`` to fewer than `LEAST_MEDIAN`. Chance and the
        median state how many questions they apply to unless it is all.
        """
        values, n = self.over(rule, aggregate)
        if n < (LEAST_MEDIAN if rule == "median" else 1):
            return Cell(detail=f"applies to {n:,}" if n else "")
        n_all = len(aggregate.scored.items)
        is_said = rule in {"chance", "median"} and n < n_all  # the other rules apply where chance does
        detail = f"applies to {n:,} of {n_all:,}" if is_said else ""
        mean = ClusteredMean.of(values, clusters=aggregate.scored.clusters, groups=aggregate.groups)
        return Cell(value=mean.value, detail=detail)


# --------------------------------------------------------------------------- averages


def macro_tag(average: str) -> str | None:
    """Return the tag of ``macro:TAG``; None for means without equal weights of groups.

    Raises:
        UsageError: not an average.
    """
    kind, _, tag = average.partition(":")
    if average in ("micro", ANSWERED) or (group_rule(average) and tag):
        return None
    if kind == "macro" and tag:
        return tag
    expected = "'micro', 'answered', 'macro:TAG', 'all:TAG' or 'graded:TAG'"
    raise UsageError(f"the average {average!r} is not known; expected {expected}")


def chosen(rows: Sequence[Row], where: Mapping[str, Sequence[str]]) -> list[Row]:
    """Return the trials whose question has one of the values for each tag."""
    return [row for row in rows if all(row.item.tags.get(tag) in values for tag, values in where.items())]


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """A way to average trials of a run, for scores and everything shown with them.

    Trials of one question count as their mean. `groups` is each scored question's tag value if the mean is
    over values, weighted equally; questions without the tag form their own group. `of_points` averages a
    judge's points.
    """

    rows: Sequence[Row]
    scored: ScoredQuestions
    groups: tuple[str, ...] | None
    of_points: bool = False

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        average: str = "micro",
        *,
        noun: ClusterNoun | None = None,
        of_points: bool = False,
    ) -> "Aggregate":
        """Return the aggregate of these trials.

        Args:
            rows: the trials, of one run.
            average: ``micro``, ``answered`` (over the trials whose reply could be read), ``macro:TAG`` (of
                means ``macro:TAG/TAG``), or a mean over groups of questions, ``all:TAG`` or ``graded:TAG``.
            noun: as for `ScoredQuestions.of`.
            of_points: average a judge's points.

        Raises:
            UsageError: no such average.
        """
        tag = macro_tag(average)
        if average == ANSWERED:
            rows = [row for row in rows if row.outcome == ANSWERED]
        scored = ScoredQuestions.of(rows, _VALUES[of_points], noun=noun)
        if (grouped := group_rule(average)) is not None:
            scored = scored.together(*grouped)
        if average == ANSWERED:  # which replies are answered is what people read otherwise
            scored = replace(scored, stays_raw="as rules read")
        groups = None if tag is None else tuple(item.group(tag) or NO_VALUE for item in scored.items)
        return cls(rows=rows, scored=scored, groups=groups, of_points=of_points)

    def estimate(self, draws: Draws) -> Estimate | None:
        """Return the mean score with its interval; None if no question is scored.

        For several people it is the mean over their answers, with people and sources as crossed factors.
        """
        if not are_people(self.rows):
            return self.scored.mean(groups=self.groups, points=self.of_points, level=draws.level)
        group_of = {item.item_id: i for i, item in enumerate(self.scored.items)}
        rows = [row for row in self.rows if row.item.item_id in group_of]
        groups = self.groups and [self.groups[group_of[row.item.item_id]] for row in rows]
        of_points, noun = self.of_points, self.scored.clusters.noun
        return over_people(rows, draws=draws, groups=groups, of_points=of_points, noun=noun)


def are_people(rows: Iterable[Row]) -> bool:
    """Whether trials are from several people, so that their mean is over answers."""
    return len({row.person for row in rows}) > 1


def over_people(
    rows: Sequence[Row],
    *,
    draws: Draws,
    groups: Sequence[str] | None = None,
    of_points: bool = False,
    noun: ClusterNoun | None = None,
) -> Estimate | None:
    """Return the mean over people's answers, with people and sources crossed; None without any.

    Args:
        rows: the answers.
        draws: the level of the interval.
        groups: of each answer; without them, all are one group.
        of_points: average a judge's points.
        noun: as for `ScoredQuestions.of`.
    """
    known = [(i, row, entry) for i, row in enumerate(rows) if (entry := _VALUES[of_points](row)) is not None]
    if not known:
        return None
    return crossed_interval(
        [element for *_, element in known],
        people=[row.person for _, row, _ in known],
        clusters=Clusters.of([row.item for _, row, _ in known], noun=noun),
        groups=groups and [groups[i] for i, *_ in known],
        bounds=UNBOUNDED if of_points else SHARE,
        level=draws.level,
    )


def headline_accuracy(run: Run, *, draws: Draws) -> Estimate | None:
    """Return a run's headline, by the plan's average.

    None if no question is scored, the answers are hidden, or the model never answered: nothing was measured,
    and 0 would mean that all answers were wrong.
    """
    return None if run.no_score else Aggregate.of(run.rows, run.plan.headline).estimate(draws)


def check_answered(run: Run) -> None:
    """Check that a run has a score to compare.

    Raises:
        UsageError: it has no trials, its model never answered, or its answers are hidden.
    """
    if not run.rows:
        raise UsageError(f"{run.folder} has no trials yet; `vidence resume {quoted(run.folder)}` asks")
    if run.is_silent:
        raise UsageError(
            f"{run.folder} has no score: its model never answered; `vidence resume {quoted(run.folder)}` "
            "asks again"
        )
    if run.no_score:
        raise UsageError(
            f"{run.folder} has no score: answers hidden; where the answers are, `vidence items score "
            f"{quoted(run.folder)} --answers FOLDER` makes a run that has one"
        )


def score_tables(run: Run, *, rng: np.random.Generator, level: float = 0.95) -> tuple[Table, ...]:
    """Return the aggregates, the headline first, then one table per tag with 2 to 40 values.

    Unreadable, refused and failed trials count as wrong. Questions that wait for a judge count in no mean and
    are counted separately. Trials of one question count as their mean.

    Args:
        run: the run.
        rng: source of the bootstrap draws; the same state gives the same tables.
        level: coverage of the intervals.

    Raises:
        UsageError: the run has no trials, or its headline is none of ``micro``, ``answered``, ``macro:TAG``.
    """
    _check_has_trials(run)
    draws = Draws(rng=rng, level=level)
    rules = SimpleRules.of(run.rows)
    tags = tag_values(run)
    left_out = [
        f"{tag} ({len(values):,} values)"
        for tag, values in tags.items()
        if len(values) > 1 and not is_moderate(values)
    ]
    whole = aggregates(run)
    lines = (*whole, *_numeric(run, rules, max(len(line.about.scored.items) for line in whole)))
    measures = _measures(run, rules, lines, draws=draws)
    notes = (
        "Unreadable, refused and failed trials count as wrong, except in the line 'answered only'.",
        "'Numbers as choices' are the questions whose choices are all numbers."
        if any(line.key == NUMERIC for line in lines)
        else "",
        f"Tags with too many or too long values for a table: {', '.join(left_out)}." if left_out else "",
    )
    headline, *by_tag = (
        tabulate(
            f"score:{tag}" if tag else "score",
            f"Score by {tag}" if tag else "Score",
            label=Column(key="name", title=tag or "aggregate"),
            rows=some,
            measures=measures,
            notes=(*(() if tag else notes), few_note(line.about.scored.n_videos for line in some)),
            figure="scores",
        )
        for tag, some in (("", lines), *levels(run))
    )
    return (headline, *sample_tables(run, draws=draws), *by_tag)


def sample_tables(run: Run, *, draws: Draws) -> tuple[Table, ...]:
    """Return the strata of a stratified sample, and the weighted mean; empty without strata.

    A question of a stratum of which a share f was asked has weight 1 / f, so that the weighted mean estimates
    that of all questions that could be drawn. It is a ratio estimator, clustered as all means are.
    """
    strata = {stratum.value: stratum for stratum in run.facts.strata}
    if not strata:
        return ()
    (tag,) = {stratum.tag for stratum in strata.values()}
    everything = Aggregate.of(run.rows)
    items, values = everything.scored.items, everything.scored.values
    by_value = {value: Aggregate.of(chosen(run.rows, {tag: (value,)})) for value in strata}
    weighted: Estimate | None = None
    if items:
        weights = np.array([1 / strata[item.tags[tag]].probability for item in items], np.float64)
        weighted = ratio_of_means(
            values * weights,
            weights,
            clusters=everything.scored.clusters,
            rng=draws.fresh(),
            settings=Resampling(level=draws.level),
        ).fieller
        if everything.scored.sample is not None:
            weighted = uncorrected(weighted, "weighted")
    total = Stratum(
        tag=tag,
        value="",
        n=sum(stratum.n for stratum in strata.values()),
        n_sampled=sum(stratum.n_sampled for stratum in strata.values()),
    )
    empty = ", ".join(value for value, stratum in strata.items() if not stratum.n_sampled)
    rows = [
        RowSpec("all", "all, weighted", (total, weighted)),
        *(
            RowSpec(f"{tag}={value}", value, (strata[value], aggregate.estimate(draws)))
            for value, aggregate in by_value.items()
        ),
    ]
    table = tabulate(
        "sample",
        "What was sampled",
        label=Column(key="name", title=tag),
        rows=rows,
        measures=(
            count("there", lambda row: row[0].n, "questions", note="that could be drawn"),
            count("asked", lambda row: row[0].n_sampled),
            share("probability", lambda row: row[0].probability, "inclusion probability"),
            share("accuracy", lambda row: row[1]),
        ),
        notes=(
            "The weighted mean estimates the score on all eligible questions: each question counts 1 / "
            "its inclusion probability. Means over the values of this tag need no weights.",
            f"No question of {empty} was asked; the weighted mean does not cover it." if empty else "",
        ),
    )
    return (table,)


def margin_table(run: Run, *, level: float = 0.95) -> Table:
    """Return how far the scores lie above chance and the text-only rules on the same questions.

    One line per line of the score tables; each difference is of the same aggregate.

    Args:
        run: the run.
        level: coverage of the intervals.

    Raises:
        UsageError: the run has no trials.
    """
    _check_has_trials(run)
    rules, draws = SimpleRules.of(run.rows), Draws(rng=np.random.default_rng(0), level=level)
    lines = [*aggregates(run)]
    for tag, some in levels(run):
        lines += [RowSpec(f"{tag}:{line.key}", f"{tag}: {line.label}", line.about) for line in some]

    def above(key: str) -> Measure[Aggregate]:
        def of(aggregate: Aggregate) -> Estimate | None:
            baseline, n = rules.over(key, aggregate)
            scored = aggregate.scored
            if not n:
                return None
            return margin(
                scored.values, baseline, clusters=scored.clusters, groups=aggregate.groups, level=draws.level
            )

        title = RULES[key][0] if key != "constant" else f"always {rules.letter or 'one letter'}"
        return difference(key, of, title, group="above, points")

    return tabulate(
        "margin",
        "Above chance",
        label=Column(key="name", title="questions"),
        rows=lines,
        measures=(*_sizes(run), _accuracy(draws), *map(above, ("chance", "constant", "longest"))),
        notes=(
            f"A score beats a rule at the level {draws.level:g} where the interval lies above 0. The letter "
            "of 'always' was chosen on these same questions, so it is hard to beat.",
            few_note(line.about.scored.n_videos for line in lines),
        ),
    )


def _check_has_trials(run: Run) -> None:
    if not run.rows:
        raise UsageError(
            f"{run.folder} has no trials yet, so there is nothing to report; `vidence resume` asks"
        )


def tag_values(run: Run) -> dict[str, list[str]]:
    """Return the tags of a run's questions, with their values in order."""
    names = dict.fromkeys(tag for row in run.rows for tag in row.item.tags)
    return {
        tag: sorted({row.item.tags.get(tag, NO_VALUE) for row in run.rows}, key=natural_order)
        for tag in names
    }


def is_moderate(values: Sequence[str]) -> bool:
    """Whether a tag with these values gets a table."""
    return 2 <= len(values) <= MOST_VALUES and all(len(value) <= MOST_CHARACTERS for value in values)


def natural_order(value: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """Return the sort key of tag values: numbers by size, ``(none)`` last."""
    pieces = re.findall(r"[0-9]+|[^0-9]+", value)
    return value == NO_VALUE, [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in pieces]


def few_note(n_videos: Iterable[int]) -> str:
    """Return a note if lines of a table are about few videos or sources; empty otherwise."""
    if not any(0 < n < FEW_VIDEOS for n in n_videos):
        return ""
    return f"few: fewer than {FEW_VIDEOS} videos or sources, so a single one can shift the score far."


def _sizes(run: Run) -> tuple[Measure[Aggregate], Measure[Aggregate]]:
    videos = f"{source_noun(row.item for row in run.rows)}s"
    return (
        count("items", lambda aggregate: len(aggregate.scored.items), "questions"),
        count("videos", lambda aggregate: videos_cell(aggregate.scored.n_videos), videos),
    )


def _accuracy(draws: Draws, *, none: str = "") -> Measure[Aggregate]:
    note = f"none: {none}" if none else "with its interval"
    return share("accuracy", lambda aggregate: None if none else aggregate.estimate(draws), note=note)


def _measures(
    run: Run, rules: SimpleRules, lines: Sequence[RowSpec[Aggregate]], *, draws: Draws
) -> tuple[Measure[Aggregate], ...]:
    def rule(key: str) -> Measure[Aggregate]:
        title, note = RULES[key]
        if key == "constant":
            title = f"{title} {rules.letter or 'one letter'}"
        return share(key, lambda a: rules.on(key, a), title, note=note, group="without looking, %")

    def outcome(name: OutcomeName) -> Measure[Aggregate]:
        return count(name, lambda aggregate: aggregate.scored.n_outcomes.get(name, 0), group="trials")

    unscored: Measure[Aggregate] = count(
        "unmarked",
        lambda aggregate: aggregate.scored.n_unscored,
        "not scored",
        note="wait for a judge; in no mean",
    )
    hidden: Measure[Aggregate] = count(
        "hidden", lambda aggregate: aggregate.scored.n_hidden, "answers hidden", note="in no mean"
    )
    return (
        *_sizes(run),
        _accuracy(draws, none=run.no_score),
        *map(rule, RULES),
        *map(outcome, OUTCOMES),
        *([unscored] if any(line.about.scored.n_unscored for line in lines) else []),
        *([hidden] if run.n_hidden else []),
    )


def aggregates(run: Run) -> tuple[RowSpec[Aggregate], ...]:
    """Return a line per average of a run, ``headline`` (the plan's) first.

    Raises:
        UsageError: its headline is none of ``micro``, ``answered``, ``macro:TAG``.
    """
    tag = macro_tag(run.plan.headline)
    is_answered, grouped = run.plan.headline == ANSWERED, group_rule(run.plan.headline)
    key = "headline" if tag is None and not (is_answered or grouped) else "micro"
    specs = [RowSpec(key, "mean over questions", Aggregate.of(run.rows))]
    if grouped is not None:
        aggregate = Aggregate.of(run.rows, run.plan.headline)
        n, n_all = len(aggregate.scored.items), len({row.item.tags.get(grouped[1]) for row in run.rows})
        left_out = f"; {n_all - n} left out, which lack questions" if n < n_all else ""
        detail = f"{several(n, 'group')}, each by its questions together{left_out}"
        specs.append(RowSpec("headline", f"mean over {grouped[1]}s", aggregate, detail=detail))
    if tag is not None:
        macro = Aggregate.of(run.rows, run.plan.headline)
        detail = several(len({name.partition(WITHIN)[0] for name in macro.groups or ()}), "value")
        specs.append(RowSpec("headline", f"mean over {tag}", macro, detail=f"{detail}, each alike"))
    specs.append(
        RowSpec(
            "headline" if is_answered else ANSWERED,
            "answered only",
            Aggregate.of(run.rows, ANSWERED),
            detail="as the protocol says" if is_answered else "for comparison",
        )
    )
    return tuple(sorted(specs, key=lambda line: line.key != "headline"))


def levels(run: Run) -> Iterator[tuple[str, tuple[RowSpec[Aggregate], ...]]]:
    """Yield each tag with a table, and a line per value."""
    noun = source_noun(row.item for row in run.rows)
    for tag, values in tag_values(run).items():
        if not is_moderate(values):
            continue
        groups = by_key((row.item.tags.get(tag, NO_VALUE), row) for row in run.rows)
        specs = (RowSpec(value, value, Aggregate.of(groups[value], noun=noun)) for value in values)
        yield tag, tuple(specs)


def _numeric(run: Run, rules: SimpleRules, n_all: int) -> Iterator[RowSpec[Aggregate]]:
    """Yield the questions that the median rule applies to, if they are some but not all."""
    rows = [row for row in run.rows if rules.applies("median", row)]
    if LEAST_MEDIAN <= len({row.item.item_id for row in rows}) < n_all:
        yield RowSpec(NUMERIC, "numbers as choices", Aggregate.of(rows))
