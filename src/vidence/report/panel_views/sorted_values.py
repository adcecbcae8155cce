"""The values of a tag from the easiest to the hardest over all models, and what sorting alone would show."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Record
from vidence.report.over_models import ByValue, where_of
from vidence.report.panel_grid import Grid, GridCell, PanelView, by_benchmark
from vidence.report.results import Row as TrialRow
from vidence.report.scores import Draws
from vidence.report.sorted_values import sorted_statements
from vidence.tables.charts import Statement

NAMES = ("sorted",)
SUMMARIES = {
    "sorted": "Values of a tag from the easiest to the hardest over all models, beside luck that is sorted."
}


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
        for cells in by_benchmark(grid.scored, lambda c: c.run.plan.benchmark).values():
            benchmark = title_of(cells)
            found = ByValue.of(rows_of(cells), by=settings.by, where=where)
            if found is not None and len(found.values) > 1:
                made += sorted_statements(benchmark, found, by=settings.by, draws=draws)
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


def title_of(cells: Sequence[GridCell]) -> str:
    """What runs of one benchmark are called: its name in the panel, where there is one."""
    titles = list(dict.fromkeys(cell.benchmark for cell in cells))
    return titles[0] if len(titles) == 1 else cells[0].run.plan.benchmark
