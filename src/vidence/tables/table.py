"""The table that everything said is: typed values, which only the renderers turn into text."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Generic, Literal, TypeAlias, TypeVar

import msgspec

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.text import visible

Value: TypeAlias = Estimate | float | int | str | None
Kind: TypeAlias = Literal["text", "count", "number", "share", "points", "difference", "p"]
FigureKind: TypeAlias = Literal[
    "", "scores", "shares", "differences", "outcomes", "letters", "counts", "matrix"
]
DASH = "\u2013"  # what is shown where there is no number
ENDS = re.compile(r"(-?[\d.]+) to (-?[\d.]+)")  # the interval of a cell as it is written
FEW_VIDEOS = 10  # fewer get a mark
_MOST_ROWS = 20  # of a table in a notebook
_CORRECTED = "corrected with a sample of replies that people read; a dash where they read too few"
ROUNDING = 1e-9  # ends of an interval that are closer are the same number


class Cell(Record, omit_defaults=True):
    """A value with what a value cannot say for itself."""

    value: Value = None
    kind: Kind | None = None
    """How it is formatted where that differs from its column."""
    text: str | None = None
    """What is shown in place of the formatted value: data, never markup."""
    detail: str | None = None
    """The secondary text of the cell; None is the interval of an estimate."""
    mark: Literal["", "best"] = ""
    """``best`` for the best of its column where it can be told from the others."""


class Column(Record, omit_defaults=True):
    """One column of a table."""

    key: str
    title: str
    kind: Kind = "number"
    """How values are written: a ``share`` (0 to 1) in per cent, a ``difference`` of shares with its sign."""
    group: str = ""
    """A heading over neighbouring columns."""
    note: str = ""
    """What the column means."""


class Row(Record, omit_defaults=True):
    """One row: a label, and as many values as the table has columns. None is "does not apply"."""

    key: str
    label: str
    values: tuple[Value | Cell, ...]
    detail: str = ""
    """The secondary text of the label."""
    is_drawn: bool = True
    """Whether it is in the figure of its table; False by default."""


class Table(Record, omit_defaults=True):
    """A table: a heading over the labels, the columns of the values, and the rows."""

    name: str
    """Unique within a run or a diagnostic."""
    title: str
    label: str | Column
    """The heading over the labels; a column where it needs a key or a note of its own."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    """What must be known to read it."""
    footnotes: tuple[str, ...] = ()
    """They stand below it, each behind its own sign."""
    figure: FigureKind = ""
    """Which figure can be drawn from it."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.values) != len(self.columns):
                raise UsageError(
                    f"row {row.key!r} of table {self.name!r} has {len(row.values)} values, "
                    f"expected {len(self.columns)}, one for each column"
                )

    def __repr__(self) -> str:
        columns = ", ".join(self.keys)
        return f"Table({self.name!r}, {self.title!r}, {len(self.rows)} rows; columns: {columns})"

    def _repr_html_(self) -> str:
        return self.as_html()

    def as_html(self) -> str:
        """The first rows as a table of HTML without a style, as a notebook shows it."""
        titles = [self.labels.title, *(column.title for column in self.columns)]
        head = "".join(f"<th>{escape(visible(title))}</th>" for title in titles)
        lines = "".join(
            f"<tr><th>{escape(visible(row.label))}</th>"
            + "".join(f"<td>{escape(visible(shown(self, row.key, key).text))}</td>" for key in self.keys)
            + "</tr>"
            for row in self.rows[:_MOST_ROWS]
        )
        more = len(self.rows) - _MOST_ROWS
        below = f"<p>{more:,} more rows</p>" if more > 0 else ""
        title = f"<p><strong>{escape(visible(self.title))}</strong></p>"
        return f"{title}<table><tr>{head}</tr>{lines}</table>{below}"

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns."""
        return tuple(column.key for column in self.columns)

    @property
    def labels(self) -> Column:
        """The column of the labels."""
        column = Column(key="label", title=self.label) if isinstance(self.label, str) else self.label
        return msgspec.structs.replace(column, kind="text")

    def with_columns(self, columns: Sequence[Column], values: Iterable[Sequence[Value | Cell]]) -> "Table":
        """The table with further columns, whose values are given row by row."""
        pairs = zip(self.rows, values, strict=True)
        rows = tuple(msgspec.structs.replace(row, values=(*row.values, *more)) for row, more in pairs)
        return msgspec.structs.replace(self, columns=(*self.columns, *columns), rows=rows)

    def row(self, key: str) -> Row:
        """The row with this key.

        Raises:
            KeyError: there is none.
        """
        for row in self.rows:
            if row.key == key:
                return row
        raise KeyError(f"table {self.name!r} has no row {key!r}")

    def cell(self, row: str, column: str) -> Cell:
        """The cell at these keys, with its kind.

        Raises:
            KeyError: there is no such row or column.
        """
        if column not in self.keys:
            raise KeyError(f"table {self.name!r} has no column {column!r}")
        i = self.keys.index(column)
        return cell_of(self.row(row).values[i], self.columns[i].kind)

    def value(self, row: str, column: str) -> Value:
        """The value at these keys.

        Raises:
            KeyError: there is no such row or column.
        """
        return self.cell(row, column).value

    def estimate(self, row: str, column: str) -> Estimate | None:
        """The value at these keys where it is an estimate that exists."""
        value = self.value(row, column)
        return value if isinstance(value, Estimate) and value.value == value.value else None


def cell_of(value: Value | Cell, kind: Kind) -> Cell:
    """A value of a column of this kind as a typed cell."""
    if not isinstance(value, Cell):
        return Cell(value=value, kind=kind)
    return value if value.kind else msgspec.structs.replace(value, kind=kind)


class CellText(Record, omit_defaults=True):
    """A cell as it is written: `text`, and `detail` beside it; `value` is the number behind the text."""

    text: str
    detail: str = ""
    value: float | None = None
    estimate: Estimate | None = None
    mark: str = ""


class ShownRow(Record):
    """A row as it is written, its label first."""

    key: str
    cells: tuple[CellText, ...]


def shown_columns(table: Table) -> tuple[Column, ...]:
    """All columns, that of the labels first, their titles with the unit.

    A column of words alone is one of text, whatever it says of its kind. Behind one with estimates that are
    corrected (`Estimate.corrected`) stand these.
    """
    columns, table = [table.labels], _with_corrected(table)
    for i, column in enumerate(table.columns):
        is_text = bool(table.rows) and all(isinstance(row.values[i], str) for row in table.rows)
        title = f"{column.title}, %" if column.kind == "share" and not column.group else column.title
        kind: Kind = "text" if column.kind == "number" and is_text else column.kind
        columns.append(msgspec.structs.replace(column, title=title, kind=kind))
    return tuple(columns)


def shown_rows(table: Table) -> tuple[ShownRow, ...]:
    """All rows as they are written, in the columns of `shown_columns`."""
    table = _with_corrected(table)
    return tuple(
        ShownRow(
            key=row.key,
            cells=(
                CellText(text=row.label, detail=row.detail),
                *(show(value, c.kind) for value, c in zip(row.values, table.columns, strict=True)),
            ),
        )
        for row in table.rows
    )


def _with_corrected(table: Table) -> Table:
    """The table with a column of corrected estimates behind each that has some."""
    columns, values = [], []
    for i, column in enumerate(table.columns):
        columns.append(column)
        values.append([row.values[i] for row in table.rows])
        cells = [cell_of(value, column.kind) for value in values[-1]]
        estimates = [cell.value.corrected if isinstance(cell.value, Estimate) else None for cell in cells]
        if any(estimates):
            key, title = f"{column.key}:corrected", f"{column.title}, as people read"
            columns.append(msgspec.structs.replace(column, key=key, title=title, note=_CORRECTED))
            values.append(
                [
                    Cell(value=estimate, kind=cell.kind, detail=estimate.reason or None if estimate else None)
                    for estimate, cell in zip(estimates, cells, strict=True)
                ]
            )
    if len(columns) == len(table.columns):
        return table
    rows = (
        msgspec.structs.replace(row, values=some)
        for row, some in zip(table.rows, zip(*values, strict=True), strict=True)
    )
    return msgspec.structs.replace(table, columns=tuple(columns), rows=tuple(rows))


def filled(table: Table) -> Table:
    """The table without columns that have nothing in any row; where nothing is left, its note says so."""
    columns = cells_by_column(table)
    kept = [i for i, cells in enumerate(columns) if any(c.detail or c.text not in ("", DASH) for c in cells)]
    if table.rows and columns and not kept:
        return msgspec.structs.replace(table, rows=(), note=f"{table.title}: no row has a value.")
    return of_columns(table, kept) if table.rows else table


def cells_by_column(table: Table) -> list[list[CellText]]:
    """The cells of each column as they are written."""
    return [[show(row.values[i], c.kind) for row in table.rows] for i, c in enumerate(table.columns)]


def of_columns(table: Table, places: Sequence[int]) -> Table:
    """Some columns of a table, in their order."""
    kept = sorted(places)
    rows = [msgspec.structs.replace(row, values=tuple(row.values[i] for i in kept)) for row in table.rows]
    return msgspec.structs.replace(table, columns=tuple(table.columns[i] for i in kept), rows=tuple(rows))


def shown(table: Table, row: str, column: str) -> CellText:
    """One cell as it is written.

    Raises:
        KeyError: there is no such row or column.
    """
    if column == table.labels.key:
        part = table.row(row)
        return CellText(text=part.label, detail=part.detail)
    return show(table.cell(row, column), "number")


def show(value: Value | Cell, kind: Kind = "number") -> CellText:
    """A value as it is written in a column of this kind."""
    cell = cell_of(value, kind)
    known, kind = cell.value, cell.kind or kind
    estimate = known if isinstance(known, Estimate) else None
    figure = known.value if isinstance(known, Estimate) else known
    if isinstance(figure, float) and math.isnan(figure):
        figure = None
    detail = ""
    if estimate is not None and figure is not None:
        detail = _ends(estimate, kind) if has_interval(estimate) else estimate.reason or "no interval"
    match figure:
        case None:
            text = DASH
        case str():
            text = figure
        case int():
            text = f"{figure:,}"
        case _:
            text = number_text(figure, kind)
    return CellText(
        text=text if cell.text is None else cell.text,
        detail=detail if cell.detail is None else cell.detail,
        value=None if isinstance(figure, str) else figure,
        estimate=estimate,
        mark=cell.mark,
    )


def _ends(estimate: Estimate, kind: Kind) -> str:
    if kind in {"share", "difference"}:
        return interval_text(estimate)
    return f"{number_text(estimate.low, kind)} to {number_text(estimate.high, kind)}"


def number_text(value: float, kind: Kind = "number") -> str:
    """A number of this kind as text; a dash if missing.

    Two digits behind the point where they say something; what is not 0 is never printed as 0.00.

    >>> number_text(1234.5), number_text(0.5), number_text(0.0), number_text(-0.0004), number_text(3e-9)
    ('1,234', '0.50', '0.00', '-0.0004', '3e-09')
    """
    if math.isnan(value):
        return DASH
    match kind:
        case "share":
            return percent(value)
        case "difference":
            return points(value)
        case "p":
            return p_text(value)
        case "points":
            return f"{value:.2f}"
        case "count":
            return f"{value:,.0f}"
        case _ if abs(value) >= 1000:
            return f"{value:,.0f}"
        case _:
            return f"{value:.1g}" if 0 < abs(value) < 0.005 else f"{value + 0.0:.2f}"


def percent(share: float, *, digits: int = 1) -> str:
    """A share from 0 to 1 in per cent, without the sign; a dash if missing.

    >>> percent(0.4312)
    '43.1'
    """
    return DASH if math.isnan(share) else f"{100 * share:.{digits}f}"


def points(value: float) -> str:
    """A difference of shares in points, with its sign; a dash if missing.

    >>> points(0.0312), points(-0.2), points(0.0)
    ('+3.1', '-20.0', '0.0')
    """
    if math.isnan(value):
        return DASH
    text = f"{100 * value:+.1f}"
    return text[1:] if float(text) == 0 else text


def p_text(p_value: float) -> str:
    """A p-value with two significant digits; a dash if missing.

    >>> p_text(0.0312), p_text(0.4567), p_text(0.00001)
    ('0.031', '0.46', '< 0.001')
    """
    if math.isnan(p_value):
        return DASH
    if p_value < 0.001:
        return "< 0.001"
    return f"{p_value:.2f}" if p_value >= 0.095 else f"{p_value:.3f}"


def p_words(p_value: float) -> str:
    """A p-value with the sign that stands before it.

    >>> p_words(0.0312), p_words(0.00001)
    ('= 0.031', '< 0.001')
    """
    text = p_text(p_value)
    return text if text.startswith("<") else f"= {text}"


def several(n: int | str, what: str) -> str:
    """How many there are of something, which has a plain plural; a text is a number as it is written.

    >>> several(1, "video"), several(1200, "video"), several("0", "video")
    ('1 video', '1,200 videos', '0 videos')
    """
    number = n if isinstance(n, str) else f"{n:,}"
    return f"{number} {what}{'' if number == '1' else 's'}"


def has_interval(estimate: Estimate) -> bool:
    """Whether there is an interval that says something: its ends are numbers, and apart.

    A single video gives none. Ends that only rounding keeps apart are one number.
    """
    return estimate.high - estimate.low > ROUNDING * max(1.0, abs(estimate.low), abs(estimate.high))


def interval_text(estimate: Estimate) -> str:
    """The two ends of an interval in per cent, without the sign."""
    return f"{percent(estimate.low)} to {percent(estimate.high)}"


def videos_cell(n: int) -> Cell:
    """A number of videos, marked where they are few."""
    return Cell(value=n, detail="few" if 0 < n < FEW_VIDEOS else "")


def videos_row(rows: Sequence[Row], columns: Sequence[Column], *, label: str = "videos") -> Row | None:
    """A last row for a table of estimates: from how many videos those of each column come.

    None where no cell is an estimate. Where the rows differ it has the least and the greatest number.
    """
    cells: list[Value | Cell] = []
    for i in range(len(columns)):
        values = [cell_of(row.values[i], "number").value for row in rows]
        numbers = {value.n_clusters for value in values if isinstance(value, Estimate)}
        match sorted(numbers):
            case []:
                cells.append(None)
            case [n]:
                cells.append(videos_cell(n))
            case [least, *_, most]:
                few = "few" if least < FEW_VIDEOS else ""
                cells.append(Cell(value=f"{least:,} to {most:,}", detail=few))
    if all(cell is None for cell in cells):
        return None
    return Row(key="videos", label=label, values=tuple(cells))


# --------------------------------------------------------------------------- columns and rows

RowT = TypeVar("RowT")
RowT_contra = TypeVar("RowT_contra", contravariant=True)
AboutT_co = TypeVar("AboutT_co", covariant=True)


@dataclass(frozen=True, kw_only=True)
class Measure(Generic[RowT_contra]):
    """A column of a table: its heading, and its value for what a row is about (a condition, questions, …)."""

    heading: Column
    of: Callable[[RowT_contra], Value | Cell]


def number(
    key: str,
    of: Callable[[RowT], Value | Cell],
    title: str | None = None,
    *,
    kind: Kind = "number",
    note: str = "",
    group: str = "",
) -> Measure[RowT]:
    """A column of numbers or words; without a title its key is one."""
    heading = Column(key=key, title=key if title is None else title, kind=kind, note=note, group=group)
    return Measure(heading=heading, of=of)


def count(
    key: str, of: Callable[[RowT], Value | Cell], title: str | None = None, *, note: str = "", group: str = ""
) -> Measure[RowT]:
    """A column of counts."""
    return number(key, of, title, kind="count", note=note, group=group)


def share(
    key: str, of: Callable[[RowT], Value | Cell], title: str | None = None, *, note: str = "", group: str = ""
) -> Measure[RowT]:
    """A column of shares from 0 to 1, or of their differences; shown in per cent."""
    return number(key, of, title, kind="share", note=note, group=group)


def difference(
    key: str, of: Callable[[RowT], Value | Cell], title: str | None = None, *, note: str = "", group: str = ""
) -> Measure[RowT]:
    """A column of differences of shares; shown in points, with their signs."""
    return number(key, of, title, kind="difference", note=note, group=group)


def p_value(
    key: str, of: Callable[[RowT], Value | Cell], title: str | None = None, *, note: str = "", group: str = ""
) -> Measure[RowT]:
    """A column of p-values."""
    return number(key, of, title, kind="p", note=note, group=group)


def words(
    key: str, of: Callable[[RowT], Value | Cell], title: str | None = None, *, note: str = "", group: str = ""
) -> Measure[RowT]:
    """A column of words."""
    return number(key, of, title, kind="text", note=note, group=group)


@dataclass(frozen=True)
class RowSpec(Generic[AboutT_co]):
    """A row of a table before it is computed: what it is called, and what it is about."""

    key: str
    label: str
    about: AboutT_co
    detail: str = field(default="", kw_only=True)
    is_drawn: bool = field(default=True, kw_only=True)


def lines(
    rows: Iterable[tuple[str, RowT]], labels: Mapping[str, str] | None = None
) -> Iterator[RowSpec[RowT]]:
    """Lines by key and what they are about, called as `labels` say, otherwise by their key."""
    return (RowSpec(key, (labels or {}).get(key, key), about) for key, about in rows)


def by_name(names: Iterable[str], labels: Mapping[str, str] | None = None) -> Iterator[RowSpec[str]]:
    """Lines that are about what their key says, such as a condition."""
    return lines(((name, name) for name in names), labels)


def tabulate(  # noqa: PLR0913 - all that a table is; each argument stands for itself
    name: str,
    title: str,
    *,
    label: str | Column,
    rows: Iterable[RowSpec[RowT]],
    measures: Sequence[Measure[RowT]],
    notes: Iterable[str] = (),
    figure: FigureKind = "",
) -> Table:
    """A table of these measures.

    Args:
        name: unique within a diagnostic.
        title: what it shows.
        label: the heading over the names of the rows.
        rows: taken one after another, each with all measures.
        measures: the columns.
        notes: what must be known to read it, in sentences; empty ones fall away.
        figure: which figure can be drawn from it.
    """
    return Table(
        name=name,
        title=title,
        label=label,
        columns=tuple(measure.heading for measure in measures),
        rows=tuple(
            Row(
                key=row.key,
                label=row.label,
                values=tuple(m.of(row.about) for m in measures),
                detail=row.detail,
                is_drawn=row.is_drawn,
            )
            for row in rows
        ),
        note=" ".join(filter(None, notes)),
        figure=figure,
    )
