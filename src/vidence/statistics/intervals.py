"""The interval of a mean of scores, clustered by video.

Questions about one video are right or wrong together, so the video, not the question, is the unit of
evidence. `mean_interval` is the one place that decides how the interval of a mean is made, and
`ClusteredMean.difference` how that of a difference on the same questions is, and whether it can be told from
0: every table, page and comparison calls them. Nothing is drawn at random, so the same scores give the same
interval on every page.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import ClusterNoun, Estimate, noun_of
from vidence.statistics import student
from vidence.statistics.resampling import as_labels, as_values, check_level, group_divisors
from vidence.statistics.sandwich import Layout

Values: TypeAlias = NDArray[np.float64]
# Between what every value must lie; infinite where there is no limit.
Bounds: TypeAlias = tuple[float, float]
SHARE: Bounds = (0.0, 1.0)
UNBOUNDED: Bounds = (-math.inf, math.inf)


def plural(noun: ClusterNoun) -> str:
    """What several clusters are called."""
    return "people" if noun == "person" else f"{noun}s"


def alike(noun: ClusterNoun = "video") -> str:
    """The reason, in `Estimate.reason`, of figures that have no bounds where clusters do not differ."""
    return f"all {plural(noun)} are alike"


def too_few(n_clusters: int, noun: ClusterNoun = "video") -> str:
    """The reason, in `Estimate.reason`, of figures that so few clusters say nothing certain about."""
    return f"too few {plural(noun)} ({n_clusters})"


# --------------------------------------------------------------------------- the rules, for many at once


def share_ends(
    share: ArrayLike, variance: ArrayLike, *, layout: Layout, level: float
) -> tuple[Values, Values]:
    """The ends of the interval of a mean of values from 0 to 1; never outside [0, 1].

    Wilson's interval for as many independent answers as have this variance, with Student's t. The variance
    is that of the clusters seen and of a part of a cluster that is all right and as large a part of one that
    is all wrong: where answers of one kind are rare and go together, the few clusters that hold most of them
    are missing from most samples. The parts are halves where the rarer answers lie in few clusters, or where
    clusters do not differ, and shrink to nothing where all clusters hold them alike. For 0 of n clusters the
    interval is nearly the exact one.

    Args:
        share: the means, any shape.
        variance: their variances, same shape; 0 if clusters do not differ.
        layout: that of the items.
        level: coverage of the interval.

    Source: Wilson (1927), with the effective number of answers as in Franco and others (2019), "Comparative
        study of confidence intervals for proportions in complex sample surveys".
    Departs: CR2 variance and Bell and McCaffrey's degrees of freedom, see `sandwich.Layout`; the parts of
        clusters, which add as much to the degrees of freedom. `bench/coverage.py` measures all of this.
    """
    means, seen = np.asarray(share, np.float64), np.asarray(variance, np.float64)
    n, rarer = layout.n_effective, np.minimum(means, 1 - means)
    part, is_spread = np.full(means.shape, 0.5), seen > 0
    part[is_spread] = 0.5 * n * seen[is_spread] / (rarer[is_spread] ** 2 + n * seen[is_spread])
    centre = (n * means + part) / (n + 2 * part)
    spread = (n**2 * seen + part * ((1 - centre) ** 2 + centre**2)) / (n + 2 * part) ** 2
    # Student's t squared over the number of independent answers.
    dofs = layout.dof + 2 * part * layout.dof_unseen
    critical = np.reshape([student.quantile(dof, level) for dof in dofs.ravel().tolist()], dofs.shape)
    each = critical**2 * spread / (centre * (1 - centre))
    low, high = wilson(means, each)
    return np.where(means <= 0, 0.0, low), np.where(means >= 1, 1.0, high)


def wilson(share: Values, each: ArrayLike) -> tuple[Values, Values]:
    """Wilson's limits of shares; `each` is the square of the critical value over the number of trials."""
    each = np.asarray(each, np.float64)
    half = np.sqrt(each * share * (1 - share) + each**2 / 4)
    return (share + each / 2 - half) / (1 + each), (share + each / 2 + half) / (1 + each)


