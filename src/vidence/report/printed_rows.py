"""The rows that a paper prints, to stand below ours in a table of a panel."""

from collections.abc import Sequence
from dataclasses import dataclass

from vidence.errors import UsageError
from vidence.explain.published.audited import audited
from vidence.explain.published.published import load
from vidence.report.beside import PROBLEM, REMARK, printed_cell
from vidence.tables.table import Cell


@dataclass(frozen=True, kw_only=True)
class PrintedRow:
    """One row as printed: its words, its values, and of how many questions each is where that is known."""

    words: tuple[str, ...]
    values: tuple[Cell, ...]
    n: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True)
class PrintedRows:
    """The rows of a printed table with what is known against them."""

    source: str
    rows: tuple[PrintedRow, ...]
    footnotes: tuple[str, ...]

    def note(self) -> str:
        """Where they are from, and what their signs mean."""
        return (
            f"Rows as printed are from {self.source}, and may be of other questions than ours. "
            f"{PROBLEM}: arithmetic contradicts the value; {REMARK}: a remark."
        )


def printed_rows(name: str, *, n_values: int) -> PrintedRows:
    """The rows of a published table, audited.

    Args:
        name: its name, such as ``actpld-table2``.
        n_values: how many columns of numbers it is to have, in the order in which they are printed.

    Raises:
        UnknownNameError: no such table.
        UsageError: it has another number of columns.
    """
    table = audited(load(name))
    places = [i for i, column in enumerate(table.columns) if column.kind != "text"]
    words = [i for i, column in enumerate(table.columns) if column.kind == "text"]
    if len(places) != n_values:
        raise UsageError(f"{name} prints {len(places)} columns of numbers, and there are {n_values} of ours")
    footnotes: dict[str, str] = {}
    rows = []
    for row in table.rows:
        cells = [
            printed_cell(column, cell, footnotes)
            for column, cell in zip(table.columns, row.cells, strict=True)
        ]
        known = [row.n.get(table.columns[i].name, table.columns[i].n) for i in places]
        rows.append(
            PrintedRow(
                words=tuple(_with_sign(cells[i]) for i in words),
                values=tuple(cells[i] for i in places),
                n=tuple(known if row.is_n_known else [None] * len(places)),
            )
        )
    return PrintedRows(
        source=", ".join(filter(None, (table.source.paper, table.source.where))),
        rows=tuple(rows),
        footnotes=(*table.notes, *(f"{sign} {says}" for says, sign in footnotes.items())),
    )


def _with_sign(cell: Cell) -> str:
    return " ".join(filter(None, (str(cell.value), cell.detail or "")))


def as_label(words: Sequence[str]) -> str:
    """What a printed row is called."""
    return f"{', '.join(words)} (as printed)"
