"""Means with intervals, clustered by video.

Questions about one video are right or wrong together, so the video, not the question, is the unit of
evidence. Everything here takes the name of the cluster of each value.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics._inputs import Sums, as_labels, as_values, check_level

# Cells of the table of weights that is in memory at once: 8 MiB as float64.
BLOCK_CELLS = 2**20
# Equal values give equal means up to this share of them.
ROUNDING = 1e-12


def _replicates(sums: Sums, rng: np.random.Generator, n_boot: int) -> NDArray[np.float64]:
    """The mean of each group in each draw of clusters with replacement, (n_boot, n_groups); NaN if absent."""
    n_clusters = len(sums.totals)
    block = max(1, BLOCK_CELLS // n_clusters)
    blocks: list[NDArray[np.float64]] = []
    for start in range(0, n_boot, block):
        n_rows = min(block, n_boot - start)
        drawn = rng.integers(0, n_clusters, size=(n_rows, n_clusters))
        drawn += np.arange(n_rows)[:, None] * n_clusters
        times_drawn = np.bincount(drawn.ravel(), minlength=n_rows * n_clusters)
        weights = times_drawn.reshape(n_rows, n_clusters).astype(np.float64)
        counts = weights @ sums.counts
        means = np.full(counts.shape, math.nan)
        np.divide(weights @ sums.totals, counts, out=means, where=counts > 0)
        blocks.append(means)
    return np.concatenate(blocks)


def _without_interval(value: float, level: float, *, n: int, method: str) -> Estimate:
    return Estimate(
        value=value,
        low=math.nan,
        high=math.nan,
        level=level,
        n=n,
        n_clusters=1,
        method=f"{method}; no interval: there is a single cluster",
    )


def _bootstrap(sums: Sums, rng: np.random.Generator, *, name: str, level: float, n_boot: int) -> Estimate:
    """The mean over groups of the mean in each, with the percentile interval over draws of clusters."""
    check_level(level)
    if n_boot < 1:
        raise UsageError(f"n_boot {n_boot}; expected 1 or more draws, for example 2000")
    value = float((sums.totals.sum(0) / sums.counts.sum(0)).mean())
    n, n_clusters = int(sums.counts.sum()), len(sums.totals)
    if n_clusters == 1:
        return _without_interval(value, level, n=n, method=name)
    means = _replicates(sums, rng, n_boot)
    is_short = np.isnan(means).any(axis=1)
    method = f"{name}; cluster bootstrap, percentile, {n_boot} draws"
    if is_short.any():
        method += f"; groups absent from a draw left out of it ({is_short.mean():.1%} of draws)"
    draws = np.nanmean(means, axis=1)
    if np.allclose(draws, value, rtol=ROUNDING, atol=0):
        method += "; every draw is the same, so the interval says nothing"
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        value=value, low=float(low), high=float(high), level=level, n=n, n_clusters=n_clusters, method=method
    )


def mean(
    values: ArrayLike,
    *,
    clusters: Sequence[str],
    rng: np.random.Generator,
    level: float = 0.95,
    n_boot: int = 2000,
) -> Estimate:
    """The mean over all values, with a cluster bootstrap interval.

    Whole clusters are drawn with replacement; each draw gives the mean of the values drawn, and the
    interval lies between percentiles of these means. With fewer than about 30 clusters it is too
    narrow: use `mean_analytic` there. It has no width when all values are equal, and `method` says so.

    Args:
        values: one number for each item, shape (n,).
        clusters: the name of the cluster of each, n of them.
        rng: where the draws come from; the same state gives the same interval.
        level: coverage of the interval.
        n_boot: how many draws.

    Raises:
        UsageError: nothing to average, a value that is not finite, not one cluster for each value, a
            level outside (0, 1), or no draws.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap (1993), section 13.3 (percentile
        interval), with clusters as the units; Cameron, Gelbach & Miller (2008), section 2 (pairs
        cluster bootstrap).
    Departs: no.

    >>> estimate = mean([1, 0, 1, 1], clusters=["a", "a", "b", "b"], rng=np.random.default_rng(0))
    >>> estimate.value, estimate.low, estimate.high
    (0.75, 0.5, 1.0)
    """
    numbers = as_values(values)
    _, codes = as_labels(clusters, len(numbers), what="clusters")
    return _bootstrap(Sums.of(numbers, codes), rng, name="mean", level=level, n_boot=n_boot)


def macro(
    values: ArrayLike,
    *,
    groups: Sequence[str],
    clusters: Sequence[str],
    rng: np.random.Generator,
    level: float = 0.95,
    n_boot: int = 2000,
) -> Estimate:
    """The unweighted mean of the means of the groups, with a cluster bootstrap interval.

    Clusters are drawn once for all groups together, since one video can have questions of several
    groups. A group of which a draw has no item is left out of that draw, and the others are averaged;
    `method` says in how many draws this happened.

    Args:
        values: one number for each item, shape (n,).
        groups: the name of the group of each, for example its task, n of them.
        clusters: the name of the cluster of each, n of them.
        rng: where the draws come from; the same state gives the same interval.
        level: coverage of the interval.
        n_boot: how many draws.

    Raises:
        UsageError: as for `mean`, or not one group for each value.

    Source: HERBench, table 2 ("Overall Avg." is the unweighted mean of the task accuracies); the
        interval as for `mean`.
    Departs: the paper gives no interval.
    """
    numbers = as_values(values)
    _, cluster_codes = as_labels(clusters, len(numbers), what="clusters")
    names, group_codes = as_labels(groups, len(numbers), what="groups")
    sums = Sums.of(numbers, cluster_codes, groups=group_codes)
    return _bootstrap(sums, rng, name=f"macro mean of {len(names)} groups", level=level, n_boot=n_boot)


def clustered_error(values: ArrayLike, *, clusters: Sequence[str]) -> float:
    """The standard error of the mean when values of one cluster go together; NaN for a single cluster.

    ``sqrt(G / (G - 1) * sum_g (sum of the deviations in cluster g)^2) / n`` with G clusters. When each
    value is its own cluster this is the usual standard error of a mean.

    Raises:
        UsageError: nothing to average, a value that is not finite, not one cluster for each value.

    Source: Miller, Adding Error Bars to Evals (2024), section 2.2, equation 4; Liang & Zeger (1986).
    Departs: the factor G / (G - 1) for few clusters is not in Miller; it makes the error unbiased where
        each value is its own cluster.

    >>> clustered_error([1, 0, 1, 0], clusters=["a", "a", "b", "b"])
    0.0
    """
    numbers = as_values(values)
    names, codes = as_labels(clusters, len(numbers), what="clusters")
    n_clusters = len(names)
    if n_clusters == 1:
        return math.nan
    deviations = np.bincount(codes, weights=numbers - numbers.mean())
    return math.sqrt(n_clusters / (n_clusters - 1) * float(deviations @ deviations)) / len(numbers)


def mean_analytic(values: ArrayLike, *, clusters: Sequence[str], level: float = 0.95) -> Estimate:
    """The mean over all values, with the interval of `clustered_error` and Student's t.

    The interval is symmetric and may reach beyond the range of the values. Degrees of freedom are the
    number of clusters less one.

    Raises:
        UsageError: as for `clustered_error`, or a level outside (0, 1).

    Source: Miller, Adding Error Bars to Evals (2024), section 2.2.
    Departs: t with G - 1 degrees of freedom in place of the normal quantile, since benchmarks with few
        videos are common (Cameron & Miller 2015, section VI).
    """
    from scipy.special import stdtrit

    numbers = as_values(values)
    check_level(level)
    names, _ = as_labels(clusters, len(numbers), what="clusters")
    value, n, n_clusters = float(numbers.mean()), len(numbers), len(names)
    if n_clusters == 1:
        return _without_interval(value, level, n=n, method="mean")
    half = float(stdtrit(n_clusters - 1, (1 + level) / 2)) * clustered_error(numbers, clusters=clusters)
    method = f"mean; clustered standard error, t with {n_clusters - 1} degrees of freedom"
    if half <= ROUNDING * abs(value):
        method += "; clusters do not differ, so the interval says nothing"
    return Estimate(
        value=value,
        low=value - half,
        high=value + half,
        level=level,
        n=n,
        n_clusters=n_clusters,
        method=method,
    )


def proportion(k: int, n: int, *, level: float = 0.95) -> Estimate:
    """A share, k of n, with Wilson's interval: for counts whose items are independent of each other.

    It keeps a width when k is 0 or n. Each item counts as its own cluster.

    Raises:
        UsageError: n is not positive, k is not between 0 and n, or a level outside (0, 1).

    Source: Wilson (1927); Newcombe (1998), method 3.
    Departs: no.

    >>> estimate = proportion(81, 263)
    >>> round(estimate.low, 4), round(estimate.high, 4)
    (0.2553, 0.3662)
    """
    from scipy.special import ndtri

    check_level(level)
    if n < 1 or not 0 <= k <= n:
        raise UsageError(f"{k} of {n} is no proportion; expected n of 1 or more and k from 0 to n")
    z = float(ndtri((1 + level) / 2))
    share = k / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Estimate(
        value=share,
        # At the ends the formula gives k/n itself, up to rounding.
        low=0.0 if k == 0 else centre - half,
        high=1.0 if k == n else centre + half,
        level=level,
        n=n,
        n_clusters=n,
        method="proportion; Wilson",
    )
