"""The values of a tag from the easiest to the hardest over all models, and what sorting alone would show."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.report.over_models import ByValue, where_of
from vidence.report.panel_grid import Grid, GridCell, PanelView, by_benchmark
from vidence.report.panel_views.model_means import over_models
from vidence.report.results import Row as TrialRow
from vidence.report.scores import Draws
from vidence.statistics.sorted_means import SortedMeans, sorted_means
from vidence.tables.charts import Chart, Point, Series, Statement
from vidence.tables.table import Cell, Column, Row, Table, p_words

NAMES = ("sorted",)
SUMMARIES = {
    "sorted": "Values of a tag from the easiest to the hardest over all models, beside luck that is sorted."
}
MOST_WORDS = 6  # names along the axis; with more values places are numbered


class Settings(Record):
    """Options of the view."""

    by: Annotated[str, Meta(description="the tag whose values are sorted, such as by=label")] = "task"
    where: Annotated[str, Meta(description="TAG=VALUE of the questions, with commas between several")] = ""


class SortedValues:
    """The mean over models of each value of a tag, sorted.

    Whatever is sorted slopes. The envelope is where the means of each place lie when no value is harder
    than another: every model's marks are dealt out anew over its questions.

    Source: ActPLD, figures 7 and 9.
    Departs: intervals over models, the envelope and the test are ours.
    """

    name = "sorted"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """For each benchmark the figure and the table.

        Raises:
            UsageError: no value of the tag is known of all models, or the words of `where` are none.
        """
        settings, made = self.settings, list[Statement]()
        where = where_of(settings.where, what="sorted: where=")
        for benchmark, cells in by_benchmark(grid.scored, lambda c: c.run.plan.benchmark).items():
            found = ByValue.of(rows_of(cells), by=settings.by, where=where)
            if found is not None and len(found.values) > 1:
                made += _shown(benchmark, found, by=settings.by, draws=draws)
        if not made:
            of = f" where {settings.where}" if where else ""
            raise UsageError(f"no two values of the tag {settings.by!r}{of} have a score of every model")
        return tuple(made)


def create(settings: Settings, *, name: str) -> PanelView:
    """The view of that name."""
    del name
    return SortedValues(settings)


def rows_of(cells: Sequence[GridCell]) -> dict[str, list[TrialRow]]:
    """The trials of each model and condition, of all its runs."""
    found: dict[str, list[TrialRow]] = {}
    for cell in cells:
        found.setdefault(cell.label, []).extend(cell.run.rows)
    return found


def _shown(benchmark: str, found: ByValue, *, by: str, draws: Draws) -> tuple[Statement, ...]:
    result = sorted_means(found.marks, n_things=len(found.values), rng=draws.fresh(), level=draws.level)
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
        for p, middle, low, high in zip(places, found.middle, found.low, found.high, strict=True)
    )
    means = tuple(
        Point(x=float(p), y=_alone(mean, n=n, draws=draws))
        for p, mean in zip(places, found.means, strict=True)
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
        f"than another. That the means spread as far by luck has p {p_words(found.p_value)}.",
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
        " says that the order is not luck alone, not that its own place is known. "
        f"Spread of all means: p {p_words(result.p_value)}. {found.note()}".strip(),
    )
