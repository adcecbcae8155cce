"""The table type of all output: typed values, which renderers convert to text."""

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
    """A value with further display properties."""

    value: Value = None
    kind: Kind | None = None
    """Format, if it differs from the column's."""
    text: str | None = None
    """Text that replaces the formatted value; never markup."""
    detail: str | None = None
    """Secondary text; None: the estimate's interval."""
    mark: Literal["", "best"] = ""
    """``best`` if it is clearly the best of its column."""


class Column(Record, omit_defaults=True):
    """A column of a table."""

    key: str
    title: str
    kind: Kind = "number"
    """Format of the values: a ``share`` (0 to 1) in per cent, a ``difference`` with its sign."""
    group: str = ""
    """Heading over adjacent columns."""
    note: str = ""
    """Explanation of the column."""


class Row(Record, omit_defaults=True):
    """One row: a label, and as many values as the table has columns. None is "does not apply"."""

    key: str
    label: str
    values: tuple[Value | Cell, ...]
    detail: str = ""
    """Secondary text of the label."""
    is_drawn: bool = True
    """Whether the table's figure includes it."""


class Table(Record, omit_defaults=True):
    """A table: a heading over the labels, the columns of the values, and the rows."""

    name: str
    """Unique within a run or a diagnostic."""
    title: str
    label: str | Column
    """Heading over the labels; a `Column` if it needs a key or note."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    """Notes for readers."""
    footnotes: tuple[str, ...] = ()
    """Footnotes below the table, each with its sign."""
    figure: FigureKind = ""
    """The kind of its figure."""

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
        """Return the first rows as unstyled HTML, for notebooks."""
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
        """Return the keys of the columns."""
        return tuple(column.key for column in self.columns)

    @property
    def labels(self) -> Column:
        """Return the column of the labels."""
        column = Column(key="label", title=self.label) if isinstance(self.label, str) else self.label
        return msgspec.structs.replace(column, kind="text")

    def with_columns(self, columns: Sequence[Column], values: Iterable[Sequence[Value | Cell]]) -> "Table":
        """Return the table with further columns, whose values are given row by row."""
        pairs = zip(self.rows, values, strict=True)
        rows = tuple(msgspec.structs.replace(row, values=(*row.values, *more)) for row, more in pairs)
        return msgspec.structs.replace(self, columns=(*self.columns, *columns), rows=rows)

    def row(self, key: str) -> Row:
        """Return the row with this key.

        Raises:
            KeyError: there is none.
        """
        for row in self.rows:
            if row.key == key:
                return row
        raise KeyError(f"table {self.name!r} has no row {key!r}")

    def cell(self, row: str, column: str) -> Cell:
        """Return the cell at these keys, with its kind.

        Raises:
            KeyError: there is no such row or column.
        """
        if column not in self.keys:
            raise KeyError(f"table {self.name!r} has no column {column!r}")
        i = self.keys.index(column)
        return cell_of(self.row(row).values[i], self.columns[i].kind)

    def value(self, row: str, column: str) -> Value:
        """Return the value at these keys.

        Raises:
            KeyError: there is no such row or column.
        """
        return self.cell(row, column).value

    def estimate(self, row: str, column: str) -> Estimate | None:
        """Return the value at these keys if it is an estimate."""
        value = self.value(row, column)
        return value if isinstance(value, Estimate) and value.value == value.value else None


def cell_of(value: Value | Cell, kind: Kind) -> Cell:
    """Return a value of a column of this kind as a typed cell."""
    if not isinstance(value, Cell):
        return Cell(value=value, kind=kind)
    return value if value.kind else msgspec.structs.replace(value, kind=kind)


class CellText(Record, omit_defaults=True):
    """A formatted cell: `text` with secondary `detail`; `value` is the underlying number."""

    text: str
    detail: str = ""
    value: float | None = None
    estimate: Estimate | None = None
    mark: str = ""


class ShownRow(Record):
    """A formatted row, its label first."""

    key: str
    cells: tuple[CellText, ...]


def shown_columns(table: Table) -> tuple[Column, ...]:
    """Return all columns, labels first, with units in their titles.

    A column with only words is text, whatever its kind. A column with corrected estimates
    (`Estimate.corrected`) is followed by one for these.
    """
    columns, table = [table.labels], _with_corrected(table)
    for i, column in enumerate(table.columns):
        is_text = bool(table.rows) and all(isinstance(row.values[i], str) for row in table.rows)
        title = f"{column.title}, %" if column.kind == "share" and not column.group else column.title
        kind: Kind = "text" if column.kind == "number" and is_text else column.kind
        columns.append(msgspec.structs.replace(column, title=title, kind=kind))
    return tuple(columns)


def shown_rows(table: Table) -> tuple[ShownRow, ...]:
    """Return all formatted rows, in the columns of `shown_columns`."""
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
    """Insert a column of corrected estimates after each column that has some."""
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
    """Remove columns that are empty in every row; if none are left, add a note."""
    columns = cells_by_column(table)
    kept = [i for i, cells in enumerate(columns) if any(c.detail or c.text not in ("", DASH) for c in cells)]
    if table.rows and columns and not kept:
        return msgspec.structs.replace(table, rows=(), note=f"{table.title}: no row has a value.")
    return of_columns(table, kept) if table.rows else table


def cells_by_column(table: Table) -> list[list[CellText]]:
    """Return the formatted cells of each column."""
    return [[show(row.values[i], c.kind) for row in table.rows] for i, c in enumerate(table.columns)]


def of_columns(table: Table, places: Sequence[int]) -> Table:
    """Return some columns of a table, in order."""
    kept = sorted(places)
    rows = [msgspec.structs.replace(row, values=tuple(row.values[i] for i in kept)) for row in table.rows]
    return msgspec.structs.replace(table, columns=tuple(table.columns[i] for i in kept), rows=tuple(rows))


def shown(table: Table, row: str, column: str) -> CellText:
    """Return a formatted cell.

    Raises:
        KeyError: there is no such row or column.
    """
    if column == table.labels.key:
        part = table.row(row)
        return CellText(text=part.label, detail=part.detail)
    return show(table.cell(row, column), "number")


def show(value: Value | Cell, kind: Kind = "number") -> CellText:
    """Format a value for a column of this kind."""
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
    """Format a number of this kind; a dash if missing.

    Two digits after the point if significant; nonzero values are never printed as 0.00.

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
    """Format a share from 0 to 1 in per cent, without the sign; a dash if missing.

    >>> percent(0.4312)
    '43.1'
    """
    return DASH if math.isnan(share) else f"{100 * share:.{digits}f}"


