"""Parts of a report that a caller adds."""

from dataclasses import dataclass

from vidence.reporting.cells import Table
from vidence.reporting.figures import Figure


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page that the caller adds: paragraphs, then tables, then figures; all plain text."""

    title: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
