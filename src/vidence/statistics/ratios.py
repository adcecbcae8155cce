"""The ratio of two means on the same items, such as the accuracy without video over that with it."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.statistics._inputs import Sums, as_labels
from vidence.statistics.repeats import over_repeats
from vidence.statistics.resampling import ROUNDING, USUAL, Resampling, cluster_draws, percentile_estimate


class Ratio(Record, kw_only=True):
    """The mean of the first over the mean of the second, on the same items.

    `bootstrap` has the interval between percentiles of draws of clusters, `fieller` the same value with
    Fieller's interval. `g` is the square of (half the width of the t interval of the lower mean, over that
    mean): from 1 on the lower mean cannot be told from 0, a ratio to it could be anything, and neither
    interval is given. It is NaN for a single cluster and infinite where the lower mean is 0.
    """

    bootstrap: Estimate
    fieller: Estimate
    g: float

    @property
    def is_bounded(self) -> bool:
        """Whether the lower mean can be told from 0, so that the ratio has an interval."""
        return self.g < 1


def _covariance(
    first: NDArray[np.float64], second: NDArray[np.float64], codes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The clustered covariance of the two means, shape (2, 2), for two clusters or more."""
    deviations = [np.bincount(codes, weights=values - values.mean()) for values in (first, second)]
    sums = np.stack(deviations)
    n_clusters = sums.shape[1]
    covariance = n_clusters / (n_clusters - 1) * (sums @ sums.T) / len(first) ** 2
    return np.asarray(covariance, np.float64)


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
        second: those of the same items in the same order that stand below the line.
        clusters: the name of the cluster (video) of each item, n of them.
        rng: where the draws come from.
        settings: level and number of draws.

    Returns:
        A ratio; its value is NaN where the second mean is 0, and it has no interval where the second mean
        cannot be told from 0.

    Raises:
        UsageError: no items, different numbers of items, a value that is not finite, or not one cluster for
            each.

    Source: Fieller (1954), "Some problems in interval estimation", for the interval and for when there is
        none; Franz (2007), "Ratios: a short guide to confidence limits and proper use", sections 2 and 4.
        HumanPCR, table 5, for the ratio of a control to the full video.
    Departs: the paper gives no interval. Errors are clustered, with t on G - 1 degrees of freedom; a
        percentile bootstrap stands beside Fieller's interval.

    >>> rng = np.random.default_rng(0)
    >>> videos = ["a", "b", "c", "d"]
    >>> found = ratio_of_means([1, 0, 1, 0], [1, 1, 1, 1], clusters=videos, rng=rng)
    >>> found.bootstrap.value
    0.5
    """
    from scipy.special import stdtrit

    above, below = over_repeats(first), over_repeats(second)
    n = len(above)
    if n != len(below):
        raise UsageError(
            f"{n} values above the line and {len(below)} below it; "
            "expected values of the same items in the same order"
        )
    names, codes = as_labels(clusters, n, what="clusters")
    n_clusters, top, bottom = len(names), float(above.mean()), float(below.mean())
    value = top / bottom if bottom else math.nan
    sums = [Sums.of(values, codes).totals[:, 0] for values in (above, below)]
    bootstrap = percentile_estimate(
        value,
        _draws(sums[0], sums[1], rng=rng, n_boot=settings.n_boot),
        size=(n, n_clusters),
        name="ratio of means",
        level=settings.level,
    )
    if n_clusters == 1:
        return Ratio(bootstrap=bootstrap, fieller=bootstrap, g=math.nan)
    covariance = _covariance(above, below, codes)
    critical = float(stdtrit(n_clusters - 1, (1 + settings.level) / 2))
    g = critical**2 * float(covariance[1, 1]) / bottom**2 if bottom else math.inf
    if not g < 1:
        none = _unbounded(bootstrap, g)
        return Ratio(bootstrap=none, fieller=none, g=g)
    low, high = _roots(top, bottom, covariance=covariance, critical=critical)
    method = f"ratio of means; Fieller, clustered errors, t with {n_clusters - 1} degrees of freedom"
    if high - low <= ROUNDING * max(abs(low), abs(high)):
        method += "; clusters do not differ, so the interval says nothing"
    fieller = msgspec.structs.replace(bootstrap, low=low, high=high, method=method)
    return Ratio(bootstrap=bootstrap, fieller=fieller, g=g)


def _draws(
    above: NDArray[np.float64], below: NDArray[np.float64], *, rng: np.random.Generator, n_boot: int
) -> NDArray[np.float64]:
    """The ratio in each draw of clusters, (n_boot,); NaN where nothing stands below the line."""
    found = []
    for weights in cluster_draws(len(above), rng, n_boot):
        bottoms = weights @ below
        ratios = np.full(len(bottoms), math.nan)
        np.divide(weights @ above, bottoms, out=ratios, where=bottoms != 0)
        found.append(ratios)
    return np.concatenate(found)


def _unbounded(estimate: Estimate, g: float) -> Estimate:
    """The same value without an interval, and why."""
    method = f"ratio of means; no interval: the mean below the line cannot be told from 0 (g = {g:.3g})"
    if math.isinf(g):
        method = "ratio of means; it does not exist: the mean below the line is 0"
    return msgspec.structs.replace(estimate, low=math.nan, high=math.nan, method=method)
