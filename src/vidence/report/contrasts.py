"""Values of a tag against each other inside runs, such as the hardest questions less the easiest."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vidence.errors import UsageError
from vidence.media.whole import write_file
from vidence.records import ClusterNoun, Clusters, Estimate, Record, source_noun
from vidence.report.pairing import sources_note
from vidence.report.provenance import asked_sentences, is_asked
from vidence.report.results import Row, Run
from vidence.report.scores import (
    ANSWERED,
    NO_VALUE,
    ScoredQuestions,
    check_answered,
    chosen,
    natural_order,
)
from vidence.report.sections import Section
from vidence.report.side_by_side import run_names
from vidence.statistics.contrasts import Contrast, contrast, trend_weights
from vidence.statistics.intervals import Values
from vidence.statistics.paired import holm, verdict
from vidence.tables.export import csv_text, object_as_json
from vidence.tables.table import (
    Cell,
    Column,
    Measure,
    RowSpec,
    Table,
    count,
    difference,
    has_interval,
    interval_text,
    lines,
    p_value,
    p_words,
    percent,
    points,
    several,
    share,
    tabulate,
    words,
)

JSON_FORMAT = "vidence-contrasts/1"


class Level(Record):
    """The questions of one run with one value of the tag; `n_unread` counts its trials without an answer."""

    value: str
    score: Estimate
    n_unread: int
    n_trials: int


class UnreadContrast(Record):
    """How a contrast depends on trials without an answer, which it counts as wrong.

    `answered` is the contrast on the questions that were answered in every repeat; None where a value has no
    such question. `worst` counts trials without an answer as wrong where the contrast adds and as right where
    it subtracts, `best` the other way round: complete answers would have given something between these two.
    """

    answered: Contrast | None
    worst: Contrast
    best: Contrast


class Contrasted(Record):
    """A difference between two values of the tag in one run, or its trend, adjusted for all that are shown.

    `of` and `to` are the values: the difference is `of` less `to`. For a trend both are empty, and the
    estimate is the growth from one value to the next. `unread` is None where every trial has an answer.
    """

    run: str
    of: str
    to: str
    contrast: Contrast
    p_holm: float
    is_clear: bool
    unread: UnreadContrast | None = None

    @property
    def is_open(self) -> bool:
        """Whether trials without an answer could turn what the contrast says by itself, not adjusted."""
        ends = (self.unread.worst, self.unread.best) if self.unread else ()
        value, said = self.contrast.estimate.value, self.contrast.verdict
        return any(
            one.verdict != said or (said == "clear" and one.estimate.value * value < 0) for one in ends
        )


class OfRun(Record):
    """The values of the tag in one run. `n_without` counts its scored questions that lack the tag."""

    run: str
    levels: tuple[Level, ...]
    n_without: int
    n_waiting: int


class Contrasts(Record):
    """Contrasts of a tag in one run or several; `values` are those of the tag in their order.

    Clusters are sources where videos of any of these runs share one. `n_hypotheses` counts contrasts that
    are no multiple of another one, such as the trend over three values is of the difference of its ends.
    """

    tag: str
    values: tuple[str, ...]
    level: float
    clustered_by: ClusterNoun
    runs: tuple[OfRun, ...]
    contrasts: tuple[Contrasted, ...]
    n_hypotheses: int
    notes: tuple[str, ...] = ()


def contrast_runs(
    runs: Sequence[Run],
    *,
    tag: str,
    pairs: Sequence[tuple[str, str]] = (),
    has_trend: bool = False,
    level: float = 0.95,
) -> Contrasts:
    """Differences between values of a tag inside each run, and the trend over its values.

    Unreadable, refused and failed trials count as wrong; a question that was asked several times counts as
    the mean of its repeats. Questions without the tag are left out.

    Args:
        runs: one run or more; they need not have the same questions.
        tag: the tag.
        pairs: differences, each as (of, to): the first less the second.
        has_trend: also the growth from one value of the tag to the next, in their order, numbers by size.
        level: coverage of the intervals; 1 less the level of the tests.

    Raises:
        UsageError: no run, nothing to contrast, a tag that a run lacks, a value that the tag does not have,
            a value against itself, or fewer than two values.
    """
    if not runs:
        raise UsageError("no run; name a run folder or more")
    names = run_names(runs)
    noun = source_noun(row.item for run in runs for row in run.rows)
    tagged = [_Tagged(name, run, tag, noun=noun) for name, run in zip(names, runs, strict=True)]
    values = sorted({value for one in tagged for value in one.values}, key=natural_order)
    if not pairs and not has_trend:
        raise UsageError(f"nothing to contrast; {tag} is {_listed(values)}: say --of and --to, or --trend")
    for one in tagged:
        one.check(pairs, values if has_trend else ())
    wanted: list[tuple[str, str, dict[str, float]]] = [(of, to, {of: 1.0, to: -1.0}) for of, to in pairs]
    if has_trend:
        wanted.append(("", "", trend_weights(values)))
    found = [
        (one, of, to, weights, one.contrast(weights, is_trend=not of, level=level))
        for one in tagged
        for of, to, weights in wanted
    ]
    hypotheses = {(one.name, _direction(weights)): mean.p_value for one, _, _, weights, mean in found}
    adjusted = dict(zip(hypotheses, holm(list(hypotheses.values())), strict=True))
    contrasts = []
    for one, of, to, weights, mean in found:
        p_holm = adjusted[one.name, _direction(weights)]
        contrasts.append(
            Contrasted(
                run=one.name,
                of=of,
                to=to,
                contrast=mean,
                p_holm=p_holm,
                is_clear=verdict(p_holm, mean.estimate) == "clear",
                unread=one.unread(weights, is_trend=not of, level=level),
            )
        )
    return Contrasts(
        tag=tag,
        values=tuple(values),
        level=level,
        clustered_by=noun,
        runs=tuple(one.levels(level=level) for one in tagged),
        contrasts=tuple(contrasts),
        n_hypotheses=len(hypotheses),
        notes=(
            *sources_note([item for one in tagged for item in one.scored.items]),
            *asked_sentences((one.run, one.name) for one in tagged if not is_asked(one.run)),
        ),
    )


def _direction(weights: dict[str, float]) -> tuple[tuple[str, float], ...]:
    """The weights without their scale and sign: the same for contrasts that are 0 together."""
    kept = sorted((value, weight) for value, weight in weights.items() if weight)
    return tuple((value, round(weight / kept[0][1], 9)) for value, weight in kept)


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values[:8]) + (", ..." if len(values) > 8 else "")


class _Tagged:
    """The scored questions of one run that have the tag."""

    def __init__(self, name: str, run: Run, tag: str, *, noun: ClusterNoun) -> None:
        check_answered(run)
        known = dict.fromkeys(one for row in run.rows for one in row.item.tags)
        if tag not in known:
            raise UsageError(
                f"no question of {name} has the tag {tag!r}; its tags are {', '.join(known) or 'none'}"
            )
        self.name, self.tag, self.run = name, tag, run
        self.scored = ScoredQuestions.of(run.rows)
        self.clusters = Clusters.of(self.scored.items, noun=noun)
        self.groups = [item.tags.get(tag, NO_VALUE) for item in self.scored.items]
        self.values = sorted(set(self.groups) - {NO_VALUE}, key=natural_order)

    def check(self, pairs: Sequence[tuple[str, str]], trend: Sequence[str]) -> None:
        """Refuse what this run cannot say."""
        if len(self.values) < 2:
            found = f"only {self.values[0]!r}" if self.values else "no value on a scored question"
            raise UsageError(f"{self.tag} has {found} in {self.name}; a contrast needs two values")
        for of, to in pairs:
            if of == to:
                raise UsageError(f"--of {of} --to {to}: a value cannot be compared with itself")
        for value in dict.fromkeys([*(value for pair in pairs for value in pair), *trend]):
            if value not in self.values:
                raise UsageError(
                    f"no scored question of {self.name} has {self.tag} {value!r}; there is "
                    f"{_listed(self.values)}"
                )

    def contrast(
        self, weights: dict[str, float], *, is_trend: bool, level: float, values: Values | None = None
    ) -> Contrast:
        """The contrast of the scores, or of other values of the same questions; NaN leaves a question out."""
        numbers = self.scored.values if values is None else values
        kept = np.flatnonzero(~np.isnan(numbers)).tolist()
        return contrast(
            numbers[kept],
            clusters=self.clusters.part(kept),
            groups=[self.groups[i] for i in kept],
            weights={value: weight for value, weight in weights.items() if weight},
            name="growth from value to value" if is_trend else "difference of means",
            level=level,
        )

    def unread(self, weights: dict[str, float], *, is_trend: bool, level: float) -> UnreadContrast | None:
        """The contrast without trials that have no answer, and with these right or wrong."""
        silent = {row.item.item_id for row in self.run.rows if row.outcome != ANSWERED}
        is_silent = np.array([item.item_id in silent for item in self.scored.items])
        weighed = np.array([weights.get(group, 0.0) for group in self.groups])
        if not (is_silent & (weighed != 0)).any():
            return None

        def with_silent(sign: int) -> Contrast:
            def mark(row: Row) -> float | None:
                if row.correct is None or row.outcome == ANSWERED:
                    return row.correct
                return float(sign * weights.get(row.item.tags.get(self.tag, NO_VALUE), 0.0) > 0)

            values = ScoredQuestions.of(self.run.rows, mark).values
            return self.contrast(weights, is_trend=is_trend, level=level, values=values)

        left = {group for group, is_out in zip(self.groups, is_silent, strict=True) if not is_out}
        answered = np.where(is_silent, np.nan, self.scored.values)
        has_all = all(value in left for value, weight in weights.items() if weight)
        return UnreadContrast(
            answered=self.contrast(weights, is_trend=is_trend, level=level, values=answered)
            if has_all
            else None,
            worst=with_silent(-1),
            best=with_silent(1),
        )

    def levels(self, *, level: float) -> OfRun:
        """The score of each value."""
        found = []
        for value in self.values:
            rows = chosen(self.run.rows, {self.tag: (value,)})
            scored = ScoredQuestions.of(rows, noun=self.clusters.noun)
            if (score := scored.mean(level=level)) is not None:
                n_trials = sum(scored.n_outcomes.values())
                n_unread = n_trials - scored.n_outcomes.get("answered", 0)
                found.append(Level(value=value, score=score, n_unread=n_unread, n_trials=n_trials))
        return OfRun(
            run=self.name,
            levels=tuple(found),
            n_without=self.groups.count(NO_VALUE),
            n_waiting=self.scored.n_unscored,
        )


# --------------------------------------------------------------------------- in words and tables


def section(found: Contrasts) -> Section:
    """What a page shows of contrasts: sentences, then tables with their figures."""
    return Section(title=f"Contrasts of {found.tag}", paragraphs=sentences(found), tables=tables(found))


def sentences(found: Contrasts) -> tuple[str, ...]:
    """What there is to say, one sentence for each contrast first."""
    n_clear, n = sum(one.is_clear for one in found.contrasts), len(found.contrasts)
    said = [text for one in found.contrasts for text in (_said(found, one), _said_unread(found, one)) if text]
    if n > 1:
        of = f" after Holm's adjustment for {'all ' if found.n_hypotheses == n else ''}{found.n_hypotheses}"
        said.append(f"{n_clear} of {n} can be told from zero{of if found.n_hypotheses > 1 else ''}.")
    if found.n_hypotheses < n:
        said.append(
            f"A trend over {len(found.values)} values is a multiple of the difference of its ends: one "
            "hypothesis, counted once."
        )
    for run in found.runs:
        unread = [f"{one.value}: {one.n_unread:,} of {one.n_trials:,}" for one in run.levels if one.n_unread]
        if unread:
            said.append(
                f"Trials without an answer count as wrong ({run.run}, by {found.tag}: {'; '.join(unread)})."
            )
        if run.n_without:
            said.append(f"{several(run.n_without, 'question')} of {run.run} without {found.tag} left out.")
        if run.n_waiting:
            said.append(
                f"{several(run.n_waiting, 'question')} of {run.run} wait for a judge and are left out."
            )
    return (*said, *found.notes)


def _said(found: Contrasts, one: Contrasted) -> str:
    estimate = one.contrast.estimate
    by_value = {level.value: level.score for run in found.runs if run.run == one.run for level in run.levels}
    value = points(estimate.value)
    if one.of:
        means = f"{percent(by_value[one.of].value)} % against {percent(by_value[one.to].value)} %; "
        what = f"{one.run}: {found.tag} {one.of} less {one.to} is {value} points"
    else:
        means = ", ".join(f"{key}: {percent(score.value)} %" for key, score in by_value.items()) + "; "
        what = f"{one.run}: from one {found.tag} to the next {value} points"
    ending = {"clear": "", "not clear": ", which cannot be told from zero"}.get(
        verdict(one.p_holm, estimate), ", and how sure that is cannot be said"
    )
    if has_interval(estimate):
        interval = f"{100 * found.level:g} % interval {interval_text(estimate)}"
        tests = f"p {p_words(one.contrast.p_value)}"
        if found.n_hypotheses > 1:
            tests += f", adjusted by Holm p {p_words(one.p_holm)}"
        interval += f"; {tests}"
    else:
        interval = f"no interval: {estimate.reason}"
    size = (
        f"{several(estimate.n, 'question')} on {several(estimate.n_clusters, found.clustered_by)}, "
        f"{one.contrast.n_shared:,} with more than one value"
    )
    return f"{what}{ending} ({means}{interval}; {size})."


def _said_unread(found: Contrasts, one: Contrasted) -> str:
    """What trials without an answer could make of the contrast; empty where there are none."""
    if one.unread is None:
        return ""
    low, high = one.unread.worst.estimate.value, one.unread.best.estimate.value
    ends = f"with trials without an answer right or wrong {points(low)} to {points(high)} points"
    answered = ""
    if one.unread.answered:
        estimate = one.unread.answered.estimate
        interval = (
            f" ({100 * found.level:g} % interval {interval_text(estimate)})" if has_interval(estimate) else ""
        )
        answered = f"on answered questions alone {points(estimate.value)} points{interval}; "
    ending = ": they could turn the verdict" if one.is_open else ""
    what = f"{one.of} less {one.to}" if one.of else "the trend"
    return f"{one.run}, {what}: {answered}{ends}{ending}."


def tables(found: Contrasts) -> tuple[Table, ...]:
    """The differences, the trends, and the score of each value."""
    pairs = [one for one in found.contrasts if one.of]
    trends = [one for one in found.contrasts if not one.of]
    kept = []
    if pairs:
        kept.append(_differences(found, pairs))
    if trends:
        kept.append(_trends(found, trends))
    return (*kept, _levels(found))


_CLEAR = (
    "Clear after Holm's adjustment, by the number of different hypotheses ({n}); intervals are not adjusted."
)


def _sizes(found: Contrasts) -> tuple[Measure[Contrasted], ...]:
    return (
        count("items", lambda one: one.contrast.estimate.n, "questions"),
        count(f"{found.clustered_by}s", lambda one: one.contrast.estimate.n_clusters),
    )


def _tests(found: Contrasts, title: str) -> tuple[Measure[Contrasted], ...]:
    """The difference and whether it can be told from zero."""

    def said(one: Contrasted) -> Cell:
        return Cell(value=float(one.is_clear), text=verdict(one.p_holm, one.contrast.estimate))

    holm_note = "adjusted for all contrasts of these tables"
    return (
        difference("difference", lambda one: one.contrast.estimate, title),
        p_value("p", lambda one: one.contrast.p_value, note=f"that it is 0, by {found.clustered_by}"),
        p_value("holm", lambda one: one.p_holm, "p, Holm", note=holm_note),
        words("clear", said, "verdict"),
        *(_unread_measures() if any(one.unread for one in found.contrasts) else ()),
    )


def _unread_measures() -> tuple[Measure[Contrasted], ...]:
    """The difference on answered questions, and between what it lies with the others right or wrong."""

    def between(one: Contrasted) -> Cell:
        if one.unread is None:
            return Cell()
        ends = (points(end.estimate.value) for end in (one.unread.worst, one.unread.best))
        return Cell(text=" to ".join(ends), detail="open" if one.is_open else "")

    def answered(one: Contrasted) -> Estimate | None:
        return one.unread.answered.estimate if one.unread and one.unread.answered else None

    note = "with trials without an answer right or wrong; open: they could turn the verdict"
    return (difference("answered", answered, "answered only"), words("bounds", between, "between", note=note))


def _differences(found: Contrasts, pairs: Sequence[Contrasted]) -> Table:
    means = {(run.run, one.value): one.score.value for run in found.runs for one in run.levels}
    group, both = "accuracy, %", f"{found.clustered_by}s that have questions of both"
    return tabulate(
        "contrasts",
        f"Differences between values of {found.tag}",
        label=Column(key="name", title="run"),
        rows=(
            RowSpec(f"{one.run}:{one.of}>{one.to}", one.run, one, detail=f"{one.of} less {one.to}")
            for one in pairs
        ),
        measures=(
            *_sizes(found),
            count("shared", lambda one: one.contrast.n_shared, "with both", note=both),
            share("of", lambda one: means.get((one.run, one.of)), "first", group=group),
            share("to", lambda one: means.get((one.run, one.to)), "second", group=group),
            *_tests(found, "difference, points"),
        ),
        notes=(_CLEAR.format(n=found.n_hypotheses),),
        figure="differences",
    )


def _trends(found: Contrasts, trends: Sequence[Contrasted]) -> Table:
    return tabulate(
        "trends",
        f"Trend over {found.tag}",
        label=Column(key="name", title="run"),
        rows=lines((one.run, one) for one in trends),
        measures=(*_sizes(found), *_tests(found, "per step, points")),
        notes=(
            f"Growth from one value to the next of {', '.join(found.values)}: the straight line through "
            "their means, each value alike, one step apart.",
            _CLEAR.format(n=found.n_hypotheses),
        ),
        figure="differences",
    )


def _levels(found: Contrasts) -> Table:
    return tabulate(
        "levels",
        f"Accuracy by {found.tag}",
        label=Column(key="name", title="run"),
        rows=(
            RowSpec(f"{run.run}:{one.value}", run.run, one, detail=f"{found.tag} {one.value}")
            for run in found.runs
            for one in run.levels
        ),
        measures=(
            count("items", lambda one: one.score.n, "questions"),
            count(f"{found.clustered_by}s", lambda one: one.score.n_clusters),
            count("unread", lambda one: one.n_unread, "no answer", note="trials that count as wrong"),
            share("accuracy", lambda one: one.score),
        ),
    )


# --------------------------------------------------------------------------- files


def write_contrast_csv(found: Contrasts, path: Path) -> None:
    """Write one row for each contrast: run, values, difference with its interval, and tests; 0 to 1.

    Raises:
        StoreError: the file cannot be written.
    """
    noun = f"{found.clustered_by}s"
    names = ("run", "tag", "of", "to", "questions", noun, f"shared_{noun}", "difference", "low", "high")
    ends_of = ("answered_only", "worst", "best")
    rows: list[tuple[str | int | float | None, ...]] = [(*names, "p", "p_holm", "verdict", *ends_of)]
    for one in found.contrasts:
        estimate = one.contrast.estimate
        ends = (estimate.low, estimate.high) if has_interval(estimate) else (None, None)
        unread = (one.unread.answered, one.unread.worst, one.unread.best) if one.unread else (None,) * 3
        rows.append(
            (
                one.run,
                found.tag,
                one.of or "trend",
                one.to,
                estimate.n,
                estimate.n_clusters,
                one.contrast.n_shared,
                estimate.value,
                *ends,
                one.contrast.p_value,
                one.p_holm,
                verdict(one.p_holm, estimate),
                *(bound.estimate.value if bound else None for bound in unread),
            )
        )
    write_file(path, csv_text(rows))


def write_contrast_json(found: Contrasts, path: Path) -> None:
    """Write sentences, tables and all figures as one JSON object; a number that does not exist is null.

    Raises:
        StoreError: the file cannot be written.
    """
    shown = section(found)
    whole = object_as_json(JSON_FORMAT, sentences=shown.paragraphs, contrasts=found, tables=shown.tables)
    write_file(path, whole)
