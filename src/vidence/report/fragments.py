"""Parts of the report page as pieces of HTML, for pages that are put together elsewhere.

Every text in them is escaped by the templates of the report; they bring neither style nor script.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from vidence.records import Item, Record
from vidence.report.browser import Browser, Entry, RunReply
from vidence.report.diagnosis import Diagnosed, excerpts
from vidence.report.page import MOST_PROBLEMS, SAID_OF_TRIALS, view_of
from vidence.report.provenance import prompt_note
from vidence.report.results import SEED, Row, Run
from vidence.report.sections import Section
from vidence.report.tables import all_tables
from vidence.tables.rendering import render
from vidence.tables.table import RowSpec, Table, tabulate, words

_TEMPLATE = "fragment.html.j2"


class Link(Record):
    """Words of a cell, and where they lead; without an address they only look as `style`, a class, says."""

    words: str
    address: str = ""
    style: str = ""


def run_fragment(run: Run, *, title: str, level: float = 0.95) -> str:
    """The headline of a run, its scores by tag, outcomes, diagnostics, judges, readers, and how it was run.

    Args:
        run: the run, with its trials.
        title: how it is called.
        level: coverage of the intervals.

    Raises:
        UsageError: the run has no trials.
        StoreError: it cannot be read any more.
    """
    tables = all_tables(run, rng=np.random.default_rng(SEED), level=level)
    # The pages of diagnostics lie beside the run, where a piece of another page does not lead.
    pair = excerpts(run.folder, run.folder / "page", level=level)
    diagnosed = tuple(excerpt.without_link() for excerpt in pair)
    view = view_of(run, tables, title=title, view_id="run", diagnosed=diagnosed)
    return render(_TEMPLATE, view=view, most_problems=MOST_PROBLEMS)


def section_fragment(section: Section) -> str:
    """A part such as that of a comparison, without its heading."""
    return render(_TEMPLATE, section=section)


def diagnosed_fragment(diagnosed: Diagnosed) -> str:
    """All tables and figures of a diagnostic, below what it says of how far it got."""
    return render(_TEMPLATE, sentences=diagnosed.sentences, statements=diagnosed.statements)


def list_fragment(
    table: Table,
    links: Mapping[tuple[str, str], Sequence[Link]] | None = None,
    ticks: Mapping[str, bool] | None = None,
) -> str:
    """A table as a list of things that have pages of their own.

    Args:
        table: the list; on a narrow screen each of its rows is a card.
        links: by the keys of row and column what stands in place of the text of a cell.
        ticks: by their keys the rows that can be chosen as ``run`` of a form, and whether they are.
    """
    return render("listing.html.j2", table=table, links=links or {}, ticks=ticks or {})


def words_fragment(title: str, headings: tuple[str, str], rows: Sequence[tuple[str, str, str]]) -> str:
    """A list of names, what stands in a quieter voice beside each, and words about them."""
    label, about = headings
    specs = [RowSpec(str(i), name, text, detail=detail) for i, (name, detail, text) in enumerate(rows)]
    return list_fragment(
        tabulate("words", title, label=label, rows=specs, measures=[words("words", str, about)])
    )


def question_fragment(item: Item) -> str:
    """The words of a question, with its right answer and its facts."""
    return _entry_piece(item)


def reply_fragment(run: Run, row: Row) -> str:
    """What a run made of a question: the choices as shown to it, its reply and score."""
    reply = RunReply(run_id="", name="", row=row, sheet_id="", shown="", prompt_note=prompt_note(run, row))
    return _entry_piece(row.item, reply)


def _entry_piece(item: Item, *replies: RunReply) -> str:
    entry = Entry(id="", item=item, told=replies, tag_ids="", is_one_order=True)
    browser = Browser(note="", entries=(entry,), statuses=(), tags=(), sheets={})
    return render(_TEMPLATE, entry=entry, browser=browser, **SAID_OF_TRIALS)
