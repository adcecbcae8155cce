"""Parts of a report that a caller adds."""

from dataclasses import dataclass

from vidence.report.questions import Sheet
from vidence.tables.table import Table


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture under a heading of its own, and lines of plain text below it."""

    title: str
    sheet: Sheet
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page that the caller adds: paragraphs, tables (with their figures), pictures."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
