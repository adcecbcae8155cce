"""Whether models keep their order from one setting to another: conditions, benchmarks, or tasks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Final

from msgspec import Meta

from vidence.records import Estimate, Record
from vidence.report.panel_grid import Grid, PanelView
from vidence.report.panel_views.lined_up import CONDITION, LinedUp, lined_up
from vidence.report.scores import Draws
from vidence.statistics.intervals import mean_interval
from vidence.statistics.paired import compare, holm
from vidence.statistics.rank_changes import Ranks, rank_changes
from vidence.statistics.resampling import Resampling
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import (
    Cell,
    Column,
    Measure,
    Row,
    RowSpec,
    Table,
    number,
    number_text,
    share,
    tabulate,
)

MOST_CURVES: Final = 8  # settings along the figure
MOST_PAIRS: Final = 40  # lines of models that change places


class Settings(Record):
    """Options of the view."""

    by: Annotated[str, Meta(description="condition, benchmark, or a tag whose values are the settings")] = (
        CONDITION
    )


class RankChanges:
    """Kendall's tau-b of the orders of models in two settings, and which models change places.

    Noise alone changes orders, so that tau of settings that do not differ is below 1 too. Two models change
    places clearly where one is clearly above the other in one setting and clearly below it in the other; the
    differences are paired by question and adjusted over all that are looked at.
    """

    name = "ranks"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """For each benchmark the orders as a figure, tau of all settings, and who changes places.

        Raises:
            UsageError: there are no two settings of the same two models.
        """
        made: list[Statement] = []
        for one in lined_up(grid, self.settings.by):
            found = rank_changes(
                list(one.settings.values()), rng=draws.fresh(), resampling=Resampling(level=draws.level)
            )
            figure = [_figure(one, draws=draws)] if len(one.settings) <= MOST_CURVES else []
            swaps = sorted(_swaps(one, found, draws=draws), key=lambda s: (s.p_least_sure, -s.share))
            places = [_places(one, swaps, draws=draws)] if swaps else []
            made += [*figure, _taus(one, found, has_swaps=bool(swaps), draws=draws), *places]
        return tuple(made)


def create(settings: Settings) -> PanelView:
    """The view."""
    return RankChanges(settings)


def _figure(one: LinedUp, *, draws: Draws) -> Chart:
    names = list(one.settings)

    def means(i: int) -> Iterator[tuple[float, Estimate]]:
        for at, setting in enumerate(one.settings.values(), start=1):
            yield at, mean_interval(setting.values[:, i], clusters=setting.clusters, level=draws.level)

    return Chart(
        name=f"ranks:{one.title}",
        title=f"{one.title}: models from setting to setting",
        x_title="setting",
        y_title="accuracy",
        series=curves((model, means(i)) for i, model in enumerate(one.models)),
        x_labels=tuple((float(at), name) for at, name in enumerate(names, start=1)),
        note="Curves that cross are models that change places; whether clearly, the table below says.",
    )


def _taus(one: LinedUp, found: Ranks, *, has_swaps: bool, draws: Draws) -> Table:
    names = list(one.settings)
    n = len(one.models)

    def cell(a: int, b: int) -> Cell:
        if a == b:
            return Cell()
        ends = f"draws {number_text(float(found.low[a, b]))} to {number_text(float(found.high[a, b]))}"
        return Cell(value=float(found.tau[a, b]), detail=ends)

    notes = " ".join(
        (
            f"Kendall's tau-b of the orders of {n} models in two settings; beside it what "
            f"{100 * draws.level:g} % of the draws of whole clusters give. That is no interval: a draw adds "
            "noise to noise, so that draws lie below the value where models are close.",
            "" if has_swaps else "No two models are in opposite orders in two settings.",
            *one.notes,
        )
    ).strip()
    return Table(
        name=f"ranks-tau:{one.title}",
        title=f"{one.title}: how far settings agree on the order of models",
        label="setting",
        columns=tuple(Column(key=f"setting:{name}", title=name) for name in names),
        rows=tuple(
            Row(key=f"setting:{name}", label=name, values=tuple(cell(a, b) for b in range(len(names))))
            for a, name in enumerate(names)
        ),
        note=notes,
    )


# --------------------------------------------------------------------------- who changes places


@dataclass(frozen=True, kw_only=True)
class _Swap:
    """Two models in opposite orders in two settings: both differences, with their p-values by Holm."""

    label: str
    detail: str
    first: Estimate
    second: Estimate
    p_first: float
    p_second: float
    share: float

    @property
    def p_least_sure(self) -> float:
        return max(self.p_first, self.p_second)

    def is_clear(self, level: float) -> bool:
        return self.p_least_sure < 1 - level


def _places(one: LinedUp, swaps: Sequence[_Swap], *, draws: Draws) -> Table:
    n_clear = sum(swap.is_clear(draws.level) for swap in swaps)
    n_pairs = len(list(combinations(one.models, 2))) * len(list(combinations(one.settings, 2)))
    more = f" The {MOST_PAIRS} surest of them are shown." if len(swaps) > MOST_PAIRS else ""
    measures: tuple[Measure[_Swap], ...] = (
        number("first", lambda s: s.first, "in the first setting", kind="difference", note="points, paired"),
        number("second", lambda s: s.second, "in the second", kind="difference"),
        share(
            "draws", lambda s: s.share, "draws that differ", note="in which the two are in opposite orders"
        ),
        number("p_first", lambda s: s.p_first, "p (Holm), first", kind="p", note="over this whole table"),
        number("p_second", lambda s: s.p_second, "p (Holm), second", kind="p"),
        number(
            "clear", lambda s: "clear" if s.is_clear(draws.level) else "not clear", "verdict", kind="text"
        ),
    )
    return tabulate(
        f"ranks-places:{one.title}",
        f"{one.title}: models that change places",
        label="models",
        rows=(RowSpec(f"swap:{i}", s.label, s, detail=s.detail) for i, s in enumerate(swaps[:MOST_PAIRS])),
        measures=measures,
        notes=(
            f"Of {n_pairs:,} pairs of models in two settings {len(swaps):,} are in opposite orders, "
            f"{n_clear} of them clearly.{more}",
            "Two models that are alike are in opposite orders in half of the draws.",
        ),
    )


def _swaps(one: LinedUp, found: Ranks, *, draws: Draws) -> Iterator[_Swap]:
    """Every pair of models that is in opposite orders in a pair of settings."""
    names, settings = list(one.settings), list(one.settings.values())
    pairs = list(combinations(range(len(one.models)), 2))
    differences = {
        (s, i, j): compare(
            setting.values[:, i], setting.values[:, j], clusters=setting.clusters, level=draws.level
        )
        for s, setting in enumerate(settings)
        for i, j in pairs
    }
    adjusted = dict(zip(differences, holm([c.p_value for c in differences.values()]), strict=True))
    for (a, b), (i, j) in ((s, p) for s in combinations(range(len(names)), 2) for p in pairs):
        first, second = differences[a, i, j].difference, differences[b, i, j].difference
        if first.value * second.value >= 0:
            continue
        yield _Swap(
            label=f"{one.models[i]} less {one.models[j]}",
            detail=f"{names[a]}, {names[b]}",
            first=first,
            second=second,
            p_first=adjusted[a, i, j],
            p_second=adjusted[b, i, j],
            share=float(found.swaps[a, b, i, j]),
        )
