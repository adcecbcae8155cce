"""Tables as CSV and JSON, for other programs."""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from vidence.tables.charts import Statement
from vidence.tables.table import DASH, ENDS, Column, Table, has_interval, shown_columns, shown_rows

# A spreadsheet runs cells that start with one of these signs (as wide ones, too, in some languages), and some
# drop what is blank or unseen in front of it. The JavaScript of a study page reads these patterns alike.
FORMULA = (
    r"^[\s\u0000-\u001f\u007f-\u00a0\u200b-\u200f\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]"
    r"|^[\t\r\n]"
)
NUMBER = r"^[+\-]?(\d+\.?\d*|\.\d+)([eE][+\-]?\d+)?$"
_FORMULA, _NUMBER = re.compile(FORMULA), re.compile(NUMBER, re.ASCII)
# What ends a cell or a line, for any program that reads lines.
_NEEDS_QUOTES = re.compile('[",\r\n\v\f\x1c-\x1e\x85\u2028\u2029]')


def csv_text(rows: Iterable[Iterable[str | float | None]], *, is_data: bool = False) -> str:
    """Rows as CSV: comma, line feed; a cell that holds a comma, a quotation mark or a line's end is quoted.

    Args:
        rows: texts, numbers (15 digits), and None for what is not there.
        is_data: vidence reads the table again, so that every text stays as it is; else one that a
            spreadsheet would run as a formula gets an apostrophe in front.
    """
    cell = _text if is_data else csv_cell
    return "".join(map(_line, ([cell(value) for value in row] for row in rows)))


def csv_cell(value: str | float | None) -> str:
    """Return a cell as text; one that a spreadsheet would run as a formula gets a leading apostrophe.

    >>> csv_cell("=1+1"), csv_cell("-1.5"), csv_cell(1.0)
    ("'=1+1", '-1.5', '1')
    """
    text = _text(value)
    is_formula = isinstance(value, str) and _FORMULA.match(text) and not _NUMBER.match(text)
    return f"'{text}" if is_formula else text


def _text(value: str | float | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return str(value) if isinstance(value, int) else f"{value:.15g}"


def _line(cells: list[str]) -> str:
    if cells == [""]:
        return '""\n'  # an empty line would be no row
    quoted = ['"' + cell.replace('"', '""') + '"' if _NEEDS_QUOTES.search(cell) else cell for cell in cells]
    return ",".join(quoted) + "\n"


def table_as_csv(table: Table) -> str:
    """Return the table as CSV with a header line; numbers as printed, shares in per cent.

    Columns with intervals are followed by their bounds, then by notes.
    """
    rows, columns = shown_rows(table), []
    for i, column in enumerate(shown_columns(table)):
        cells = [row.cells[i] for row in rows]
        heading = ": ".join(filter(None, (column.group, column.title))) or column.key
        columns.append([heading, *("" if cell.text == DASH else cell.text for cell in cells)])
        if any(cell.estimate is not None and has_interval(cell.estimate) for cell in cells):
            matches = [ENDS.fullmatch(cell.detail) for cell in cells]
            columns.append([f"{heading}, low", *(ends[1] if ends else "" for ends in matches)])
            columns.append([f"{heading}, high", *(ends[2] if ends else "" for ends in matches)])
        elif any(cell.detail for cell in cells):
            columns.append([f"{heading}, note", *(cell.detail for cell in cells)])
    return csv_text(zip(*columns, strict=True))


def table_as_json(table: Table) -> dict[str, object]:
    """Return a table for JSON: each row by column key, with texts and the underlying numbers."""
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
    fields: dict[str, object] = {
        name: text for name, text in kept.items() if text or name in {"key", "title"}
    }
    return {**fields, "is_text": True} if column.kind == "text" else fields


def object_as_json(form: str, *, tables: Iterable[Table], **values: object) -> bytes:
    """Return one JSON object: its format, named values, then tables.

    Undefined numbers (NaN) are null.
    """
    whole = {"format": form, **values, "tables": [table_as_json(table) for table in tables]}
    return msgspec.json.encode(whole) + b"\n"


SAID_FORMAT = "vidence-said/1"


def said_as_json(
    command: str, *, sentences: Sequence[str], tables: Sequence[Table], values: Mapping[str, object]
) -> bytes:
    """Return a command's output as one JSON object: sentences, tables, and named values."""
    fields = {"command": command, **values, "sentences": sentences}
    return object_as_json(SAID_FORMAT, tables=tables, **fields)


def statement_as_json(statement: Statement) -> dict[str, object]:
    """Return a diagnostic's statement for JSON: unformatted values, shares from 0 to 1."""
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
