"""Curves, distributions and scatters as records, and the numbers behind them as tables."""

from typing import TypeAlias

import numpy as np

from vidence.records import Estimate, Record
from vidence.tables.table import Column, Kind, Row, Table


class Point(Record):
    """One point of a curve: `x` (such as a number of frames) and an estimate."""

    x: float
    y: Estimate


class Series(Record):
    """One curve of a chart, its points in the order of x."""

    label: str
    points: tuple[Point, ...]


class Chart(Record, omit_defaults=True):
    """Curves with intervals. `marks` are vertical lines with their words, such as a plateau.

    `y_marks` are horizontal ones, such as chance; `x_labels` are words in place of numbers along x, such as
    the names of levels.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    is_share: bool = True
    is_log: bool = False
    marks: tuple[tuple[float, str], ...] = ()
    y_marks: tuple[tuple[float, str], ...] = ()
    x_labels: tuple[tuple[float, str], ...] = ()
    note: str = ""


class Group(Record):
    """The values of one group, such as those of the correct answers."""

    label: str
    values: tuple[float, ...]


class Violins(Record, omit_defaults=True):
    """Distributions side by side, each on the range ``[low, high]``."""

    name: str
    title: str
    y_title: str
    groups: tuple[Group, ...]
    low: float = 0.0
    high: float = 1.0
    note: str = ""


class Dot(Record):
    """One named point of a scatter."""

    label: str
    x: Estimate
    y: Estimate


class Scatter(Record, omit_defaults=True):
    """Named points with intervals in both directions, such as tasks or benchmarks."""

    name: str
    title: str
    x_title: str
    y_title: str
    dots: tuple[Dot, ...]
    x_is_share: bool = False
    y_is_share: bool = True
    note: str = ""


Statement: TypeAlias = Table | Chart | Violins | Scatter

_QUANTILES = (5, 25, 50, 75, 95)


def table_of(statement: Statement) -> Table:
    """A statement as a table; of a figure, the numbers that it is drawn from."""
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
    found = [{point.x: point.y for point in series.points} for series in chart.series]
    words_at = dict(chart.x_labels)
    notes = [f"{label}: {x:g}." for x, label in chart.marks]
    notes += [
        f"{label}: {100 * y:.1f} %." if chart.is_share else f"{label}: {y:g}." for y, label in chart.y_marks
    ]
    kind: Kind = "share" if chart.is_share else "number"
    return Table(
        name=chart.name,
        title=chart.title,
        label=chart.x_title,
        columns=tuple(
            Column(key=f"series:{i}", title=s.label, kind=kind) for i, s in enumerate(chart.series)
        ),
        rows=tuple(
            Row(key=f"x:{x:g}", label=words_at.get(x, f"{x:g}"), values=tuple(f.get(x) for f in found))
            for x in sorted({x for points in found for x in points})
        ),
        note=" ".join([chart.note, *notes]).strip(),
    )


def _numbers_of_violins(violins: Violins) -> Table:
    return Table(
        name=violins.name,
        title=violins.title,
        label=violins.y_title,
        columns=(
            Column(key="n", title="values", kind="count"),
            *(Column(key=f"q{q}", title=f"{q} % quantile") for q in _QUANTILES),
        ),
        rows=tuple(
            Row(
                key=f"group:{i}",
                label=group.label,
                values=(
                    len(group.values),
                    *(float(np.percentile(group.values, q)) if group.values else None for q in _QUANTILES),
                ),
            )
            for i, group in enumerate(violins.groups)
        ),
        note=violins.note,
    )


def _numbers_of_scatter(scatter: Scatter) -> Table:
    return Table(
        name=scatter.name,
        title=scatter.title,
        label="",
        columns=(
            Column(key="x", title=scatter.x_title, kind="share" if scatter.x_is_share else "number"),
            Column(key="y", title=scatter.y_title, kind="share" if scatter.y_is_share else "number"),
        ),
        rows=tuple(
            Row(key=f"dot:{i}", label=dot.label, values=(dot.x, dot.y)) for i, dot in enumerate(scatter.dots)
        ),
        note=scatter.note,
    )
