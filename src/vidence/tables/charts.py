"""Curves, distributions and scatter plots as records, and their data as tables."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from vidence.records import Estimate, Record
from vidence.tables.table import Measure, RowSpec, Table, count, number, tabulate


class Point(Record):
    """A point of a curve: `x` (such as a number of frames) and an estimate."""

    x: float
    y: Estimate


class Series(Record):
    """One curve of a chart, its points in the order of x."""

    label: str
    points: tuple[Point, ...]


def curves(entries: Iterable[tuple[str, Iterable[tuple[float, Estimate]]]]) -> tuple[Series, ...]:
    """Return curves by label, each with its estimates along x."""
    return tuple(
        Series(label=label, points=tuple(Point(x=float(x), y=y) for x, y in points))
        for label, points in entries
    )


class Chart(Record, omit_defaults=True):
    """Curves with intervals. `y_marks` are horizontal lines with their words, such as chance.

    `x_labels` are words in place of numbers along x, such as the names of levels.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    is_share: bool = True
    is_log: bool = False
    y_marks: tuple[tuple[float, str], ...] = ()
    x_labels: tuple[tuple[float, str], ...] = ()
    is_bars: bool = False
    """Draw bars instead of curves, for a distribution over integers."""
    note: str = ""


class Group(Record):
    """The values of one group, such as those of the correct answers."""

    label: str
    values: tuple[float, ...]


class Violins(Record, omit_defaults=True):
    """Distributions next to each other, each on the range ``[low, high]``."""

    name: str
    title: str
    y_title: str
    groups: tuple[Group, ...]
    low: float = 0.0
    high: float = 1.0
    note: str = ""


class Dot(Record, omit_defaults=True):
    """A named point of a scatter plot; `kind` is its index among the plot's kinds."""

    label: str
    x: Estimate
    y: Estimate
    kind: int = 0


class Scatter(Record, omit_defaults=True):
    """Named points with intervals in both directions, such as tasks or benchmarks.

    `kinds` are words for kinds of points, which get marks of their own; with `is_log` the axis across is one
    of logarithms, and all of its values are above 0.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    dots: tuple[Dot, ...]
    x_is_share: bool = False
    y_is_share: bool = True
    is_log: bool = False
    kinds: tuple[str, ...] = ()
    note: str = ""


Statement: TypeAlias = Table | Chart | Violins | Scatter

_QUANTILES = (5, 25, 50, 75, 95)


def table_of(statement: Statement) -> Table:
    """Return a statement as a table; a figure as its data."""
    match statement:
        case Table():
            return statement
        case Chart():
            return _numbers_of_chart(statement)
        case Violins():
            return _numbers_of_violins(statement)
        case Scatter():
            return _numbers_of_scatter(statement)


def _numbers_of_chart(chart: Chart) -> Table:
    def curve(i: int, series: Series) -> Measure[float]:
        values = {point.x: point.y for point in series.points}
        return number(f"series:{i}", values.get, series.label, kind="share" if chart.is_share else "number")

    words_at = dict(chart.x_labels)
    across = sorted({point.x for series in chart.series for point in series.points})
    return tabulate(
        chart.name,
        chart.title,
        label=chart.x_title,
        rows=(RowSpec(f"x:{x:g}", words_at.get(x, f"{x:g}"), x) for x in across),
        measures=tuple(curve(i, series) for i, series in enumerate(chart.series)),
        notes=(
            chart.note,
            *(
                f"{label}: {100 * y:.1f} %." if chart.is_share else f"{label}: {y:g}."
                for y, label in chart.y_marks
            ),
        ),
    )


def _numbers_of_violins(violins: Violins) -> Table:
    def quantile(q: int) -> Measure[Group]:
        def of(group: Group) -> float | None:
            return float(np.percentile(group.values, q)) if group.values else None

        return number(f"q{q}", of, f"{q} % quantile")

    return tabulate(
        violins.name,
        violins.title,
        label=violins.y_title,
        rows=(RowSpec(f"group:{i}", group.label, group) for i, group in enumerate(violins.groups)),
        measures=(count("n", lambda group: len(group.values), "values"), *map(quantile, _QUANTILES)),
        notes=(violins.note,),
    )


def _numbers_of_scatter(scatter: Scatter) -> Table:
    return tabulate(
        scatter.name,
        scatter.title,
        label="",
        rows=(
            RowSpec(f"dot:{i}", dot.label, dot, detail=scatter.kinds[dot.kind] if scatter.kinds else "")
            for i, dot in enumerate(scatter.dots)
        ),
        measures=(
            number("x", lambda dot: dot.x, scatter.x_title, kind="share" if scatter.x_is_share else "number"),
            number("y", lambda dot: dot.y, scatter.y_title, kind="share" if scatter.y_is_share else "number"),
        ),
        notes=(scatter.note,),
    )
