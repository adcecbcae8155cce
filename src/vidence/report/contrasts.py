"""Contrasts between values of a tag within runs, such as hardest minus easiest questions."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from vidence.errors import UsageError
from vidence.media.whole import write_file
from vidence.records import ClusterNoun, Clusters, Estimate, Record, source_noun
from vidence.report.pairing import sources_note
from vidence.report.provenance import asked_sentences, is_asked
from vidence.report.results import Run
from vidence.report.scores import ANSWERED, NO_VALUE, ScoredQuestions, check_answered, chosen, natural_order
from vidence.report.sections import Section
from vidence.report.side_by_side import run_names
from vidence.statistics.contrasts import Contrast, contrast, trend_weights
from vidence.statistics.intervals import Values
from vidence.statistics.paired import holm, verdict
from vidence.tables.export import csv_text
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
    """The questions of a run with one value of the tag; `n_unread` counts its unanswered trials."""

    value: str
    score: Estimate
    n_unread: int
    n_trials: int


class UnreadContrast(Record):
    """How a contrast depends on unanswered trials, which count as wrong.

    `answered` is the contrast on the questions answered in every repeat; None if a value has none. `worst`
    counts unanswered trials as wrong where the contrast adds and right where it subtracts, `best` the
    reverse: complete answers would have given a value between these.
    """

    answered: Contrast | None
    worst: Contrast
    best: Contrast


class Contrasted(Record):
    """A difference between two values of the tag in one run, or its trend, adjusted for all that are shown.

    The difference is `of` minus `to`. For a trend both are empty, and the estimate is the change per value.
    `unread` is None if every trial has an answer.
    """

    run: str
    of: str
    to: str
    contrast: Contrast
    p_holm: float = 1.0
    is_clear: bool = False
    unread: UnreadContrast | None = None

    def adjusted(self, p_holm: float) -> "Contrasted":
        """Return the contrast with this adjusted p-value and the resulting verdict."""
        is_clear = verdict(p_holm, self.contrast.estimate) == "clear"
        return msgspec.structs.replace(self, p_holm=p_holm, is_clear=is_clear)

    @property
    def name(self) -> str:
        """Return the name of the contrast."""
        return f"{self.of} less {self.to}" if self.of else "the trend"

    @property
    def is_open(self) -> bool:
        """Whether unanswered trials could reverse the unadjusted result."""
        if self.unread is None:
            return False
        value, message = self.contrast.estimate.value, self.contrast.verdict
        return any(
            entry.verdict != message or (message == "clear" and entry.estimate.value * value < 0)
            for entry in (self.unread.worst, self.unread.best)
        )

    @property
    def between(self) -> str:
        """Return the bounds for complete answers; empty if all trials have answers."""
        if self.unread is None:
            return ""
        return " to ".join(points(entry.estimate.value) for entry in (self.unread.worst, self.unread.best))


class OfRun(Record):
    """The values of the tag in one run. `n_without` counts scored questions without the tag."""

    run: str
    levels: tuple[Level, ...]
    n_without: int
    n_waiting: int


class Contrasts(Record):
    """Contrasts of a tag in one or more runs; `values` are the tag's values in order.

    Clusters are sources if videos of any run share one. `n_hypotheses` counts contrasts that are not
    multiples of others, as the trend over three values is of the difference of its ends.
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
    """Return differences between values of a tag within each run, and the trend over its values.

    Unreadable, refused and failed trials count as wrong; a question with repeats counts as their mean.
    Questions without the tag are left out.

    Args:
        runs: one or more runs; their questions may differ.
        tag: the tag.
        pairs: differences (of, to): the first minus the second.
        has_trend: also estimate the change from one value to the next; numbers are ordered by size.
        level: coverage of the intervals; 1 minus the level of the tests.

    Raises:
        UsageError: no run, nothing to contrast, a tag that a run lacks, a value that the tag does not have,
            a value compared with itself, or fewer than two values.
    """
    if not runs:
        raise UsageError("no run; name a run folder or more")
    names = run_names(runs)
    noun = source_noun(row.item for run in runs for row in run.rows)
    tagged = [_Tagged(name, run, tag, noun=noun) for name, run in zip(names, runs, strict=True)]
    values = sorted({value for element in tagged for value in element.values}, key=natural_order)
    if not pairs and not has_trend:
        raise UsageError(f"nothing to contrast; {tag} is {_listed(values)}: say --of and --to, or --trend")
    for entry in tagged:
        entry.check(pairs, values if has_trend else ())
    wanted = [(of, to, {of: 1.0, to: -1.0}) for of, to in pairs]
    if has_trend:
        wanted.append(("", "", trend_weights(values)))
    contrasteds = [element.contrasted(*what, level=level) for element in tagged for what in wanted]
    p_values = {_hypothesis(element): element.contrast.p_value for element in contrasteds}
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    return Contrasts(
        tag=tag,
        values=tuple(values),
        level=level,
        clustered_by=noun,
        runs=tuple(element.levels(level=level) for element in tagged),
        contrasts=tuple(element.adjusted(adjusted[_hypothesis(element)]) for element in contrasteds),
        n_hypotheses=len(adjusted),
        notes=(
            *sources_note([item for element in tagged for item in element.scored.items]),
            *asked_sentences((element.run, element.name) for element in tagged if not is_asked(element.run)),
        ),
    )


