"""Parts of the report page as pieces of HTML, for pages that are put together elsewhere.

Every text in them is escaped by the templates of the report; they bring neither style nor script.
"""

import numpy as np

from vidence.records import Item
from vidence.report.browser import Browser, Entry, RunReply
from vidence.report.diagnosis import Diagnosed, excerpts
from vidence.report.page import MOST_PROBLEMS, SAID_OF_TRIALS, view_of
from vidence.report.provenance import prompt_note
from vidence.report.results import SEED, Row, Run
from vidence.report.sections import Section
from vidence.report.tables import all_tables
from vidence.tables.rendering import render

_TEMPLATE = "fragment.html.j2"


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
    found = excerpts(run.folder, run.folder / "page", level=level)
    diagnosed = tuple(one.without_link() for one in found)
    view = view_of(run, tables, title=title, view_id="run", diagnosed=diagnosed)
    return _piece(view=view, most_problems=MOST_PROBLEMS)


def section_fragment(section: Section) -> str:
    """A part such as that of a comparison, without its heading."""
    return _piece(section=section)


def diagnosed_fragment(diagnosed: Diagnosed) -> str:
    """All tables and figures of a diagnostic, below what it says of how far it got."""
    return _piece(sentences=diagnosed.sentences, statements=diagnosed.statements)


def question_fragment(item: Item) -> str:
    """The words of a question, with its right answer and what stands beside it."""
    return _entry_piece(item)


def reply_fragment(run: Run, row: Row) -> str:
    """What a run made of a question: the choices as shown to it, its reply and score."""
    told = RunReply(run_id="", name="", row=row, sheet_id="", shown="", prompt_note=prompt_note(run, row))
    return _entry_piece(row.item, told)


def _entry_piece(item: Item, *told: RunReply) -> str:
    entry = Entry(id="", item=item, told=told, tag_ids="", is_one_order=True)
    browser = Browser(note="", entries=(entry,), statuses=(), tags=(), sheets={})
    return _piece(entry=entry, browser=browser, **SAID_OF_TRIALS)


def _piece(**values: object) -> str:
    known: dict[str, object] = {
        "entry": None,
        "view": None,
        "section": None,
        "sentences": (),
        "statements": (),
        "most_problems": 0,
    }
    return render(_TEMPLATE, **(known | values))
