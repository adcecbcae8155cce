"""One run, or several next to each other, as one self-contained HTML file.

All texts from models and data files are escaped by the template engine; the page's content security policy
allows only its own style and script, by hash.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vidence.engine.specs import label
from vidence.errors import UsageError
from vidence.media.whole import write_file
from vidence.records import Item, Record
from vidence.report.browser import Browser, Entry, RunReply, browse
from vidence.report.diagnosis import Diagnosed, Excerpt, excerpts
from vidence.report.judge_summary import JUDGE_TABLES
from vidence.report.provenance import plan_note, prompt_note
from vidence.report.questions import ContactSheets, error_of, how_read, logp_words, prompt_text, verdict_words
from vidence.report.repeats import REPEAT_TABLES
from vidence.report.results import SEED, STATUSES, Row, Run
from vidence.report.sections import Section
from vidence.report.side_by_side import run_names, scores_of_runs, side_by_side
from vidence.report.tables import all_tables, asked, headline
from vidence.tables.rendering import render
from vidence.tables.table import RowSpec, Table, tabulate, words

# Pictures make up most of the page; together they stay below this.
PICTURES_BYTES = 8_000_000
MOST_PROBLEMS = 50
SAID_OF_TRIALS: Mapping[str, object] = {
    "status_words": STATUSES,
    "verdict_words": verdict_words,
    "how_read": how_read,
    "error_of": error_of,
    "logp_words": logp_words,
    "prompt_text": prompt_text,
}
"""Functions available to question templates."""


@dataclass(frozen=True, kw_only=True)
class RunView:
    """One run as templates see it."""

    id: str
    title: str
    run: Run
    sentences: tuple[str, ...]
    tables: Mapping[str, Table]
    diagnosed: tuple[Excerpt, ...]

    @property
    def scores(self) -> list[Table]:
        """Return the tables of scores, the headline first."""
        return [table for table in self.tables.values() if table.figure == "scores"]

    @property
    def repeats(self) -> list[Table]:
        """Return the facts about repeats; empty without repeats."""
        return [self.tables[name] for name in REPEAT_TABLES if name in self.tables]

    @property
    def plan_note(self) -> str:
        """Describe how the run was asked, for the heading of its plan."""
        return plan_note(self.run)

    @property
    def judges(self) -> list[Table]:
        """Return what judges did; empty if none was asked."""
        return [self.tables[name] for name in JUDGE_TABLES if name in self.tables]


def view_of(
    run: Run, tables: Sequence[Table], *, title: str, view_id: str, diagnosed: tuple[Excerpt, ...]
) -> RunView:
    """Return one run as pages show it.

    Args:
        run: the run, with its trials.
        tables: those of `all_tables`.
        title: the name of the run on the page.
        view_id: its anchor on the page.
        diagnosed: results of diagnostics, as from `excerpts`.
    """
    return RunView(
        id=view_id,
        title=title,
        run=run,
        sentences=headline(run, tables[0]),
        tables={table.name: table for table in tables},
        diagnosed=diagnosed,
    )


def write_page(  # noqa: PLR0913 - the whole page is one call; each argument stands for itself
    runs: Sequence[Run],
    path: Path,
    *,
    cache_root: Path | None,
    media_root: Path | None,
    rng: np.random.Generator,
    tables: Sequence[Sequence[Table]] = (),
    n_items: int = 1000,
    extra_sections: Sequence[Section] = (),
    level: float = 0.95,
    title: str = "",
) -> None:
    """Write the page of one run, or of several side by side.

    Args:
        runs: the runs, at least one.
        path: the HTML file.
        cache_root: the folder of the frame cache; None decodes them again.
        media_root: the folder that media paths start from, for runs whose own folder (in their
            facts) is not there; without either, the frames are left out.
        rng: where the draws of the intervals come from. Each run starts from this same state, so
            that its numbers do not depend on what else is on the page.
        tables: for each run those of `all_tables`, where they are made already.
        n_items: how many trials the browser of questions holds.
        extra_sections: shown below the headline, or behind the scores, as their places say.
        level: coverage of the intervals.
        title: the heading of the page (default: what was asked).

    Raises:
        StoreError: the file cannot be written.
        UsageError: no runs, or a run without trials.
    """
    if not runs:
        raise UsageError("there is no run to report; name at least one run folder")
    tables = tables or [all_tables(run, rng=copy.deepcopy(rng), level=level) for run in runs]
    names = run_names(runs) if len(runs) > 1 else (f"{runs[0].plan.benchmark} · {label(runs[0].plan)}",)
    views = [
        view_of(run, some, title=name, view_id=f"run-{i}", diagnosed=excerpts(run.folder, path, level=level))
        for i, (run, some, name) in enumerate(zip(runs, tables, names, strict=True), start=1)
    ]
    sheets = ContactSheets(cache_root=cache_root, media_root=media_root, budget_bytes=PICTURES_BYTES)
    browser = browse([(view.id, view.title, view.run) for view in views], sheets=sheets, n_items=n_items)
    benchmarks = ", ".join(dict.fromkeys(run.plan.benchmark for run in runs))
    page = render(
        "page.html.j2",
        title=title or (names[0] if len(runs) == 1 else f"{len(runs)} runs of {benchmarks}"),
        subtitle=asked(runs[0]) if len(runs) == 1 else "",
        views=views,
        comparison=side_by_side(runs, [view.scores for view in views]) if len(runs) > 1 else (),
        compared=scores_of_runs(runs, [view.scores[0] for view in views]) if len(runs) > 1 else None,
        sections=extra_sections,
        links=_links(views, extra_sections),
        browser=browser,
        most_problems=MOST_PROBLEMS,
        **SAID_OF_TRIALS,
    )
    write_file(path, page)


def _links(views: Sequence[RunView], sections: Sequence[Section]) -> list[tuple[str, str]]:
    places = {"first": list[tuple[str, str]](), "after": list[tuple[str, str]]()}
    for i, section in enumerate(sections, start=1):
        places[section.place].append((f"section-{i}", section.title))
    links = places["first"]
    if len(views) > 1:
        links += [("runs", "Side by side"), *places["after"]]
        links += [(view.id, view.title) for view in views]
    else:
        view = views[0]
        links += [(f"{view.id}-scores", "Scores"), (f"{view.id}-outcomes", "Outcomes"), *places["after"]]
        names = {"diagnosed": "Diagnostics"} if view.diagnosed else {}
        names |= {"judges": "Judges"} if view.judges else {}
        names |= {"parsers": "Parsers", "letters": "Letters", "manifest": "How it was run"}
        links += [(f"{view.id}-{name}", words) for name, words in names.items()]
    return [*links, ("questions", "Questions")]


_TEMPLATE = "fragment.html.j2"


class Link(Record):
    """The text of a cell and its target; without an address only the CSS class `style` applies."""

    words: str
    address: str = ""
    style: str = ""


def run_fragment(run: Run, *, title: str, level: float = 0.95) -> str:
    """Return a run's headline, scores by tag, outcomes, diagnostics, judges, parsers and settings as HTML.

    Args:
        run: the run, with its trials.
        title: its name.
        level: coverage of the intervals.

    Raises:
        UsageError: the run has no trials.
        StoreError: it can no longer be read.
    """
    tables = all_tables(run, rng=np.random.default_rng(SEED), level=level)
    # The pages of diagnostics lie beside the run, where a piece of another page does not lead.
    pair = excerpts(run.folder, run.folder / "page", level=level)
    diagnosed = tuple(replace(excerpt, link="") for excerpt in pair)
    view = view_of(run, tables, title=title, view_id="run", diagnosed=diagnosed)
    return render(_TEMPLATE, view=view, most_problems=MOST_PROBLEMS)


def section_fragment(section: Section) -> str:
    """Return a section, such as that of a comparison, without its heading."""
    return render(_TEMPLATE, section=section)


def diagnosed_fragment(diagnosed: Diagnosed) -> str:
    """Return all tables and figures of a diagnostic, after its progress."""
    return render(_TEMPLATE, sentences=diagnosed.sentences, statements=diagnosed.statements)


def list_fragment(
    table: Table,
    links: Mapping[tuple[str, str], Sequence[Link]] | None = None,
    ticks: Mapping[str, bool] | None = None,
) -> str:
    """Return a table as a list of things that have their own pages.

    Args:
        table: the list; on a narrow screen each row is a card.
        links: replacements for the text of cells, by the keys of row and column.
        ticks: rows that can be selected as ``run`` of a form, by key, and whether they are.
    """
    return render("listing.html.j2", table=table, links=links or {}, ticks=ticks or {})


def words_fragment(title: str, headings: tuple[str, str], rows: Sequence[tuple[str, str, str]]) -> str:
    """Return a list of names, each with a secondary label and a description."""
    label, about = headings
    specs = [RowSpec(str(i), name, text, detail=detail) for i, (name, detail, text) in enumerate(rows)]
    return list_fragment(
        tabulate("words", title, label=label, rows=specs, measures=[words("words", str, about)])
    )


def question_fragment(item: Item) -> str:
    """Return a question's text with its right answer and facts."""
    return _entry_piece(item)


def reply_fragment(run: Run, row: Row) -> str:
    """Return a run's trial of a question: the choices as shown, its reply and score."""
    reply = RunReply(run_id="", name="", row=row, sheet_id="", shown="", prompt_note=prompt_note(run, row))
    return _entry_piece(row.item, reply)


def _entry_piece(item: Item, *replies: RunReply) -> str:
    entry = Entry(id="", item=item, told=replies, tag_ids="", is_one_order=True)
    browser = Browser(note="", entries=(entry,), statuses=(), tags=(), sheets={})
    return render(_TEMPLATE, entry=entry, browser=browser, **SAID_OF_TRIALS)
