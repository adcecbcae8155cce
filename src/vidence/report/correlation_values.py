"""Correlate two scores over models or over values of a tag, with the reliability ceiling."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.report.correlation import (
    ALL,
    Axes,
    Correlated,
    Point,
    Points,
    check_names,
    correlate,
    points_of,
    tables,
)
from vidence.report.over_models import ByValue, sorted_statements, where_of
from vidence.report.results import SEED, Run
from vidence.report.results import Row as TrialRow
from vidence.report.scores import Draws
from vidence.report.side_by_side import run_names
from vidence.statistics.agreement import LEAST_RATERS, ceiling, reliability
from vidence.tables.charts import Dot, Scatter, Statement
from vidence.tables.table import Column, Row, Table

Rows = Mapping[str, Sequence[TrialRow]]


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Which questions the two scores cover, and what the points are; filters are ``set=single,task=3afc``.

    `by` is the tag whose values are the points or, if `over_models` is false, the strata within a model.
    `cluster` is a tag that has one value for each value of `by`, such as a semantic group.
    """

    x: str
    y: str
    by: str = ""
    where: str = ""
    cluster: str = ""


@dataclass(frozen=True, kw_only=True)
class OverModels:
    """A correlation over the values of a tag, and its reliability ceiling.

    `reliable` are both scores' split-half reliabilities over models; NaN if unknown.
    """

    found: Correlated
    n_models: int
    reliable: tuple[float, float]
    ceiling: float


def _both(rows: Rows, scores: Scores) -> Iterator[ByValue | None]:
    """Yield the two scores by value."""
    base = where_of(scores.where, what="where=")
    for axis, text in (("x", scores.x), ("y", scores.y)):
        yield ByValue.of(rows, by=scores.by, where={**base, **where_of(text, what=f"{axis}=")})


def over_values(rows: Rows, scores: Scores, *, rng: np.random.Generator, level: float = 0.95) -> OverModels:
    """Correlate two means over models, with a point per value of a tag.

    The ceiling is the root of the product of both reliabilities: the correlation if both scores measured the
    same thing, up to the sampling of models.

    Args:
        rows: the trials of each model, by name.
        scores: what the points are.
        rng: source of the bootstrap draws.
        level: coverage of the intervals.

    Raises:
        UsageError: fewer than three values have both scores of every model, a score is constant, or a value
            belongs to several clusters.

    Source: ActPLD, figures 8 and 10.
    Departs: the paper prints p below .0001 alone; interval, permutation and ceiling are ours.
    """
    first, second = _both(rows, scores)
    if first is None or second is None:
        raise UsageError(
            f"no value of {scores.by!r} has both scores ({scores.x} and {scores.y}) of every model"
        )
    kept = [value for value in first.values if value in second.values]
    at = [[by_value.values.index(value) for value in kept] for by_value in (first, second)]
    tables_of = [value.scores[:, places] for value, places in zip((first, second), at, strict=True)]
    clusters = _clusters(rows, scores, kept)
    points = tuple(
        Point(cluster=clusters.get(value, value), stratum=value if clusters else "", x=float(x), y=float(y))
        for value, x, y in zip(kept, *(table.mean(axis=0) for table in tables_of), strict=True)
    )
    n_apart = len({*first.values, *second.values, *first.left_out, *second.left_out} - set(kept))
    note = f"Values of {scores.by} without both scores of every model are left out: {n_apart}."
    about = Points(
        x=f"{scores.x}, mean over models",
        y=f"{scores.y}, mean over models",
        points=points,
        are_shares=(True, True),
        notes=(note,) if n_apart else (),
    )
    result = correlate(about, rng=rng, level=level)
    alike = tuple(reliability(table, rng=rng) for table in tables_of)
    return OverModels(
        found=result,
        n_models=len(first.models),
        reliable=(alike[0], alike[1]),
        ceiling=ceiling(*alike) if not any(map(math.isnan, alike)) else math.nan,
    )