def p_values(
    difference: ArrayLike, variance: ArrayLike, *, n_apart: ArrayLike, dof: float, n_alike: int
) -> Values:
    """Two-sided p-values of differences being 0.

    From Student's t. Where clusters do not differ, the chance that so many fall on one side by turns of a
    coin, or more where the difference is small; 1 for a difference of 0. Never below the chance that all
    items that differ do so on one side, if each were a turn of a coin: of four items that differ t alone
    would make a clear difference.

    Args:
        difference: means of differences from -1 to 1, any shape.
        variance: their variances, same shape; 0 if clusters do not differ.
        n_apart: how many items differ, same shape; infinite for no such least p-value.
        dof: degrees of freedom of the variances.
        n_alike: clusters that count where they do not differ.

    Source: as `sandwich.Layout`.
    Departs: the papers say nothing of clusters that do not differ.
    """
    means, variances = np.asarray(difference, np.float64), np.asarray(variance, np.float64)
    # The least share of clusters of another kind that could make the difference 0.
    values = np.minimum(1.0, 2 * (1 + np.abs(means)) ** -float(n_alike))
    is_spread = variances > 0
    distances = np.abs(means[is_spread]) / np.sqrt(variances[is_spread])
    values[is_spread] = [student.two_sided(dof, t) for t in distances.tolist()]
    return np.minimum(1.0, np.maximum(values, 2 * 0.5 ** np.asarray(n_apart, np.float64)))


def exact_end(n: int, level: float) -> float:
    """The upper end of the exact interval of 0 of n (Clopper & Pearson 1934)."""
    return float(1 - ((1 - level) / 2) ** (1 / n))


# --------------------------------------------------------------------------- one mean


