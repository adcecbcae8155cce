"""The rows that a paper prints, to stand below ours in a table of a panel."""

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

    def below(self, table: Table, rows: Iterable[Row]) -> Table:
        """Our table with these rows, made of the printed ones, below its own."""
        return msgspec.structs.replace(
            table,
            rows=(*table.rows, *rows),
            note=f"{table.note} {self.note()}",
            footnotes=(*table.footnotes, *self.footnotes),
        )


def printed_rows(name: str, wanted: Sequence[Mapping[str, str]]) -> PrintedRows:
    """The rows of a published table with the columns that are about the same questions as ours.

    A printed column is about the questions that its measure names; one that only asks all questions to be
    alike in a tag, as ActPLD's descriptions in their task, is taken where no other names the value. A table
    without measures has its columns in the order of ours, where they are as many.

    Args:
        name: its name, such as ``actpld-table2``.
        wanted: the tags and values of each column of ours; one that is not printed stays empty.

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
    """The column of a table that is about the questions with these tags; None where none is."""

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
    """What a printed row is called."""
    return f"{', '.join(words)} (as printed)"
