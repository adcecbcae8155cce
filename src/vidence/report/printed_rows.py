"""A paper's printed rows, to show below ours in a panel's table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from vidence.errors import UsageError
from vidence.explain.published.printed_tables import Measure, PublishedTable
from vidence.explain.published.published import load
from vidence.report.printed_comparison import PROBLEM, REMARK, printed_cell
from vidence.tables.table import Cell, Row, Table


@dataclass(frozen=True, kw_only=True)
class PrintedRow:
    """A row as printed: its label, its values, and the number of questions of each if known."""

    words: tuple[str, ...]
    values: tuple[Cell, ...]
    n: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True)
class PrintedRows:
    """The rows of a printed table, with known problems."""

    source: str
    rows: tuple[PrintedRow, ...]
    footnotes: tuple[str, ...]

    def note(self) -> str:
        """Say where they are from, and what their signs mean."""
        return (
            f"Rows as printed are from {self.source}, and may be of other questions than ours. "
            f"{PROBLEM}: arithmetic contradicts the value; {REMARK}: a remark."
        )

    def below(self, table: Table, rows: Iterable[Row]) -> Table:
        """Add the printed rows that match ours below our table."""
        return msgspec.structs.replace(
            table,
            rows=(*table.rows, *rows),
            note=f"{table.note} {self.note()}",
            footnotes=(*table.footnotes, *self.footnotes),
        )


def printed_rows(name: str, wanted: Sequence[Mapping[str, str]]) -> PrintedRows:
    """Return a published table's rows, with the columns about the same questions as ours.

    A printed column is about the questions of its measure; one that only requires questions to share a tag,
    as ActPLD's descriptions do, is used if no other names the value. Columns of a table without measures are
    matched by order if there are as many.

    Args:
        name: such as ``actpld-table2``.
        wanted: the tags and values of each of our columns; a column that is not printed stays empty.

    Raises:
        UnknownNameError: no such table.
        UsageError: it prints none of the columns.
    """
    table = load(name)
    numbers = [i for i, column in enumerate(table.columns) if column.kind != "text"]
    places: list[int | None] = [_place(table, tags) for tags in wanted]
    if len(numbers) == len(wanted) and not any(column.measure for column in table.columns):
        places = list(numbers)
    words = [i for i, column in enumerate(table.columns) if column.kind == "text"]
    if not any(place is not None for place in places):
        ours = "; ".join(", ".join(f"{tag}={value}" for tag, value in tags.items()) for tags in wanted)
        raise UsageError(f"{name} prints no column of the questions with {ours}")
    footnotes: dict[str, str] = {}
    rows = []
    for row in table.rows:
        cells = [printed_cell(cell, footnotes, footnotes) for cell in row.cells]
        known = [None if i is None else row.n.get(table.columns[i].name, table.columns[i].n) for i in places]
        rows.append(
            PrintedRow(
                words=tuple(f"{cells[i].value} {cells[i].detail or ''}".rstrip() for i in words),
                values=tuple(Cell() if i is None else cells[i] for i in places),
                n=tuple(known if row.is_n_known else [None] * len(places)),
            )
        )
    return PrintedRows(
        source=", ".join(filter(None, (table.source.paper, table.source.where))),
        rows=tuple(rows),
        footnotes=(*table.notes, *(f"{sign} {says}" for says, sign in footnotes.items())),
    )


def _place(table: PublishedTable, tags: Mapping[str, str]) -> int | None:
    """Return the column about the questions with these tags; None if there is none."""

    def fits(measure: Measure, *, is_named: bool) -> bool:
        return all(
            value in measure.where.get(tag, ()) or (not is_named and tag == measure.alike)
            for tag, value in tags.items()
        )

    measures = {i: column.measure for i, column in enumerate(table.columns) if column.measure is not None}
    for is_named in (True, False):
        for i, measure in measures.items():
            if fits(measure, is_named=is_named):
                return i
    return None


def as_label(words: Sequence[str]) -> str:
    """Return a printed row's label."""
    return f"{', '.join(words)} (as printed)"
