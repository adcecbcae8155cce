"""What a diagnostic states of findings that are written down, as plain numbers."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from vidence.contracts import Diagnostic, Examined
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.records import Estimate, Item, Record
from vidence.tables.charts import Chart
from vidence.tables.table import Cell, Table


def marks(*values: float | None, tokens: Sequence[int | None] = ()) -> tuple[ReplyScore, ...]:
    """The scores of replies with these values, and with these output tokens."""
    said = tokens or [None] * len(values)
    return tuple(
        ReplyScore(value=value, kind="answered", output_tokens=n)
        for value, n in zip(values, said, strict=True)
    )


def stated(diagnostic: Diagnostic, found: Iterable[tuple[Item, Record]]) -> dict[str, Any]:
    """The tables and charts of these findings, by name."""
    examined = [Examined(item=item, finding=finding) for item, finding in found]
    said = diagnostic.summarise(examined, rng=np.random.default_rng(0), level=0.95)
    return {one.name: one for one in said}


def column(table: Table, key: str) -> dict[str, object]:
    """A column by the keys of its rows; of an estimate its value, rounded to six digits."""
    return {row.key: _plain(table.value(row.key, key)) for row in table.rows}


def curves(chart: Chart) -> dict[str, list[tuple[float, float]]]:
    """The points of the curves by their labels, without intervals."""
    return {
        one.label: [(point.x, round(point.y.value, 6)) for point in one.points if point.y is not None]
        for one in chart.series
    }


def _plain(value: object) -> object:
    if isinstance(value, Cell):
        value = value.value
    if isinstance(value, Estimate):
        value = value.value
    return round(value, 6) if isinstance(value, float) else value
