"""The ratio of two means on the same items, such as the accuracy without video over that with it."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.statistics.intervals import ClusteredMean
from vidence.statistics.repeats import over_repeats
from vidence.statistics.resampling import ROUNDING, USUAL, Resampling, bootstrap
from vidence.statistics.student import quantile


class Ratio(Record):
    """The mean of the first over the mean of the second, on the same items.

    `bootstrap` has the interval between percentiles of draws of clusters, `fieller` the same value with
    Fieller's interval. `g` is the square of (half the width of the t interval of the lower mean, over that
    mean): from 1 on the lower mean does not differ clearly from 0, a ratio to it could be anything, and
    neither interval is given. It is NaN for a single cluster and infinite where the lower mean is 0.
    """

    bootstrap: Estimate
    fieller: Estimate
    g: float

    @property
    def is_bounded(self) -> bool:
        """Whether the lower mean differs clearly from 0, so that the ratio has an interval."""
        return self.g < 1


def _roots(
    top: float, bottom: float, *, covariance: NDArray[np.float64], critical: float
) -> tuple[float, float]:
    """The two ratios r for which ``top - r bottom`` is just `critical` standard errors away from 0."""
    f = critical**2
    a = bottom**2 - f * covariance[1, 1]
    b = top * bottom - f * covariance[0, 1]
    c = top**2 - f * covariance[0, 0]
    # Never negative while a is positive; rounding may say so where the interval has no width.
    root = math.sqrt(max(float(b**2 - a * c), 0.0))
    return float((b - root) / a), float((b + root) / a)


def ratio_of_means(
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: Sequence[str],
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> Ratio:
    """The mean of the first over the mean of the second, with clustered intervals.

    Both means are of the same items, so that what makes a video easy moves them together; drawing whole
    clusters, and the covariance in Fieller's interval, keep that. Values of several repeats are averaged by
    item first.

    Args:
        first: one value for each item, shape (n,), or (n, r) with r repeats.
        second: those of the denominator, of the same items in the same order.
        clusters: the name of the cluster (video) of each item, n of them.
        rng: source of random draws.
        settings: level and number of draws.

    Returns:
        A ratio; its value is NaN if the second mean is 0, and it has no interval where the second mean
        does not differ clearly from 0.

    Raises:
        UsageError: no items, different numbers of items, a value that is not finite, or not one cluster for
            each.

    Source: Fieller (1954), "Some problems in interval estimation", for the interval and for when there is
        none; Franz (2007), "Ratios: a short guide to confidence limits and proper use", sections 2 and 4.
        HumanPCR, table 5, for the ratio of a control to the full video.
    Departs: the paper gives no interval. Errors and degrees of freedom are those of `sandwich.Layout`; a
        percentile bootstrap stands beside Fieller's interval.

    >>> rng = np.random.default_rng(0)
    >>> videos = ["a", "b", "c", "d"]
    >>> found = ratio_of_means([1, 0, 1, 0], [1, 1, 1, 1], clusters=videos, rng=rng)
    >>> found.bootstrap.value
    0.5
    """
    above, below = over_repeats(first), over_repeats(second)
    n = len(above)
    if n != len(below):
        raise UsageError(f"{n} numerators and {len(below)} denominators; expected as many of each")
    sums = [ClusteredMean.of(values, clusters=clusters) for values in (above, below)]
    top, bottom = (mean.value for mean in sums)

    def ratio(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each draw of clusters; NaN if the denominator is 0."""
        tops, bottoms = (weights @ mean.totals[:, 0] for mean in sums)
        ratios = np.full(len(bottoms), math.nan)
        np.divide(tops, bottoms, out=ratios, where=bottoms != 0)
        return ratios

    drawn = bootstrap(ratio, size=sums[0].size, name="ratio of means", rng=rng, settings=settings)
    n_clusters = drawn.n_clusters
    if n_clusters == 1:
        return Ratio(bootstrap=drawn, fieller=drawn, g=math.nan)
    layout = sums[0].layout
    residuals = np.stack([layout.scaled_residuals(mean.totals) for mean in sums])
    covariance = np.asarray(residuals @ residuals.T, np.float64)
    critical = quantile(layout.dof, settings.level)
    g = critical**2 * float(covariance[1, 1]) / bottom**2 if bottom else math.inf
    if not g < 1:
        none = _unbounded(drawn, g)
        return Ratio(bootstrap=none, fieller=none, g=g)
    low, high = _roots(top, bottom, covariance=covariance, critical=critical)
    method = f"ratio of means; Fieller, clustered errors CR2, t with {layout.dof:.1f} degrees of freedom"
    if high - low <= ROUNDING * max(abs(low), abs(high)):
        method += "; clusters do not differ, so the interval is not informative"
    fieller = msgspec.structs.replace(drawn, low=low, high=high, method=method)
    return Ratio(bootstrap=drawn, fieller=fieller, g=g)


def _unbounded(estimate: Estimate, g: float) -> Estimate:
    """The same value without an interval, and why."""
    method = f"ratio of means; no interval: the denominator is not distinguishable from 0 (g = {g:.3g})"
    if math.isinf(g):
        method = "ratio of means; undefined: the denominator is 0"
    return msgspec.structs.replace(estimate, low=math.nan, high=math.nan, method=method)
