"""What comparisons share: which items go together, and a difference with its clustered error."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.records import Estimate
from vidence.statistics._inputs import as_labels
from vidence.statistics.resampling import ROUNDING


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Which items share a video, and what each counts.

    `clusters` and `groups` are (n,) numbers from 0, `weights` (n,) add up to 1: alike for a mean over
    items; for a macro mean every group has the same share.
    """

    clusters: NDArray[np.int64]
    groups: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, n: int, clusters: Sequence[str], groups: Sequence[str] | None) -> "Layout":
        """The layout of `n` items; without groups the mean is over items.

        Raises:
            UsageError: not one cluster, or not one group, for each item.
        """
        _, codes = as_labels(clusters, n, what="clusters")
        if groups is None:
            return cls(clusters=codes, groups=np.zeros(n, np.int64), weights=np.full(n, 1 / n))
        names, group_codes = as_labels(groups, n, what="groups")
        sizes = np.bincount(group_codes)
        return cls(clusters=codes, groups=group_codes, weights=1 / (len(names) * sizes[group_codes]))

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weighted sum of the values of each cluster, shape (n_clusters,)."""
        return np.bincount(self.clusters, weights=self.weights * values).astype(np.float64)

    def residual_sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `sums`, of the deviations from the mean of the group of each value."""
        means = np.bincount(self.groups, weights=values) / np.bincount(self.groups)
        return self.sums(values - means[self.groups])


def analytic_difference(
    sums: NDArray[np.float64],
    residuals: NDArray[np.float64],
    *,
    n: int,
    level: float,
    name: str,
) -> tuple[Estimate, float]:
    """A difference with its clustered error, and the p-value of Student's t.

    Args:
        sums: the weighted sum of differences of each cluster, shape (n_clusters,); their total is the
            difference.
        residuals: the same of deviations from the mean, shape (n_clusters,).
        n: how many items.
        level: coverage of the interval.
        name: what is averaged, for `method`.

    Returns:
        The estimate, and the two-sided p-value: NaN for a single cluster, or where clusters do not differ
        although the difference is not 0; 1 where all differences are 0.

    Source: Miller, Adding Error Bars to Evals (2024), sections 2.2 and 3.2; Liang & Zeger (1986).
    Departs: as `intervals.mean_analytic`: the factor G / (G - 1), and t with G - 1 degrees of freedom.
    """
    from scipy.special import stdtr, stdtrit

    value, n_clusters = float(sums.sum()), len(sums)
    low = high = p_value = math.nan
    method = f"{name}; no interval: there is a single cluster"
    if n_clusters > 1:
        df = n_clusters - 1
        error = math.sqrt(n_clusters / df * float(residuals @ residuals))
        half = float(stdtrit(df, (1 + level) / 2)) * error
        low, high = value - half, value + half
        method = f"{name}; clustered standard error, t with {df} degrees of freedom"
        scale = float(np.abs(sums).sum())
        if error > ROUNDING * scale:
            p_value = 2 * float(stdtr(df, -abs(value) / error))
        else:
            method += "; clusters do not differ, so the interval says nothing"
            p_value = math.nan if scale else 1.0
    found = Estimate(value=value, low=low, high=high, level=level, n=n, n_clusters=n_clusters, method=method)
    return found, p_value
