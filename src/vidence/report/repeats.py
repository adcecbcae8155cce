"""Runs that ask every question several times: how much the score varies."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.records import Clusters, Estimate
from vidence.report.papers import declared
from vidence.report.results import Row, Run
from vidence.report.scores import Aggregate, aggregates, few_note, levels
from vidence.statistics.intervals import SHARE, mean_interval
from vidence.statistics.repeats import Components, RepeatSummary, components, summarise
from vidence.tables.table import (
    Cell,
    Column,
    RowSpec,
    Table,
    Value,
    count,
    number,
    percent,
    share,
    tabulate,
    videos_cell,
)

REPEAT_TABLES = ("repeats", "repeats:tags")


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """The questions of an aggregate with a score in every repeat.

    `values`, shape (n_items, n_repeats), are their scores. `rows` are each question's trials in order of
    repeats.
    """

    rows: tuple[tuple[Row, ...], ...]
    values: NDArray[np.float64]
    clusters: Clusters
    groups: tuple[str, ...] | None

    @classmethod
    def of(cls, aggregate: Aggregate) -> "Repeated | None":
        """Return None for fewer than two repeats, or if no question has a score in each."""
        values: dict[str, dict[int, Row]] = {}
        for row in aggregate.rows:
            if row.correct is not None:
                values.setdefault(row.item.item_id, {})[row.trial.repeat] = row
        repeats = sorted({repeat for some in values.values() for repeat in some})
        places = [
            i for i, item in enumerate(aggregate.scored.items) if len(values[item.item_id]) == len(repeats)
        ]
        if len(repeats) < 2 or not places:
            return None
        items = [aggregate.scored.items[i] for i in places]
        rows = tuple(tuple(values[item.item_id][repeat] for repeat in repeats) for item in items)
        return cls(
            rows=rows,
            values=np.array([[row.correct for row in some] for some in rows], np.float64),
            clusters=aggregate.scored.clusters.part(places),
            groups=None if aggregate.groups is None else tuple(aggregate.groups[i] for i in places),
        )

    @property
    def n_repeats(self) -> int:
        """Return the number of repeats."""
        return int(self.values.shape[1])

    def summary(self, *, level: float) -> RepeatSummary:
        """Return the repeats' scores, averaged as the aggregate is, with their t interval."""
        return summarise(self.scores, bounds=SHARE, level=level)

    @property
    def scores(self) -> list[float]:
        """Return the score of each repeat, averaged as the aggregate is."""
        return [self.average(self.values[:, i]).value for i in range(self.n_repeats)]

    def components(self, *, level: float) -> Components:
        """Return the variance components of the mean."""
        return components(self.values, clusters=self.clusters, groups=self.groups, level=level)

    def average(self, values: NDArray[np.float64], *, level: float = 0.95) -> Estimate:
        """Average a value per question as the aggregate is, with its interval."""
        return mean_interval(values, clusters=self.clusters, groups=self.groups, level=level)


def repeat_tables(run: Run, *, level: float = 0.95) -> tuple[Table, ...]:
    """Return the headline in each repeat, its uncertainty, and the same for every tag.

    Only questions with a score in every repeat count. Empty for a run without repeats.

    Args:
        run: the run.
        level: coverage of the intervals.
    """
    lines = aggregates(run)
    headline = Repeated.of(lines[0].about)
    if headline is None:
        return ()
    return (_headline(headline, label=lines[0].label, level=level), _by_tag(run, lines, level=level))


def _headline(repeated: Repeated, *, label: str, level: float) -> Table:
    summary, parts = repeated.summary(level=level), repeated.components(level=level)
    rows: list[tuple[str, str, Value | Cell]] = [
        (f"repeat:{repeat}", f"repeat {repeat + 1}", score) for repeat, score in enumerate(repeated.scores)
    ]
    errors = (
        ("error-repeats", "standard error from repeats, points", parts.repeat_error),
        ("error-questions", "standard error from the sample of questions, points", parts.sampling_error),
    )
    rows += [
        ("mean", "mean, t interval over repeats", summary.mean),
        (
            *("variance", "sample variance, squared points"),
            Cell(value=_squared_points(summary.variance), kind="points"),
        ),
        ("total", "mean, other questions too", parts.mean),
        *((key, words, percent(error)) for key, words, error in errors),
        ("questions", "questions with a score in every repeat", parts.n_items),
        ("videos", "videos", videos_cell(parts.n_clusters)),
    ]
    return tabulate(
        "repeats",
        "Repeats",
        label=Column(key="name", title=""),
        rows=(RowSpec(key, words, value) for key, words, value in rows),
        measures=(share("value", lambda value: value, label),),
        notes=(
            "The t interval says how far the score moves when the same questions are asked again, as in "
            "table 11 of HumanPCR; the line 'other questions too' also covers other questions and videos.",
            few_note([parts.n_clusters]),
        ),
    )


def _alike(part: Aggregate) -> str:
    return "" if part.groups is None else f"{len(set(part.groups))} groups, each alike"


def _squared_points(variance: float) -> float:
    return 1e4 * variance


def _by_tag(run: Run, lines: Sequence[RowSpec[Aggregate]], *, level: float) -> Table:
    """Return mean, variance and t interval of every aggregate and tag value.

    A value that is a column of the paper's table is averaged as that column is.
    """
    averages = {
        (tag, values[0]): column.average
        for columns in declared(run.plan.benchmark).values()
        for column in columns
        for tag, values in column.where.items()
        if column.of == "accuracy" and len(column.where) == len(values) == 1
    }
    named = [*lines]
    for tag, some in levels(run):
        for line in some:
            part = Aggregate.of(
                line.about.rows, averages.get((tag, line.key), "micro"), noun=line.about.scored.clusters.noun
            )
            named.append(RowSpec(f"{tag}:{line.key}", f"{tag}: {line.label}", part, detail=_alike(part)))
    entries = [(line, Repeated.of(line.about)) for line in named]
    rows = [
        RowSpec(line.key, line.label, repeated, detail=line.detail)
        for line, repeated in entries
        if repeated is not None
    ]
    return tabulate(
        "repeats:tags",
        "Repeats by aggregate and tag",
        label=Column(key="name", title="questions"),
        rows=rows,
        measures=(
            count("items", lambda repeated: len(repeated.rows), "questions"),
            count("videos", lambda repeated: videos_cell(len(set(repeated.clusters)))),
            share("mean", lambda r: r.summary(level=level).mean, note="t interval over repeats"),
            number(
                "variance",
                lambda repeated: _squared_points(repeated.summary(level=level).variance),
                kind="points",
                note="sample variance over repeats, squared points",
            ),
            number(
                "sd",
                lambda repeated: 100 * math.sqrt(repeated.summary(level=level).variance),
                "standard deviation",
                kind="points",
                note="its root, points",
            ),
            share(
                "total",
                lambda repeated: repeated.components(level=level).mean,
                "other questions too",
                note="the same mean; its interval covers other questions and videos",
            ),
        ),
        notes=(few_note(len(set(line.about.clusters)) for line in rows),),
    )
