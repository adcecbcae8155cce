"""Sections of a report that callers add, or that form their own page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from vidence.media.whole import write_file
from vidence.tables.charts import Statement
from vidence.tables.export import object_as_json
from vidence.tables.rendering import render
from vidence.tables.table import Table
from vidence.text import visible


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of a page: paragraphs, figures, tables (with figures).

    The data of `figures` is folded below them. `steps` are sentences with a command each. A section with the
    place ``after`` follows the scores of the run, or the comparison of several.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Statement, ...] = ()
    tables: tuple[Table, ...] = ()
    steps: tuple[tuple[str, str], ...] = ()
    place: Literal["first", "after"] = "first"

    def write_page(self, path: Path, *, eyebrow: str, facts: Sequence[tuple[str, object]]) -> None:
        """Write the section as one self-contained HTML file.

        Args:
            path: the file.
            eyebrow: the line above the title, such as the command.
            facts: records of how it was computed, by title.

        Raises:
            StoreError: the file cannot be written.
        """
        statements = (*self.figures, *self.tables)
        page = {"title": self.title, "sentences": self.paragraphs, "statements": statements, "facts": facts}
        write_file(path, render("diagnosis.html.j2", eyebrow=eyebrow, **page))

    def write_json(self, path: Path, form: str, **values: object) -> None:
        """Write sentences, tables and other values as one JSON object; undefined numbers are null.

        Args:
            path: the file.
            form: the object's format, with version.
            values: further contents, by name.

        Raises:
            StoreError: the file cannot be written.
        """
        write_file(path, object_as_json(form, sentences=self.paragraphs, tables=self.tables, **values))


def notebook_html(title: str, sentences: Iterable[str], below: str = "") -> str:
    """Return a result for notebooks: title, sentences, and the markup `below`, often a table."""
    lines = "".join(f"<li>{escape(visible(sentence))}</li>" for sentence in sentences)
    return f"<p><strong>{escape(visible(title))}</strong></p><ul>{lines}</ul>{below}"
