"""Means over the models: how hard the parts of a benchmark are for all of them together."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Record
from vidence.report.over_models import over_models
from vidence.report.panel_grid import Grid, GridCell, PanelView, by_benchmark
from vidence.report.panel_views.sorted import rows_of
from vidence.report.printed_rows import as_label, printed_rows
from vidence.report.results import Row as TrialRow
from vidence.report.scores import ANSWERED, Aggregate, Draws, chosen, natural_order
from vidence.tables.charts import Statement
from vidence.tables.table import Cell, Column, Row, Table


class Settings(Record):
    """Options of the view."""

    rows: Annotated[str, Meta(description="the tag whose values are the rows")] = "task"
    columns: Annotated[str, Meta(description="the tag whose values are the columns")] = "set"
    printed: Annotated[str, Meta(description="a published table whose rows stand below, as printed")] = ""


class ModelMeans:
    """The mean over models of each part of a benchmark: each model counts alike, whatever it was asked.

    The interval is over models, as drawn from all models that might have been asked: it is Student's t of
    their scores, and says nothing of other questions. People have rows of their own below, and are in no mean
    over models.

    Source: ActPLD, table 4 and section 3.3.
    Departs: the paper gives no intervals.
    """

    name = "model-means"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """A table for each benchmark.

        Raises:
            UsageError: no question has both tags.
        """
        people = by_benchmark(grid.people, lambda c: c.run.plan.benchmark)
        made = [
            self._beside(table, people.get(benchmark, []), draws=draws)
            for benchmark, cells in by_benchmark(grid.scored, lambda c: c.run.plan.benchmark).items()
            if (table := self._table(benchmark, cells, draws=draws)) is not None
        ]
        if not made:
            raise UsageError(
                f"no question of the panel has the tags {self.settings.rows!r} and "
                f"{self.settings.columns!r}; say model-means?rows=TAG&columns=TAG"
            )
        return tuple(made)

    def _table(self, benchmark: str, cells: Sequence[GridCell], *, draws: Draws) -> Table | None:
        tags = (self.settings.rows, self.settings.columns)
        found = _means(cells, tags)
        if not found:
            return None
        down, across = (sorted({place[i] for place in found}, key=natural_order) for i in (0, 1))

        def mean(row: str, column: str) -> Cell:
            some = [
                value
                for place, values in found.items()
                if row in ("", place[0]) and column == place[1]
                for value in values.values()
            ]
            return Cell(value=over_models(some, level=draws.level)) if row else Cell(value=_plain(some))

        n = len({model for values in found.values() for model in values})
        return Table(
            name=f"model-means:{benchmark}",
            title=f"{benchmark}: means over {n} models",
            note="Each model and condition counts alike; intervals are over models. The last row is the mean "
            "of all values of the column and has none, since a model stands in it several times.",
            label=tags[0],
            columns=tuple(Column(key=f"column:{name}", title=name, kind="share") for name in across),
            rows=tuple(
                Row(
                    key=f"row:{name}",
                    label=name or "overall",
                    values=tuple(mean(name, column) for column in across),
                )
                for name in (*down, "")
            ),
            figure="matrix",
        )

    def _beside(self, table: Table, people: Sequence[GridCell], *, draws: Draws) -> Table:
        """The table with rows of people and rows as printed below those of the models."""
        settings, across = self.settings, [column.title for column in table.columns]
        rows = list(table.rows)
        for label, trials in rows_of(people).items():
            for part in (row.label for row in table.rows if row.key != "row:"):
                places = [{settings.rows: (part,), settings.columns: (column,)} for column in across]
                kept = [chosen(trials, where) for where in places]
                if any(kept):
                    values = tuple(Aggregate.of(some).estimate(draws) if some else None for some in kept)
                    key = f"people:{label}:{part}"
                    rows.append(Row(key=key, label=f"{label}, {part}", detail="people", values=values))
        table = msgspec.structs.replace(table, rows=tuple(rows))
        if not settings.printed:
            return table
        printed = printed_rows(settings.printed, [{settings.columns: value} for value in across])
        below = (
            Row(key=f"printed:{place}", label=as_label(one.words), values=one.values)
            for place, one in enumerate(printed.rows)
        )
        return printed.below(table, below)


def create(settings: Settings) -> PanelView:
    """The view."""
    return ModelMeans(settings)


def _means(cells: Sequence[GridCell], tags: tuple[str, str]) -> dict[tuple[str, str], dict[str, float]]:
    """The score of each model on the questions with each pair of values."""
    rows: dict[tuple[str, str], dict[str, list[TrialRow]]] = {}
    averages = {cell.label: cell.run.plan.headline for cell in cells}
    for cell in cells:
        for row in cell.run.rows:
            if all(tag in row.item.tags for tag in tags):
                place = (row.item.tags[tags[0]], row.item.tags[tags[1]])
                rows.setdefault(place, {}).setdefault(cell.label, []).append(row)
    found: dict[tuple[str, str], dict[str, float]] = {}
    for place, models in rows.items():
        for label, some in models.items():
            average = ANSWERED if averages[label] == ANSWERED else "micro"
            value = Aggregate.of(some, average).mean(lambda row: row.correct)
            if value is not None:
                found.setdefault(place, {})[label] = value
    return found


def _plain(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
