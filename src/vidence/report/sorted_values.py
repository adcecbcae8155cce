"""The values of a tag from the easiest to the hardest over models: the figure with its envelope."""

import math
from collections.abc import Sequence
from typing import Final

from vidence.records import Estimate
from vidence.report.over_models import ByValue, over_models
from vidence.report.scores import Draws
from vidence.statistics.sorted_means import SortedMeans, sorted_means
from vidence.tables.charts import Chart, Point, Series
from vidence.tables.table import Cell, Column, Row, Table, p_words

MOST_WORDS: Final = 6
"""Names along the axis; with more values places are numbered."""


def sorted_statements(benchmark: str, found: ByValue, *, by: str, draws: Draws) -> tuple[Chart, Table]:
    """The figure and the table of the values of a tag, sorted.

    Args:
        benchmark: what the questions are called.
        found: the marks of the models.
        by: the tag.
        draws: where the draws come from.
    """
    result = sorted_means(
        found.marks,
        n_things=len(found.values),
        rng=draws.fresh(),
        are_alike=found.are_alike,
        level=draws.level,
    )
    names = [found.values[i] for i in result.order]
    return (
        _figure(benchmark, names, result, by=by, draws=draws),
        _table(benchmark, found, result, by=by, draws=draws),
    )


def _between(value: float, low: float, high: float, *, n: int, draws: Draws) -> Estimate:
    method = "sorted means with marks dealt out anew"
    return Estimate(value=value, low=low, high=high, level=draws.level, n=n, n_clusters=n, method=method)


def _alone(value: float, *, n: int, draws: Draws) -> Estimate:
    nan = float("nan")
    reason = "in the table"
    return Estimate(
        value=value, low=nan, high=nan, level=draws.level, n=n, n_clusters=n, method="mean", reason=reason
    )


def _figure(benchmark: str, names: Sequence[str], found: SortedMeans, *, by: str, draws: Draws) -> Chart:
    n = len(names)
    places = range(1, n + 1)
    step = 1 if n <= 12 else 5 if n <= 60 else 10
    words = tuple(
        (float(p), names[p - 1] if n <= MOST_WORDS else str(p) if p == 1 or p % step == 0 else "")
        for p in places
    )
    envelope = tuple(
        Point(x=float(p), y=_between(middle, low, high, n=n, draws=draws))
        for p, middle, low, high in zip(
            places, found.middle.tolist(), found.low.tolist(), found.high.tolist(), strict=True
        )
    )
    means = tuple(
        Point(x=float(p), y=_alone(mean, n=n, draws=draws))
        for p, mean in zip(places, found.means.tolist(), strict=True)
    )
    return Chart(
        name=f"sorted:{benchmark}",
        title=f"{benchmark}: {by} from the easiest to the hardest",
        x_title=f"place, {by}",
        y_title="mean over the models",
        series=(
            Series(label="mean over the models", points=means),
            Series(label="by sorting alone", points=envelope),
        ),
        x_labels=words,
        note=f"Upright lines: where {100 * draws.level:g} % of the means of a place lie if no {by} is harder "
        f"than another and no question either. That the means spread as far so has p {p_words(found.p_value)}"
        + (
            f"; where questions differ, and all models find the same ones hard, {p_words(found.p_questions)}."
            if not math.isnan(found.p_questions)
            else "."
        ),
    )


def _table(benchmark: str, found: ByValue, result: SortedMeans, *, by: str, draws: Draws) -> Table:
    rows = []
    for place, thing in enumerate(result.order):
        mean = over_models([float(v) for v in found.scores[:, thing]], level=draws.level)
        low, high = float(result.low[place]), float(result.high[place])
        seen = float(result.means[place])
        side = "above" if seen > high else "below" if seen < low else "inside"
        n = sum(int((one.things == thing).sum()) for one in found.marks)
        values = (place + 1, mean, Cell(value=low), Cell(value=high), Cell(value=side), n)
        rows.append(Row(key=f"value:{found.values[thing]}", label=found.values[thing], values=values))
    return Table(
        name=f"sorted-values:{benchmark}",
        title=f"{benchmark}: {by} by its mean over {len(found.models)} models",
        label=by,
        columns=(
            Column(key="place", title="place", kind="count"),
            Column(key="mean", title="mean over models", kind="share", note="Student's t over models"),
            Column(key="low", title="from", kind="share", group="by sorting alone"),
            Column(key="high", title="to", kind="share", group="by sorting alone"),
            Column(key="side", title="mean is", kind="text", note="of the envelope of its place"),
            Column(key="marks", title="marks", kind="count"),
        ),
        rows=tuple(rows),
        note="Each model and condition counts alike. The envelope is of places, not of names: a value outside"
        " says that the order is not luck alone, not that its own place is known. Values with few marks come"
        " to lie at the ends. With few questions of a value its mean may be that of a hard question: then the"
        f" p where questions differ is the one to go by. {found.note()}".strip(),
    )
