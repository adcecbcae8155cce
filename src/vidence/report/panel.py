"""A panel as one table, one figure and one page: a score per model, condition and benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vidence.contracts import PaperColumn
from vidence.report.pairing import pair_where_possible
from vidence.report.papers import best_of
from vidence.report.provenance import how_asked
from vidence.report.results import Run
from vidence.report.scores import Draws, macro_tag
from vidence.report.sections import Section
from vidence.report.tables import spent, why_failed
from vidence.tables.table import Cell, Column, Row, RowSpec, Table, count, share, tabulate

JSON_FORMAT = "vidence-panel/1"


@dataclass(frozen=True, kw_only=True)
class PanelCell:
    """One run of a panel with trials, and its score table."""

    benchmark: str
    label: str
    run: Run
    score: Table
    is_people: bool = False
    """Whether these are people, who cannot be the best model."""

    def of(self, key: str) -> Cell:
        """Return a value of its headline."""
        return self.score.cell("headline", key)


def panel_section(
    title: str,
    cells: Sequence[PanelCell],
    *,
    missing: Sequence[str],
    not_found: Sequence[str] = (),
    draws: Draws,
) -> Section:
    """Return the first section of a panel's page: the table of all scores, and their figure.

    Args:
        title: of the panel.
        cells: the runs with trials.
        missing: the runs without trials, and why.
        not_found: the diagnostics that did not finish, and why.
        draws: source of the bootstrap draws and tests.
    """
    spending = [cost for cell in cells if (cost := spent(cell.run)) is not None]
    messages = [f"No score: {name}" for name in missing] + [f"No findings: {name}" for name in not_found]
    if spending:
        messages.append(f"The replies that count cost {sum(spending):,.4f} US dollars.")
    return Section(
        title=title, paragraphs=tuple(messages), tables=(score_table(cells, draws=draws), bars(cells))
    )


def score_table(cells: Sequence[PanelCell], *, draws: Draws) -> Table:
    """Return a table with a row per model and condition, and a column per benchmark.

    A column's best value is marked if it differs clearly from every other one; the last row is blind
    guessing.

    Args:
        cells: the runs with trials.
        draws: source of the bootstrap draws and tests.
    """
    columns = list(dict.fromkeys(cell.benchmark for cell in cells))
    labels = dict.fromkeys(cell.label for cell in cells)
    values: dict[tuple[str, str], Cell] = {
        (cell.label, cell.benchmark): cell.of("accuracy") for cell in cells
    }
    notes = [f"Accuracy in per cent with {100 * draws.level:g} % intervals: the headline of each run."]
    for column in columns:
        own = [cell for cell in cells if cell.benchmark == column]
        best, note = _best(own, draws=draws)
        notes.append(note)
        if best is not None:
            values[best, column] = msgspec.structs.replace(values[best, column], mark="best")
    chance = {cell.benchmark: cell.of("chance") for cell in cells}
    how = {cell.label: how_asked(cell.run) for cell in cells}
    return Table(
        name="panel",
        title="Scores",
        note=" ".join(dict.fromkeys(filter(None, notes))),
        label=Column(key="name", title="model", note="and how it was asked and scored"),
        columns=tuple(Column(key=f"benchmark:{name}", title=name, kind="share") for name in columns),
        rows=(
            *(
                Row(
                    key=f"run:{label}",
                    label=label,
                    detail=how[label] if len(columns) == 1 else "",
                    values=tuple(values.get((label, column), Cell()) for column in columns),
                )
                for label in labels
            ),
            Row(key="chance", label="chance", values=tuple(chance[column] for column in columns)),
        ),
    )


def bars(cells: Sequence[PanelCell]) -> Table:
    """Return a table with a row per run, whose figure shows all scores and the text-only baselines."""
    has_several = len({cell.benchmark for cell in cells}) > 1
    one_letter = "always the letter that is right most often"
    return tabulate(
        "panel:runs",
        "Every run",
        label=Column(key="name", title="run"),
        rows=(
            RowSpec(f"run:{i}", cell.label, cell, detail=cell.benchmark if has_several else "")
            for i, cell in enumerate(cells)
        ),
        measures=(
            count("items", lambda cell: cell.of("items"), "questions"),
            share("accuracy", lambda cell: cell.of("accuracy")),
            share("chance", lambda cell: cell.of("chance"), note="blind guessing"),
            share("constant", lambda cell: cell.of("constant"), "one letter", note=one_letter),
            count("unreadable", lambda cell: cell.of("unreadable")),
            count("refused", lambda cell: cell.of("refused")),
            count("failed", lambda cell: cell.of("failed")),
        ),
        notes=(
            f"{cell.label} on {cell.benchmark} failed most often for: {why}"
            for cell in cells
            if (why := why_failed(cell.run))
        ),
        figure="scores",
    )


def _best(cells: Sequence[PanelCell], *, draws: Draws) -> tuple[str | None, str]:
    """Return the label of the run that is clearly best on a benchmark, and a note.

    A run without a score (`Run.no_score`) cannot be the best.
    """
    cells = [cell for cell in cells if not cell.run.no_score and not cell.is_people]
    if len(cells) < 2:
        return None, ""
    paired = pair_where_possible([cell.run for cell in cells])
    name = cells[0].benchmark
    if paired is None:
        return (
            None,
            f"{name}: the runs do not have scores for the same questions; no value is marked as best.",
        )
    averages = {cell.run.plan.headline for cell in cells}
    average = averages.pop() if len(averages) == 1 else "micro"
    column = PaperColumn(title=name, average=average)
    best = best_of(paired, column, draws=draws)
    means = "" if macro_tag(average) is None else f" ({average})"
    note = f"Bold: best{means}, and told apart from every other row (Holm over all pairs)."
    return (None if best is None else cells[best].label), note


def write_panel_json(cells: Sequence[PanelCell], section: Section, path: Path) -> None:
    """Write the runs, their settings and the tables as one JSON object.

    Raises:
        StoreError: the file cannot be written.
    """
    runs = [
        {
            "benchmark": cell.benchmark,
            "name": cell.label,
            "folder": str(cell.run.folder),
            "plan": cell.run.plan,
            "facts": cell.run.facts,
        }
        for cell in cells
    ]
    section.write_json(path, JSON_FORMAT, title=section.title, runs=runs)
