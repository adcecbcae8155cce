"""How far runs, judges or annotators agree: item by item, and their means by split halves."""

import math
from collections.abc import Sequence
from typing import Final, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics.correlation import linear_coefficient
from vidence.statistics.resampling import USUAL, Resampling, as_labels, bootstrap, bootstrap_items

N_SPLITS: Final = 200
LEAST_RATERS: Final = 4  # two in each half
Measurement = Literal["nominal", "ordinal", "interval"]


def _cohen(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cohen's kappa of each table, (..., k, k); NaN if both always give the same one answer."""
    totals = tables.sum(axis=(-2, -1))
    seen = np.trace(tables, axis1=-2, axis2=-1) / totals
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = (rows * columns).sum(axis=-1) / totals**2
    kappa = np.full(np.shape(seen), math.nan)
    np.divide(seen - expected, 1 - expected, out=kappa, where=expected < 1)
    return kappa


def cohen_kappa(
    first: Sequence[str],
    second: Sequence[str],
    *,
    clusters: Sequence[str],
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> Estimate:
    """Cohen's kappa of two lists of labels, with a cluster bootstrap interval.

    Args:
        first: one label for each item.
        second: the labels of the other on the same items, in the same order.
        clusters: the name of the cluster of each item.
        rng: source of random draws.
        settings: level and number of draws.

    Returns:
        1 for full agreement, 0 for that of chance; NaN if both always give the same one label. Where one
        side always gives the same label kappa is 0 in every draw, and there is no interval.

    Raises:
        UsageError: no items, or not one label of each and one cluster for each.

    Source: Cohen (1960).
    Departs: the interval is a cluster bootstrap.

    >>> videos = ["a", "a", "b", "b", "c", "c"]
    >>> rng = np.random.default_rng(0)
    >>> round(cohen_kappa(list("AABBCC"), list("AABBCB"), clusters=videos, rng=rng).value, 2)
    0.75
    """
    n = len(first)
    if not n or len(second) != n:
        raise UsageError(f"{n} and {len(second)} labels; expected as many of each, one or more")
    names, codes = as_labels([*first, *second], 2 * n, what="labels")
    groups, cluster_codes = as_labels(clusters, n, what="clusters")
    size, n_clusters = len(names), len(groups)
    cells = (cluster_codes * size + codes[:n]) * size + codes[n:]
    counts = np.bincount(cells, minlength=n_clusters * size**2).astype(np.float64)
    by_cluster = counts.reshape(n_clusters, size**2)
    estimate = bootstrap(
        lambda weights: _cohen((weights @ by_cluster).reshape(-1, size, size)),
        size=(n, n_clusters),
        name="Cohen's kappa",
        rng=rng,
        settings=settings,
    )
    constant = next((side[0] for side in (first, second) if len(set(side)) == 1), None)
    if constant is None or len(names) == 1:
        return estimate
    reason = f"all labels of one side are {constant}"
    method = f"Cohen's kappa; no interval: {reason}"
    return msgspec.structs.replace(estimate, low=math.nan, high=math.nan, reason=reason, method=method)


def _counts(codes: NDArray[np.int64], n_values: int) -> NDArray[np.float64]:
    """How often each value occurs on each item, (n_items, n_values); codes below 0 are missing."""
    n_items = len(codes)
    rows = np.repeat(np.arange(n_items), codes.shape[1])
    is_there = codes.ravel() >= 0
    cells = rows[is_there] * n_values + codes.ravel()[is_there]
    counts = np.bincount(cells, minlength=n_items * n_values).astype(np.float64)
    return counts.reshape(n_items, n_values)


def _distances(
    values: NDArray[np.float64], totals: NDArray[np.float64], measurement: Measurement
) -> NDArray[np.float64]:
    """The squared difference of each two values, (k, k)."""
    if measurement == "nominal":
        return 1.0 - np.eye(len(values))
    if measurement == "interval":
        return np.asarray((values[:, None] - values) ** 2, np.float64)
    # Ordinal: how many ratings lie between two values, each end counted by half.
    middles = np.cumsum(totals) - totals / 2
    return np.asarray((middles[:, None] - middles) ** 2, np.float64)


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    measurement: Measurement,
    rng: np.random.Generator,
    clusters: Sequence[str] | None = None,
    settings: Resampling = USUAL,
) -> Estimate:
    """Krippendorff's alpha of numbers that several raters gave, with a bootstrap interval.

    Items with fewer than two ratings say nothing and are left out.

    Args:
        ratings: shape (n_items, n_raters); NaN if a rater gave none. Number nominal labels.
        measurement: ``nominal`` (equal or not), ``ordinal`` (ranks), ``interval`` (distances).
        rng: source of random draws.
        clusters: the name of the cluster of each item; without it items are drawn.
        settings: level and number of draws.

    Returns:
        1 for full agreement, 0 for that of chance; NaN if all ratings are equal.

    Raises:
        UsageError: another shape, an infinite rating, or no item with two ratings.

    Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), sections C to E.
    Departs: the interval draws items or clusters with replacement, where Krippendorff draws deviations.

    >>> ratings = [[1, 1], [2, 2], [3, 4], [4, np.nan]]
    >>> rng = np.random.default_rng(0)
    >>> round(krippendorff_alpha(ratings, measurement="ordinal", rng=rng).value, 2)
    0.95
    """
    table = np.asarray(ratings, np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise UsageError(f"ratings of shape {table.shape}; expected items by raters, finite numbers or NaN")
    is_pairable = (~np.isnan(table)).sum(axis=1) >= 2
    if not is_pairable.any():
        raise UsageError(f"none of {len(table)} items has two ratings; there is no agreement to measure")
    owners = None
    if clusters is not None:
        _, codes = as_labels(clusters, len(table), what="clusters")
        owners = [str(code) for code in codes[is_pairable]]
    table = table[is_pairable]
    values = np.unique(table[~np.isnan(table)])
    codes = np.where(np.isnan(table), -1, np.searchsorted(values, table)).astype(np.int64)
    counts = _counts(codes, len(values))
    sizes = counts.sum(axis=1)

    def alpha(weights: NDArray[np.float64]) -> float:
        shared = counts * (weights / (sizes - 1))[:, None]
        coincidences = counts.T @ shared - np.diag(shared.sum(axis=0))
        totals = coincidences.sum(axis=1)
        apart = _distances(values, totals, measurement)
        expected = float(totals @ apart @ totals) / (float(totals.sum()) - 1)
        return 1 - float((coincidences * apart).sum()) / expected if expected > 0 else math.nan

    return bootstrap_items(
        alpha,
        len(table),
        clusters=owners,
        name=f"Krippendorff's alpha, {measurement}",
        rng=rng,
        settings=settings,
    )


# ------------------------------------------------------------------------------------ split halves


def stepped_up(r: float) -> float:
    """The reliability of a whole whose halves correlate so; NaN if the halves have nothing in common.

    Source: Spearman (1910); Brown (1910).
    Departs: no value at or below 0 is given, since the formula has no meaning there.

    >>> round(stepped_up(0.5), 4)
    0.6667
    """
    return 2 * r / (1 + r) if r > 0 else math.nan


def reliability(scores: ArrayLike, *, rng: np.random.Generator, n_splits: int = N_SPLITS) -> float:
    """How far the means of things over raters come out alike with other raters of the kind.

    The raters (such as models) are split into halves at random, `n_splits` times; the correlations of the
    halves' means are averaged and stepped up to all raters.

    Args:
        scores: shape (n_raters, n_things), without gaps.
        rng: source of random splits.
        n_splits: how many.

    Returns:
        From 0 to 1; NaN with fewer than four raters or three things, or where halves have nothing in common.

    Raises:
        UsageError: not a table of finite numbers.

    >>> planted = np.arange(8.0) + np.random.default_rng(0).normal(0, 0.1, (6, 8))
    >>> reliability(planted, rng=np.random.default_rng(0)) > 0.99
    True
    """
    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise UsageError(f"scores of shape {table.shape}; expected finite numbers, raters by things")
    n_raters, n_things = table.shape
    if n_raters < LEAST_RATERS or n_things < 3:
        return math.nan
    entries = []
    for _ in range(n_splits):
        order = rng.permutation(n_raters)
        halves = order[: n_raters // 2], order[n_raters // 2 :]
        entries.append(linear_coefficient(*(table[list(half)].mean(axis=0) for half in halves)))
    known = [r for r in entries if not math.isnan(r)]
    return stepped_up(float(np.mean(known))) if known else math.nan


def ceiling(first: float, second: float) -> float:
    """The highest correlation that two measures of these reliabilities can have but for luck.

    Source: Spearman (1904), correction for attenuation.
    Departs: no.
    """
    return math.sqrt(first * second) if first > 0 and second > 0 else math.nan