def _hypothesis(entry: Contrasted) -> tuple[str, tuple[tuple[str, float], ...]]:
    """Return the run and the normalised weights: equal for contrasts that are zero together."""
    (_, first), *_ = weights = sorted(entry.contrast.weights.items())
    return entry.run, tuple((value, round(weight / first, 9)) for value, weight in weights)


def _listed(values: Sequence[str]) -> str:
    return ", ".join(values[:8]) + (", ..." if len(values) > 8 else "")


class _Tagged:
    """The scored questions of one run that have the tag."""

    def __init__(self, name: str, run: Run, tag: str, *, noun: ClusterNoun) -> None:
        check_answered(run)
        known = dict.fromkeys(word for row in run.rows for word in row.item.tags)
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
        """Reject contrasts that this run cannot provide."""
        if len(self.values) < 2:
            text = f"only {self.values[0]!r}" if self.values else "no value on a scored question"
            raise UsageError(f"{self.tag} has {text} in {self.name}; a contrast needs two values")
        for of, to in pairs:
            if of == to:
                raise UsageError(f"--of {of} --to {to}: a value cannot be compared with itself")
        for value in dict.fromkeys([*(value for pair in pairs for value in pair), *trend]):
            if value not in self.values:
                raise UsageError(
                    f"no scored question of {self.name} has {self.tag} {value!r}; there is "
                    f"{_listed(self.values)}"
                )

    def contrasted(self, of: str, to: str, weights: dict[str, float], *, level: float) -> Contrasted:
        """Return the contrast of the scores, without unanswered trials, and with these right or wrong."""
        values, name = self.scored.values, "difference of means" if of else "growth from value to value"
        # What share of the trials of each question has no answer, and so counts as wrong.
        silent = ScoredQuestions.of(
            self.run.rows, lambda row: None if row.correct is None else float(row.outcome != ANSWERED)
        ).values

        def contrast_of(numbers: Values) -> Contrast:
            kept = np.flatnonzero(~np.isnan(numbers)).tolist()
            return contrast(
                numbers[kept],
                clusters=self.clusters.part(kept),
                groups=[self.groups[i] for i in kept],
                weights={value: weight for value, weight in weights.items() if weight},
                name=name,
                level=level,
            )

        result, unread = contrast_of(values), None
        weighed = np.array([weights.get(group, 0.0) for group in self.groups])
        if (silent * weighed).any():
            left = {group for group, share in zip(self.groups, silent, strict=True) if not share}
            answered = np.where(silent > 0, np.nan, values)
            unread = UnreadContrast(
                answered=contrast_of(answered) if left.issuperset(result.weights) else None,
                worst=contrast_of(values + silent * (weighed < 0)),
                best=contrast_of(values + silent * (weighed > 0)),
            )
        return Contrasted(run=self.name, of=of, to=to, contrast=result, unread=unread)

    def levels(self, *, level: float) -> OfRun:
        """Return the score of each value."""
        levels = []
        for value in self.values:
            rows = chosen(self.run.rows, {self.tag: (value,)})
            scored = ScoredQuestions.of(rows, noun=self.clusters.noun)
            if (score := scored.mean(level=level)) is not None:
                n_trials = sum(scored.n_outcomes.values())
                n_unread = n_trials - scored.n_outcomes.get("answered", 0)
                levels.append(Level(value=value, score=score, n_unread=n_unread, n_trials=n_trials))
        return OfRun(
            run=self.name,
            levels=tuple(levels),
            n_without=self.groups.count(NO_VALUE),
            n_waiting=self.scored.n_unscored,
        )


# --------------------------------------------------------------------------- in words and tables


