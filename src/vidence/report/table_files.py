"""Each table as a CSV file of its own."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from vidence.errors import StoreError
from vidence.report.export import csv_cell, write_whole
from vidence.tables.cells import DASH, Cell, Column, Table, has_interval

_ENDS = re.compile(r"(-?[\d.]+) to (-?[\d.]+)")


def write_tables(tables: Sequence[Table], folder: Path) -> tuple[Path, ...]:
    """Write one CSV file for each table into a folder, which is made where it is not there.

    Numbers are as printed: shares in per cent. A column of figures with intervals is followed by its two
    ends, one with notes by these.

    Raises:
        StoreError: the folder cannot be made, or a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    written: list[Path] = []
    for table in tables:
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", table.name).strip("-.") or "table"
        path = folder / f"{name}.csv"
        n = 2
        while path in written:
            path = folder / f"{name}-{n}.csv"
            n += 1
        write_whole(path, table_as_csv(table).encode("utf-8", errors="backslashreplace"))
        written.append(path)
    return tuple(written)


def table_as_csv(table: Table) -> str:
    """The table as CSV with one line of names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    kinds = [_kind([line.cells[i] for line in table.lines]) for i in range(len(table.columns))]
    names = [
        name
        for column, kind in zip(table.columns, kinds, strict=True)
        for name in _names(_heading(column), kind)
    ]
    writer.writerow([csv_cell(name) for name in names])
    for line in table.lines:
        row = [text for cell, kind in zip(line.cells, kinds, strict=True) for text in _texts(cell, kind)]
        writer.writerow([csv_cell(text) for text in row])
    return out.getvalue()


def _heading(column: Column) -> str:
    return ": ".join(filter(None, (column.group, column.title))) or column.key


def _kind(cells: Sequence[Cell]) -> str:
    if any(cell.estimate is not None and has_interval(cell.estimate) for cell in cells):
        return "interval"
    return "note" if any(cell.detail for cell in cells) else "plain"


def _names(heading: str, kind: str) -> tuple[str, ...]:
    match kind:
        case "interval":
            return (heading, f"{heading}, low", f"{heading}, high")
        case "note":
            return (heading, f"{heading}, note")
        case _:
            return (heading,)


def _texts(cell: Cell, kind: str) -> tuple[str, ...]:
    text = "" if cell.text == DASH else cell.text
    match kind:
        case "interval":
            ends = _ENDS.fullmatch(cell.detail)
            return (text, ends[1] if ends else "", ends[2] if ends else "")
        case "note":
            return (text, cell.detail)
        case _:
            return (text,)
