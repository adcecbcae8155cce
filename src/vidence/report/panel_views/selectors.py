"""Which frames are shown: selectors against each other on the same questions."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from vidence.errors import UsageError
from vidence.explain.diagnostics.selector_gap import ORACLE, PLAN, TEXT, GapFinding
from vidence.explain.diagnostics.tables import Figures, side_by_side
from vidence.records import Record
from vidence.report.panel_grid import Grid, GridCell, PanelView, by_benchmark
from vidence.report.panel_views.paired_cells import Lineup, Versus, differences
from vidence.report.scores import Draws
from vidence.tables.charts import Statement
from vidence.tables.table import Cell, Column, Row, Table


class Settings(Record):
    """Options of the view."""

    base: Annotated[
        str, Meta(description="the selector that others are set against; the first of each row")
    ] = ""


@dataclass(frozen=True, kw_only=True)
class _Row:
    label: str
    detail: str
    lineup: Lineup


class Selectors:
    """Runs of a model that differ in their selector, or its findings of ``selector-gap``.

    Every selector less the base, paired; adjusted over the whole grid of models and selectors.

    Source: HERBench, tables 3 and 5.
    Departs: intervals, pairing and the adjustment are ours.
    """

    name = "selectors"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """The scores, and the differences from the base.

        Raises:
            UsageError: no model was shown the frames of several selectors, or the base is not among them.
        """
        rows = [*_of_findings(grid, draws=draws), *_of_runs(grid)]
        if not rows:
            raise UsageError(
                "no model of the panel was shown the frames of several selectors; make conditions that "
                "differ in their selector, or `vidence diagnose RUN selector-gap --set selectors=...`"
            )
        base = self.settings.base
        if base and not any(base in row.lineup.values for row in rows):
            there = ", ".join(dict.fromkeys(name for row in rows for name in row.lineup.values))
            raise UsageError(f"no run has the selector {base!r}; there are {there}")
        return _scores(rows, draws=draws), self._differences(rows, draws=draws)

    def _differences(self, rows: list[_Row], *, draws: Draws) -> Table:
        some = []
        for row in rows:
            names = list(row.lineup.values)
            base = self.settings.base if self.settings.base in names else names[0]
            some += [
                Versus(
                    label=f"{row.label}: {name} less {base}",
                    detail=row.detail,
                    found=row.lineup.versus(name, base, level=draws.level),
                )
                for name in names
                if name != base
            ]
        return differences("selectors-differences", "Selectors against the base", some, draws=draws)


def create(settings: Settings) -> PanelView:
    """The view."""
    return Selectors(settings)


def _of_findings(grid: Grid, *, draws: Draws) -> list[_Row]:
    rows = []
    for cell in grid.cells:
        for one in cell.found("selector-gap", level=draws.level):
            first = next((e.finding for e in one.examined if isinstance(e.finding, GapFinding)), None)
            names = [name for name in (first.marks if first else ()) if name != TEXT]
            found = side_by_side(
                one.examined,
                GapFinding,
                lambda finding: finding.marks,
                conditions=names,
                figures=Figures(rng=draws.fresh(), level=draws.level),
            )
            called = {PLAN: one.plan.selector, ORACLE: "evidence"}
            if found.items:
                values = {called.get(name, name): found.values[name] for name in names}
                lineup = Lineup(items=found.items, values=values)
                rows.append(_row(cell, lineup, said="findings of selector-gap"))
    return rows


def _of_runs(grid: Grid) -> list[_Row]:
    rows = []
    for some in by_benchmark(
        grid.scored, lambda c: f"{c.benchmark}\n{c.run.plan.split}\n{c.model}\n{c.run.plan.n_frames}"
    ).values():
        at = {cell.run.plan.selector: cell for cell in some}
        if len(at) < 2 or len(at) < len(some):
            continue  # conditions that differ in something else would be taken for selectors
        if (lineup := Lineup.of(at)) is not None:
            rows.append(_row(some[0], lineup))
    return rows


def _row(cell: GridCell, lineup: Lineup, *, said: str = "") -> _Row:
    detail = ", ".join(filter(None, (cell.benchmark, f"{cell.run.plan.n_frames} frames", said)))
    return _Row(label=cell.model, detail=detail, lineup=lineup)


def _scores(rows: list[_Row], *, draws: Draws) -> Table:
    names = list(dict.fromkeys(name for row in rows for name in row.lineup.values))
    return Table(
        name="selectors",
        title="Scores by selector",
        note="Each row is of the same questions throughout. A dash: the model was not shown these frames.",
        label="model",
        columns=tuple(Column(key=f"selector:{name}", title=name, kind="share") for name in names),
        rows=tuple(
            Row(
                key=f"row:{i}",
                label=row.label,
                detail=row.detail,
                values=tuple(
                    Cell(value=row.lineup.mean(row.lineup.values[name], level=draws.level))
                    if name in row.lineup.values
                    else Cell()
                    for name in names
                ),
            )
            for i, row in enumerate(rows)
        ),
    )
