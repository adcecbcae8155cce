"""The former names of a table, its columns and its rows; the next change renames what still uses them."""

from typing import TypeAlias

from vidence.records import Record
from vidence.tables import charts
from vidence.tables.charts import Chart, Dot, Group, Point, Scatter, Series, Violins
from vidence.tables.table import Column, Row, Table, Value

__all__ = [
    "Chart",
    "Dot",
    "Entry",
    "Group",
    "Heading",
    "Point",
    "Scatter",
    "Series",
    "Sheet",
    "Statement",
    "Value",
    "Violins",
    "table_of",
]


class Heading(Record, kw_only=True, omit_defaults=True):
    """A `Column`."""

    key: str
    title: str
    note: str = ""
    is_share: bool = False
    is_p: bool = False


class Entry(Record, kw_only=True, omit_defaults=True):
    """A `Row`."""

    key: str
    label: str
    values: tuple[Value, ...]
    detail: str = ""


class Sheet(Record, kw_only=True, omit_defaults=True):
    """A `Table`."""

    name: str
    title: str
    label: str
    headings: tuple[Heading, ...]
    entries: tuple[Entry, ...]
    note: str = ""

    def value(self, entry: str, heading: str) -> Value:
        """The value at these keys; KeyError where there is none."""
        return self.as_table().value(entry, heading)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns."""
        return tuple(h.key for h in self.headings)

    def as_table(self) -> Table:
        """The table."""
        return Table(
            name=self.name,
            title=self.title,
            label=self.label,
            columns=tuple(
                Column(
                    key=h.key,
                    title=h.title,
                    note=h.note,
                    kind="share" if h.is_share else "p" if h.is_p else "number",
                )
                for h in self.headings
            ),
            rows=tuple(Row(key=e.key, label=e.label, values=e.values, detail=e.detail) for e in self.entries),
            note=self.note,
        )


Statement: TypeAlias = Sheet | Table | Chart | Violins | Scatter


def table_of(statement: Statement) -> Table:
    """A statement as a table."""
    return statement.as_table() if isinstance(statement, Sheet) else charts.table_of(statement)
