"""Tables as CSV and JSON, for other programs."""

import csv
import io
import re
from collections.abc import Iterable

import msgspec

from vidence.tables.charts import Statement
from vidence.tables.table import DASH, Column, Table, has_interval, shown_columns, shown_rows

_ENDS = re.compile(r"(-?[\d.]+) to (-?[\d.]+)")
# A spreadsheet runs cells that start with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_text(rows: Iterable[Iterable[str | int | float | None]]) -> str:
    """Rows as CSV: comma, line feed; a text that a spreadsheet would run as a formula gets an apostrophe."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([csv_cell(value) for value in row] for row in rows)
    return out.getvalue()


def csv_cell(value: str | int | float | None) -> str:
    """A cell as text; one that a spreadsheet would run as a formula gets an apostrophe in front."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return f"{value:g}"
    return f"'{value}" if value.startswith(_FORMULA) and not _is_number(value) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def table_as_csv(table: Table) -> str:
    """The table as CSV with one line of names; numbers are as printed: shares in per cent.

    A column of figures with intervals is followed by its two ends, one with notes by these.
    """
    rows, columns = shown_rows(table), []
    for i, column in enumerate(shown_columns(table)):
        cells = [row.cells[i] for row in rows]
        heading = ": ".join(filter(None, (column.group, column.title))) or column.key
        columns.append([heading, *("" if cell.text == DASH else cell.text for cell in cells)])
        if any(cell.estimate is not None and has_interval(cell.estimate) for cell in cells):
            found = [_ENDS.fullmatch(cell.detail) for cell in cells]
            columns.append([f"{heading}, low", *(ends[1] if ends else "" for ends in found)])
            columns.append([f"{heading}, high", *(ends[2] if ends else "" for ends in found)])
        elif any(cell.detail for cell in cells):
            columns.append([f"{heading}, note", *(cell.detail for cell in cells)])
    return csv_text(zip(*columns, strict=True))


def table_as_json(table: Table) -> dict[str, object]:
    """A table for JSON: each line by the keys of its columns, with texts and the numbers behind them."""
    columns = shown_columns(table)
    keys = [column.key for column in columns]
    return {
        "name": table.name,
        "title": table.title,
        "note": table.note,
        "footnotes": table.footnotes,
        "columns": [_column_as_json(column) for column in columns],
        "lines": [{"key": r.key, **dict(zip(keys, r.cells, strict=True))} for r in shown_rows(table)],
    }


def _column_as_json(column: Column) -> dict[str, object]:
    kept = {"key": column.key, "title": column.title, "group": column.group, "note": column.note}
    found: dict[str, object] = {name: text for name, text in kept.items() if text or name in {"key", "title"}}
    return {**found, "is_text": True} if column.kind == "text" else found


def statement_as_json(statement: Statement) -> dict[str, object]:
    """A statement of a diagnostic for JSON: its values as they are, shares from 0 to 1."""
    if not isinstance(statement, Table):
        return {"kind": type(statement).__name__.lower(), **msgspec.to_builtins(statement)}
    return {
        "kind": "sheet",
        "name": statement.name,
        "title": statement.title,
        "label": statement.labels.title,
        "headings": [
            {
                "key": column.key,
                "title": column.title,
                **({"note": column.note} if column.note else {}),
                **({f"is_{column.kind}": True} if column.kind in {"share", "p"} else {}),
            }
            for column in statement.columns
        ],
        "entries": [msgspec.to_builtins(row) for row in statement.rows],
        **({"note": statement.note} if statement.note else {}),
    }