def section(contrasts: Contrasts) -> Section:
    """Return the section of a page: sentences, then tables with figures."""
    return Section(
        title=f"Contrasts of {contrasts.tag}", paragraphs=sentences(contrasts), tables=tables(contrasts)
    )


def sentences(contrasts: Contrasts) -> tuple[str, ...]:
    """Describe the contrasts, one sentence each."""
    n_clear, n = sum(entry.is_clear for entry in contrasts.contrasts), len(contrasts.contrasts)
    sentences = [
        text
        for entry in contrasts.contrasts
        for text in (_said(contrasts, entry), _said_unread(contrasts, entry))
        if text
    ]
    if n > 1:
        of = (
            " after Holm's adjustment for "
            f"{'all ' if contrasts.n_hypotheses == n else ''}{contrasts.n_hypotheses}"
        )
        sentences.append(
            f"{n_clear} of {n} distinguishable from zero{of if contrasts.n_hypotheses > 1 else ''}."
        )
    if contrasts.n_hypotheses < n:
        sentences.append(
            f"A trend over {len(contrasts.values)} values is a multiple of the difference of its ends: one "
            "hypothesis, counted once."
        )
    for run in contrasts.runs:
        unread = [
            f"{level.value}: {level.n_unread:,} of {level.n_trials:,}"
            for level in run.levels
            if level.n_unread
        ]
        if unread:
            sentences.append(
                f"Trials without an answer count as wrong ({run.run}, by {contrasts.tag}: "
                f"{'; '.join(unread)})."
            )
        if run.n_without:
            sentences.append(
                f"{several(run.n_without, 'question')} of {run.run} without {contrasts.tag} left out."
            )
        if run.n_waiting:
            sentences.append(
                f"{several(run.n_waiting, 'question')} of {run.run} wait for a judge and are left out."
            )
    return (*sentences, *contrasts.notes)


def _said(contrasts: Contrasts, entry: Contrasted) -> str:
    estimate = entry.contrast.estimate
    by_value = {
        level.value: level.score for run in contrasts.runs if run.run == entry.run for level in run.levels
    }
    value = points(estimate.value)
    if entry.of:
        means = f"{percent(by_value[entry.of].value)} % against {percent(by_value[entry.to].value)} %; "
        what = f"{entry.run}: {contrasts.tag} {entry.of} less {entry.to} is {value} points"
    else:
        means = ", ".join(f"{key}: {percent(score.value)} %" for key, score in by_value.items()) + "; "
        what = f"{entry.run}: from one {contrasts.tag} to the next {value} points"
    ending = {"clear": "", "not clear": ", which is not distinguishable from zero"}.get(
        verdict(entry.p_holm, estimate), ", with unknown uncertainty"
    )
    interval = f"no interval: {estimate.reason}"
    if has_interval(estimate):
        interval = f"{_interval(contrasts, estimate)}; p {p_words(entry.contrast.p_value)}"
        if contrasts.n_hypotheses > 1:
            interval += f", adjusted by Holm p {p_words(entry.p_holm)}"
    size = (
        f"{several(estimate.n, 'question')} on {several(estimate.n_clusters, contrasts.clustered_by)}, "
        f"{entry.contrast.n_shared:,} with more than one value"
    )
    return f"{what}{ending} ({means}{interval}; {size})."


def _said_unread(contrasts: Contrasts, entry: Contrasted) -> str:
    """Describe the bounds of the contrast for complete answers; empty if all trials have answers."""
    if entry.unread is None:
        return ""
    answered = ""
    if entry.unread.answered:
        estimate = entry.unread.answered.estimate
        interval = f" ({_interval(contrasts, estimate)})" if has_interval(estimate) else ""
        answered = f"on answered questions alone {points(estimate.value)} points{interval}; "
    ending = ": they could turn the verdict" if entry.is_open else ""
    ends = f"with trials without an answer right or wrong {entry.between} points"
    return f"{entry.run}, {entry.name}: {answered}{ends}{ending}."


def _interval(contrasts: Contrasts, estimate: Estimate) -> str:
    return f"{100 * contrasts.level:g} % interval {interval_text(estimate)}"


def tables(contrasts: Contrasts) -> tuple[Table, ...]:
    """Return tables of the contrasts and of the score of each value."""
    return _contrasts(contrasts), _levels(contrasts)


