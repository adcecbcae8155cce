"""Parts of a report that a caller adds."""

from dataclasses import dataclass
from typing import Literal

from vidence.tables.charts import Statement
from vidence.tables.table import Table


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page that the caller adds: paragraphs, figures, tables (with their figures).

    The numbers behind `figures` are folded below them. A part whose place is ``after`` stands behind the
    scores of the run, or behind the comparison of several.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Statement, ...] = ()
    tables: tuple[Table, ...] = ()
    place: Literal["first", "after"] = "first"
