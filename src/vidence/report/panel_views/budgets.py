"""Scores over budgets of frames: each model's curve, its neighbours in pairs, its trend."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from msgspec import Meta

from vidence.errors import UsageError
from vidence.explain.diagnostics import budgets as swept
from vidence.records import Estimate, Record
from vidence.report.panel_grid import Grid, GridCell, PanelView, by_benchmark
from vidence.report.panel_views.paired_cells import Lineup, Versus, differences
from vidence.report.scores import Draws
from vidence.statistics.paired import holm
from vidence.tables.charts import Chart, Point, Series, Statement
from vidence.tables.table import Line, Measure, Table, count, number, tabulate


class Settings(Record):
    """Options of the view."""

    by: Annotated[
        Literal["", "evidence"], Meta(description="evidence: by the number of pieces, too (2-3, 4-5, 6+)")
    ] = ""


@dataclass(frozen=True, kw_only=True)
class _Curve:
    """One model on one benchmark over budgets of frames; `amounts` are by the names of the conditions."""

    benchmark: str
    model: str
    group: str
    amounts: dict[str, float]
    lineup: Lineup

    @property
    def label(self) -> str:
        return ", ".join(filter(None, (self.model, self.group)))


class Budgets:
    """Runs of one model that differ in the number of frames, on the same questions.

    Neighbours are compared in pairs, and the trend is the slope over the logarithm of the number of
    frames; both are adjusted over all models.

    Source: HumanPCR, figure 6; PerceptionComp, table 3.
    Departs: tests and intervals are ours.
    """

    name = "budgets"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """For each benchmark the curves; then neighbours and trends of all.

        Raises:
            UsageError: no model was asked with several budgets on the same questions.
        """
        curves = [curve for curve in _curves(grid.scored) for curve in self._parts(curve)]
        if not curves:
            raise UsageError(
                "no model of the panel was asked with several numbers of frames on the same questions; make "
                "conditions that differ in n_frames"
            )
        figures = [_figure(some, draws=draws) for some in _together(curves)]
        return (*figures, _neighbours(curves, draws=draws), _trends(curves, draws=draws))

    def _parts(self, curve: _Curve) -> list[_Curve]:
        """The curve, and those of its questions by pieces of evidence."""
        made = [curve]
        if self.settings.by:
            items, values = curve.lineup.items, curve.lineup.values
            for group, where in swept.grouped(items, swept.Settings()).items():
                at = list(where)
                part = Lineup(
                    items=tuple(items[i] for i in at), values={name: v[at] for name, v in values.items()}
                )
                made.append(
                    _Curve(
                        benchmark=curve.benchmark,
                        model=curve.model,
                        group=f"{group} pieces",
                        amounts=curve.amounts,
                        lineup=part,
                    )
                )
        return made


def create(settings: Settings) -> PanelView:
    """The view."""
    return Budgets(settings)


def _curves(cells: tuple[GridCell, ...]) -> list[_Curve]:
    found = []
    for some in by_benchmark(cells, lambda c: f"{c.benchmark}\n{c.run.plan.split}\n{c.model}").values():
        at = {cell.run.plan.n_frames: cell for cell in some}
        if len(at) < 2 or len(at) < len(some):
            continue  # conditions that differ in something else would be taken for budgets
        named = {str(n): at[n] for n in sorted(at)}
        if (lineup := Lineup.of(named)) is not None:
            first = some[0]
            amounts = {name: float(name) for name in named}
            found.append(
                _Curve(benchmark=first.benchmark, model=first.model, group="", amounts=amounts, lineup=lineup)
            )
    return found


def _together(curves: list[_Curve]) -> list[list[_Curve]]:
    """The curves of one benchmark and group, which make a figure."""
    found: dict[tuple[str, str], list[_Curve]] = {}
    for curve in curves:
        found.setdefault((curve.benchmark, curve.group), []).append(curve)
    return list(found.values())


def _figure(curves: list[_Curve], *, draws: Draws) -> Chart:
    """The curves of all models on the questions of one group."""
    title = ", ".join(filter(None, (curves[0].benchmark, curves[0].group)))
    series = tuple(
        Series(
            label=curve.model,
            points=tuple(
                Point(x=curve.amounts[name], y=curve.lineup.mean(values, level=draws.level))
                for name, values in curve.lineup.values.items()
            ),
        )
        for curve in curves
    )
    return Chart(
        name=f"budgets:{title}",
        title=f"{title}: score and number of frames",
        x_title="frames",
        y_title="accuracy",
        series=series,
        is_log=True,
    )


def _neighbours(curves: list[_Curve], *, draws: Draws) -> Table:
    some = [
        Versus(
            label=f"{curve.label}: {more} less {less} frames",
            detail=curve.benchmark,
            found=curve.lineup.versus(more, less, level=draws.level),
        )
        for curve in curves
        for less, more in pairwise(curve.amounts)
    ]
    return differences("budgets-neighbours", "Each budget less the one below", some, draws=draws)


def _trends(curves: list[_Curve], *, draws: Draws) -> Table:
    slopes = []
    for curve in curves:
        logs = {name: math.log2(max(n, 1.0)) for name, n in curve.amounts.items()}
        slopes.append(curve.lineup.slope(logs, level=draws.level))
    adjusted = holm([p for _, p in slopes])
    measures: tuple[Measure[tuple[Estimate, float]], ...] = (
        count("questions", lambda one: one[0].n),
        number("slope", lambda one: one[0], "points per doubling", kind="difference"),
        number("p_holm", lambda one: one[1], "p (Holm)", kind="p", note="of no linear trend over log frames"),
    )
    return tabulate(
        "budgets-trend",
        "Trend over the logarithm of the number of frames",
        label="model",
        rows=(
            Line(f"curve:{i}", curve.label, (slope, p), detail=curve.benchmark)
            for i, (curve, (slope, _), p) in enumerate(zip(curves, slopes, adjusted, strict=True))
        ),
        measures=measures,
    )
