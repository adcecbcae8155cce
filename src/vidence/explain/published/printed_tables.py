"""Tables as they were printed: read from a CSV, with what a TOML file beside it says of them.

The first line of the CSV names the columns. ``NAME.toml`` beside ``NAME.csv`` may give titles, meanings,
numbers of questions and remarks: its form is `Notes`. Values stay texts, as printed.
"""

import csv
import difflib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from vidence.errors import DataError, cause
from vidence.installation import toml_of
from vidence.records import Record

_BETWEEN_NAMES = " / "
_MOST_FAULTS = 5
_BLANK = frozenset({"", "-", "–", "—", "n/a", "N/A", "/"})  # noqa: RUF001 - dashes as in print
_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?", re.ASCII)


class Source(Record, omit_defaults=True):
    """Where a table was printed: paper, place, arXiv number and address, if known."""

    paper: str = ""
    where: str = ""
    arxiv: str = ""
    address: str = ""


class Measure(Record, omit_defaults=True):
    """How a run computes what stands in a column, and which runs measured the same.

    `average` is ``micro`` (mean over questions), ``answered`` (mean over those whose reply could be read)
    or ``macro:TAG`` (mean over the values of a tag). Only questions are averaged that have, for each tag in
    `where`, one of its values.

    `parser` names who may have scored the replies: parsers, judges, or ``letters`` for every parser that
    reads the letter of a choice. `split` and `style` name the splits and styles of the printed values; where
    nothing is named, all fit. `alike` is a tag in which all averaged questions must agree. `by_rules` says
    what to know where rules scored what the paper had judged.
    """

    average: str = "micro"
    where: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    parser: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    style: tuple[str, ...] = ()
    alike: str = ""
    by_rules: str = ""


class PublishedColumn(Record, omit_defaults=True):
    """A column of a published table.

    A ``percent`` is a share of `n` questions, where that is known. A ``number`` is any other quantity.
    `measure` is None if no run gives it.
    """

    name: str
    kind: Literal["percent", "number", "text"] = "percent"
    means: str = ""
    n: int | None = None
    measure: Measure | None = None


class Flag(Record):
    """A remark on a cell: a problem if printed numbers contradict each other."""

    says: str
    is_problem: bool = False


class PublishedCell(Record, omit_defaults=True):
    """A cell as printed, with its flags."""

    text: str
    flags: tuple[Flag, ...] = ()


class PublishedRow(Record, omit_defaults=True):
    """One row. `line` is its line in the file.

    `n` overrides the denominators of columns; without `is_n_known` no denominator holds for the row.
    A ``summary`` is made of other rows.
    """

    name: str
    cells: tuple[PublishedCell, ...]
    line: int
    kind: Literal["model", "human", "baseline", "summary"] = "model"
    is_n_known: bool = True
    n: dict[str, int] = msgspec.field(default_factory=dict)


class Across(Record):
    """A column whose values become columns when a table is printed with a run: one row for each model.

    `where` says for each value which questions it is about; it joins the `where` of the measures.
    """

    column: str
    where: dict[str, dict[str, tuple[str, ...]]]


class RowNote(Record):
    """The TOML file's notes on one row; see `PublishedRow`."""

    row: str
    kind: Literal["model", "human", "baseline", "summary"] = "model"
    n_known: bool = True
    n: dict[str, int] = msgspec.field(default_factory=dict)


class Remark(Record):
    """A remark on one row or all (empty), in some columns or all (none named)."""

    says: str
    row: str = ""
    columns: tuple[str, ...] = ()
    problem: bool = False


class About(Record, omit_defaults=True):
    """What is known of a table as a whole; `notes` are remarks on it.

    `names` are the columns that together name a row (none: the first). `splits` are those of the
    benchmark that the table may stand beside. `across` names one of `names`.
    """

    title: str = ""
    benchmark: str = ""
    splits: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    across: Across | None = None
    notes: tuple[str, ...] = ()
    source: Source = Source()


class Notes(About):
    """The description of a CSV: the contents of the TOML file."""

    columns: tuple[PublishedColumn, ...] = ()
    rows: tuple[RowNote, ...] = ()
    flags: tuple[Remark, ...] = ()


class PublishedTable(About, omit_defaults=True):
    """A table as printed."""

    name: str
    columns: tuple[PublishedColumn, ...]
    rows: tuple[PublishedRow, ...]

    def position(self, column: str) -> int:
        """Return the column's index, from 0."""
        return next(i for i, known in enumerate(self.columns) if known.name == column)

    def text(self, row: PublishedRow, column: str) -> str:
        """Return the printed text in a row and column."""
        return row.cells[self.position(column)].text


def is_blank(text: str) -> bool:
    """Whether a cell denotes a missing value."""
    return text.strip() in _BLANK


def number(text: str) -> str | None:
    """Return the number in a cell as plain digits, without percent sign, plus and commas; or None.

    >>> number("26,806"), number("61.1%"), number("+0.22"), number("56.")
    ('26806', '61.1', '0.22', None)
    """
    bare = text.strip().removesuffix("%").rstrip().replace("\N{MINUS SIGN}", "-")
    return bare.replace(",", "").removeprefix("+") if _NUMBER.fullmatch(bare) else None


# --------------------------------------------------------------------------- reading


