"""The variance of a mean of clustered values, and how many degrees of freedom its estimate has.

The usual clustered error is too small where clusters are few or differ in size, since a large cluster pulls
the mean towards itself. Here the residuals of each cluster are scaled up by what the cluster has pulled
("CR2"), and the degrees of freedom are those that Satterthwaite's rule gives for this very estimate ("BM").
Both have a closed form for a mean, and for the mean of the means of groups, so no matrix of items is built.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.statistics.resampling import ROUNDING


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How items lie in clusters and groups; the mean is over items, or over groups, weighted.

    Shapes: `counts` (n_clusters, n_groups), how many items there are; `weights` (n_groups,), what each group
    adds to the mean: alike for a mean over groups, adding up to 0 for a contrast of groups; `pulls` as
    `counts`, what one unit of a summed residual adds to the mean, scaled up for CR2, 0 in a group that lies
    in one cluster. `dof` are the degrees of freedom, NaN if no group lies in two clusters. `n_effective`
    is how many clusters of one size would weigh as these do, 1 over the sum of their squared shares;
    `dof_unseen` is what one such cluster, not seen, adds to the degrees of freedom.

    Source: Bell & McCaffrey (2002), "Bias reduction in standard errors for linear regression with
        multi-stage samples", section 3; Pustejovsky & Tipton (2018), "Small-sample methods for
        cluster-robust variance estimation", section 2 (CR2), with one indicator for each group as the
        regressors and independent errors as the working model.
    Departs: a group in a single cluster, whose residuals add up to 0 whatever its mean may be worth, is
        left to `ClusteredMean.variance`; the papers' generalised inverse counts its mean as known exactly.
    """

    counts: NDArray[np.float64]
    weights: NDArray[np.float64]
    pulls: NDArray[np.float64]
    dof: float
    n_effective: float
    dof_unseen: float = 1.0

    @classmethod
    def of(cls, counts: NDArray[np.float64], *, weights: ArrayLike | None = None) -> "Layout":
        """Work out the pulls and degrees of freedom.

        Args:
            counts: items of each cluster in each group, shape (n_clusters, n_groups); no empty row or column.
            weights: of the means of the groups, shape (n_groups,); without them each group counts alike.
        """
        n_groups = counts.shape[1]
        shares = np.full(n_groups, 1 / n_groups) if weights is None else np.asarray(weights, np.float64)
        sizes = counts.sum(axis=0)
        rest = 1 - counts / sizes
        pulls = np.zeros(counts.shape)
        np.divide(shares / sizes, np.sqrt(rest), out=pulls, where=(rest > 0) & (counts > 0))
        # Of the vectors whose products with the values add up to the variance, the matrix of products is
        # D - B B': D diagonal, B with one column for each group.
        own = (counts * pulls**2).sum(axis=1)
        shared = counts * pulls / np.sqrt(sizes)
        inner = shared.T @ shared
        trace = float(own.sum() - np.trace(inner))
        squared = float((own**2).sum() - 2 * (own @ (shared**2).sum(axis=1)) + (inner**2).sum())
        dof = trace**2 / squared if squared > 0 else float("nan")
        weighed = (counts / sizes) @ np.abs(shares)
        return cls(
            counts=counts,
            weights=shares,
            pulls=pulls,
            dof=dof,
            n_effective=float(weighed.sum() ** 2 / (weighed @ weighed)),
        )

    @property
    def sizes(self) -> NDArray[np.float64]:
        """How many items each group has, shape (n_groups,)."""
        return np.asarray(self.counts.sum(axis=0), np.float64)

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return len(self.counts)

    @property
    def n_groups(self) -> int:
        """How many groups there are; 1 for a mean over items."""
        return int(self.counts.shape[1])

    @property
    def n_alike(self) -> int:
        """How many clusters count where all are alike: those of the group that lies in the fewest."""
        return int((self.counts > 0).sum(axis=0).min())

    @property
    def singles(self) -> NDArray[np.float64]:
        """The weights of the groups that lie in a single cluster."""
        return np.asarray(self.weights[(self.counts > 0).sum(axis=0) == 1], np.float64)

    def mean(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of sums of values, (..., n_clusters, n_groups); shape (...,)."""
        return np.asarray((totals.sum(axis=-2) / self.sizes) @ self.weights, np.float64)

    def plain_residuals(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each cluster adds to the mean of the deviations from the means of groups, not scaled up.

        Args:
            totals: sums of the values by cluster and group, shape (..., n_clusters, n_groups).

        Returns:
            Shape (..., n_clusters).
        """
        return np.asarray((self._deviations(totals) * (self.weights / self.sizes)).sum(axis=-1), np.float64)

    def scaled_residuals(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `plain_residuals`, scaled up for CR2: the sum of their squares is the variance of the mean."""
        return np.asarray((self._deviations(totals) * self.pulls).sum(axis=-1), np.float64)

    def _deviations(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        means = totals.sum(axis=-2, keepdims=True) / self.sizes
        return np.asarray(totals - self.counts * means, np.float64)

    def variance(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """The variance of the mean, (...,), of sums of shape (..., n_clusters, n_groups).

        Exactly 0 where nothing but rounding keeps the clusters apart.
        """
        result = (self.scaled_residuals(totals) ** 2).sum(axis=-1)
        scale = np.abs(totals * self.pulls).sum(axis=(-2, -1))
        return np.where(result > (ROUNDING * scale) ** 2, result, 0.0)
