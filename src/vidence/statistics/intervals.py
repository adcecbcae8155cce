"""The interval of a mean of scores, clustered by video.

Questions about one video are right or wrong together, so the video, not the question, is the unit of
evidence. `mean_interval` is the one place that decides how the interval of a mean is made: every table, page
and comparison calls it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics.resampling import (
    ROUNDING,
    USUAL,
    Resampling,
    as_labels,
    as_values,
    check_level,
    percentile_estimate,
    replicates,
)

Rule: TypeAlias = Literal["bootstrap", "student", "student-if-few"]
# Below it percentile intervals are too narrow.
FEW_CLUSTERS = 30


@dataclass(frozen=True, kw_only=True)
class ClusteredMean:
    """A mean of scores, as sums by cluster and group: all that its interval needs to know.

    The mean is over items, or with several groups the unweighted mean of the means of the groups.

    Shapes: `totals` and `counts` (n_clusters, n_groups); `parts` and `residuals` (n_clusters,): what each
    cluster adds to the mean, and to the mean of the deviations from the mean of their group.
    """

    totals: NDArray[np.float64]
    counts: NDArray[np.float64]
    parts: NDArray[np.float64]
    residuals: NDArray[np.float64]

    @classmethod
    def of(
        cls, values: ArrayLike, *, clusters: Sequence[str], groups: Sequence[str] | None = None
    ) -> "ClusteredMean":
        """Add up one value for each item.

        Raises:
            UsageError: no values, one that is not finite, or not one cluster, or group, for each.
        """
        numbers = as_values(values)
        n = len(numbers)
        names, codes = as_labels(clusters, n, what="clusters")
        n_groups, group_codes = 1, np.zeros(n, np.int64)
        if groups is not None:
            labels, group_codes = as_labels(groups, n, what="groups")
            n_groups = len(labels)
        shape = (len(names), n_groups)
        cells, n_cells = codes * n_groups + group_codes, len(names) * n_groups
        totals = _added(cells, numbers, n_cells).reshape(shape)
        counts = _added(cells, np.ones(n), n_cells).reshape(shape)
        sizes = counts.sum(axis=0)
        weights = 1 / (n_groups * sizes[group_codes])
        deviations = numbers - (totals.sum(axis=0) / sizes)[group_codes]
        return cls(
            totals=totals,
            counts=counts,
            parts=_added(codes, weights * numbers, len(names)),
            residuals=_added(codes, weights * deviations, len(names)),
        )

    @property
    def size(self) -> tuple[int, int]:
        """How many items there are, and how many clusters."""
        return int(self.counts.sum()), len(self.totals)

    @property
    def n_groups(self) -> int:
        """How many groups there are; 1 for a mean over items."""
        return int(self.totals.shape[1])

    @property
    def value(self) -> float:
        """The mean."""
        return float((self.totals.sum(axis=0) / self.counts.sum(axis=0)).mean())

    @property
    def error(self) -> float:
        """The clustered standard error of the mean; NaN for a single cluster."""
        return _error(self.residuals)

    def student(self, *, level: float, name: str) -> tuple[Estimate, float]:
        """The mean with the interval of Student's t, and the p-value of its being 0; see `student`."""
        return student(
            self.value, parts=self.parts, residuals=self.residuals, n=self.size[0], level=level, name=name
        )

    def interval(
        self,
        *,
        rng: np.random.Generator | None = None,
        rule: Rule = "bootstrap",
        settings: Resampling = USUAL,
        name: str = "",
    ) -> Estimate:
        """The mean with its interval; see `mean_interval`. `name` says in `method` what is averaged.

        Raises:
            UsageError: the bootstrap has no `rng` to draw from.
        """
        name = name or ("mean" if self.n_groups == 1 else f"macro mean of {self.n_groups} groups")
        n_clusters = self.size[1]
        if rule == "student" or (rule == "student-if-few" and n_clusters < FEW_CLUSTERS):
            return self.student(level=settings.level, name=name)[0]
        if rng is None:
            raise UsageError("rng is None; expected a numpy Generator, from which the bootstrap draws")
        means = replicates(self.group_means, n_clusters, rng=rng, n_boot=settings.n_boot)
        draws = np.nanmean(means, axis=1)
        found = percentile_estimate(self.value, draws, size=self.size, name=name, level=settings.level)
        is_short = np.isnan(means).any(axis=1)
        if not is_short.any():
            return found
        absent = f"groups absent from a draw left out of it ({is_short.mean():.1%} of draws)"
        return msgspec.structs.replace(found, method=f"{found.method}; {absent}")

    def group_means(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of each group in each draw of clusters, (n_draws, n_groups); NaN where it is absent."""
        counts = weights @ self.counts
        means = np.full(counts.shape, math.nan)
        np.divide(weights @ self.totals, counts, out=means, where=counts > 0)
        return means


def mean_interval(
    values: ArrayLike,
    *,
    clusters: Sequence[str],
    groups: Sequence[str] | None = None,
    rng: np.random.Generator | None = None,
    rule: Rule = "bootstrap",
    level: float = 0.95,
) -> Estimate:
    """The mean of scores in clusters, with its interval.

    With ``bootstrap`` whole clusters are drawn with replacement; each draw gives the mean of the values
    drawn, and the interval lies between percentiles of these means. With fewer than about 30 clusters it is
    too narrow. ``student`` is the clustered standard error with Student's t on G - 1 degrees of freedom for
    G clusters: symmetric, and it may reach beyond the range of the values. ``student-if-few`` takes
    ``student`` below 30 clusters, else ``bootstrap``. A single cluster has no interval, and one of no width,
    where clusters do not differ, says nothing: `Estimate.method` says so.

    Args:
        values: one number for each item, shape (n,).
        clusters: the name of the cluster (video) of each item, n of them.
        groups: the name of the group of each item, such as its task, for the unweighted mean of the means of
            groups ("macro"). A group of which a draw has no item is left out of that draw, and `method` says
            in how many draws this happened.
        rng: where the draws come from; the same state gives the same interval.
        rule: how the interval is made.
        level: coverage of the interval.

    Raises:
        UsageError: nothing to average, a value that is not finite, not one cluster or group for each value,
            a level outside (0, 1), or no `rng` to draw from.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap (1993), section 13.3 (percentile interval),
        with clusters as the units; Cameron, Gelbach & Miller (2008), section 2 (pairs cluster bootstrap);
        Miller, Adding Error Bars to Evals (2024), section 2.2 (clustered error). HERBench, table 2, for the
        mean of the means of tasks.
    Departs: t with G - 1 degrees of freedom in place of Miller's normal quantile (Cameron & Miller 2015,
        section VI). The paper of HERBench gives no interval.

    >>> rng = np.random.default_rng(0)
    >>> estimate = mean_interval([1, 0, 1, 1], clusters=["a", "a", "b", "b"], rng=rng)
    >>> estimate.value, estimate.low, estimate.high
    (0.75, 0.5, 1.0)
    """
    mean = ClusteredMean.of(values, clusters=clusters, groups=groups)
    return mean.interval(rng=rng, rule=rule, settings=Resampling(level=level))


def _added(cells: NDArray[np.int64], values: NDArray[np.float64], n_cells: int) -> NDArray[np.float64]:
    return np.bincount(cells, weights=values, minlength=n_cells).astype(np.float64)


def _error(residuals: NDArray[np.float64]) -> float:
    n_clusters = len(residuals)
    if n_clusters == 1:
        return math.nan
    return math.sqrt(n_clusters / (n_clusters - 1) * float(residuals @ residuals))


def student(
    value: float,
    *,
    parts: NDArray[np.float64],
    residuals: NDArray[np.float64],
    n: int,
    level: float,
    name: str,
) -> tuple[Estimate, float]:
    """A mean, or difference of means, with the interval of Student's t, and the p-value of its being 0.

    Args:
        value: the mean or difference.
        parts: what each cluster adds to it, shape (n_clusters,).
        residuals: the same of deviations from the mean, shape (n_clusters,).
        n: how many items.
        level: coverage of the interval.
        name: what is averaged, for `method`.

    Returns:
        The estimate, and the two-sided p-value: NaN for a single cluster, or where clusters do not differ
        although the difference is not 0; 1 where all differences are 0.

    Raises:
        UsageError: a level outside (0, 1).

    Source: Miller, Adding Error Bars to Evals (2024), sections 2.2 and 3.2; Liang & Zeger (1986).
    Departs: as `clustered_error`, and t with G - 1 degrees of freedom.
    """
    from scipy.special import stdtr, stdtrit

    check_level(level)
    n_clusters, error = len(parts), _error(residuals)
    low = high = p_value = math.nan
    method = f"{name}; no interval: there is a single cluster"
    if n_clusters > 1:
        df = n_clusters - 1
        half = float(stdtrit(df, (1 + level) / 2)) * error
        low, high = value - half, value + half
        method = f"{name}; clustered standard error, t with {df} degrees of freedom"
        scale = float(np.abs(parts).sum())
        if error > ROUNDING * scale:
            p_value = 2 * float(stdtr(df, -abs(value) / error))
        else:
            method += "; clusters do not differ, so the interval says nothing"
            p_value = math.nan if scale else 1.0
    found = Estimate(value=value, low=low, high=high, level=level, n=n, n_clusters=n_clusters, method=method)
    return found, p_value


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
    return ClusteredMean.of(values, clusters=clusters).error


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
