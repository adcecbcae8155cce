"""Scores over budgets of frames or of thinking: each model's curve, its neighbours in pairs, its trend."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from msgspec import Meta

from vidence.catalog import parse_spec
from vidence.errors import UsageError
from vidence.explain.diagnostics import budgets as swept
from vidence.records import Estimate, Record
from vidence.report.panel_grid import Grid, GridCell, PanelView, by_benchmark
from vidence.report.panel_views.paired_cells import Lineup, Versus, differences
from vidence.report.scores import Draws
from vidence.statistics.paired import holm
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import Measure, RowSpec, Table, count, number, tabulate

FRAMES, TOKENS = "frames", "max_tokens"
_WORDS = {FRAMES: ("numbers of frames", "n_frames"), TOKENS: ("limits of replies", "max_tokens")}


class Settings(Record):
    """Options of the view."""

    by: Annotated[
        Literal["", "evidence"], Meta(description="evidence: by the number of pieces, too (2-3, 4-5, 6+)")
    ] = ""
    over: Annotated[
        str,
        Meta(
            description="what is budgeted: frames, max_tokens, or an option of the model, as thinking_budget"
        ),
    ] = FRAMES


@dataclass(frozen=True, kw_only=True)
class _Curve:
    """One model on one benchmark over budgets; `amounts` are by their texts."""

    benchmark: str
    model: str
    group: str
    amounts: dict[str, float]
    lineup: Lineup

    @property
    def label(self) -> str:
        return ", ".join(filter(None, (self.model, self.group)))


class Budgets:
    """Runs of one model that differ in a budget, of frames where nothing else is said, on the same questions.

    Neighbours are compared in pairs, and the trend is the slope over the logarithm of the budget; both are
    adjusted over all models.

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
        over = self.settings.over
        curves = [curve for curve in _curves(grid.scored, over) for curve in self._parts(curve)]
        if not curves:
            what, how = _WORDS.get(over, (f"values of {over}", f"options = {{ {over} = N }}"))
            raise UsageError(
                f"no model of the panel was asked with several {what} on the same questions; make "
                f"conditions that differ in {how}"
            )
        figures = [_figure(some, over=over, draws=draws) for some in _together(curves)]
        neighbours = _neighbours(curves, over=over, draws=draws)
        return (*figures, neighbours, _trends(curves, over=over, draws=draws))

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


def _amount(cell: GridCell, over: str) -> float | None:
    """The budget of a run; None where it has none, or it is no number."""
    plan = cell.run.plan
    if over == FRAMES:
        return plan.n_frames
    if over == TOKENS:
        return plan.sampling.max_tokens
    text = parse_spec(plan.model).options.get(over, "")
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _curves(cells: tuple[GridCell, ...], over: str) -> list[_Curve]:
    found = []
    budgeted = [cell for cell in cells if _amount(cell, over) is not None]
    for some in by_benchmark(budgeted, lambda c: f"{c.benchmark}\n{c.run.plan.split}\n{c.model}").values():
        at = {amount: cell for cell in some if (amount := _amount(cell, over)) is not None}
        if len(at) < 2 or len(at) < len(some):
            continue  # conditions that differ in something else would be taken for budgets
        named = {f"{n:.15g}": at[n] for n in sorted(at)}
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


def _figure(some: list[_Curve], *, over: str, draws: Draws) -> Chart:
    """The curves of all models on the questions of one group."""
    title = ", ".join(filter(None, (some[0].benchmark, some[0].group)))
    series = curves(
        (
            one.model,
            (
                (one.amounts[name], one.lineup.mean(values, level=draws.level))
                for name, values in one.lineup.values.items()
            ),
        )
        for one in some
    )
    return Chart(
        name=f"budgets:{title}",
        title=f"{title}: score and {'number of frames' if over == FRAMES else over}",
        x_title=over,
        y_title="accuracy",
        series=series,
        is_log=all(point.x > 0 for one in series for point in one.points),
    )


def _neighbours(curves: list[_Curve], *, over: str, draws: Draws) -> Table:
    some = [
        Versus(
            label=f"{curve.label}: {more} less {less} {over}",
            detail=curve.benchmark,
            found=curve.lineup.versus(more, less, level=draws.level),
        )
        for curve in curves
        for less, more in pairwise(curve.amounts)
    ]
    return differences("budgets-neighbours", "Each budget less the one below", some, draws=draws)


def _trends(curves: list[_Curve], *, over: str, draws: Draws) -> Table:
    slopes = []
    for curve in curves:
        logs = {name: math.log2(max(n, 1.0)) for name, n in curve.amounts.items()}
        slopes.append(curve.lineup.slope(logs, level=draws.level))
    adjusted = holm([p for _, p in slopes])
    measures: tuple[Measure[tuple[Estimate, float]], ...] = (
        count("questions", lambda one: one[0].n),
        number("slope", lambda one: one[0], "points per doubling", kind="difference"),
        number(
            "p_holm", lambda one: one[1], "p (Holm)", kind="p", note=f"of no linear trend over log {over}"
        ),
    )
    return tabulate(
        "budgets-trend",
        f"Trend over the logarithm of {'the number of frames' if over == FRAMES else over}",
        label="model",
        rows=(
            RowSpec(f"curve:{i}", curve.label, (slope, p), detail=curve.benchmark)
            for i, (curve, (slope, _), p) in enumerate(zip(curves, slopes, adjusted, strict=True))
        ),
        measures=measures,
    )
