"""Two scores against each other: over models, or over the values of a tag."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Record
from vidence.report.correlation import sentences, tables
from vidence.report.correlation_values import (
    Scores,
    over_pairs,
    over_values,
    points_of_pairs,
    scatter,
    statements,
    with_people,
)
from vidence.report.panel_grid import Grid, PanelView, by_benchmark
from vidence.report.panel_views.sorted import rows_of, title_of
from vidence.report.scores import Draws
from vidence.tables.charts import Statement


class Settings(Record):
    """Options of the view."""

    x: Annotated[str, Meta(description="the questions of one score: TAG=VALUE, with commas between several")]
    y: Annotated[str, Meta(description="the same for the other score")]
    by: Annotated[str, Meta(description="the tag whose values are points, or strata of those of a model")]
    points: Annotated[
        Literal["models", "values"],
        Meta(description="a point for each model and value, or for each value, the mean over models"),
    ] = "values"
    where: Annotated[str, Meta(description="the questions of both scores, as x")] = ""
    cluster: Annotated[str, Meta(description="with points=values: a tag of which each value has one")] = ""

    def __post_init__(self) -> None:
        if self.cluster and self.points == "models":
            raise UsageError("correlation: cluster= is for points=values; the models are the clusters")


class Correlation:
    """A correlation with what its points have in common: models, or values over the same models.

    People are marks of their own in the figure of models, and in none of the numbers. Over values the
    ceiling is told by split halves of the models, and p by permuting one of the two scores.

    Source: ActPLD, section 3.3 and figures 6, 8 and 10.
    Departs: clusters, permutations and the ceiling are ours.
    """

    name = "correlation"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """For each benchmark the figure and its tables.

        Raises:
            UsageError: a score of a model is not there, or there are fewer than three points.
        """
        settings, made = self.settings, list[Statement]()
        scores = Scores(
            x=settings.x, y=settings.y, by=settings.by, where=settings.where, cluster=settings.cluster
        )
        for cells in by_benchmark(grid.scored, lambda c: c.run.plan.benchmark).values():
            benchmark = title_of(cells)
            name, rows = f"correlation:{benchmark}", rows_of(cells)
            if settings.points == "values":
                found = over_values(rows, scores, rng=draws.fresh(), level=draws.level)
                figure, *rest = statements(found, name=name)
                said = sentences(found.found)
                if grid.people:
                    said = (*said, "People are in no point: each is the mean over the models.")
            else:
                correlated = over_pairs(rows, scores, rng=draws.fresh(), level=draws.level)
                people = by_benchmark(grid.people, lambda c: c.run.plan.benchmark).get(
                    cells[0].run.plan.benchmark, []
                )
                figure, said = scatter(correlated, name=name), sentences(correlated)
                figure = with_people(figure, points_of_pairs(rows_of(people), scores))
                rest = [msgspec.structs.replace(t, name=f"{name}-{t.name}") for t in tables(correlated)]
            made += [msgspec.structs.replace(figure, note=" ".join(said)), *rest]
        if not made:
            raise UsageError("no run of the panel has a score")
        return tuple(made)


def create(settings: Settings) -> PanelView:
    """The view."""
    return Correlation(settings)
