"""Scatter plots of one score or finding against another: over models, tag values or runs."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Estimate, Record
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
from vidence.report.panel_grid import Grid, PanelView, SettingsView, by_benchmark
from vidence.report.panel_views.findings import check_alike, figure_of, found_of
from vidence.report.panel_views.sorted import rows_of, title_of
from vidence.report.scores import Draws
from vidence.tables.charts import Dot, Scatter, Statement


class Settings(Record):
    """Options of the view."""

    x: Annotated[
        str,
        Meta(description="the questions of a score: TAG=VALUE, commas between; of findings TABLE/ROW/COLUMN"),
    ]
    y: Annotated[str, Meta(description="the same for the other score")]
    by: Annotated[str, Meta(description="the tag whose values are points, or strata of those of a model")] = (
        ""
    )
    finding: Annotated[str, Meta(description="a diagnostic: a point for each run, of its findings")] = ""
    base: Annotated[str, Meta(description="with finding: what a second mark of each run has for x")] = ""
    alike: Annotated[bool, Meta(description="refuse findings of several models or options")] = False
    points: Annotated[
        Literal["models", "values"],
        Meta(description="a point for each model and value, or for each value, the mean over models"),
    ] = "values"
    where: Annotated[str, Meta(description="the questions of both scores, as x")] = ""
    cluster: Annotated[str, Meta(description="with points=values: a tag of which each value has one")] = ""

    def __post_init__(self) -> None:
        if not self.by and not self.finding:
            raise UsageError("points: no tag; say by=TAG, or finding=DIAGNOSTIC")
        if self.cluster and self.points == "models":
            raise UsageError("points: cluster= is for points=values; the models are the clusters")


class Points(SettingsView[Settings]):
    """A correlation, clustered by models or by values over the same models.

    People have their own marks in the figure of models, and enter no statistic. Over values, the ceiling uses
    split halves of the models, and p permutes one of the two scores.

    Source: ActPLD, section 3.3 and figures 6, 8 and 10; HERBench, figure 9.
    Departs: clusters, permutations and the ceiling are ours.
    """

    name = "points"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """Return the figure and tables of each benchmark.

        Raises:
            UsageError: a model lacks a score, or there are fewer than three points.
        """
        settings, parts = self.settings, list[Statement]()
        if settings.finding:
            return (_of_findings(grid, settings, draws=draws),)
        scores = Scores(
            x=settings.x, y=settings.y, by=settings.by, where=settings.where, cluster=settings.cluster
        )
        for benchmark, cells in by_benchmark(grid.scored, lambda c: c.run.plan.benchmark).items():
            name, rows = f"points:{title_of(cells)}", rows_of(cells)
            if settings.points == "values":
                models = over_values(rows, scores, rng=draws.fresh(), level=draws.level)
                figure, *rest = statements(models, name=name)
                messages = sentences(models.found)
                if grid.people:
                    messages = (*messages, "People are in no point: each is the mean over the models.")
            else:
                correlated = over_pairs(rows, scores, rng=draws.fresh(), level=draws.level)
                people = [cell for cell in grid.people if cell.run.plan.benchmark == benchmark]
                figure, messages = scatter(correlated, name=name), sentences(correlated)
                figure = with_people(figure, points_of_pairs(rows_of(people), scores))
                rest = [msgspec.structs.replace(t, name=f"{name}-{t.name}") for t in tables(correlated)]
            parts += [msgspec.structs.replace(figure, note=" ".join(messages)), *rest]
        if not parts:
            raise UsageError(grid.unscored)
        return tuple(parts)


def create(settings: Settings) -> PanelView:
    """Create the view."""
    return Points(settings)


def _of_findings(grid: Grid, settings: Settings, *, draws: Draws) -> Scatter:
    """Return a point per run, and one of the reference."""
    entries = found_of(grid, (settings.finding,), draws=draws)
    if settings.alike:
        check_alike(entries)
    dots = []
    for cell, diagnosed in entries:
        x, y, base = (
            value if isinstance(value := figure_of(diagnosed, place).value, Estimate) else None
            for place in (settings.x, settings.y, settings.base or settings.x)
        )
        if x is not None and y is not None:
            dots.append(Dot(label=cell.benchmark, x=x, y=y))
            if settings.base and base is not None:
                dots.append(Dot(label=f"{cell.benchmark}, base", x=base, y=y, kind=1))
    if not dots:
        raise UsageError(f"no findings of {settings.finding} have {settings.x} and {settings.y}")
    x_title, y_title = (place.rpartition("/")[2] for place in (settings.x, settings.y))
    return Scatter(
        name=f"points:{settings.finding}",
        title=f"{settings.finding}: {x_title} and {y_title}",
        x_title=x_title,
        y_title=y_title,
        dots=tuple(dots),
        kinds=("measured", "base"),
    )
