"""A diagnostic's findings on a run, and their summary."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import msgspec
import numpy as np

from vidence.contracts import Diagnostic, Examined, RunDiagnostic
from vidence.engine.diagnose import open_diagnostic
from vidence.engine.people import person_folders
from vidence.engine.plan import Plan, read_plan
from vidence.engine.specs import label
from vidence.engine.store import Header, RunStore, diagnosis_name
from vidence.errors import UsageError, VidenceError
from vidence.media.whole import write_file
from vidence.records import Failed, source_noun
from vidence.report.provenance import diagnosed_note
from vidence.report.results import SEED
from vidence.report.sections import Section, notebook_html
from vidence.tables.charts import Statement, table_of
from vidence.tables.export import statement_as_json
from vidence.tables.rendering import drawing_of
from vidence.tables.table import Table, several

JSON_FORMAT = "vidence-diagnosis/1"
MOST_FIGURES = 4  # of one diagnostic in the report of its run; all are on its own page


@dataclass(frozen=True, kw_only=True, repr=False)
class Diagnosed:
    """The results of a diagnostic on a run; `sentences` describe progress, `path` is its page."""

    diagnostic: Diagnostic
    path: Path
    plan: Plan
    header: Header
    examined: tuple[Examined, ...]
    statements: tuple[Statement, ...]
    sentences: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Diagnosed({self.diagnostic.name!r}, {len(self.examined):,} questions)"

    def _repr_html_(self) -> str:
        """Return progress and the first table, for notebooks."""
        first = next((table.as_html() for table in self.tables().values()), "")
        return notebook_html(self.diagnostic.name, self.sentences, first)

    def tables(self) -> dict[str, Table]:
        """Return the statements as tables by name; a figure as its data."""
        return {table.name: table for table in map(table_of, self.statements)}


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A diagnostic's summary in a run's report: its first table, its first figures, and a link to the rest.

    `link` leads from the report to the diagnostic's page; empty if there is none. `figures` may include the
    first table, which is then not in `tables`. `paragraphs` explain missing results.
    """

    title: str
    paragraphs: tuple[str, ...]
    figures: tuple[Statement, ...] = ()
    tables: tuple[Table, ...] = ()
    link: str = ""
    n_more: int = 0


def excerpts(folder: Path, page: Path, *, level: float = 0.95) -> tuple[Excerpt, ...]:
    """Return summaries of the run's diagnoses; empty if there are none.

    Args:
        folder: the run.
        page: the report that it is for.
        level: coverage of the intervals.

    Raises:
        StoreError: not a run folder, or a damaged one.
    """
    if person_folders(folder):
        return ()
    with RunStore(folder) as store:
        headers = store.diagnoses()
    return tuple(_excerpt(folder, page, header, level=level) for header in headers.values())


def _excerpt(folder: Path, page: Path, header: Header, *, level: float) -> Excerpt:
    options = ", ".join(f"{key} {value}" for key, value in header.options.items())
    title = f"{header.diagnostic}, {options}" if options else header.diagnostic
    try:
        diagnostic = open_diagnostic(header.diagnostic, header.options)
        diagnosed = load_diagnosed(diagnostic, folder, options=header.options, level=level)
    except VidenceError as error:  # one that cannot be told must not take the report with it
        return Excerpt(title=title, paragraphs=(f"This cannot be shown: {error}",))
    first, *others = diagnosed.statements
    drawn = [other for other in others if drawing_of(other) is not None][: MOST_FIGURES - 1]
    is_drawn = drawing_of(first) is not None
    return Excerpt(
        title=title,
        paragraphs=diagnosed.sentences,
        figures=(first, *drawn) if is_drawn else tuple(drawn),
        tables=() if is_drawn else (table_of(first),),
        link=_link(diagnosed.path, page) if diagnosed.path.exists() else "",
        n_more=len(others) - len(drawn),
    )


def _link(target: Path, page: Path) -> str:
    """Return the relative URL from one page to another, percent-encoded."""
    return quote(Path(os.path.relpath(target.resolve(), page.resolve().parent)).as_posix())


