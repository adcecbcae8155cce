"""Correlate two scores over points: models, models by task, or rows of a published table."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import msgspec
import numpy as np

from vidence.console.flags import flag
from vidence.errors import UsageError
from vidence.explain.published import published
from vidence.explain.published.printed_tables import PublishedRow, PublishedTable, number, read_file
from vidence.media.whole import write_file
from vidence.records import Estimate, Record
from vidence.report.results import Run
from vidence.report.scores import ScoredQuestions, check_answered, natural_order
from vidence.report.sections import Section
from vidence.report.side_by_side import run_names
from vidence.statistics.correlation import (
    Correlation,
    CorrelationKind,
    cluster_permutation,
    pearson,
    spearman,
)
from vidence.statistics.resampling import Resampling
from vidence.tables.export import csv_text
from vidence.tables.table import (
    Column,
    RowSpec,
    Table,
    count,
    has_interval,
    lines,
    number_text,
    p_value,
    p_words,
    several,
    share,
    tabulate,
)
from vidence.tables.table import number as figure

JSON_FORMAT = "vidence-correlation/1"
ALL = "all"  # questions, in place of TAG=VALUE
# With fewer clusters their draws say nothing.
LEAST_CLUSTERS = 4
Where: TypeAlias = dict[str, str]


class Point(Record):
    """One point: `cluster` is what it shares with others, such as its model; `stratum` is its kind."""

    cluster: str
    stratum: str
    x: float
    y: float


class Points(Record):
    """Points with axis labels, and whether values are shares; `notes` say what was left out."""

    x: str
    y: str
    points: tuple[Point, ...]
    are_shares: tuple[bool, bool] = (False, False)
    notes: tuple[str, ...] = ()


class PartCorrelation(Record):
    """Spearman's rho and Pearson's r over a part of the points, without an interval."""

    name: str
    n: int
    spearman: float
    pearson: float


class Coefficient(Record):
    """One coefficient.

    `p_clusters` is the p-value of permuting whole clusters, or points if each is its own cluster; None unless
    every cluster has each stratum once.
    """

    kind: CorrelationKind
    found: Correlation
    p_clusters: float | None


class Correlated(Record):
    """Both coefficients over all points, and over parts: each stratum, and the cluster means."""

    points: Points
    n_clusters: int
    coefficients: tuple[Coefficient, Coefficient]
    parts: tuple[PartCorrelation, ...]


# --------------------------------------------------------------------------- points


def points_of_table(
    table: PublishedTable, *, x: str, y: str, cluster: str | None = None, within: str | None = None
) -> Points:
    """Return a point for each row of a table that has both numbers and is not a summary.

    Args:
        table: the table.
        x: the column of one score.
        y: that of the other.
        cluster: the column that groups rows; without it, each row is its own cluster.
        within: the column of the stratum.

    Raises:
        UsageError: the table has no such column.
    """
    _check_columns(table, [name for name in (x, y, cluster, within) if name])
    points, n_left = [], 0
    for row in table.rows:
        texts = [number(table.text(row, name)) for name in (x, y)]
        if row.kind == "summary" or None in texts:
            n_left += 1
            continue
        first, second = (float(text) for text in texts if text is not None)
        points.append(
            Point(
                cluster=table.text(row, cluster) if cluster else row.name,
                stratum=table.text(row, within) if within else "",
                x=first,
                y=second,
            )
        )
    notes = (f"Rows without both numbers, or made of others, are left out: {n_left}.",) if n_left else ()
    return Points(x=x, y=y, points=tuple(points), notes=notes)


FOR_RUNS: Final = "--by, --as and --parser are for runs; name run folders, or say --within COLUMN"


class Axes(Record):
    """The scores to correlate: see `points_of_runs` and `points_of_table`."""

    x: Annotated[str, flag("Questions of the runs: all, or TAG=VALUE; without runs, a column.")]
    y: Annotated[str, flag("The same; with runs and --with, a column of the table.")]
    by: Annotated[str | None, flag("One point per run and value of this tag, not one per run.")] = None
    table: Annotated[
        str | None, flag("A CSV, or the name of a published table.", "--with", metavar="TABLE")
    ] = None
    cluster: Annotated[
        str | None,
        flag(
            "Without runs: the column that names each row's cluster; with --over-runs: a tag.",
            metavar="COLUMN",
        ),
    ] = None
    within: Annotated[
        str | None, flag("Without runs: also correlate within each value of this column.", metavar="COLUMN")
    ] = None
    names: Annotated[tuple[str, ...], flag("Name of each run in the table, in order.", "--as")] = ()


def points_of(runs: Sequence[Run], axes: Axes) -> Points:
    """Return the points of runs, or without runs those of a table's rows.

    Raises:
        UsageError: neither runs nor a table, or options of one given with the other; see also
            `points_of_runs` and `points_of_table`.
        DataError: the table cannot be read.
    """
    table = None if axes.table is None else _table(axes.table)
    if runs:
        if axes.cluster or axes.within:
            raise UsageError(
                "--cluster and --within are for tables; with runs these are the clusters, see --by"
            )
        names = axes.names or run_names(runs)
        return points_of_runs(runs, names, x=axes.x, y=axes.y, by=axes.by, table=table)
    if table is None:
        raise UsageError("nothing to correlate; name run folders, or --with a table")
    if axes.by or axes.names:
        raise UsageError(FOR_RUNS)
    return points_of_table(table, x=axes.x, y=axes.y, cluster=axes.cluster, within=axes.within)


def _table(name: str) -> PublishedTable:
    """Read a table from a CSV, or a published one by name."""
    is_file = name.lower().endswith((".csv", ".tsv")) or Path(name).exists()
    return read_file(Path(name)) if is_file else published.load(name)


def points_of_runs(
    runs: Sequence[Run],
    names: Sequence[str],
    *,
    x: str,
    y: str,
    by: str | None = None,
    table: PublishedTable | None = None,
) -> Points:
    """Return a point per run, or per run and value of a tag; runs are clusters, values strata.

    Args:
        runs: the runs.
        names: the name of each, also in the table.
        x: the questions of one score: ``all``, or ``TAG=VALUE`` with commas between several.
        y: the same for the other score; with a table, its column.
        by: the tag.
        table: a table with a row per run; with `by`, per run and value.

    Raises:
        UsageError: names are missing or not distinct, a run has no such questions, or the table has no such
            column or row.
    """
    check_names(names, runs)
    first, second = _where(x, "--x"), None if table is not None else _where(y, "--y")
    points: list[Point] = []
    for name, run in zip(names, runs, strict=True):
        check_answered(run)
        scored = ScoredQuestions.of(run.rows)
        texts = {item.tags[by] for item in scored.items if by in item.tags} if by else {""}
        if not texts:
            raise UsageError(f"no scored question of {name} has the tag {by!r}")
        for value in sorted(texts, key=natural_order):
            part = {by: value} if by else {}
            if table is not None:
                other = _in_table(table, name, y=y, by=by, value=value)
            else:
                other = _accuracy(name, scored, {**(second or {}), **part})
            ours = _accuracy(name, scored, {**first, **part})
            points.append(Point(cluster=name, stratum=value, x=ours, y=other))
    axis = f"{y} of {table.name}" if table is not None else f"accuracy, {y}"
    return Points(x=f"accuracy, {x}", y=axis, points=tuple(points), are_shares=(True, table is None))


def check_names(names: Sequence[str], runs: Sequence[Run]) -> None:
    """Check that each run has a distinct name.

    Raises:
        UsageError: names are missing or repeated.
    """
    if len(names) != len(runs) or len(set(names)) < len(names):
        raise UsageError(f"{len(set(names))} names for {len(runs)} runs; expected a different one for each")


def _where(text: str, flag: str) -> Where:
    if text == ALL:
        return {}
    parts = [part.partition("=") for part in text.split(",")]
    if not all(tag.strip() and sign and value.strip() for tag, sign, value in parts):
        raise UsageError(f"{flag} {text!r}; expected {ALL!r}, or TAG=VALUE such as task=3afc")
    return {tag.strip(): value.strip() for tag, _, value in parts}


def _accuracy(name: str, scored: ScoredQuestions, where: Where) -> float:
    kept = [
        i
        for i, item in enumerate(scored.items)
        if all(item.tags.get(tag) == value for tag, value in where.items())
    ]
    if not kept:
        listed = ", ".join(f"{tag}={value}" for tag, value in where.items()) or ALL
        raise UsageError(f"no scored question of {name} is {listed}")
    return float(scored.values[kept].mean())


def _in_table(table: PublishedTable, name: str, *, y: str, by: str | None, value: str) -> float:
    """Return a run's number in a table; the first column names the runs."""
    _check_columns(table, [y, *([by] if by else [])])
    label = table.columns[0].name

    def fits(row: PublishedRow) -> bool:
        return table.text(row, label) == name and (not by or table.text(row, by) == value)

    rows = [row for row in table.rows if fits(row)]
    wanted = f"{label} {name!r}" + (f" and {by} {value!r}" if by else "")
    if len(rows) != 1:
        raise UsageError(
            f"{len(rows)} rows of {table.name} have {wanted}; expected one (--as NAME says what a run is "
            "called there)"
        )
    figure = number(table.text(rows[0], y))
    if figure is None:
        raise UsageError(f"{table.name} has no number in {y} where {wanted}")
    return float(figure)