@dataclass(frozen=True, kw_only=True)
class ClusteredMean:
    """A mean of scores, as sums by cluster and group: all that its interval needs to know.

    The mean is over items, or with several groups that of their means, weighted by `group_divisors`.

    `totals`, shape (n_clusters, n_groups), are the sums of the values. `spread` is the variance of a single
    value around the mean, groups as they weigh. `least` and `most` are the lowest and the highest value, and
    `n_apart` counts the values other than 0. `noun` is what clusters are called, and `said_noun` what those
    of the estimate are, where it has others: with people as a crossed factor, `n_people` of them.
    """

    totals: Values
    layout: Layout
    spread: float
    least: float
    most: float
    n_apart: int
    noun: ClusterNoun = "video"
    said_noun: ClusterNoun | None = None
    n_people: int = 0

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
        labels, group_codes = (
            as_labels(groups, n, what="groups") if groups is not None else (("",), np.zeros(n, int))
        )
        n_groups, divisors = len(labels), group_divisors(labels)
        shape = (len(names), n_groups)
        cells, n_cells = codes * n_groups + group_codes, len(names) * n_groups
        totals = _added(cells, numbers, n_cells).reshape(shape)
        layout = Layout.of(_added(cells, np.ones(n), n_cells).reshape(shape), weights=1 / divisors)
        weights = 1 / (divisors * layout.sizes)[group_codes]
        spread = float(weights @ (numbers - float(layout.mean(totals))) ** 2)
        return cls(
            totals=totals,
            layout=layout,
            spread=spread if np.ptp(numbers) > 0 else 0.0,
            least=float(numbers.min()),
            most=float(numbers.max()),
            n_apart=int(np.count_nonzero(numbers)),
            noun=noun_of(clusters),
        )

    @property
    def size(self) -> tuple[int, int]:
        """How many items there are, and how many clusters."""
        return int(self.layout.counts.sum()), self.layout.n_clusters

    @property
    def value(self) -> float:
        """The mean."""
        return float(self.layout.mean(self.totals))

    @property
    def error(self) -> float:
        """The clustered standard error of Miller; NaN for a single cluster. See `clustered_error`."""
        n_clusters = self.layout.n_clusters
        if n_clusters == 1:
            return math.nan
        plain = self.layout.plain_residuals(self.totals)
        return math.sqrt(n_clusters / (n_clusters - 1) * float(plain @ plain))

    @property
    def variance(self) -> float:
        """The variance of the mean, by which its interval is made.

        A group in a single cluster counts as one value: its items do not say how much the mean of a group
        varies from cluster to cluster, and more than a single value it does not.
        """
        layout = self.layout
        return float(layout.variance(self.totals)) + float((layout.singles**2).sum()) * self.spread

    @property
    def reason(self) -> str:
        """Why there is no interval; empty if there can be one."""
        return "" if self.layout.dof > 0 else too_few(self.layout.n_clusters, self.noun)

    def interval(self, *, bounds: Bounds = SHARE, level: float = 0.95) -> Estimate:
        """The mean with its interval; see `mean_interval`.

        Raises:
            UsageError: a value outside `bounds`, or a level outside (0, 1).
        """
        self._check(bounds, level)
        low, high = bounds
        width = high - low
        n_groups = self.layout.n_groups
        name = "mean" if n_groups == 1 else f"macro mean of {n_groups} groups"
        if self.reason or not math.isfinite(width):
            return self._by_t(bounds, level=level, name=name)
        starts, stops = share_ends(
            [(self.value - low) / width], [self.variance / width**2], layout=self.layout, level=level
        )
        ends = low + width * float(starts[0]), low + width * float(stops[0])
        method = f"{name}; Wilson with unseen {plural(self.noun)}, {self._t()}"
        return self._estimate(ends, level=level, method=method, dof=self.layout.dof)

    def difference(
        self, *, bounds: Bounds = (-1.0, 1.0), level: float = 0.95, name: str = "mean difference"
    ) -> tuple[Estimate, float]:
        """A mean of differences with its interval, and the p-value of its being 0.

        The interval leaves out 0 exactly where the p-value is below 1 - level. It is Student's t with the
        variance and degrees of freedom of `mean_interval`, cut off at `bounds`. Where videos do not differ at
        all, videos of another kind are at most the share that the exact interval allows for none of them.
        Where `bounds` are finite, so few items may differ that turns of a coin would put them all on one side
        too often (five at the level 0.95); then the interval holds 0 whatever t says.

        Args:
            bounds: between what each difference must lie.
            level: coverage of the interval.
            name: what is averaged, for `method`.

        Returns:
            The estimate, and the two-sided p-value: 1 where too few videos leave it open.

        Raises:
            UsageError: a value outside `bounds`, or a level outside (0, 1).

        Source: Miller, Adding Error Bars to Evals (2024), section 3.2 (paired differences), with the error
            of `sandwich.Layout`; Clopper & Pearson (1934) where videos do not differ.
        Departs: CR2 and Bell and McCaffrey's degrees of freedom in place of the normal quantile.
        """
        self._check(bounds, level)
        layout, (low, high) = self.layout, bounds
        if self.reason:
            return self._by_t(bounds, level=level, name=name), 1.0
        is_finite = math.isfinite(high - low)
        largest = max(abs(low), abs(high)) if is_finite else max(abs(self.value), 1e-150)
        p_value = float(
            p_values(
                [self.value / largest],
                [self.variance / largest**2],
                n_apart=[self.n_apart if is_finite else math.inf],
                dof=layout.dof,
                n_alike=layout.n_alike,
            )[0]
        )
        if self.variance > 0 or not is_finite:
            estimate = self._by_t(bounds, level=level, name=name)
        else:
            other = exact_end(layout.n_alike, level)
            ends = (1 - other) * self.value + other * low, (1 - other) * self.value + other * high
            method = f"{name}; exact, {layout.n_alike} {plural(self.noun)} that are alike"
            estimate = self._estimate(ends, level=level, method=method)
        if is_finite and p_value >= 1 - level:
            estimate = msgspec.structs.replace(
                estimate, low=min(estimate.low, 0.0), high=max(estimate.high, 0.0)
            )
        return estimate, p_value

    def _check(self, bounds: Bounds, level: float) -> None:
        check_level(level)
        low, high = bounds
        slack = 1e-9 * max(1.0, abs(self.least), abs(self.most))
        if self.least < low - slack or self.most > high + slack:
            raise UsageError(
                f"values from {self.least:g} to {self.most:g}; expected {low:g} to {high:g} (pass `bounds` "
                "for values on another scale)"
            )

    def _t(self) -> str:
        single = len(self.layout.singles)
        message = f"clustered error CR2, t with {self.layout.dof:.1f} degrees of freedom"
        return message + (
            f"; groups on a single {self.noun}: {single}, each counts as one question" if single else ""
        )

    def _by_t(self, bounds: Bounds, *, level: float, name: str) -> Estimate:
        """The mean with an interval that is symmetric but for `bounds`, or with none, and why."""
        reason = self.reason or ("" if self.variance > 0 else alike(self.noun))
        if reason:
            method = f"{name}; no interval: {reason}"
            return self._estimate((math.nan, math.nan), level=level, method=method, reason=reason)
        half = student.quantile(self.layout.dof, level) * math.sqrt(self.variance)
        ends = max(bounds[0], self.value - half), min(bounds[1], self.value + half)
        return self._estimate(ends, level=level, method=f"{name}; {self._t()}", dof=self.layout.dof)

    def _estimate(
        self,
        ends: tuple[float, float],
        *,
        level: float,
        method: str,
        dof: float | None = None,
        reason: str = "",
    ) -> Estimate:
        n, n_clusters = self.size
        return Estimate(
            value=self.value,
            low=ends[0],
            high=ends[1],
            level=level,
            n=n,
            n_clusters=n_clusters,
            method=method,
            dof=dof,
            reason=reason,
            clustered_by=self.said_noun or self.noun,
            n_people=self.n_people,
        )


