"""Accuracy against what it costs: tokens, money or seconds, and who is on the frontier."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final, Literal, TypeAlias

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Clusters, Estimate, Record
from vidence.report.panel_grid import Grid, GridCell, PanelView, by_benchmark
from vidence.report.results import Row, Run
from vidence.report.scores import Draws, ScoredQuestions
from vidence.statistics.intervals import UNBOUNDED, mean_interval
from vidence.statistics.resampling import Resampling, as_labels, cluster_draws
from vidence.tables.charts import Dot, Scatter, Statement
from vidence.tables.table import Cell, Column, Measure, RowSpec, Table, count, number, share, tabulate

Amount: TypeAlias = Literal["tokens", "money", "seconds"]
Values: TypeAlias = NDArray[np.float64]
AXES: Mapping[Amount, str] = {
    "tokens": "output tokens per question",
    "money": "US dollars per 1,000 questions",
    "seconds": "seconds of replies per question",
}
ON_FRONTIER: Final = 0.5  # of the draws, for a full mark


class Settings(Record):
    """Options of the view."""

    x: Annotated[Amount, Meta(description="what the figure has across")] = "tokens"


@dataclass(frozen=True, kw_only=True)
class _Point:
    """One run on the questions that all have: accuracy, and amounts where all of them are known."""

    cell: GridCell
    accuracy: Values
    amounts: Mapping[Amount, Values]


class Frontier:
    """Every run as a point: how often it is right, and what its replies took.

    All replies of a question count, also those of a strategy that were not chosen and those that came out of
    the memory: that is what the condition takes when it is asked alone. A point is on the frontier where no
    other is at least as good and as cheap, and better in one; how often that is so over draws of whole
    clusters is printed beside it. No curve is fitted.
    """

    name = "frontier"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """For each benchmark the figure and the table.

        Raises:
            UsageError: no two runs have the same questions with a score.
        """
        made: list[Statement] = []
        for benchmark, cells in by_benchmark(
            grid.scored, lambda c: f"{c.benchmark}, {c.run.plan.split}"
        ).items():
            points, clusters = _points(cells)
            if len(points) > 1:
                made += _shown(benchmark, points, clusters, x=self.settings.x, draws=draws)
        if not made:
            raise UsageError(
                "a frontier needs two runs or more with a score for the same questions; the panel has none"
            )
        return tuple(made)


def create(settings: Settings) -> PanelView:
    """The view."""
    return Frontier(settings)


# --------------------------------------------------------------------------- what a question takes


def _tokens(row: Row, run: Run) -> float | None:
    del run
    found = [reply.usage.output_tokens for reply in row.trial.replies]
    return float(sum(n for n in found if n is not None)) if found and None not in found else None


def _money(row: Row, run: Run) -> float | None:
    plan = run.plan
    if not (plan.price_in or plan.price_out):
        return None
    used = [reply.usage for reply in row.trial.replies]
    if not used or any(u.input_tokens is None or u.output_tokens is None for u in used):
        return None
    spent = sum((u.input_tokens or 0) * plan.price_in + (u.output_tokens or 0) * plan.price_out for u in used)
    return spent / 1e3  # prices are per million tokens, amounts for a thousand questions


def _seconds(row: Row, run: Run) -> float | None:
    del run
    found = [reply.latency_s for reply in row.trial.replies]
    return sum(found) if found and all(found) else None


_OF: Mapping[Amount, Callable[[Row, Run], float | None]] = {
    "tokens": _tokens,
    "money": _money,
    "seconds": _seconds,
}


def _by_item(run: Run, of: Callable[[Row, Run], float | None]) -> dict[str, float] | None:
    """The mean over the trials of each question; None where one of them is not known."""
    found: dict[str, list[float]] = {}
    for row in run.rows:
        value = of(row, run)
        if value is None:
            return None
        found.setdefault(row.item.item_id, []).append(value)
    return {item_id: sum(some) / len(some) for item_id, some in found.items()}


def _points(cells: Sequence[GridCell]) -> tuple[list[_Point], Clusters]:
    """The runs on the questions that all of them have a score for."""
    scored = [ScoredQuestions.of(cell.run.rows) for cell in cells]
    known = [dict(zip((i.item_id for i in s.items), s.values.tolist(), strict=True)) for s in scored]
    items = [item for item in scored[0].items if all(item.item_id in one for one in known)]
    if not items:
        return [], Clusters.of(())
    ids = [item.item_id for item in items]
    points = []
    for cell, one in zip(cells, known, strict=True):
        amounts: dict[Amount, Values] = {}
        for name, of in _OF.items():
            if (found := _by_item(cell.run, of)) is not None:
                amounts[name] = np.array([found[i] for i in ids])
        points.append(_Point(cell=cell, accuracy=np.array([one[i] for i in ids]), amounts=amounts))
    return points, Clusters.of(items)


# --------------------------------------------------------------------------- the frontier


def on_frontier(x: Values, y: Values) -> NDArray[np.bool_]:
    """Which points no other beats: none is as good and as cheap, and better in one.

    Shapes: `x` (what a point takes) and `y` (its score), both (..., n_points); the same comes back.

    >>> on_frontier(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.4, 0.6])).tolist()
    [True, False, True]
    """
    cheaper, better = x[..., :, None] <= x[..., None, :], y[..., :, None] >= y[..., None, :]
    strictly = (x[..., :, None] < x[..., None, :]) | (y[..., :, None] > y[..., None, :])
    beaten = (cheaper & better & strictly).any(axis=-2)
    return np.logical_not(beaten, dtype=np.bool_)


def frontier_shares(accuracy: Values, amounts: Values, clusters: Sequence[str], *, draws: Draws) -> Values:
    """In which share of the draws of whole clusters each point is on the frontier.

    Shapes: `accuracy` and `amounts` (n_items, n_points); the result (n_points,).
    """
    names, codes = as_labels(list(clusters), len(accuracy), what="clusters")
    sums = np.zeros((len(names), 2, accuracy.shape[1]))
    np.add.at(sums, codes, np.stack([amounts, accuracy], axis=1))
    sizes = np.bincount(codes, minlength=len(names))
    n = accuracy.shape[1]
    found = []
    for weights in cluster_draws(len(names), draws.fresh(), Resampling().n_boot, width=n * n):
        means = np.tensordot(weights, sums, axes=1) / (weights @ sizes)[:, None, None]
        found.append(on_frontier(means[:, 0], means[:, 1]))
    return np.asarray(np.concatenate(found).mean(axis=0), np.float64)


@dataclass(frozen=True, kw_only=True)
class _ModelAmounts:
    point: _Point
    accuracy: Estimate
    amounts: Mapping[Amount, Estimate]
    shares: Mapping[Amount, float]


def _told(points: Sequence[_Point], clusters: Clusters, *, draws: Draws) -> list[_ModelAmounts]:
    shares: dict[Amount, dict[int, float]] = {name: {} for name in AXES}
    for name, found in shares.items():
        at = [i for i, point in enumerate(points) if name in point.amounts]
        if len(at) > 1:
            columns = np.column_stack([points[i].amounts[name] for i in at])
            scores = np.column_stack([points[i].accuracy for i in at])
            drawn = frontier_shares(scores, columns, clusters, draws=draws)
            found |= dict(zip(at, drawn.tolist(), strict=True))
    mean = partial(mean_interval, clusters=clusters, level=draws.level)
    return [
        _ModelAmounts(
            point=point,
            accuracy=mean(point.accuracy),
            amounts={name: mean(some, bounds=UNBOUNDED) for name, some in point.amounts.items()},
            shares={name: found[i] for name, found in shares.items() if i in found},
        )
        for i, point in enumerate(points)
    ]


def _shown(
    benchmark: str, points: Sequence[_Point], clusters: Clusters, *, x: Amount, draws: Draws
) -> list[Statement]:
    told = _told(points, clusters, draws=draws)
    n = len(points[0].accuracy)
    dots = tuple(
        Dot(
            label=one.point.cell.label,
            x=one.amounts[x],
            y=one.accuracy,
            kind=0 if one.shares[x] >= ON_FRONTIER else 1,
        )
        for one in told
        if x in one.shares and one.amounts[x].value > 0
    )
    left_out = [one.point.cell.label for one in told if x not in one.shares or one.amounts[x].value <= 0]
    note = f"{n:,} questions that all have. On the frontier: in half of the draws or more."
    if left_out:
        note += f" Not in the figure, since their {AXES[x]} are not known: {', '.join(left_out)}."
    figure = Scatter(
        name=f"frontier:{benchmark}",
        title=f"{benchmark}: accuracy and {AXES[x].partition(' per ')[0]}",
        x_title=AXES[x],
        y_title="accuracy",
        dots=dots,
        is_log=True,
        kinds=("on the frontier", "beaten"),
        note=note,
    )
    return [*([figure] if dots else []), _table(benchmark, told, note=note)]


def _table(benchmark: str, told: Sequence[_ModelAmounts], *, note: str) -> Table:
    def amount(name: Amount) -> Measure[_ModelAmounts]:
        return number(name, lambda one: one.amounts.get(name), AXES[name], group="takes")

    def on(name: Amount) -> Measure[_ModelAmounts]:
        def of(one: _ModelAmounts) -> Cell:
            return Cell(value=one.shares.get(name))

        return share(f"on-{name}", of, name, group="draws on the frontier, %")

    return tabulate(
        f"frontier-table:{benchmark}",
        f"{benchmark}: what accuracy takes",
        label=Column(key="name", title="run"),
        rows=(RowSpec(f"run:{i}", one.point.cell.label, one) for i, one in enumerate(told)),
        measures=(
            count("questions", lambda one: one.accuracy.n),
            share("accuracy", lambda one: one.accuracy),
            *map(amount, AXES),
            *map(on, AXES),
        ),
        notes=(
            note,
            "All replies of a question count, remembered ones and those that a strategy did not choose too. "
            "Seconds are those of the replies one after the other, not of a whole run. What a model or its "
            "prices do not say is missing.",
        ),
    )
