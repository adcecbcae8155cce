"""Accuracy against the size of models."""

import math
from collections.abc import Iterator

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.report.panel_grid import Grid, GridCell, PanelView, by_benchmark
from vidence.report.panel_views.paired_cells import Lineup
from vidence.report.scores import Draws, headline_accuracy
from vidence.statistics.correlation import spearman
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import Measure, RowSpec, Table, count, number, p_words, tabulate

LEAST_POINTS = 3
ALONE = "no family"


class Size:
    """Accuracy over the logarithm of the number of parameters.

    The slope is that within a series, from models of one family on the same questions: between series
    much else differs.

    Source: HumanPCR, figure 27.
    Departs: rank correlation, slopes and intervals are ours.
    """

    name = "size"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """For each benchmark the figure and the slopes.

        Raises:
            UsageError: no model has a size.
        """
        sized = [cell for cell in grid.scored if cell.about.size_b is not None]
        if not sized:
            raise UsageError("no model of the panel has a size; give size_b, in billions of parameters")
        made: list[Statement] = []
        for benchmark, cells in by_benchmark(sized).items():
            made += [_figure(benchmark, cells, draws=draws), _slopes(benchmark, cells, draws=draws)]
        return tuple(made)


def create() -> PanelView:
    """The view."""
    return Size()


def _log(cell: GridCell) -> float:
    return math.log2(cell.about.size_b or 1.0)


def _series(cell: GridCell) -> str:
    return ", ".join(filter(None, (cell.about.family or ALONE, cell.condition)))


def _figure(benchmark: str, cells: list[GridCell], *, draws: Draws) -> Chart:
    def points(some: list[GridCell]) -> Iterator[tuple[float, Estimate]]:
        for cell in sorted(some, key=_log):
            if (found := headline_accuracy(cell.run, draws=draws)) is not None:
                yield cell.about.size_b or 0.0, found

    return Chart(
        name=f"size:{benchmark}",
        title=f"{benchmark}: accuracy and size",
        x_title="billions of parameters",
        y_title="accuracy",
        series=curves((name, points(some)) for name, some in by_benchmark(cells, _series).items()),
        is_log=True,
        note=_ranks(cells, draws=draws),
    )


def _ranks(cells: list[GridCell], *, draws: Draws) -> str:
    known = [(_log(c), found.value) for c in cells if (found := headline_accuracy(c.run, draws=draws))]
    if len(known) < LEAST_POINTS or any(len(set(axis)) == 1 for axis in zip(*known, strict=True)):
        return f"{len(known)} runs; a rank correlation needs {LEAST_POINTS} that differ."
    rho = spearman(*zip(*known, strict=True), rng=draws.fresh())
    return (
        f"Spearman's rho over {len(known)} runs, of whatever family: {rho.value:.2f} "
        f"(p {p_words(rho.p_value)}, as if runs were independent)."
    )


def _slopes(benchmark: str, cells: list[GridCell], *, draws: Draws) -> Table:
    found: list[RowSpec[tuple[int, Estimate | None, float | None]]] = []
    for name, some in by_benchmark(cells, _series).items():
        if name.partition(",")[0] == ALONE:
            continue
        sizes = {cell.label: _log(cell) for cell in some}
        lineup = Lineup.of({cell.label: cell for cell in some}) if len(set(sizes.values())) > 1 else None
        slope, p_value = lineup.slope(sizes, level=draws.level) if lineup else (None, None)
        found.append(RowSpec(name, name, (len(some), slope, p_value)))
    measures: tuple[Measure[tuple[int, Estimate | None, float | None]], ...] = (
        count("models", lambda one: one[0]),
        number("slope", lambda one: one[1], "points per doubling", kind="difference"),
        number("p", lambda one: one[2], kind="p"),
    )
    return tabulate(
        f"size-slopes:{benchmark}",
        f"{benchmark}: slope within each family",
        label="family",
        rows=found,
        measures=measures,
        notes=("A family needs two sizes or more on the same questions.",),
    )
