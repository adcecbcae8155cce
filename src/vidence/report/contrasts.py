"""Values of a tag against each other inside runs, such as the hardest questions less the easiest."""

from collections.abc import Sequence
from pathlib import Path

from vidence.errors import UsageError
from vidence.media.whole import write_file
from vidence.records import ClusterNoun, Clusters, Estimate, OutcomeName, Record, source_noun
from vidence.report.pairing import sources_note
from vidence.report.provenance import asked_sentences, is_asked
from vidence.report.results import Run
from vidence.report.scores import ANSWERED, NO_VALUE, ScoredQuestions, check_answered, natural_order
from vidence.report.sections import Section
from vidence.report.side_by_side import run_names
from vidence.statistics.contrasts import Contrast, contrast, trend_weights
from vidence.statistics.intervals import mean_interval
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


class Contrasted(Record):
    """A difference between two values of the tag in one run, or its trend, adjusted for all that are shown.

    `of` and `to` are the values: the difference is `of` less `to`. For a trend both are empty, and the
    estimate is the growth from one value to the next.
    """

    run: str
    of: str
    to: str
    contrast: Contrast
    p_holm: float
    is_clear: bool


class OfRun(Record):
    """The values of the tag in one run. `n_without` counts its scored questions that lack the tag."""

    run: str
    levels: tuple[Level, ...]
    n_without: int
    n_waiting: int


class Contrasts(Record):
    """Contrasts of a tag in one run or several; `values` are those of the tag in their order.

    Clusters are sources where videos of any of these runs share one.
    """

    tag: str
    values: tuple[str, ...]
    level: float
    clustered_by: ClusterNoun
    runs: tuple[OfRun, ...]
    contrasts: tuple[Contrasted, ...]
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
        (one.name, of, to, one.contrast(weights, is_trend=not of, level=level))
        for one in tagged
        for of, to, weights in wanted
    ]
    adjusted = holm([one.p_value for *_, one in found])
    return Contrasts(
        tag=tag,
        values=tuple(values),
        level=level,
        clustered_by=noun,
        runs=tuple(one.levels(level=level) for one in tagged),
        contrasts=tuple(
            Contrasted(
                run=name,
                of=of,
                to=to,
                contrast=one,
                p_holm=p_holm,
                is_clear=verdict(p_holm, one.estimate) == "clear",
            )
            for (name, of, to, one), p_holm in zip(found, adjusted, strict=True)
        ),
        notes=(
            *sources_note([item for one in tagged for item in one.scored.items]),
            *asked_sentences((one.run, one.name) for one in tagged if not is_asked(one.run)),
        ),
    )


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

    def contrast(self, weights: dict[str, float], *, is_trend: bool, level: float) -> Contrast:
        return contrast(
            self.scored.values,
            clusters=self.clusters,
            groups=self.groups,
            weights=weights,
            name="growth from value to value" if is_trend else "difference of means",
            level=level,
        )

    def levels(self, *, level: float) -> OfRun:
        outcomes: dict[str, list[OutcomeName]] = {value: [] for value in self.values}
        scored = {item.item_id for item in self.scored.items}
        for row in self.run.rows:
            value = row.item.tags.get(self.tag, NO_VALUE)
            if value in outcomes and row.item.item_id in scored:
                outcomes[value].append(row.outcome)
        found = []
        for value in self.values:
            kept = [i for i, group in enumerate(self.groups) if group == value]
            score = mean_interval(self.scored.values[kept], clusters=self.clusters.part(kept), level=level)
            n_unread = sum(outcome != ANSWERED for outcome in outcomes[value])
            found.append(Level(value=value, score=score, n_unread=n_unread, n_trials=len(outcomes[value])))
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
    said = [_said(found, one) for one in found.contrasts]
    if n > 1:
        said.append(f"{n_clear} of {n} can be told from zero after Holm's adjustment for all {n}.")
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
        if len(found.contrasts) > 1:
            tests += f", adjusted by Holm p {p_words(one.p_holm)}"
        interval += f"; {tests}"
    else:
        interval = f"no interval: {estimate.reason}"
    size = (
        f"{several(estimate.n, 'question')} on {several(estimate.n_clusters, found.clustered_by)}, "
        f"{one.contrast.n_shared:,} with more than one value"
    )
    return f"{what}{ending} ({means}{interval}; {size})."


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


_CLEAR = "Clear after Holm's adjustment for all {n} contrasts; intervals are not adjusted."


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
    )


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
        notes=(_CLEAR.format(n=len(found.contrasts)),),
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
            _CLEAR.format(n=len(found.contrasts)),
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
    rows: list[tuple[str | int | float | None, ...]] = [(*names, "p", "p_holm", "verdict")]
    for one in found.contrasts:
        estimate = one.contrast.estimate
        ends = (estimate.low, estimate.high) if has_interval(estimate) else (None, None)
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