def points(value: float) -> str:
    """Format a difference of shares in points, with its sign; a dash if missing.

    >>> points(0.0312), points(-0.2), points(0.0)
    ('+3.1', '-20.0', '0.0')
    """
    if math.isnan(value):
        return DASH
    text = f"{100 * value:+.1f}"
    return text[1:] if float(text) == 0 else text


def p_text(p_value: float) -> str:
    """Format a p-value with two significant digits; a dash if missing.

    >>> p_text(0.0312), p_text(0.4567), p_text(0.00001)
    ('0.031', '0.46', '< 0.001')
    """
    if math.isnan(p_value):
        return DASH
    if p_value < 0.001:
        return "< 0.001"
    return f"{p_value:.2f}" if p_value >= 0.095 else f"{p_value:.3f}"


def p_words(p_value: float) -> str:
    """Format a p-value with its relation sign.

    >>> p_words(0.0312), p_words(0.00001)
    ('= 0.031', '< 0.001')
    """
    text = p_text(p_value)
    return text if text.startswith("<") else f"= {text}"


def several(n: int | str, what: str) -> str:
    """Format a count with its noun in singular or plural; `n` may be formatted text.

    >>> several(1, "video"), several(1200, "video"), several("0", "video")
    ('1 video', '1,200 videos', '0 videos')
    """
    number = n if isinstance(n, str) else f"{n:,}"
    return f"{number} {what}{'' if number == '1' else 's'}"


def has_interval(estimate: Estimate) -> bool:
    """Whether an estimate has a proper interval: finite, distinct bounds.

    A single video gives none. Bounds that differ only by rounding are equal.
    """
    return estimate.high - estimate.low > ROUNDING * max(1.0, abs(estimate.low), abs(estimate.high))


def interval_text(estimate: Estimate) -> str:
    """Format the bounds of an interval in per cent, without the sign."""
    return f"{percent(estimate.low)} to {percent(estimate.high)}"


def videos_cell(n: int) -> Cell:
    """Return a number of videos, marked if few."""
    return Cell(value=n, detail="few" if 0 < n < FEW_VIDEOS else "")


def videos_row(rows: Sequence[Row], columns: Sequence[Column], *, label: str = "videos") -> Row | None:
    """Return a last row with the number of videos behind each column of estimates.

    None if no cell is an estimate. If rows differ, it shows the range.
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
    """Return a column of numbers or words, titled by its key by default."""
    heading = Column(key=key, title=key if title is None else title, kind=kind, note=note, group=group)
    return Measure(heading=heading, of=of)


def count(
    key: str, of: Callable[[RowT], Value | Cell], title: str | None = None, *, note: str = "", group: str = ""
) -> Measure[RowT]:
    """Return a column of counts."""
    return number(key, of, title, kind="count", note=note, group=group)


def share(
    key: str, of: Callable[[RowT], Value | Cell], title: str | None = None, *, note: str = "", group: str = ""
) -> Measure[RowT]:
    """Return a column of shares from 0 to 1, or of their differences; shown in per cent."""
    return number(key, of, title, kind="share", note=note, group=group)


def difference(
    key: str, of: Callable[[RowT], Value | Cell], title: str | None = None, *, note: str = "", group: str = ""
) -> Measure[RowT]:
    """Return a column of differences of shares, shown in points with signs."""
    return number(key, of, title, kind="difference", note=note, group=group)


def p_value(
    key: str, of: Callable[[RowT], Value | Cell], title: str | None = None, *, note: str = "", group: str = ""
) -> Measure[RowT]:
    """Return a column of p-values."""
    return number(key, of, title, kind="p", note=note, group=group)


def words(
    key: str, of: Callable[[RowT], Value | Cell], title: str | None = None, *, note: str = "", group: str = ""
) -> Measure[RowT]:
    """Return a column of words."""
    return number(key, of, title, kind="text", note=note, group=group)


@dataclass(frozen=True)
class RowSpec(Generic[AboutT_co]):
    """A row before its values are computed: its label and its subject."""

    key: str
    label: str
    about: AboutT_co
    detail: str = field(default="", kw_only=True)
    is_drawn: bool = field(default=True, kw_only=True)


def lines(
    rows: Iterable[tuple[str, RowT]], labels: Mapping[str, str] | None = None
) -> Iterator[RowSpec[RowT]]:
    """Yield rows by key and subject, labelled by `labels` or else by key."""
    return (RowSpec(key, (labels or {}).get(key, key), about) for key, about in rows)


def by_name(names: Iterable[str], labels: Mapping[str, str] | None = None) -> Iterator[RowSpec[str]]:
    """Yield rows whose subject is their key, such as a condition."""
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
