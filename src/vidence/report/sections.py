"""Parts of a report that a caller adds."""

from dataclasses import dataclass
from typing import Literal

from vidence.report.questions import ContactSheet
from vidence.tables.charts import Statement
from vidence.tables.table import Table


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture under a heading of its own, and lines of plain text below it."""

    title: str
    sheet: ContactSheet
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page that the caller adds: paragraphs, figures, tables (with their figures), pictures.

    The numbers behind `figures` are folded below them. A part whose place is ``after`` stands behind the
    scores of the run, or behind the comparison of several.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Statement, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    place: Literal["first", "after"] = "first"