def read_file(path: Path) -> PublishedTable:
    """Read a CSV and, where there is one of its name, the TOML file beside it.

    Args:
        path: the CSV.

    Raises:
        DataError: a file cannot be read, or as `read_notes` and `read_table`.
    """
    suffix = path.with_suffix(".toml")
    notes = read_notes(_content(suffix), where=str(suffix)) if suffix.is_file() else Notes()
    return read_table(_content(path), name=path.stem, where=str(path), notes=notes)


def _content(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(
            f"cannot read {path}: {cause(error)}; expected a table as CSV, or the name of a published one"
        ) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DataError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from error


def read_notes(text: str, *, where: str) -> Notes:
    """Read the TOML file that describes a CSV.

    Args:
        text: what stands in the file.
        where: its name, for messages.

    Raises:
        DataError: it is not TOML, or has a field that is not known.
    """
    try:
        return msgspec.convert(toml_of(text), Notes)
    except msgspec.ValidationError as error:
        raise DataError(f"{where}: {error}; see the guide 'Published tables' for the form") from error
    except ValueError as error:
        raise DataError(f"{where}: {error}; expected TOML") from error


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
    names = notes.names or (header[0],)
    by_name = {column.name: column for column in notes.columns}
    by_name |= {name: PublishedColumn(name=name, kind="text") for name in names if name not in by_name}
    across = [notes.across.column] if notes.across else []
    _known([*by_name, *across], header, what="column", where=where)
    columns = tuple(
        by_name.get(name) or _guessed(name, [cells[i] for _, cells in lines]) for i, name in enumerate(header)
    )
    for value in {cells[header.index(name)] for _, cells in lines for name in across}:
        _known([value], list(notes.across.where) if notes.across else [], what="value", where=where)
    by_line = {line: _name([cells[header.index(name)] for name in names]) for line, cells in lines}
    _check_unique(by_line, names, where)
    _check_notes(notes, list(by_line.values()), header, where=where)
    return PublishedTable(
        name=name,
        title=notes.title or name,
        columns=columns,
        rows=tuple(_row(by_line[line], line, cells, columns=columns, notes=notes) for line, cells in lines),
        benchmark=notes.benchmark,
        splits=notes.splits,
        names=tuple(names),
        across=notes.across,
        notes=notes.notes,
        source=notes.source,
    )


# --------------------------------------------------------------------------- parts


def _lines(text: str, where: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the column names, and each further non-empty line with its number."""
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines: list[tuple[int, list[str]]] = []
    try:
        while True:
            line = reader.line_num + 1
            cells = [cell.strip() for cell in next(reader)]
            if any(cells):
                lines.append((line, cells))
    except StopIteration:
        pass
    except csv.Error as error:
        raise DataError(
            f"{where}:{reader.line_num}: {error}; expected quotes in pairs, doubled inside a quoted cell"
        ) from error
    if len(lines) < 2:
        raise DataError(f"{where}: no rows; expected a line that names the columns, and a line for each row")
    (first, header), *rest = lines
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


def _name(parts: Sequence[str]) -> str:
    """Return a row's name from its non-blank parts."""
    return _BETWEEN_NAMES.join(part for part in parts if not is_blank(part)) or parts[0]


def _guessed(name: str, texts: Iterable[str]) -> PublishedColumn:
    """Return a column without a declared type: text if no cell is a number."""
    return PublishedColumn(name=name, kind="percent" if any(map(number, texts)) else "text")


def _known(asked: Sequence[str], known: Sequence[str], *, what: str, where: str) -> None:
    for name in asked:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise DataError(f"{where}: there is no {what} {name!r}.{hint} Known: {', '.join(known)}")


def _check_unique(by_line: Mapping[int, str], names: Sequence[str], where: str) -> None:
    lines: dict[str, int] = {}
    for line, name in by_line.items():
        if (first := lines.setdefault(name, line)) != line:
            raise DataError(
                f"{where}: lines {first} and {line} are both named {name!r} by "
                f"{', '.join(names)}; say which columns tell rows apart: names in the TOML file"
            )


def _check_notes(notes: Notes, rows: Sequence[str], columns: Sequence[str], *, where: str) -> None:
    """Reject notes on rows and columns that do not exist."""
    named = [note.row for note in notes.rows] + [remark.row for remark in notes.flags if remark.row]
    _known(named, rows, what="row", where=where)
    named = [name for remark in notes.flags for name in remark.columns]
    named += [name for note in notes.rows for name in note.n]
    _known(named, columns, what="column", where=where)


def _row(
    name: str, line: int, texts: Sequence[str], *, columns: Sequence[PublishedColumn], notes: Notes
) -> PublishedRow:
    """Return a row with its notes and cells."""
    note = next((note for note in notes.rows if note.row == name), RowNote(row=name))
    # A remark on a whole row stands at its name, one on a whole column in every cell of it.
    remarks = [remark for remark in notes.flags if remark.row in ("", name)]
    cells = tuple(
        PublishedCell(
            text=text,
            flags=tuple(
                Flag(says=remark.says, is_problem=remark.problem)
                for remark in remarks
                if (column.name in remark.columns if remark.columns else column == columns[0])
            ),
        )
        for column, text in zip(columns, texts, strict=True)
    )
    return PublishedRow(name=name, cells=cells, line=line, kind=note.kind, is_n_known=note.n_known, n=note.n)
