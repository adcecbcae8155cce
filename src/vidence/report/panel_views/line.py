"""Scores over budgets of frames or thinking, or over model sizes: curves, adjacent differences, trends."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Literal

from msgspec import Meta

from vidence.catalog import parse_spec
from vidence.errors import UsageError
from vidence.explain.diagnostics import budgets as swept
from vidence.records import Estimate, Record, by_key
from vidence.report.panel_grid import Grid, GridCell, PanelView, SettingsView, by_benchmark
from vidence.report.panel_views.paired_cells import Lineup, Versus, differences
from vidence.report.scores import Draws, headline_accuracy
from vidence.statistics.paired import holm
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import Measure, RowSpec, Table, count, difference, p_value, tabulate

FRAMES, TOKENS, SIZE = "frames", "max_tokens", "size"
ALONE = "no family"
_GIVE = {
    FRAMES: "no model of the panel was asked with several numbers of frames on the same questions; make "
    "conditions that differ in frames",
    TOKENS: "no model of the panel was asked with several limits of replies on the same questions; make "
    "conditions that differ in max_tokens",
    SIZE: "no model of the panel has a size; give size_b, in billions of parameters",
}
_AXES = {FRAMES: "the number of frames", SIZE: "size"}


class Settings(Record):
    """Options of the view."""

    by: Annotated[
        Literal["", "evidence"], Meta(description="evidence: by the number of pieces, too (2-3, 4-5, 6+)")
    ] = ""
    over: Annotated[
        str,
        Meta(
            description="frames, max_tokens, an option of the model as thinking_budget, or the size of models"
        ),
    ] = FRAMES


@dataclass(frozen=True, kw_only=True)
class _Curve:
    """A model over budgets, or a family over sizes; `lineup` is None if their questions differ."""

    benchmark: str
    series: str
    amounts: dict[str, float]
    scores: tuple[Estimate | None, ...]
    lineup: Lineup | None
    group: str = ""

    @property
    def label(self) -> str:
        return ", ".join(filter(None, (self.series, self.group)))


class Lines(SettingsView[Settings]):
    """Runs with different budgets, by default of frames; or models of one family with different sizes.

    Adjacent points are compared in pairs, and the trend is the slope over the logarithm; both are adjusted
    over all curves. The slope over sizes is within a family, because families differ in much else.

    Source: HumanPCR, figures 6 and 27; PerceptionComp, table 3.
    Departs: tests, slopes and intervals are ours.
    """

    name = "line"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """Return the curves of each benchmark, then adjacent differences and trends of all.

        Raises:
            UsageError: no model has several budgets on the same questions, or no model has a size.
        """
        over = self.settings.over
        curves = [
            part
            for curve in _curves(grid.scored, over, draws=draws)
            for part in self._parts(curve, draws=draws)
        ]
        if not curves:
            usual = (
                f"no model of the panel was asked with several values of {over} on the same questions; make "
            )
            raise UsageError(_GIVE.get(over, f"{usual}conditions that differ in options = {{ {over} = N }}"))
        figures = by_group(curves)
        paired = [curve for curve in curves if curve.lineup is not None]
        neighbours = [] if over == SIZE else [_neighbours(paired, over=over, draws=draws)]
        return (
            *(_figure(some, over=over) for some in figures),
            *neighbours,
            _trends(curves, over=over, draws=draws),
        )

    def _parts(self, curve: _Curve, *, draws: Draws) -> list[_Curve]:
        """Split a curve by its questions' number of pieces of evidence."""
        entries, lineup = [curve], curve.lineup
        if self.settings.by and lineup is not None:
            for group, where in swept.grouped(lineup.paired.items, swept.Settings()).items():
                part = lineup.part(list(where))
                scores = tuple(part.mean(name, level=draws.level) for name in part.names)
                entries.append(replace(curve, group=f"{group} pieces", lineup=part, scores=scores))
        return entries


def create(settings: Settings) -> PanelView:
    """Create the view."""
    return Lines(settings)


def by_group(curves: Sequence[_Curve]) -> list[list[_Curve]]:
    """Group the curves of each benchmark and group, one figure each."""
    return list(by_key(((curve.benchmark, curve.group), curve) for curve in curves).values())


def _amount(cell: GridCell, over: str) -> float | None:
    """Return a run's budget or its model's size; None if absent or not a number."""
    plan = cell.run.plan
    match over:
        case "size":
            return cell.about.size_b
        case "frames":
            return plan.frames
        case "max_tokens":
            return plan.sampling.max_tokens
    try:
        amount = float(parse_spec(plan.model).options.get(over, ""))
    except ValueError:
        return None
    return amount if math.isfinite(amount) else None


