"""Read a printed table from a CSV, with what a TOML file beside it says of it.

The first line of the CSV names the columns. A second line whose first cell is ``n`` may give how many
questions each column is about. ``NAME.toml`` beside ``NAME.csv`` may give titles, meanings,
denominators, rules and remarks: its form is `Notes`.
"""

import csv
import difflib
import io
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from vidence.errors import DataError
from vidence.explain.published.printed import (
    DifferenceRule,
    Flag,
    MeanRule,
    Notes,
    PublishedCell,
    PublishedColumn,
    PublishedRow,
    PublishedTable,
    RatioRule,
    Remark,
    RowMeanRule,
    RowNote,
    RowSumRule,
    Rule,
    SumRule,
    is_blank,
    number,
)

N_ROW = "n"
_BETWEEN_NAMES = " / "
_MOST_FAULTS = 5


def read_file(path: Path, *, names: Sequence[str] = ()) -> PublishedTable:
    """Read a CSV and, where there is one of its name, the TOML file beside it.

    Args:
        path: the CSV.
        names: the columns that together name a row, in place of those in the TOML file.

    Raises:
        DataError: a file cannot be read, or as `read_notes` and `read_table`.
    """
    beside = path.with_suffix(".toml")
    notes = read_notes(_content(beside), where=str(beside)) if beside.is_file() else Notes()
    if names:
        notes = msgspec.structs.replace(notes, names=tuple(names))
    return read_table(_content(path), name=path.stem, where=str(path), notes=notes)