def _check_columns(table: PublishedTable, names: Sequence[str]) -> None:
    known = [column.name for column in table.columns]
    if missing := [name for name in names if name not in known]:
        raise UsageError(f"{table.name} has no column {missing[0]!r}; its columns are {', '.join(known)}")


# --------------------------------------------------------------------------- coefficients


def correlate(points: Points, *, rng: np.random.Generator, level: float = 0.95) -> Correlated:
    """Return Spearman's rho and Pearson's r with intervals and tests.

    Args:
        points: at least three points.
        rng: source of the bootstrap draws.
        level: coverage of the intervals.

    Raises:
        UsageError: fewer than three points, or an axis with a single value.
    """
    if len(points.points) < 3:
        left = f" ({' '.join(points.notes)})" if points.notes else ""
        raise UsageError(f"{several(len(points.points), 'point')}{left}; a correlation needs three or more")
    x, y = [point.x for point in points.points], [point.y for point in points.points]
    for axis, values in ((points.x, x), (points.y, y)):
        if len(set(values)) == 1:
            raise UsageError(
                f"{axis} is {values[0]:g} at every point; a correlation needs values that differ"
            )
    clusters = [point.cluster for point in points.points]
    strata = [point.stratum for point in points.points]
    settings = Resampling(level=level)
    n_clusters = len(set(clusters))
    is_alone = n_clusters == len(clusters)
    correlate = (
        spearman(x, y, clusters=clusters, rng=rng, settings=settings),
        pearson(x, y, clusters=clusters, rng=rng, settings=settings),
    )
    kinds: tuple[CorrelationKind, CorrelationKind] = ("spearman", "pearson")
    coefficients = []
    for kind, correlation in zip(kinds, correlate, strict=True):
        p_value = None
        if _is_balanced(points.points):
            p_value = cluster_permutation(x, y, clusters=clusters, strata=strata, rng=rng, kind=kind)
        coefficients.append(Coefficient(kind=kind, found=_drawn(correlation, n_clusters), p_clusters=p_value))
    return Correlated(
        points=points,
        n_clusters=n_clusters,
        coefficients=(coefficients[0], coefficients[1]),
        parts=tuple(_parts(points.points, is_alone=is_alone)),
    )