def _series(cell: GridCell, over: str) -> str:
    if over != SIZE:
        return cell.model
    return ", ".join(filter(None, (cell.about.family or ALONE, cell.condition)))


def _curves(cells: Sequence[GridCell], over: str, *, draws: Draws) -> list[_Curve]:
    entries = []
    amounts = {id(cell): amount for cell in cells if (amount := _amount(cell, over)) is not None}
    known = sorted((cell for cell in cells if id(cell) in amounts), key=lambda cell: amounts[id(cell)])

    def place(cell: GridCell) -> str:
        return f"{cell.benchmark}\n{cell.run.plan.split}\n{_series(cell, over)}"

    groups = by_benchmark(known, place)
    for some in (groups[key] for key in by_benchmark([c for c in cells if id(c) in amounts], place)):
        n_amounts = len({amounts[id(cell)] for cell in some})
        if over != SIZE and not 2 <= n_amounts == len(some):
            continue  # conditions that differ in something else would be taken for budgets
        lineup = Lineup.of({cell.label: cell for cell in some}) if n_amounts > 1 else None
        if lineup is None and over != SIZE:
            continue
        first = some[0]
        if lineup is None:
            scores = tuple(headline_accuracy(cell.run, draws=draws) for cell in some)
        else:
            scores = tuple(lineup.mean(name, level=draws.level) for name in lineup.names)
        entries.append(
            _Curve(
                benchmark=first.benchmark,
                series=_series(first, over),
                amounts={cell.label: amounts[id(cell)] for cell in some},
                scores=scores,
                lineup=lineup,
            )
        )
    return entries


def _figure(some: Sequence[_Curve], *, over: str) -> Chart:
    title = ", ".join(filter(None, (some[0].benchmark, some[0].group)))
    series = curves(
        (
            curve.series,
            (
                (amount, score)
                for amount, score in zip(curve.amounts.values(), curve.scores, strict=True)
                if score is not None
            ),
        )
        for curve in some
    )
    return Chart(
        name=f"line:{title}",
        title=f"{title}: score and {_AXES.get(over, over).removeprefix('the ')}",
        x_title="billions of parameters" if over == SIZE else over,
        y_title="accuracy",
        series=series,
        is_log=all(point.x > 0 for curve in series for point in curve.points),
    )


def _neighbours(curves: Sequence[_Curve], *, over: str, draws: Draws) -> Table:
    pairs = [
        Versus(
            label=f"{curve.label}: {curve.amounts[more]:.15g} less {curve.amounts[less]:.15g} {over}",
            detail=curve.benchmark,
            found=None if curve.lineup is None else curve.lineup.versus(more, less, level=draws.level),
        )
        for curve in curves
        for less, more in pairwise(curve.amounts)
    ]
    return differences("line-neighbours", "Each budget less the one below", pairs, draws=draws)


def _trends(some: Sequence[_Curve], *, over: str, draws: Draws) -> Table:
    curves = [curve for curve in some if curve.series.partition(",")[0] != ALONE]
    slopes: list[tuple[Estimate, float] | None] = []
    for curve in curves:
        logs = {name: math.log2(n) if n > 0 else 0.0 for name, n in curve.amounts.items()}
        slopes.append(None if curve.lineup is None else curve.lineup.slope(logs, level=draws.level))
    known = [slope[1] for slope in slopes if slope is not None]
    adjusted = iter(holm(known) if known else ())
    measures: tuple[Measure[tuple[Estimate | None, float | None]], ...] = (
        count("questions", lambda at: at[0].n if at[0] is not None else None),
        difference("slope", lambda at: at[0], "points per doubling"),
        p_value("p_holm", lambda at: at[1], "p (Holm)", note=f"of no linear trend over log {over}"),
    )
    return tabulate(
        "line-trend",
        f"Trend over the logarithm of {_AXES.get(over, over)}",
        label="family" if over == SIZE else "model",
        rows=(
            RowSpec(
                f"curve:{i}",
                curve.label,
                (None, None) if slope is None else (slope[0], next(adjusted)),
                detail=curve.benchmark,
            )
            for i, (curve, slope) in enumerate(zip(curves, slopes, strict=True))
        ),
        measures=measures,
        notes=("A family needs two sizes or more on the same questions.",) if over == SIZE else (),
    )