def mean_interval(
    values: ArrayLike,
    *,
    clusters: Sequence[str],
    groups: Sequence[str] | None = None,
    bounds: Bounds = SHARE,
    level: float = 0.95,
) -> Estimate:
    """The mean of scores in clusters, with its interval: the one rule for all means.

    The standard error is the clustered one with the correction CR2 for few and unequal clusters, and the
    degrees of freedom are Bell and McCaffrey's. Between two finite `bounds` the interval is Wilson's, with
    part of an unseen cluster at each bound (`share_ends`), so it never leaves them and keeps a width where
    all clusters score alike; otherwise it is symmetric, cut off at a bound.

    A single cluster has no interval, nor have clusters that are alike where there are no bounds:
    `Estimate.reason` says why.

    In a mean over groups a cluster may have items in several. A group whose items all lie in one cluster
    enters with the variance of a single value; where every group does, there is no interval.

    Args:
        values: one number for each item, shape (n,).
        clusters: the name of the cluster (video) of each item, n of them.
        groups: the name of the group of each item, such as its task, for the mean of the means of groups
            ("macro"): alike, or with `WITHIN` in names as `group_divisors` weighs them.
        bounds: the minimum and maximum value that an item can have: 0 and 1 for shares, infinite for what
            has no limit, such as a difference of counts.
        level: coverage of the interval.

    Returns:
        The estimate; `dof` is None if no t was used.

    Raises:
        UsageError: nothing to average, a value that is not finite or outside `bounds`, not one cluster or
            group for each value, or a level outside (0, 1).

    Source: Bell & McCaffrey (2002); Pustejovsky & Tipton (2018), section 2; Wilson (1927). HERBench, table 2,
        for the mean of the means of tasks.
    Departs: the papers do not treat groups in a single cluster. The paper of HERBench gives no interval.

    >>> estimate = mean_interval([1, 0, 1, 1, 0, 1], clusters=["a", "a", "b", "b", "c", "c"])
    >>> round(estimate.value, 3), round(estimate.low, 3), round(estimate.high, 3)
    (0.667, 0.166, 0.953)
    """
    return ClusteredMean.of(values, clusters=clusters, groups=groups).interval(bounds=bounds, level=level)


def _added(cells: NDArray[np.int64], values: NDArray[np.float64], n_cells: int) -> NDArray[np.float64]:
    return np.bincount(cells, weights=values, minlength=n_cells).astype(np.float64)


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
    check_level(level)
    if n < 1 or not 0 <= k <= n:
        raise UsageError(f"{k} of {n} is not a proportion; expected n of 1 or more and k from 0 to n")
    low, high = wilson(np.array(k / n), student.quantile(math.inf, level) ** 2 / n)
    return Estimate(
        value=k / n,
        # At the ends the formula gives k/n itself, up to rounding.
        low=0.0 if k == 0 else float(low),
        high=1.0 if k == n else float(high),
        level=level,
        n=n,
        n_clusters=n,
        method="proportion; Wilson",
    )
