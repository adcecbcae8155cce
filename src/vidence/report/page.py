"""One run, or several side by side, as one HTML file that loads nothing from elsewhere.

Texts from models and data files are escaped by the template engine, every one of them; the content
security policy of the page allows its own style and script by their hashes, and nothing else.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vidence.engine.specs import label
from vidence.errors import UsageError
from vidence.media.whole import write_file
from vidence.report.browser import browse
from vidence.report.diagnosis import Excerpt, excerpts
from vidence.report.judge_summary import JUDGE_TABLES
from vidence.report.provenance import plan_note
from vidence.report.questions import ContactSheets, error_of, how_read, logp_words, prompt_text, verdict_words
from vidence.report.repeats import REPEAT_TABLES
from vidence.report.results import STATUSES, Run
from vidence.report.sections import Section
from vidence.report.side_by_side import run_names, scores_of_runs, side_by_side
from vidence.report.tables import all_tables, asked, headline
from vidence.tables.rendering import render
from vidence.tables.table import Table

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
"""What the templates of questions call."""


@dataclass(frozen=True, kw_only=True)
class RunView:
    """One run as its template sees it."""

    id: str
    title: str
    run: Run
    sentences: tuple[str, ...]
    tables: Mapping[str, Table]
    diagnosed: tuple[Excerpt, ...]

    @property
    def scores(self) -> list[Table]:
        """The tables of scores, the one with the headline first."""
        return [table for table in self.tables.values() if table.figure == "scores"]

    @property
    def repeats(self) -> list[Table]:
        """The facts about repeats; empty without repeats."""
        return [self.tables[name] for name in REPEAT_TABLES if name in self.tables]

    @property
    def plan_note(self) -> str:
        """How the run was asked, for above its plan."""
        return plan_note(self.run)

    @property
    def judges(self) -> list[Table]:
        """What judges did; nothing where none was asked."""
        return [self.tables[name] for name in JUDGE_TABLES if name in self.tables]


def view_of(
    run: Run, tables: Sequence[Table], *, title: str, view_id: str, diagnosed: tuple[Excerpt, ...]
) -> RunView:
    """One run as pages show it.

    Args:
        run: the run, with its trials.
        tables: those of `all_tables`.
        title: how the run is called on the page.
        view_id: its anchor there.
        diagnosed: what diagnostics found, as from `excerpts`.
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
        names = {"scores": "Scores", "outcomes": "Outcomes"}
        links += [(f"{views[0].id}-{name}", words) for name, words in names.items()]
        links += places["after"]
        names = {"diagnosed": "Diagnostics"} if views[0].diagnosed else {}
        names |= {"judges": "Judges"} if views[0].judges else {}
        names |= {"parsers": "Parsers", "letters": "Letters"}
        names["manifest"] = "How it was run"
        links += [(f"{views[0].id}-{name}", words) for name, words in names.items()]
    return [*links, ("questions", "Questions")]
