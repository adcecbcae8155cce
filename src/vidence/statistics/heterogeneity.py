"""Whether a difference is the same in several groups of items, such as the tasks of one dimension."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.records import Record
from vidence.statistics.resampling import as_labels, as_values

FEWEST_CLUSTERS: Final = 2  # of a group whose error can be estimated
_DRAWS: Final = 2_000


class Heterogeneity(Record):
    """How far the means of several groups are apart, beyond what their errors explain.

    `q` is Cochran's Q over the `groups`, whose errors are clustered; `p_value` how often one common mean
    gives as large a Q. `tau` is the standard deviation of the true means between groups, as estimated; 0
    where the errors alone explain more than is seen. `left_out` are groups whose error cannot be estimated.
    """

    q: float
    dof: int
    p_value: float
    tau: float
    common: float
    groups: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def heterogeneity(
    values: ArrayLike,
    *,
    groups: Sequence[str],
    clusters: Sequence[str],
    rng: np.random.Generator,
    n_draws: int = _DRAWS,
) -> Heterogeneity | None:
    """Cochran's Q and tau of the means of groups; None of fewer than two groups that have an error.

    Args:
        values: one for each item, shape (n_items,), such as a difference of two scores.
        groups: the group of each item.
        clusters: the cluster of each item; one may have items in several groups.
        rng: where the draws come from.
        n_draws: how many draws of the null there are.

    Raises:
        UsageError: no values, not one group and cluster for each, or a value that is not finite.

    Source: Cochran (1954) for Q; DerSimonian & Laird (1986) for tau.
    Departs: Q has no chi-square law where errors are estimated from few clusters and clusters have items in
        several groups. The null is drawn: every group has the common mean, the residuals of whole clusters
        get one sign each (Cameron, Gelbach & Miller 2008, the wild cluster bootstrap), and the errors are
        estimated again.

    >>> found = heterogeneity(
    ...     [0.5, 0.4, 0.6, -0.5, -0.4, -0.6], groups=list("aaabbb"), clusters=list("uvwxyz"),
    ...     rng=np.random.default_rng(0),
    ... )
    >>> round(found.q, 1), found.dof
    (150.0, 1)
    """
    data = as_values(values)
    names, of_group = as_labels(groups, len(data), what="group")
    _, of_cluster = as_labels(clusters, len(data), what="cluster")
    n_clusters, n_groups = int(of_cluster.max()) + 1, len(names)
    counts = np.zeros((n_clusters, n_groups))
    np.add.at(counts, (of_cluster, of_group), 1.0)
    sums = np.zeros((n_clusters, n_groups))
    np.add.at(sums, (of_cluster, of_group), data)
    sizes = counts.sum(0)
    means = sums.sum(0) / sizes
    residuals = sums - counts * means
    variances = _variances(residuals, counts, sizes)
    known = ((counts > 0).sum(0) >= FEWEST_CLUSTERS) & (variances > 0)
    if known.sum() < FEWEST_CLUSTERS:
        return None
    kept = [name for name, is_known in zip(names, known, strict=True) if is_known]
    counts, sizes, residuals = counts[:, known], sizes[known], residuals[:, known]
    q, common = _q(means[known], variances[known])
    signs = rng.choice([-1.0, 1.0], size=(n_draws, n_clusters))
    drawn = signs @ residuals / sizes
    # Of each draw: the squares of a cluster's residual less its share of the drawn mean, over clusters.
    spread = (
        (residuals**2).sum(0) - 2 * drawn * (signs @ (residuals * counts)) + drawn**2 * (counts**2).sum(0)
    )
    m = (counts > 0).sum(0)
    again = np.maximum(spread / sizes**2 * (m / (m - 1)), 1e-12)
    weights = 1 / again
    centres = (weights * drawn).sum(1, keepdims=True) / weights.sum(1, keepdims=True)
    q_drawn = (weights * (drawn - centres) ** 2).sum(1)
    w = 1 / variances[known]
    dof = len(kept) - 1
    tau2 = max(0.0, (q - dof) / float(w.sum() - (w**2).sum() / w.sum()))
    return Heterogeneity(
        q=q,
        dof=dof,
        p_value=float((1 + (q_drawn >= q * (1 - 1e-9)).sum()) / (n_draws + 1)),
        tau=math.sqrt(tau2),
        common=common,
        groups=tuple(kept),
        left_out=tuple(name for name in names if name not in kept),
    )


def _variances(
    residuals: NDArray[np.float64], counts: NDArray[np.float64], sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The clustered variance of each group's mean, shape (n_groups,); 0 of a single cluster."""
    m = (counts > 0).sum(0)
    found: NDArray[np.float64] = (residuals**2).sum(0) / sizes**2 * m / np.maximum(m - 1, 1)
    return np.where(found > 1e-18, found, 0.0)


def _q(means: NDArray[np.float64], variances: NDArray[np.float64]) -> tuple[float, float]:
    """Cochran's Q, and the mean that is weighed by precision."""
    weights = 1 / variances
    common = float((weights * means).sum() / weights.sum())
    return float((weights * (means - common) ** 2).sum()), common