def _content(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(
            f"cannot read {path}: {error.strerror or error}; expected a table as CSV, or the name of a "
            "published one"
        ) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DataError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from error


def read_notes(text: str, *, where: str) -> Notes:
    """Read the TOML file that stands beside a CSV.

    Args:
        text: what stands in the file.
        where: its name, for messages.

    Raises:
        DataError: it is not TOML, or has a field that is not known.
    """
    try:
        return msgspec.convert(tomllib.loads(text), Notes)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{where}: {error}; expected TOML") from error
    except msgspec.ValidationError as error:
        raise DataError(f"{where}: {error}; see the guide 'Published tables' for the form") from error


def read_table(text: str, *, name: str, where: str, notes: Notes) -> PublishedTable:
    """Read a CSV, and join it with what is known of it.

    Args:
        text: what stands in the file: columns separated by commas, semicolons or tabs.
        name: what the table is called.
        where: the name of the file, for messages.
        notes: what stands beside it.

    Raises:
        DataError: a line with too few or too many cells, no rows, two rows or columns of one name, or
            notes on a row or column that does not exist; with file and line.
    """
    header, lines = _lines(text, where)
    lines, n = _take_n(lines, header, where)
    names = notes.names or (header[0],)
    by_name = {column.name: column for column in notes.columns}
    by_name |= {name: PublishedColumn(name=name, kind="text") for name in names if name not in by_name}
    across = [notes.across.column] if notes.across else []
    _known([*by_name, *across], header, what="column", where=where)
    columns = [
        by_name.get(name) or _guessed(name, [cells[i] for _, cells in lines]) for i, name in enumerate(header)
    ]
    for value in {cells[header.index(name)] for _, cells in lines for name in across}:
        _known([value], list(notes.across.where) if notes.across else [], what="value", where=where)
    rows = [
        PublishedRow(
            name=_name([cells[header.index(name)] for name in names]),
            cells=tuple(PublishedCell(text=cell) for cell in cells),
            line=line,
        )
        for line, cells in lines
    ]
    _check_unique(rows, names, where)
    table = PublishedTable(
        name=name,
        title=notes.title or name,
        columns=tuple(columns),
        rows=tuple(rows),
        benchmark=notes.benchmark,
        splits=notes.splits,
        names=tuple(names),
        across=notes.across,
        notes=notes.notes,
        source=notes.source,
    )
    table = with_n(_annotated(table, notes, where), n, where=where)
    return with_rules(table, notes.rules, where=where)


def with_rules(table: PublishedTable, rules: Sequence[Rule], *, where: str) -> PublishedTable:
    """The table with more rules.

    Raises:
        DataError: a rule names a row or column that does not exist, or not one weight for each part.
    """
    columns, rows = [column.name for column in table.columns], [row.name for row in table.rows]
    for rule in rules:
        match rule:
            case SumRule(total=total, parts=parts):
                _known([total, *parts], columns, what="column", where=where)
            case MeanRule(total=total, of=of, weights=weights, rows=some):
                _known([total, *of], columns, what="column", where=where)
                _known(some, rows, what="row", where=where)
                if weights and len(weights) != len(of):
                    raise DataError(
                        f"{where}: the mean {total!r} has {len(weights)} weights for {len(of)} columns; "
                        "expected one for each"
                    )
            case RatioRule(total=total, of=one, to=other) | DifferenceRule(total=total, of=one, less=other):
                _known([total, one, other], columns, what="column", where=where)
            case RowMeanRule(total=total, columns=some, weights=by):
                _known([*some, *([by] if by else [])], columns, what="column", where=where)
                _known([total], rows, what="row", where=where)
            case RowSumRule(total=total, columns=some):
                _known(some, columns, what="column", where=where)
                _known([total], rows, what="row", where=where)
    return msgspec.structs.replace(table, rules=(*table.rules, *rules))


def with_n(table: PublishedTable, n: Mapping[str, int], *, where: str) -> PublishedTable:
    """The table with other denominators for some columns; they become columns of per cent.

    Raises:
        DataError: a column that does not exist.
    """
    _known(list(n), [column.name for column in table.columns], what="column", where=where)
    columns = [
        msgspec.structs.replace(column, n=n[column.name], n_from="", kind="percent")
        if column.name in n
        else column
        for column in table.columns
    ]
    return msgspec.structs.replace(table, columns=tuple(columns))


# --------------------------------------------------------------------------- parts


def _lines(text: str, where: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The names of the columns, and each further line with its number; empty lines are left out."""
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    found: list[tuple[int, list[str]]] = []
    try:
        while True:
            line = reader.line_num + 1
            cells = [cell.strip() for cell in next(reader)]
            if any(cells):
                found.append((line, cells))
    except StopIteration:
        pass
    except csv.Error as error:
        raise DataError(
            f"{where}:{reader.line_num}: {error}; expected quotes in pairs, doubled inside a quoted cell"
        ) from error
    if len(found) < 2:
        raise DataError(f"{where}: no rows; expected a line that names the columns, and a line for each row")
    (first, header), *rest = found
    for i, name in enumerate(header):
        if not name or header.count(name) > 1:
            trouble = "is there twice" if name else "has no name"
            raise DataError(f"{where}:{first}: column {i + 1} {name!r} {trouble}; expected a name of its own")
    wrong = [
        f"{where}:{line}: {len(cells)} cells found; expected {len(header)}, one for each column"
        for line, cells in rest
        if len(cells) != len(header)
    ]
    if wrong:
        more = [f"and {len(wrong) - _MOST_FAULTS} more lines"] if len(wrong) > _MOST_FAULTS else []
        raise DataError("\n".join([*wrong[:_MOST_FAULTS], *more]))
    return header, rest


def _take_n(
    lines: list[tuple[int, list[str]]], header: Sequence[str], where: str
) -> tuple[list[tuple[int, list[str]]], dict[str, int]]:
    """The lines without the line ``n``, and what it says."""
    line, cells = lines[0]
    if cells[0] != N_ROW:
        return lines, {}
    n: dict[str, int] = {}
    for name, cell in zip(header[1:], cells[1:], strict=True):
        figure = number(cell)
        if figure is not None and figure.isdecimal() and int(figure) > 0:
            n[name] = int(figure)
        elif not is_blank(cell):
            raise DataError(
                f"{where}:{line}: {cell!r} in column {name!r} found; expected the number of questions, 1 or "
                "more, or an empty cell where it is not known"
            )
    if not lines[1:]:
        raise DataError(f"{where}: no rows below the line {N_ROW!r}; expected a line for each row")
    return lines[1:], n


def _name(parts: Sequence[str]) -> str:
    """The name of a row; what is blank is no part of it."""
    return _BETWEEN_NAMES.join(part for part in parts if not is_blank(part)) or parts[0]


def _guessed(name: str, texts: Sequence[str]) -> PublishedColumn:
    """A column of which nothing is said: words where no cell is a number."""
    has_number = any(number(text) is not None for text in texts)
    return PublishedColumn(name=name, kind="percent" if has_number else "text")


def _known(asked: Sequence[str], known: Sequence[str], *, what: str, where: str) -> None:
    for name in asked:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise DataError(f"{where}: there is no {what} {name!r}.{hint} Known: {', '.join(known)}")


def _check_unique(rows: Sequence[PublishedRow], names: Sequence[str], where: str) -> None:
    lines: dict[str, int] = {}
    for row in rows:
        if row.name in lines:
            raise DataError(
                f"{where}: lines {lines[row.name]} and {row.line} are both named {row.name!r} by "
                f"{', '.join(names)}; say which columns tell rows apart: --names Model,Size, or names in the "
                "TOML file"
            )
        lines[row.name] = row.line


def _annotated(table: PublishedTable, notes: Notes, where: str) -> PublishedTable:
    """The table with what the notes say of its rows and cells."""
    names, columns = [row.name for row in table.rows], [column.name for column in table.columns]
    _known([note.row for note in notes.rows], names, what="row", where=where)
    _known([remark.row for remark in notes.flags if remark.row], names, what="row", where=where)
    _known([name for remark in notes.flags for name in remark.columns], columns, what="column", where=where)
    _known([name for note in notes.rows for name in note.n], columns, what="column", where=where)
    by_row = {note.row: note for note in notes.rows}
    rows = []
    for row in table.rows:
        note = by_row.get(row.name, RowNote(row=row.name))
        cells = tuple(
            PublishedCell(
                text=cell.text,
                flags=tuple(
                    Flag(kind="remark", says=remark.says)
                    for remark in notes.flags
                    if _is_about(remark, row, column, first=table.columns[0])
                ),
            )
            for column, cell in zip(table.columns, row.cells, strict=True)
        )
        rows.append(
            msgspec.structs.replace(
                row, cells=cells, kind=note.kind, is_n_known=note.n_known, n=note.n, missing=note.missing
            )
        )
    return msgspec.structs.replace(table, rows=tuple(rows))


def _is_about(remark: Remark, row: PublishedRow, column: PublishedColumn, *, first: PublishedColumn) -> bool:
    """A remark on a whole row stands at its name, one on a whole column in every cell of it."""
    if remark.row not in ("", row.name):
        return False
    return column.name in remark.columns if remark.columns else column == first