def _contrasts(contrasts: Contrasts) -> Table:
    means = {(run.run, level.value): level.score.value for run in contrasts.runs for level in run.levels}
    group, sources = "accuracy, %", f"{contrasts.clustered_by}s"

    def of_unread(entry: Contrasted) -> Estimate | None:
        return entry.unread.answered.estimate if entry.unread and entry.unread.answered else None

    measures: list[Measure[Contrasted]] = [
        count("items", lambda entry: entry.contrast.estimate.n, "questions"),
        count(sources, lambda entry: entry.contrast.estimate.n_clusters),
        count(
            "shared", lambda entry: entry.contrast.n_shared, "shared", note=f"{sources} with several values"
        ),
        share("of", lambda entry: means.get((entry.run, entry.of)), "first", group=group),
        share("to", lambda entry: means.get((entry.run, entry.to)), "second", group=group),
        difference("difference", lambda entry: entry.contrast.estimate, "difference, points"),
        p_value("p", lambda entry: entry.contrast.p_value, note=f"that it is 0, by {contrasts.clustered_by}"),
        p_value(
            "holm", lambda entry: entry.p_holm, "p, Holm", note="adjusted for all contrasts of this table"
        ),
        words(
            "clear",
            lambda entry: Cell(
                value=float(entry.is_clear), text=verdict(entry.p_holm, entry.contrast.estimate)
            ),
            "verdict",
        ),
    ]
    if any(entry.unread for entry in contrasts.contrasts):
        measures += [
            difference("answered", of_unread, "answered only"),
            words(
                "bounds",
                lambda entry: Cell(text=entry.between, detail="open" if entry.is_open else ""),
                "between",
                note="with trials without an answer right or wrong; open: they could turn the verdict",
            ),
        ]
    has_trend = not all(entry.of for entry in contrasts.contrasts)
    return tabulate(
        "contrasts",
        f"Contrasts of {contrasts.tag}",
        label=Column(key="name", title="run"),
        rows=(
            RowSpec(f"{entry.run}:{entry.of}>{entry.to}", entry.run, entry, detail=entry.name)
            for entry in contrasts.contrasts
        ),
        measures=measures,
        notes=(
            f"The trend is the growth from one value to the next of {', '.join(contrasts.values)}: the "
            "straight line through their means, each value alike, one step apart."
            if has_trend
            else "",
            "Clear after Holm's adjustment, by the number of different hypotheses "
            f"({contrasts.n_hypotheses}); intervals are not adjusted.",
        ),
        figure="differences",
    )


def _levels(contrasts: Contrasts) -> Table:
    return tabulate(
        "levels",
        f"Accuracy by {contrasts.tag}",
        label=Column(key="name", title="run"),
        rows=(
            RowSpec(f"{run.run}:{level.value}", run.run, level, detail=f"{contrasts.tag} {level.value}")
            for run in contrasts.runs
            for level in run.levels
        ),
        measures=(
            count("items", lambda level: level.score.n, "questions"),
            count(f"{contrasts.clustered_by}s", lambda level: level.score.n_clusters),
            count("unread", lambda level: level.n_unread, "no answer", note="trials that count as wrong"),
            share("accuracy", lambda level: level.score),
        ),
    )


# --------------------------------------------------------------------------- files


def write_contrast_csv(contrasts: Contrasts, path: Path) -> None:
    """Write one row per contrast: run, values, difference with interval, tests; shares from 0 to 1.

    Raises:
        StoreError: the file cannot be written.
    """
    rows = [_csv_row(contrasts, entry) for entry in contrasts.contrasts]
    write_file(path, csv_text([rows[0], *(row.values() for row in rows)]))


def _csv_row(contrasts: Contrasts, entry: Contrasted) -> dict[str, str | int | float | None]:
    estimate, noun = entry.contrast.estimate, f"{contrasts.clustered_by}s"
    has_ends, unread = has_interval(estimate), entry.unread
    return {
        "run": entry.run,
        "tag": contrasts.tag,
        "of": entry.of or "trend",
        "to": entry.to,
        "questions": estimate.n,
        noun: estimate.n_clusters,
        f"shared_{noun}": entry.contrast.n_shared,
        "difference": estimate.value,
        "low": estimate.low if has_ends else None,
        "high": estimate.high if has_ends else None,
        "p": entry.contrast.p_value,
        "p_holm": entry.p_holm,
        "verdict": verdict(entry.p_holm, estimate),
        "answered_only": unread.answered.estimate.value if unread and unread.answered else None,
        "worst": unread.worst.estimate.value if unread else None,
        "best": unread.best.estimate.value if unread else None,
    }
