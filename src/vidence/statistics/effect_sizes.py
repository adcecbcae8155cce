"""Two groups of items side by side, such as the questions answered right and those answered wrong.

The groups are parts of one set of items, so they share videos: whole videos are drawn, for both groups
at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.statistics.resampling import (
    ROUNDING,
    USUAL,
    Resampling,
    as_labels,
    as_values,
    percentile_estimate,
    replicates,
)


class TwoGroups(Record):
    """The first group against the second.

    `difference` is the mean of the first less that of the second; `cohens_d` is that over the pooled
    standard deviation; `cliffs_delta` is how much more often a value of the first is the higher one of a
    pair than the lower one, from -1 to 1. All intervals come from the same draws.
    """

    mean_first: Estimate
    mean_second: Estimate
    difference: Estimate
    cohens_d: Estimate
    cliffs_delta: Estimate


@dataclass(frozen=True, kw_only=True)
class _Group:
    """One group, ready to be weighted: its mean, its values less the mean, and where each stands.

    Shapes: `values` and `clusters` (n,); `places` (n,), the position among all distinct values.
    """

    centre: float
    values: NDArray[np.float64]
    clusters: NDArray[np.int64]
    places: NDArray[np.int64]


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.full(above.shape, np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found


def _moments(side: _Group, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """For each draw how many values there are, their mean, and their squared deviations added up."""
    n = weights.sum(axis=1)
    shift = _ratio(weights @ side.values, n)
    squares = weights @ side.values**2
    around = squares - n * shift**2
    # Where all values drawn are alike, rounding leaves a little more than 0.
    return n, side.centre + shift, np.where(around > ROUNDING * squares, around, 0.0)


def _counts(side: _Group, weights: NDArray[np.float64], n_places: int) -> NDArray[np.float64]:
    """How often each distinct value is drawn, shape (n_draws, n_places)."""
    order = np.argsort(side.places, kind="stable")
    there, starts = np.unique(side.places[order], return_index=True)
    counts = np.zeros((len(weights), n_places))
    counts[:, there] = np.add.reduceat(weights[:, order], starts, axis=1)
    return counts


def _figures(first: _Group, second: _Group, draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Both means, their difference, d and delta of each draw, (n_draws, 5); NaN where they do not exist."""
    ours, theirs = draws[:, first.clusters], draws[:, second.clusters]
    n_first, mean_first, around_first = _moments(first, ours)
    n_second, mean_second, around_second = _moments(second, theirs)
    pooled = _ratio(around_first + around_second, n_first + n_second - 2)
    n_places = 1 + int(max(first.places.max(), second.places.max()))
    mine, others = _counts(first, ours, n_places), _counts(second, theirs, n_places)
    at_most = np.cumsum(others, axis=1)
    # Of the second group: those below each value less those above it.
    lead = (at_most - others) - (at_most[:, -1:] - at_most)
    difference = mean_first - mean_second
    d = _ratio(difference, np.sqrt(pooled))
    delta = _ratio((mine * lead).sum(axis=1), n_first * n_second)
    return np.stack([mean_first, mean_second, difference, d, delta], axis=1)


def two_groups(
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: tuple[Sequence[str], Sequence[str]],
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> TwoGroups:
    """Compare the values of two groups of items, with intervals from draws of whole clusters.

    A cluster may have items in both groups. Draws in which a figure does not exist (a group is absent,
    or nothing varies) are left out, and `method` says how many.

    Args:
        first: one number for each item of the first group, shape (n_first,).
        second: the same for the second group, shape (n_second,).
        clusters: the name of the cluster of each item, for the first group and for the second.
        rng: where the draws come from.
        settings: level and number of draws.

    Raises:
        UsageError: a group is empty, a value is not finite, or not one cluster for each value.

    Source: Cohen, Statistical Power Analysis (1988), section 2.5 (d with the pooled standard deviation);
        Cliff, Dominance statistics (1993), equation 1 (delta); Cameron, Gelbach & Miller (2008),
        section 2 (pairs cluster bootstrap).
    Departs: no.

    >>> found = two_groups(
    ...     [3, 4], [1, 2], clusters=(["a", "b"], ["a", "b"]), rng=np.random.default_rng(0)
    ... )
    >>> found.difference.value, found.cliffs_delta.value
    (2.0, 1.0)
    """
    sides = as_values(first), as_values(second)
    sizes = len(sides[0]), len(sides[1])
    for labels, n, name in zip(clusters, sizes, ("first", "second"), strict=True):
        if len(labels) != n:
            raise UsageError(f"{len(labels)} clusters for {n} values of the {name} group; one for each")
    names, codes = as_labels([*clusters[0], *clusters[1]], sum(sizes), what="clusters")
    places = np.unique(np.concatenate(sides), return_inverse=True)[1].astype(np.int64)
    ours, theirs = (
        _Group(
            centre=float(values.mean()),
            values=values - values.mean(),
            clusters=codes[part],
            places=places[part],
        )
        for values, part in zip(sides, (slice(0, sizes[0]), slice(sizes[0], None)), strict=True)
    )

    def figures(draws: NDArray[np.float64]) -> NDArray[np.float64]:
        return _figures(ours, theirs, draws)

    seen = figures(np.ones((1, len(names))))[0]
    drawn = replicates(figures, len(names), rng=rng, n_boot=settings.n_boot, width=sum(sizes))
    whole = (sum(sizes), len(names))
    mean_first, mean_second, difference, d, delta = (
        percentile_estimate(float(value), column, size=size, name=name, level=settings.level)
        for value, column, (name, size) in zip(
            seen,
            drawn.T,
            (
                ("mean", (sizes[0], len(set(clusters[0])))),
                ("mean", (sizes[1], len(set(clusters[1])))),
                ("difference of means", whole),
                ("Cohen's d, pooled standard deviation", whole),
                ("Cliff's delta", whole),
            ),
            strict=True,
        )
    )
    return TwoGroups(
        mean_first=mean_first, mean_second=mean_second, difference=difference, cohens_d=d, cliffs_delta=delta
    )