def _clusters(rows: Rows, scores: Scores, kept: Sequence[str]) -> dict[str, str]:
    """Return the cluster of each value; empty if each is its own."""
    if not scores.cluster:
        return {}
    clusters: dict[str, set[str]] = {}
    for row in (row for some in rows.values() for row in some):
        if row.item.tags.get(scores.by) in kept:
            clusters.setdefault(row.item.tags[scores.by], set()).add(row.item.tags.get(scores.cluster, ""))
    for value, of in clusters.items():
        if len(of) > 1 or not any(of):
            named = ", ".join(sorted(of)) if any(of) else "none"
            raise UsageError(
                f"{scores.by} {value!r} has as its values of {scores.cluster!r}: {named}; expected one"
            )
    return {value: next(iter(of)) for value, of in clusters.items()}


def over_pairs(rows: Rows, scores: Scores, *, rng: np.random.Generator, level: float = 0.95) -> Correlated:
    """Correlate two scores of models, with a point per model, or per model and value of a tag.

    A model without both scores, such as one that cannot read text, has no point, and a note says so.

    Args:
        rows: the trials of each model, by name; both scores may come from different runs.
        scores: what the points are; models are clusters, values strata.
        rng: source of the bootstrap draws.
        level: coverage of the intervals.

    Raises:
        UsageError: no model has both scores, or there are fewer than three points.

    Source: ActPLD, section 3.3 and figure 6.
    Departs: the paper treats its 12 points as independent; clusters are ours.
    """
    points, apart = list[Point](), dict[str, str]()
    for model, some in rows.items():
        own, lacking = _pairs(model, some, scores)
        points += own
        if lacking:
            apart[model] = lacking
    if len(apart) == len(rows):
        raise UsageError("; ".join(f"{model} has no score of {lacking}" for model, lacking in apart.items()))
    about = Points(
        x=f"accuracy, {scores.x}",
        y=f"accuracy, {scores.y}",
        points=tuple(points),
        are_shares=(True, True),
        notes=tuple(f"{model} has no score of {lacking}, and no point." for model, lacking in apart.items()),
    )
    return correlate(about, rng=rng, level=level)


def points_of_pairs(rows: Rows, scores: Scores) -> tuple[Point, ...]:
    """Return the points that have both scores.

    Args:
        rows: the trials of each, by name.
        scores: what the points are, as for `over_pairs`.
    """
    return tuple(point for name, some in rows.items() for point in _pairs(name, some, scores)[0])


def _pairs(name: str, rows: Sequence[TrialRow], scores: Scores) -> tuple[list[Point], str]:
    """Return a model's points, and which score it lacks; empty if it has both."""
    first, second = _both({name: rows}, scores)
    if first is None or second is None:
        return [], scores.x if first is None else scores.y
    return [
        Point(
            cluster=name,
            stratum=value,
            x=float(first.scores[0, first.values.index(value)]),
            y=float(second.scores[0, second.values.index(value)]),
        )
        for value in first.values
        if value in second.values
    ], ""


def shown_of(
    runs: Sequence[Run], axes: Axes, *, over_runs: bool, level: float
) -> tuple[Correlated, tuple[Statement, ...]]:
    """Return what ``vidence stats correlate`` shows: the scatter plot first, then the tables.

    Args:
        runs: the runs; none if a table has the points.
        axes: what the points are.
        over_runs: whether the points are values of a tag, averaged over the runs.
        level: coverage of the intervals.

    Raises:
        UsageError: as for `of_runs` and `points_of`.
    """
    rng = np.random.default_rng(SEED)
    if over_runs:
        models, parts = of_runs(runs, axes, draws=Draws(rng=rng, level=level))
        return models.found, parts
    correlated = correlate(points_of(runs, axes), rng=rng, level=level)
    return correlated, (scatter(correlated), *tables(correlated))


