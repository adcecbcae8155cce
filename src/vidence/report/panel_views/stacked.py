"""The first tables of a diagnostic on several runs, one below the other."""

from collections.abc import Sequence

import msgspec

from vidence.report.diagnosis import Diagnosed
from vidence.report.panel_grid import Grid, GridCell
from vidence.report.scores import Draws
from vidence.tables.charts import table_of
from vidence.tables.table import Cell, Row, Table

Found = tuple[GridCell, Diagnosed]


def found_of(grid: Grid, diagnostic: str, *, draws: Draws) -> list[Found]:
    """The findings of a diagnostic in all folders of a panel."""
    return [(cell, one) for cell in grid.cells for one in cell.found(diagnostic, level=draws.level)]


def stacked(name: str, found: Sequence[Found]) -> Table:
    """Their headlines as one table: all columns of any; what a run lacks is missing.

    Args:
        name: of the table.
        found: the findings of one diagnostic on one run or more.
    """
    tables = [(cell, one, table_of(one.statements[0])) for cell, one in found]
    columns = list({c.key: c for _, _, table in tables for c in table.columns}.values())
    rows = []
    for place, (cell, one, table) in enumerate(tables):
        options = ", ".join(f"{key} {value}" for key, value in one.header.options.items())
        for row in table.rows:
            values = tuple(table.cell(row.key, c.key) if c.key in table.keys else Cell() for c in columns)
            detail = ", ".join(filter(None, (cell.benchmark, options, row.detail)))
            rows.append(
                Row(
                    key=f"{place}:{row.key}", label=f"{cell.label}: {row.label}", detail=detail, values=values
                )
            )
    first = tables[0][2]
    return msgspec.structs.replace(
        first,
        name=name,
        columns=tuple(columns),
        rows=tuple(rows),
        note=" ".join(dict.fromkeys(table.note for _, _, table in tables if table.note)),
    )
