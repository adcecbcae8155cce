"""Values of a tag sorted by score over all models, with a chance envelope."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.report.over_models import ByValue, over_models, sorted_statements, where_of
from vidence.report.panel_grid import Grid, GridCell, PanelView, SettingsView, by_benchmark
from vidence.report.results import Row as TrialRow
from vidence.report.scores import ANSWERED, Draws, chosen
from vidence.tables.charts import Chart, Point, Series, Statement
from vidence.tables.table import Column, Table


class Settings(Record):
    """Options of the view."""

    by: Annotated[str, Meta(description="the tag whose values are sorted, such as by=label")] = "task"
    where: Annotated[str, Meta(description="TAG=VALUE of the questions, with commas between several")] = ""
    parts: Annotated[
        str, Meta(description="a tag: the mean of each of its values in columns of the table")
    ] = ""


class SortedValues(SettingsView[Settings]):
    """The mean over models of each value of a tag, sorted.

    People appear at each value that they have a score of, and do not affect the order.

    Sorted means always slope. The envelope shows where the means of each rank lie if all values are equally
    hard: each model's scores are permuted over its questions.

    Source: ActPLD, figures 7 and 9.
    Departs: intervals over models, the envelope and the test are ours.
    """

    name = "sorted"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """Return the figure and the table of each benchmark.

        Raises:
            UsageError: no value of the tag has scores of all models, or `where` is invalid.
        """
        settings, parts = self.settings, list[Statement]()
        where = where_of(settings.where, what="sorted: where=")
        for name, cells in by_benchmark(grid.scored, lambda c: c.run.plan.benchmark).items():
            benchmark = title_of(cells)
            value = ByValue.of(rows_of(cells), by=settings.by, where=where)
            if value is not None and len(value.values) > 1:
                figure, table = sorted_statements(benchmark, value, by=settings.by, draws=draws)
                table = with_parts(table, rows_of(cells), settings, level=draws.level)
                people = [cell for cell in grid.people if cell.run.plan.benchmark == name]
                parts += beside(figure, table, rows_of(people), by=settings.by, where=where)
        if not parts:
            of = f" where {settings.where}" if where else ""
            raise UsageError(f"no two values of the tag {settings.by!r}{of} have a score of every model")
        return tuple(parts)


def create(settings: Settings) -> PanelView:
    """Create the view."""
    return SortedValues(settings)


def rows_of(cells: Sequence[GridCell]) -> dict[str, list[TrialRow]]:
    """Return the trials that count in the means of each model and condition, over all its runs."""
    rows: dict[str, list[TrialRow]] = {}
    for cell in cells:
        rows.setdefault(cell.label, []).extend(counted(cell))
    return rows


def counted(cell: GridCell) -> list[TrialRow]:
    """Return the trials in a run's headline: if that is ``answered``, those with a readable reply."""
    is_answered = cell.run.plan.headline == ANSWERED
    return [row for row in cell.run.rows if not is_answered or row.outcome == ANSWERED]


def title_of(cells: Sequence[GridCell]) -> str:
    """Return the name of a benchmark's runs: its name in the panel, if there is one."""
    titles = list(dict.fromkeys(cell.benchmark for cell in cells))
    return titles[0] if len(titles) == 1 else cells[0].run.plan.benchmark


def with_parts(
    table: Table, models: Mapping[str, Sequence[TrialRow]], settings: Settings, *, level: float
) -> Table:
    """Add the mean over models of each value of another tag, such as label and intention.

    Args:
        table: a row per value.
        models: the trials of each model.
        settings: the options.
        level: coverage of the intervals over models.
    """
    where = where_of(settings.where, what="sorted: where=")
    tags = [row.item.tags for rows in models.values() for row in chosen(rows, where)]
    for part in dict.fromkeys(tag[settings.parts] for tag in tags if settings.parts in tag):
        parts = ByValue.of(models, by=settings.by, where={**where, settings.parts: (part,)})
        means = {} if parts is None else dict(zip(parts.values, parts.scores.T.tolist(), strict=True))
        heading = Column(key=f"part:{part}", title=part, group="mean over models of", kind="share")
        values = [[over_models(means.get(row.label, []), level=level)] for row in table.rows]
        table = table.with_columns([heading], values)
    return table


def beside(
    figure: Chart,
    table: Table,
    people: Mapping[str, Sequence[TrialRow]],
    *,
    by: str,
    where: Mapping[str, Sequence[str]],
) -> tuple[Chart, Table]:
    """Add people to the models' sorted values: a curve of their mean, a column per person.

    Args:
        figure: the figure of the models.
        table: its table, a row per value.
        people: their trials, by name.
        by: the tag.
        where: filters of the questions.
    """
    every: dict[str, list[float]] = {}
    for name, rows in people.items():
        own = ByValue.of({name: rows}, by=by, where=where)
        if own is None:
            continue
        scores = dict(zip(own.values, own.scores[0].tolist(), strict=True))
        n = dict(zip(own.values, np.bincount(own.marks[0].things).tolist(), strict=True))
        for value, score in scores.items():
            every.setdefault(value, []).append(score)
        headings = (
            Column(key=f"people:{name}", title="share", group=f"{name} (people)", kind="share"),
            Column(key=f"people-marks:{name}", title="marks", group=f"{name} (people)", kind="count"),
        )
        table = table.with_columns(headings, [(scores.get(r.label), n.get(r.label)) for r in table.rows])
    points = [
        Point(x=float(place), y=_of_people(every[row.label]))
        for place, row in enumerate(table.rows, start=1)
        if row.label in every
    ]
    if points:
        curve = Series(label="people", points=tuple(points))
        figure = msgspec.structs.replace(figure, series=(*figure.series, curve))
    return figure, table


def _of_people(values: Sequence[float]) -> Estimate:
    """Return the mean over people, without an interval."""
    n = len(values)
    reason = f"{n} people" if n > 1 else "one person"
    return Estimate.alone(sum(values) / n, n=n, method="mean over people", reason=reason)