def of_runs(runs: Sequence[Run], axes: Axes, *, draws: Draws) -> tuple[OverModels, tuple[Statement, ...]]:
    """Return the correlation for ``vidence stats correlate --over-runs``, over values of a tag, with figures.

    Args:
        runs: one run per model.
        axes: what the points are; `cluster` is a tag here.
        draws: source of the bootstrap draws.

    Raises:
        UsageError: no tag, a table, the same run twice, or as for `over_values`.
    """
    if not runs or not axes.by or axes.table or axes.within:
        raise UsageError("--over-runs takes run folders and --by TAG, and neither --with nor --within")
    names = axes.names or run_names(runs)
    check_names(names, runs)
    rows = {name: run.rows for name, run in zip(names, runs, strict=True)}
    x, y = ("" if axis == ALL else axis for axis in (axes.x, axes.y))
    scores = Scores(x=x, y=y, by=axes.by, cluster=axes.cluster or "")
    models = over_values(rows, scores, rng=draws.fresh(), level=draws.level)
    both = {name: where_of(text, what=f"--{name}") for name, text in (("x", scores.x), ("y", scores.y))}
    tags = both["x"].keys() & both["y"].keys()
    where = {tag: tuple(dict.fromkeys((*both["x"][tag], *both["y"][tag]))) for tag in tags}
    whole = ByValue.of(rows, by=axes.by, where=where)
    title = runs[0].plan.benchmark
    figures = sorted_statements(title, whole, by=axes.by, draws=draws) if whole is not None else ()
    return models, (*statements(models, name="correlation"), *figures)


# --------------------------------------------------------------------------- tables and figures


def scatter(result: Correlated, *, name: str = "correlation-points") -> Scatter:
    """Return the scatter plot; with several models, each stratum has its own marker."""
    points = result.points
    n_of = {point.cluster for point in points.points}
    kinds = tuple(dict.fromkeys(point.stratum for point in points.points))
    has_kinds = 1 < len(kinds) < len(points.points) and len(n_of) > 1
    return Scatter(
        name=name,
        title=f"{points.y} against {points.x}",
        x_title=points.x,
        y_title=points.y,
        # A point is called by its model where its mark says the rest, otherwise by what tells it from all.
        dots=tuple(
            _dot(p, p.cluster, kinds.index(p.stratum)) if has_kinds else _dot(p, p.stratum or p.cluster, 0)
            for p in points.points
        ),
        x_is_share=points.are_shares[0],
        y_is_share=points.are_shares[1],
        kinds=kinds if has_kinds else (),
    )


def with_people(figure: Scatter, points: Sequence[Point]) -> Scatter:
    """Add the points of people to the figure, with their own marker; they enter no statistic."""
    if not points:
        return figure
    kinds = figure.kinds or ("models",)
    dots = (_dot(p, ", ".join(filter(None, (p.cluster, p.stratum))), len(kinds)) for p in points)
    return msgspec.structs.replace(figure, kinds=(*kinds, "people"), dots=(*figure.dots, *dots))


def _dot(point: Point, label: str, kind: int) -> Dot:
    x, y = (Estimate.alone(v, method="one point", reason="one point") for v in (point.x, point.y))
    return Dot(label=label, x=x, y=y, kind=kind)


def statements(models: OverModels, *, name: str) -> tuple[Statement, ...]:
    """Return the figure, the ceiling, and the tables of the correlation."""
    r = models.found.coefficients[1].found.value
    share = r / models.ceiling if models.ceiling > 0 else math.nan
    reason = "Halves of the models have nothing in common. " if math.isnan(models.ceiling) else ""
    if models.n_models < LEAST_RATERS:
        reason = f"{models.n_models} models, and split halves need {LEAST_RATERS}. "
    alike = "comes out alike with other models"
    table = Table(
        name=f"{name}-ceiling",
        title="How far the two could go together",
        label="",
        columns=(
            Column(key="r", title="Pearson's r"),
            Column(key="reliability-x", title=models.found.points.x, group=alike),
            Column(key="reliability-y", title=models.found.points.y, group=alike),
            Column(key="ceiling", title="ceiling", note="root of the product"),
            Column(key="share", title="r of the ceiling"),
        ),
        rows=(
            Row(
                key="all",
                label=f"{models.n_models} models",
                values=tuple(
                    None if math.isnan(v) else v for v in (r, *models.reliable, models.ceiling, share)
                ),
            ),
        ),
        note=f"{reason}Means over few models move with the models that were asked: by split halves, stepped"
        " up to all (Spearman-Brown). A correlation at the ceiling says that the two order the values alike"
        " as far as these models can tell; it says nothing of other models.",
    )
    named = (msgspec.structs.replace(t, name=f"{name}-{t.name}") for t in tables(models.found))
    return (scatter(models.found, name=name), table, *named)
