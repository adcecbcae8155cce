"""One run, or several side by side, as one HTML file that loads nothing from elsewhere.

Texts from models and data files are escaped by the template engine, every one of them; the content
security policy of the page allows its own style and script by their hashes, and nothing else.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from vidence.errors import UsageError
from vidence.records import Record
from vidence.report.export import write_file
from vidence.report.judged import JUDGE_TABLES
from vidence.report.questions import ContactSheets, browse, verdict_words
from vidence.report.results import Run
from vidence.report.sections import Section
from vidence.report.side_by_side import run_names, side_by_side
from vidence.report.tables import all_tables, asked, headline
from vidence.tables.figures import draw_figure, figure_of
from vidence.tables.rendering import Drawn, drawn, render
from vidence.tables.table import DASH, Shown, Table, has_interval, interval_text, shown

# Pictures make up most of the page; together they stay below this.
PICTURES_BYTES = 8_000_000
THUMB_PX = 160
SMALL_THUMB_PX = 120
MOST_LARGE = 150
MOST_PROBLEMS = 50


@dataclass(frozen=True, kw_only=True)
class _View:
    """One run as its template sees it."""

    id: str
    title: str
    sentences: tuple[str, ...]
    score: Shown
    interval: str
    tables: Mapping[str, Table]
    scores: tuple[Table, ...]
    judges: tuple[Table, ...]
    plan: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    remarks: tuple[tuple[str, tuple[str, ...]], ...]


def write_page(  # noqa: PLR0913 - the whole page is one call; each argument stands for itself
    runs: Sequence[Run],
    path: Path,
    *,
    cache_root: Path | None,
    media_root: Path | None,
    rng: np.random.Generator,
    tables: Sequence[Sequence[Table]] = (),
    n_items: int = 300,
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
        extra_sections: shown first, below the headline.
        level: coverage of the intervals.
        title: the heading of the page (default: what was asked).

    Raises:
        StoreError: the file cannot be written.
        UsageError: no runs, or a run without trials.
    """
    if not runs:
        raise UsageError("there is no run to report; name at least one run folder")
    tables = tables or [all_tables(run, rng=copy.deepcopy(rng), level=level) for run in runs]
    names = run_names(runs) if len(runs) > 1 else (_title(runs[0]),)
    views = [
        _view(f"run-{i}", run, some, title=name)
        for i, (run, some, name) in enumerate(zip(runs, tables, names, strict=True), start=1)
    ]
    n_shown = min(n_items, sum(len(run.rows) for run in runs))
    thumb_px = THUMB_PX if n_shown <= MOST_LARGE else SMALL_THUMB_PX
    sheets = ContactSheets(
        cache_root=cache_root, media_root=media_root, thumb_px=thumb_px, budget_bytes=PICTURES_BYTES
    )
    placed = [(view.id, name, run) for view, name, run in zip(views, names, runs, strict=True)]
    browser = browse(placed, sheets=sheets, n_items=n_items)
    page = render(
        "page.html.j2",
        drawing_of=_drawing_of,
        title=title or (views[0].title if len(runs) == 1 else f"{len(runs)} runs of {_benchmarks(runs)}"),
        subtitle=asked(runs[0]) if len(runs) == 1 else "",
        views=views,
        comparison=side_by_side(runs, [view.scores for view in views]) if len(runs) > 1 else (),
        sections=[_section(section) for section in extra_sections],
        links=_links(views, extra_sections),
        browser=browser,
        verdict_words=verdict_words,
    )
    write_file(path, page)


def _title(run: Run) -> str:
    return f"{run.plan.benchmark} · {run.plan.model}"


def _benchmarks(runs: Sequence[Run]) -> str:
    return ", ".join(dict.fromkeys(run.plan.benchmark for run in runs))


def _links(views: Sequence[_View], sections: Sequence[Section]) -> list[tuple[str, str]]:
    links = [(f"section-{i}", section.title) for i, section in enumerate(sections, start=1)]
    if len(views) > 1:
        links.append(("runs", "Side by side"))
        links += [(view.id, view.title) for view in views]
    else:
        names = {"scores": "Scores", "outcomes": "Outcomes"}
        names |= {"judges": "Judges"} if views[0].judges else {}
        names |= {"parsers": "Parsers", "letters": "Letters"}
        names["manifest"] = "How it was run"
        links += [(f"{views[0].id}-{name}", words) for name, words in names.items()]
    return [*links, ("questions", "Questions")]


def _drawing_of(table: Table) -> Drawn | None:
    figure = figure_of(table)
    return None if figure is None else drawn(draw_figure(figure))


def _section(section: Section) -> dict[str, object]:
    return {
        "title": section.title,
        "paragraphs": section.paragraphs,
        "drawings": [(figure.title, drawn(draw_figure(figure))) for figure in section.figures],
        "tables": section.tables,
        "pictures": section.pictures,
    }


def _view(run_id: str, run: Run, tables: Sequence[Table], *, title: str) -> _View:
    by_name = {table.name: table for table in tables}
    estimate = by_name["score"].estimate("headline", "accuracy")
    interval = ""
    if estimate is not None and has_interval(estimate):
        interval = f"{100 * estimate.level:g} % interval {interval_text(estimate)}"
    remarks = (("Notes", run.facts.notes), ("Left out of the data", run.facts.problems[:MOST_PROBLEMS]))
    return _View(
        id=run_id,
        title=title,
        sentences=headline(run, by_name["score"]),
        score=shown(by_name["score"], "headline", "accuracy"),
        interval=interval,
        tables=by_name,
        scores=tuple(table for table in tables if table.figure == "scores"),
        judges=tuple(by_name[name] for name in JUDGE_TABLES if name in by_name),
        plan=_settings(run.plan),
        facts=_settings(run.facts, leave_out=("notes", "problems")),
        remarks=tuple((name, lines) for name, lines in remarks if lines),
    )


def _settings(record: Record, leave_out: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """The fields of a record as names and words; fields of inner records and dicts on one line."""
    built: dict[str, object] = msgspec.to_builtins(record)
    return tuple((key, _words(value)) for key, value in built.items() if key not in leave_out)


def _words(value: object) -> str:
    match value:
        case None | "":
            return DASH
        case dict() | list() if not value:
            return DASH
        case dict():
            return ", ".join(f"{key} {_words(inner)}" for key, inner in value.items())
        case True:
            return "yes"
        case False:
            return "no"
        case _:
            return str(value)