def _drawn(correlation: Correlation, n_clusters: int) -> Correlation:
    """Remove the bootstrap interval if there are too few clusters."""
    if n_clusters >= LEAST_CLUSTERS:
        return correlation
    reason = f"too few clusters ({n_clusters})"
    empty = msgspec.structs.replace(
        correlation.bootstrap, low=math.nan, high=math.nan, reason=reason, method=f"no interval: {reason}"
    )
    return msgspec.structs.replace(correlation, bootstrap=empty)


def _is_balanced(points: Sequence[Point]) -> bool:
    """Whether every cluster has every stratum exactly once."""
    seen = {(point.cluster, point.stratum) for point in points}
    clusters, strata = {point.cluster for point in points}, {point.stratum for point in points}
    return len(seen) == len(points) == len(clusters) * len(strata) and len(clusters) > 1


def _parts(points: Sequence[Point], *, is_alone: bool) -> Iterator[PartCorrelation]:
    strata = dict.fromkeys(point.stratum for point in points)
    if len(strata) > 1:
        for stratum in strata:
            yield _part(stratum, [(point.x, point.y) for point in points if point.stratum == stratum])
    if not is_alone:
        means = []
        for cluster in dict.fromkeys(point.cluster for point in points):
            own = [(point.x, point.y) for point in points if point.cluster == cluster]
            means.append((float(np.mean([x for x, _ in own])), float(np.mean([y for _, y in own]))))
        yield _part("means of clusters", means)


def _part(name: str, pairs: Sequence[tuple[float, float]]) -> PartCorrelation:
    x, y = np.array(pairs, np.float64).T
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return PartCorrelation(name=name, n=len(x), spearman=math.nan, pearson=math.nan)
    rng, few = np.random.default_rng(0), Resampling(n_boot=1)  # the intervals are not used
    rho, r = (of(x, y, rng=rng, settings=few).value for of in (spearman, pearson))
    return PartCorrelation(name=name, n=len(x), spearman=rho, pearson=r)


# --------------------------------------------------------------------------- in words and tables

_NAMES: dict[str, str] = {"spearman": "Spearman's rho", "pearson": "Pearson's r"}


