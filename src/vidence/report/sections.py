"""Parts of a report that a caller adds, or that are a page of their own."""

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
    """A part of the page that the caller adds: paragraphs, figures, tables (with their figures).

    The numbers behind `figures` are folded below them. `steps` are sentences, each with what to type. A part
    whose place is ``after`` stands behind the scores of the run, or behind the comparison of several.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Statement, ...] = ()
    tables: tuple[Table, ...] = ()
    steps: tuple[tuple[str, str], ...] = ()
    place: Literal["first", "after"] = "first"

    def write_page(self, path: Path, *, eyebrow: str, facts: Sequence[tuple[str, object]]) -> None:
        """Write it as one HTML file that loads nothing from elsewhere.

        Args:
            path: the file.
            eyebrow: the line above the title, such as the command.
            facts: records of how it was found, by their titles.

        Raises:
            StoreError: the file cannot be written.
        """
        statements = (*self.figures, *self.tables)
        page = {"title": self.title, "sentences": self.paragraphs, "statements": statements, "facts": facts}
        write_file(path, render("diagnosis.html.j2", eyebrow=eyebrow, **page))

    def write_json(self, path: Path, form: str, **values: object) -> None:
        """Write sentences, tables and other values as one JSON object; a number that does not exist is null.

        Args:
            path: the file.
            form: the format of the object, with its version.
            values: what else it holds, by name.

        Raises:
            StoreError: the file cannot be written.
        """
        write_file(path, object_as_json(form, sentences=self.paragraphs, tables=self.tables, **values))


def notebook_html(title: str, sentences: Iterable[str], below: str = "") -> str:
    """What a notebook shows of a result: its title, sentences, and the markup `below`, often a table."""
    lines = "".join(f"<li>{escape(visible(sentence))}</li>" for sentence in sentences)
    return f"<p><strong>{escape(visible(title))}</strong></p><ul>{lines}</ul>{below}"
