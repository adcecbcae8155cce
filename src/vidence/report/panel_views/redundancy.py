"""Which parts of a benchmark, such as tasks, say the same of models."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Final

import numpy as np
from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.report.panel_grid import Grid, PanelView
from vidence.report.panel_views.lined_up import LinedUp, lined_up
from vidence.report.scores import Draws
from vidence.statistics.correlation import pearson
from vidence.statistics.rank_changes import LEAST_MODELS, Redundancy, redundancy
from vidence.tables.charts import Statement
from vidence.tables.table import Column, Measure, Row, RowSpec, Table, has_interval, number, tabulate

MOST_PAIRS: Final = 40
LEAST_PARTS: Final = 3


class Settings(Record):
    """Options of the view."""

    by: Annotated[str, Meta(description="the tag whose values are the parts, such as by=task")] = "task"


class Redundant:
    """The correlation of two parts over models without each model's mean, beside what it could be at most.

    Some models are better throughout, which makes all parts correlate; what is left says whether two parts
    find the same models good at them. The ceiling is by split halves of the questions. With fewer than eight
    models nothing is claimed.
    """

    name = "redundancy"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """For each benchmark the pairs of parts, and the parts with their reliability.

        Raises:
            UsageError: there are no three parts that three models have a score on.
        """
        made: list[Statement] = []
        for one in lined_up(grid, self.settings.by):
            if len(one.settings) >= LEAST_PARTS and len(one.models) >= LEAST_PARTS:
                found = redundancy(list(one.settings.values()), rng=draws.fresh())
                made += [_pairs(one, found, draws=draws), _parts(one, found, by=self.settings.by)]
        if not made:
            raise UsageError(
                f"no benchmark of the panel has three values of {self.settings.by!r} on which three models "
                "have a score; a correlation over models needs as many"
            )
        return tuple(made)


def create(settings: Settings) -> PanelView:
    """The view."""
    return Redundant(settings)


@dataclass(frozen=True, kw_only=True)
class _Pair:
    label: str
    r: Estimate
    ceiling: float
    verdict: str


def _pairs(one: LinedUp, found: Redundancy, *, draws: Draws) -> Table:
    pairs = sorted(_each(one, found, draws=draws), key=lambda pair: -pair.r.value)
    shown = pairs[:MOST_PAIRS]
    n = len(one.models)
    measures: tuple[Measure[_Pair], ...] = (
        number("r", lambda pair: pair.r, "r over models"),
        number("ceiling", lambda pair: None if math.isnan(pair.ceiling) else pair.ceiling),
        number("verdict", lambda pair: pair.verdict, "verdict", kind="text"),
    )
    few = (
        f"{n} models: a verdict needs {LEAST_MODELS}, and the intervals are those of {n} points."
        if n < LEAST_MODELS
        else ""
    )
    return tabulate(
        f"redundancy:{one.title}",
        f"{one.title}: parts that say the same of {n} models",
        label="parts",
        rows=(RowSpec(f"pair:{i}", pair.label, pair) for i, pair in enumerate(shown)),
        measures=measures,
        notes=(
            f"Pearson's r after each model's mean is taken off, which gives {found.expected:.2f} for parts "
            "that have nothing in common; the interval is Fisher's, over models, and not adjusted for how "
            "many pairs there are.",
            few,
            f"The {MOST_PAIRS} highest of {len(pairs)}." if len(pairs) > MOST_PAIRS else "",
            *one.notes,
        ),
    )


def _each(one: LinedUp, found: Redundancy, *, draws: Draws) -> Iterator[_Pair]:
    names = list(one.settings)
    means = np.array([setting.values.mean(axis=0) for setting in one.settings.values()])
    centred = means - means.mean(axis=0)
    for a, b in combinations(range(len(names)), 2):
        if math.isnan(found.r[a, b]):
            continue
        r = pearson(centred[a], centred[b], rng=draws.fresh()).fisher
        verdict = _verdict(r, float(found.ceiling[a, b]), found.expected, n_models=len(one.models))
        yield _Pair(label=f"{names[a]}, {names[b]}", r=r, ceiling=float(found.ceiling[a, b]), verdict=verdict)


def _verdict(r: Estimate, ceiling: float, expected: float, *, n_models: int) -> str:
    """What can be said of two parts."""
    if n_models < LEAST_MODELS:
        return "too few models"
    if math.isnan(ceiling) or not has_interval(r):
        return "cannot be told"
    if r.high < ceiling:
        return "apart"
    return "not told from the same" if r.low > expected else "cannot be told"


def _parts(one: LinedUp, found: Redundancy, *, by: str) -> Table:
    def value(i: int) -> float | None:
        return None if math.isnan(found.reliable[i]) else float(found.reliable[i])

    return Table(
        name=f"redundancy-parts:{one.title}",
        title=f"{one.title}: how well each part tells models apart beyond their means",
        label=by,
        columns=(
            Column(key="n", title="questions", kind="count"),
            Column(key="reliability", title="reliability", note="by split halves of its questions"),
        ),
        rows=tuple(
            Row(key=f"part:{name}", label=name, values=(len(setting.values), value(i)))
            for i, (name, setting) in enumerate(one.settings.items())
        ),
        note="A dash: the halves have nothing in common, so that nothing can be said of this part.",
    )
