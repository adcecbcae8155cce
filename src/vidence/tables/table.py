"""The table that everything said is: typed values, which only the renderers turn into text."""

from typing import Literal, TypeAlias

import msgspec

from vidence.errors import UsageError
from vidence.records import Estimate, Record

Value: TypeAlias = Estimate | float | int | str | None
Kind: TypeAlias = Literal["text", "count", "number", "share", "points", "difference", "p"]


class Cell(Record, kw_only=True, omit_defaults=True):
    """A value with what a value cannot say for itself."""

    value: Value = None
    kind: Kind | None = None
    """How it is formatted where that differs from its column."""
    text: str | None = None
    """What is shown in place of the formatted value: data, never markup."""
    detail: str | None = None
    """What stands beside it in a quieter voice; None is the interval of an estimate."""
    mark: Literal["", "best"] = ""
    """``best`` for the best of its column where it can be told from the others."""


class Column(Record, kw_only=True, omit_defaults=True):
    """One column of a table."""

    key: str
    title: str
    kind: Kind = "number"
    """How values are written: a ``share`` (0 to 1) in per cent, a ``difference`` of shares with its sign."""
    group: str = ""
    """A heading over neighbouring columns."""
    note: str = ""
    """What the column means."""


class Row(Record, kw_only=True, omit_defaults=True):
    """One row: a label, and as many values as the table has columns. None is "does not apply"."""

    key: str
    label: str
    values: tuple[Value | Cell, ...]
    detail: str = ""
    """What stands beside the label in a quieter voice."""


class Table(Record, kw_only=True, omit_defaults=True):
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
    figure: Literal["", "scores", "differences", "outcomes", "letters"] = ""
    """Which figure can be drawn from it."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.values) != len(self.columns):
                raise UsageError(
                    f"row {row.key!r} of table {self.name!r} has {len(row.values)} values, "
                    f"expected {len(self.columns)}, one for each column"
                )

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns."""
        return tuple(column.key for column in self.columns)

    @property
    def labels(self) -> Column:
        """The column of the labels."""
        column = Column(key="label", title=self.label) if isinstance(self.label, str) else self.label
        return msgspec.structs.replace(column, kind="text")

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
    """A value of a column of this kind as a cell whose kind is said."""
    if not isinstance(value, Cell):
        return Cell(value=value, kind=kind)
    return value if value.kind else msgspec.structs.replace(value, kind=kind)