def section(result: Correlated) -> Section:
    """Return sentences and tables as a section."""
    title = f"{result.points.x} against {result.points.y}"
    return Section(title=title, paragraphs=sentences(result), tables=tables(result))


def sentences(result: Correlated) -> tuple[str, ...]:
    """Describe the result, Spearman's rho first."""
    points, n = result.points, len(result.points.points)
    rho = result.coefficients[0]
    is_alone = result.n_clusters == n
    of = "" if is_alone else f" of {several(result.n_clusters, 'cluster')}"
    as_if = f"{_interval(rho.found.fisher)}, by Fieller's error; p {p_words(rho.found.p_value)}"
    if is_alone:
        test = "from Student's t" if rho.p_clusters is None else "by permuting points"
        p = rho.found.p_value if rho.p_clusters is None else rho.p_clusters
        how = f"{_interval(rho.found.fisher)}, by Fieller's error; p {p_words(p)} {test}"
    else:
        test = "no p, since clusters without the same strata once each cannot be permuted"
        if rho.p_clusters is not None:
            test = f"p {p_words(rho.p_clusters)} by permuting whole clusters"
        how = f"{_interval(rho.found.bootstrap)}, by drawing whole clusters; {test}"
    sentences = [
        f"{points.x} against {points.y} over {several(n, 'point')}{of}: Spearman's rho is "
        f"{number_text(rho.found.value)} ({how})."
    ]
    if not is_alone:
        sentences.append(
            f"As if points were independent, which those of one cluster are not: {as_if}. That p is below "
            "0.05 in 14 of 100 samples without any correlation where each cluster is two near copies."
        )
    return (*sentences, *points.notes)


def _interval(estimate: Estimate) -> str:
    if not has_interval(estimate):
        return f"no interval: {estimate.reason or 'that takes four points that are not in one line'}"
    ends = f"{number_text(estimate.low)} to {number_text(estimate.high)}"
    return f"{100 * estimate.level:g} % interval {ends}"


def tables(result: Correlated) -> tuple[Table, ...]:
    """Return tables of the coefficients, those of parts, and the points."""
    parts = [_parts_table(result)] if result.parts else []
    return (_coefficients(result), *parts, _points(result))


def _coefficients(result: Correlated) -> Table:
    group = "value, with its interval by"
    return tabulate(
        "correlation",
        "Correlation",
        label=Column(key="name", title="coefficient"),
        rows=lines(((coefficient.kind, coefficient) for coefficient in result.coefficients), _NAMES),
        measures=(
            count("points", lambda coefficient: coefficient.found.n),
            count("clusters", lambda _: result.n_clusters),
            figure("fisher", lambda coefficient: coefficient.found.fisher, "Fisher's z", group=group),
            figure("bootstrap", lambda c: c.found.bootstrap, "drawn clusters", group=group),
            p_value(
                "p-clusters",
                lambda coefficient: coefficient.p_clusters,
                "p, clusters",
                note="whole clusters permuted, or points without clusters",
            ),
            p_value(
                "p",
                lambda coefficient: coefficient.found.p_value,
                "p, points",
                note="Student's t, points independent",
            ),
        ),
        notes=(
            "Fisher's z takes points as independent, for rho with Fieller's error; draws and permutations "
            "take whole clusters.",
        ),
    )


def _parts_table(result: Correlated) -> Table:
    return tabulate(
        "parts",
        "Parts of the points",
        label=Column(key="name", title="points of"),
        rows=lines((part.name, part) for part in result.parts),
        measures=(
            count("n", lambda correlation: correlation.n, "points"),
            figure("spearman", lambda correlation: correlation.spearman, "Spearman's rho"),
            figure("pearson", lambda correlation: correlation.pearson, "Pearson's r"),
        ),
    )


def _points(result: Correlated) -> Table:
    points = result.points
    x, y = (share if is_share else figure for is_share in points.are_shares)
    return tabulate(
        "points",
        "Points",
        label=Column(key="name", title="cluster"),
        rows=(
            RowSpec(f"point:{i}", point.cluster, point, detail=point.stratum)
            for i, point in enumerate(points.points)
        ),
        measures=(x("x", lambda point: point.x, points.x), y("y", lambda point: point.y, points.y)),
    )


# --------------------------------------------------------------------------- files


def write_points_csv(result: Correlated, path: Path) -> None:
    """Write one row per point.

    Raises:
        StoreError: the file cannot be written.
    """
    rows = ((point.cluster, point.stratum, point.x, point.y) for point in result.points.points)
    names = ("cluster", "stratum", result.points.x, result.points.y)
    write_file(path, csv_text([names, *rows]))
