"""Cluster bootstrap and cluster sign-flip test.

The cluster is the video: whatever is drawn or turned, all questions about one video go together.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import WITHIN, Estimate

# Cells of the table of weights that is in memory at once: 8 MiB as float64.
BLOCK_CELLS = 2**20
# Sums of the same numbers in another order differ by up to this share of them.
ROUNDING = 1e-9
# From how often each cluster is drawn, (n_draws, n_clusters), to one or several figures of each draw.
Figure: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def as_values(values: ArrayLike) -> NDArray[np.float64]:
    """The values as a flat array, shape (n,), n >= 1.

    Raises:
        UsageError: there are none, they are not in one row, or one is not a finite number.
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or not len(numbers):
        raise UsageError(f"values of shape {numbers.shape}; expected one row with at least one value")
    broken = np.flatnonzero(~np.isfinite(numbers))
    if len(broken):
        raise UsageError(
            f"value {numbers[broken[0]]} at position {broken[0]} is not a finite number; "
            "leave out or mark what has no score before averaging"
        )
    return numbers


def as_labels(labels: Sequence[str], n: int, *, what: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The different labels, sorted, and for each value the position of its label, shape (n,).

    Raises:
        UsageError: not one label for each value.
    """
    if len(labels) != n:
        raise UsageError(f"{len(labels)} {what} for {n} values; expected one for each")
    distinct, codes = np.unique(np.asarray(labels, np.str_), return_inverse=True)
    return tuple(distinct.tolist()), codes.astype(np.int64)


def mean_weights(groups: Sequence[str] | None, n: int) -> NDArray[np.float64]:
    """What each of n items weighs in a mean over items, or in the mean of the means of groups; 1 in all.

    >>> mean_weights(["a", "b", "b"], 3).tolist(), mean_weights(None, 2).tolist()
    ([0.5, 0.25, 0.25], [0.5, 0.5])
    """
    names, codes = as_labels(groups or ["all"] * n, n, what="groups")
    return np.asarray(1 / (group_divisors(names) * np.bincount(codes))[codes], np.float64)


def group_divisors(names: Sequence[str]) -> NDArray[np.int64]:
    """What the mean of each group is divided by, (n_groups,); groups within one weigh as one together.

    >>> group_divisors(["count", f"way{WITHIN}easy", f"way{WITHIN}hard"]).tolist()
    [2, 4, 4]
    """
    _, codes = np.unique([name.partition(WITHIN)[0] for name in names], return_inverse=True)
    sizes = np.bincount(codes)
    return np.asarray(len(sizes) * sizes[codes], np.int64)


def check_level(level: float) -> None:
    """Reject a level that is no probability.

    Raises:
        UsageError: it is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise UsageError(f"level {level}; expected a number between 0 and 1, for example 0.95")


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """How many draws with replacement make an interval, and for which level.

    Raises:
        UsageError: a level outside (0, 1), or a number of draws below 1.
    """

    level: float = 0.95
    n_boot: int = 2000

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.n_boot < 1:
            raise UsageError(f"n_boot {self.n_boot}; expected 1 or more draws, for example 2000")


USUAL = Resampling()


def cluster_draws(
    n_clusters: int, rng: np.random.Generator, n_boot: int, *, width: int = 1
) -> Iterator[NDArray[np.float64]]:
    """How often each cluster is drawn, in blocks of shape (n_rows, n_clusters), `n_boot` rows in all.

    Args:
        n_clusters: how many clusters there are; each draw takes as many, with replacement.
        rng: source of random draws; the size of the blocks does not change them.
        n_boot: how many draws.
        width: how many cells a figure needs for one draw; blocks are small enough for that, too.

    Source: Cameron, Gelbach & Miller (2008), section 2 (pairs cluster bootstrap).
    Departs: no.
    """
    block = max(1, BLOCK_CELLS // max(n_clusters, width))
    for start in range(0, n_boot, block):
        n_rows = min(block, n_boot - start)
        drawn = rng.integers(0, n_clusters, size=(n_rows, n_clusters))
        drawn += np.arange(n_rows)[:, None] * n_clusters
        times = np.bincount(drawn.ravel(), minlength=n_rows * n_clusters)
        yield times.reshape(n_rows, n_clusters).astype(np.float64)


def replicates(
    figure: Figure, n_clusters: int, *, rng: np.random.Generator, n_boot: int, width: int = 1
) -> NDArray[np.float64]:
    """The figure, or figures, of every draw of clusters, shape (n_boot,) or (n_boot, n_figures)."""
    draws = cluster_draws(n_clusters, rng, n_boot, width=width)
    return np.concatenate([figure(weights) for weights in draws])


def bootstrap(
    figure: Figure,
    *,
    size: tuple[int, int],
    name: str,
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> Estimate:
    """A figure with the percentile interval of the cluster bootstrap.

    Args:
        figure: what is estimated, from how often each cluster is drawn; NaN if it does not exist.
        size: how many items, and how many clusters.
        name: what the figure is, for `method`.
        rng: source of random draws.
        settings: level and number of draws.

    Source: as `cluster_draws` and `percentile_estimate`.
    Departs: no.
    """
    value = float(figure(np.ones((1, size[1])))[0])
    draws = replicates(figure, size[1], rng=rng, n_boot=settings.n_boot)
    return percentile_estimate(value, draws, size=size, name=name, level=settings.level)


def bootstrap_items(
    figure: Callable[[NDArray[np.float64]], float],
    n: int,
    *,
    clusters: Sequence[str] | None,
    name: str,
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> Estimate:
    """As `bootstrap`, of a figure of weighted items, (n,); without clusters the items are drawn.

    Raises:
        UsageError: not one cluster for each item.
    """
    owners = [str(i) for i in range(n)] if clusters is None else clusters
    names, codes = as_labels(owners, n, what="clusters")
    return bootstrap(
        lambda draws: np.array([figure(weights[codes]) for weights in draws]),
        size=(n, len(names)),
        name=name,
        rng=rng,
        settings=settings,
    )


def percentile_estimate(
    value: float, draws: NDArray[np.float64], *, size: tuple[int, int], name: str, level: float
) -> Estimate:
    """A figure with the interval between percentiles of its draws.

    Draws in which the figure does not exist are NaN; they are left out, and `method` says how many.

    Args:
        value: the figure on all that was seen; NaN if it does not exist.
        draws: the figure in each draw, shape (n_boot,); none are needed for a single cluster.
        size: how many items, and how many clusters.
        name: what the figure is, for `method`.
        level: coverage of the interval.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap (1993), section 13.3.
    Departs: no.
    """
    n, n_clusters = size
    low = high = math.nan
    known = draws[~np.isnan(draws)]
    if math.isnan(value):
        method = f"{name}; undefined for these values"
    elif n_clusters == 1:
        method = f"{name}; no interval: there is a single cluster"
    elif not len(known):
        method = f"{name}; no interval: undefined in all {len(draws)} draws"
    else:
        low, high = (float(q) for q in np.quantile(known, [(1 - level) / 2, (1 + level) / 2]))
        method = f"{name}; cluster bootstrap, percentile, {len(draws)} draws"
        if len(known) < len(draws):
            method += f"; left out {len(draws) - len(known)} draws in which it is undefined"
        if np.allclose(known, value, rtol=ROUNDING, atol=1e-12):
            method += "; every draw is the same, so the interval is not informative"
    return Estimate(value=value, low=low, high=high, level=level, n=n, n_clusters=n_clusters, method=method)


def difference_of_groups(
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: tuple[Sequence[str], Sequence[str]],
    rng: np.random.Generator,
    settings: Resampling = USUAL,
) -> Estimate:
    """The mean of the first group of items less that of the second, with an interval by whole clusters.

    The groups are parts of one set of items, so a cluster may have items in both. Draws without one of the
    groups are left out, and `method` says how many.

    Args:
        first: one number for each item of the first group, shape (n_first,).
        second: the same for the second group, shape (n_second,).
        clusters: the name of the cluster of each item, for the first group and for the second.
        rng: source of random draws.
        settings: level and number of draws.

    Raises:
        UsageError: a group is empty, a value is not finite, or not one cluster for each value.

    Source: Cameron, Gelbach & Miller (2008), section 2 (pairs cluster bootstrap).
    Departs: no.
    """
    sides = as_values(first), as_values(second)
    sizes = len(sides[0]), len(sides[1])
    for labels, n, name in zip(clusters, sizes, ("first", "second"), strict=True):
        if len(labels) != n:
            raise UsageError(f"{len(labels)} clusters for {n} values of the {name} group; one for each")
    names, codes = as_labels([*clusters[0], *clusters[1]], sum(sizes), what="clusters")
    parts = codes[: sizes[0]], codes[sizes[0] :]

    def difference(draws: NDArray[np.float64]) -> NDArray[np.float64]:
        means = []
        for values, part in zip(sides, parts, strict=True):
            weights, centre = draws[:, part], float(values.mean())
            n = weights.sum(axis=1)
            shift = np.full(n.shape, np.nan)
            np.divide(weights @ (values - centre), n, out=shift, where=n > 0)
            means.append(centre + shift)
        return np.asarray(means[0] - means[1], np.float64)

    value = float(difference(np.ones((1, len(names))))[0])
    draws = replicates(difference, len(names), rng=rng, n_boot=settings.n_boot, width=sum(sizes))
    whole = (sum(sizes), len(names))
    return percentile_estimate(value, draws, size=whole, name="difference of means", level=settings.level)