def load_diagnosed(
    diagnostic: Diagnostic, folder: Path, *, options: Mapping[str, str], seed: int = SEED, level: float = 0.95
) -> Diagnosed:
    """Read a diagnostic's findings and summarise them.

    Args:
        diagnostic: created with `options`.
        folder: the run.
        options: those of the diagnostic.
        seed: of the bootstrap draws.
        level: coverage of the intervals.

    Raises:
        StoreError: no findings, or damaged ones.
        UsageError: no question could be examined.
    """
    plan, facts = read_plan(folder)
    name = diagnosis_name(diagnostic.name, options)
    with RunStore(folder) as store:
        items = store.items()
        n_items = len(items)
        header = store.header(name)
        examined = tuple(store.findings(name, diagnostic.finding).values())
    good = [entry for entry in examined if not isinstance(entry.finding, Failed)]
    failed = Counter(
        f"{entry.finding.error}: {entry.finding.message}"
        for entry in examined
        if isinstance(entry.finding, Failed)
    )
    if not good:
        reason = f"; the most frequent reason: {failed.most_common(1)[0][0]}" if failed else ""
        raise UsageError(f"no question of {folder} could be examined with {diagnostic.name}{reason}")
    sentences = [
        f"{diagnostic.name} on {plan.benchmark}, {plan.model}: {len(good):,} of {n_items:,} questions "
        "examined."
    ]
    views = diagnostic.views(selector=plan.selector, n_frames=plan.frames).values()
    sentences += [
        f"Frames ranked by {view.selector}, at most {view.n_frames}." for view in views if view.is_ranked
    ]
    kinds = {entry.item.answer_kind for entry in examined}
    sentences.append(diagnosed_note(plan, kinds=kinds, prompts_digest=header.prompts_digest))
    if failed:
        error, n = failed.most_common(1)[0]
        sentences.append(
            f"{sum(failed.values()):,} failed and are in no number, {n:,} of them with: {error[:300]}"
        )
    if facts.left_out:
        sentences.append(facts.left_out)
    if source_noun(items) == "source":
        about = several(len({item.source_id for item in items}), "source")
        sentences.append(f"Intervals are clustered by source: the questions are about {about}.")
    if isinstance(diagnostic, RunDiagnostic):
        diagnostic = diagnostic.of_run(model=plan.model, selector=plan.selector)
    rng = np.random.default_rng(seed)
    return Diagnosed(
        diagnostic=diagnostic,
        path=folder / "diagnostics" / f"{name}.html",
        plan=plan,
        header=header,
        examined=examined,
        statements=diagnostic.summarise(examined, rng=rng, level=level),
        sentences=tuple(sentences),
    )


def write_diagnosed_json(diagnosed: Diagnosed, path: Path) -> None:
    """Write header, statements and every question's finding as one JSON object.

    Raises:
        StoreError: the file cannot be written.
    """
    whole = {
        "format": JSON_FORMAT,
        "header": diagnosed.header,
        "plan": diagnosed.plan,
        "sentences": diagnosed.sentences,
        "statements": [statement_as_json(statement) for statement in diagnosed.statements],
        "findings": [{"item_id": e.item.item_id, "finding": e.finding} for e in diagnosed.examined],
    }
    write_file(path, msgspec.json.encode(whole) + b"\n")


def write_diagnosed_page(diagnosed: Diagnosed, path: Path) -> None:
    """Write the results as one self-contained HTML file.

    Raises:
        StoreError: the file cannot be written.
    """
    title = f"{diagnosed.diagnostic.name} · {diagnosed.plan.benchmark} · {label(diagnosed.plan)}"
    section = Section(title=title, paragraphs=diagnosed.sentences, figures=diagnosed.statements)
    facts = (("Findings", diagnosed.header), ("Plan", diagnosed.plan))
    section.write_page(path, eyebrow="vidence diagnosis", facts=facts)
