"""Correlation of two scores over systems or items, with intervals that say how they were made."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.statistics.resampling import ROUNDING, USUAL, Resampling, as_labels, as_values, bootstrap_items
from vidence.statistics.student import quantile, two_sided

RankError = Literal["fieller", "bonett-wright", "fisher"]
CorrelationKind: TypeAlias = Literal["spearman", "pearson"]
# Up to so many orders of clusters all are tried, above it as many are drawn.
MOST_ORDERS = 5040


class Correlation(Record):
    """A coefficient, whether it could be 0, and two intervals.

    `p_value` is two-sided, from Student's t with n - 2 degrees of freedom. `fisher` has the interval of
    Fisher's z, `bootstrap` the one between percentiles of draws with replacement; the `method` of each
    names it. With few points the two can differ much, and neither should be trusted far.

    Source: see `pearson` and `spearman`.
    Departs: see `pearson` and `spearman`.
    """

    value: float
    p_value: float
    n: int
    fisher: Estimate
    bootstrap: Estimate


def _points(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    ours, theirs = as_values(x), as_values(y)
    if len(ours) != len(theirs) or len(ours) < 3:
        raise UsageError(f"{len(ours)} and {len(theirs)} values; expected as many of both, three or more")
    for name, values in (("x", ours), ("y", theirs)):
        if np.ptp(values) == 0:
            raise UsageError(f"all values of {name} are {values[0]}; a correlation needs values that differ")
    return ours, theirs


def linear_coefficient(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Pearson's r; NaN if one side does not vary."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    a, b = x - x.mean(), y - y.mean()
    return float(np.clip(a @ b / math.sqrt(float(a @ a) * float(b @ b)), -1, 1))


def _rank_coefficient(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return linear_coefficient(_ranks(x), _ranks(y))


def _chance(value: float, n: int) -> float:
    """The chance of a coefficient as far from 0 among `n` points that have nothing to do with each other."""
    rest = 1 - value**2
    return two_sided(n - 2, value * math.sqrt((n - 2) / rest)) if rest > 0 else 0.0


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1, the mean of them where values are tied; a tenth of the time of `scipy.stats.rankdata`."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


@dataclass(frozen=True, kw_only=True)
class _Coefficient:
    """One coefficient on all points: its p-value, how it is computed, and the variance of its z."""

    name: str
    value: float
    p_value: float
    of: Callable[[NDArray[np.float64], NDArray[np.float64]], float]
    variance: float
    how: str


def _correlation(
    points: tuple[NDArray[np.float64], NDArray[np.float64]],
    coefficient: _Coefficient,
    *,
    clusters: Sequence[str] | None,
    rng: np.random.Generator,
    settings: Resampling,
) -> Correlation:
    x, y = points

    def of_draw(weights: NDArray[np.float64]) -> float:
        drawn = np.repeat(np.arange(len(x)), weights.astype(np.int64))
        return coefficient.of(x[drawn], y[drawn])

    name = f"{coefficient.name}; pairs drawn with replacement"
    return Correlation(
        value=coefficient.value,
        p_value=coefficient.p_value,
        n=len(x),
        fisher=_fisher(coefficient, len(x), level=settings.level),
        bootstrap=bootstrap_items(of_draw, len(x), clusters=clusters, name=name, rng=rng, settings=settings),
    )


def _fisher(coefficient: _Coefficient, n: int, *, level: float) -> Estimate:
    """The interval of Fisher's z."""
    value, low, high = coefficient.value, math.nan, math.nan
    method = f"{coefficient.name}; Fisher's z, {coefficient.how}"
    if n > 3:
        half = quantile(math.inf, level) * math.sqrt(coefficient.variance / (n - 3))
        # At -1 and 1 z is infinite, and the interval has no width.
        centre = math.atanh(value) if abs(value) < 1 else math.copysign(math.inf, value)
        low, high = math.tanh(centre - half), math.tanh(centre + half)
    else:
        method += "; no interval: Fisher's z needs four points or more"
    return Estimate(value=value, low=low, high=high, level=level, n=n, n_clusters=n, method=method)


def pearson(
    x: ArrayLike,
    y: ArrayLike,
    *,
    rng: np.random.Generator,
    clusters: Sequence[str] | None = None,
    settings: Resampling = USUAL,
) -> Correlation:
    """Pearson's r with p-value and intervals.

    Args:
        x: one score for each point, shape (n,), n >= 3.
        y: the other score of each.
        rng: source of random draws.
        clusters: what points belong together, such as the model of several scores; used by the bootstrap
            alone. Without it points are drawn.
        settings: level and number of draws.

    Raises:
        UsageError: different numbers of values, fewer than three, values that are not finite or all equal.

    Source: Fisher (1921) for the interval of z, with variance 1 / (n - 3).
    Departs: no.

    >>> found = pearson([1, 2, 3, 4], [1, 3, 2, 4], rng=np.random.default_rng(0))
    >>> round(found.value, 3), round(found.fisher.low, 3)
    (0.8, -0.697)
    """
    points = _points(x, y)
    value = linear_coefficient(*points)
    pearson_r = _Coefficient(
        name="Pearson's r",
        value=value,
        p_value=_chance(value, len(points[0])),
        of=linear_coefficient,
        variance=1.0,
        how="variance 1 / (n - 3)",
    )
    return _correlation(points, pearson_r, clusters=clusters, rng=rng, settings=settings)


def spearman(
    x: ArrayLike,
    y: ArrayLike,
    *,
    rng: np.random.Generator,
    clusters: Sequence[str] | None = None,
    error: RankError = "fieller",
    settings: Resampling = USUAL,
) -> Correlation:
    """Spearman's rho with p-value and intervals; equal values share the mean of their ranks.

    Args:
        x: one score for each point, shape (n,), n >= 3.
        y: the other score of each.
        rng: source of random draws.
        clusters: as for `pearson`.
        error: the variance of Fisher's z times n - 3: 1.06 (``fieller``), 1 + rho^2 / 2
            (``bonett-wright``), or 1 as for Pearson's r (``fisher``), which is too small for ranks.
        settings: level and number of draws.

    Raises:
        UsageError: as for `pearson`, or another name of an error.

    Source: Fieller, Hartley & Pearson (1957); Bonett & Wright (2000).
        ActPLD's printed interval of rho is Fieller's.
    Departs: no.

    >>> found = spearman([1, 2, 3, 4], [10, 30, 20, 40], rng=np.random.default_rng(0))
    >>> round(found.value, 3)
    0.8
    """
    points = _points(x, y)
    value = _rank_coefficient(*points)
    variances = {"fieller": 1.06, "bonett-wright": 1 + value**2 / 2, "fisher": 1.0}
    if error not in variances:
        raise UsageError(f"unknown error of rho {error!r}; expected one of {', '.join(variances)}")
    rho = _Coefficient(
        name="Spearman's rho",
        value=value,
        p_value=_chance(value, len(points[0])),
        of=_rank_coefficient,
        variance=variances[error],
        how=f"variance of {error}",
    )
    return _correlation(points, rho, clusters=clusters, rng=rng, settings=settings)


def cluster_permutation(
    x: ArrayLike,
    y: ArrayLike,
    *,
    clusters: Sequence[str],
    strata: Sequence[str],
    rng: np.random.Generator,
    kind: CorrelationKind = "spearman",
) -> float:
    """How often a coefficient as far from 0 comes about where clusters give their `y` to each other.

    The points of one cluster, such as the scores of one model, move together and keep their stratum, such as
    what was asked for: points of one model are not as many chances to find something. Differences between
    strata stay as they are. With up to 7 clusters all orders are tried; with more `MOST_ORDERS` are drawn,
    and the seen one counts among them.

    Args:
        x: one score for each point, shape (n,), n >= 3.
        y: the other score of each.
        clusters: the cluster of each point, n of them.
        strata: what kind of point each is, n of them; every cluster has each stratum exactly once.
        rng: where drawn orders come from.
        kind: which coefficient.

    Raises:
        UsageError: as for `pearson`; not one cluster and stratum for each point, or clusters that do not have
            the same strata once each.

    Source: Good, Permutation, Parametric and Bootstrap Tests of Hypotheses (2005), section 3.1
        (permutation of whole blocks).
    Departs: no.

    >>> cluster_permutation(
    ...     [1, 2, 3, 4], [1, 2, 3, 4], clusters=[*"abcd"], strata=["s"] * 4, rng=np.random.default_rng(0)
    ... ) == 2 / 24
    True
    """
    ours, theirs = _points(x, y)
    names, codes = as_labels(clusters, len(ours), what="clusters")
    kinds, places = as_labels(strata, len(ours), what="strata")
    cells = codes * len(kinds) + places
    if len(ours) != len(names) * len(kinds) or len(np.unique(cells)) != len(ours):
        raise UsageError(
            f"{len(ours)} points of {len(names)} clusters and {len(kinds)} strata; expected each cluster "
            "once in each stratum"
        )
    order = np.argsort(cells)
    ours, blocks = ours[order], theirs[order].reshape(len(names), len(kinds))
    of = _rank_coefficient if kind == "spearman" else linear_coefficient
    seen = abs(of(ours, blocks.ravel()))
    if math.factorial(len(names)) <= MOST_ORDERS:
        orders = [list(permutation) for permutation in itertools.permutations(range(len(names)))]
    else:
        drawn = (rng.permutation(len(names)).tolist() for _ in range(MOST_ORDERS - 1))
        orders = [list(range(len(names))), *drawn]
    n_reached = sum(abs(of(ours, blocks[values].ravel())) >= seen - ROUNDING for values in orders)
    return n_reached / len(orders)


def kendall_tau(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Kendall's tau-b of each row of x with the same row of y: how far two orders agree.

    Args:
        x: scores, shape (..., n), n >= 2.
        y: the other scores of the same n systems, same shape.

    Returns:
        Shape (...): 1 for the same order, -1 for the reverse one; NaN if one side is all tied.

    Raises:
        UsageError: different shapes, or fewer than two systems.

    Source: Kendall (1945).
    Departs: no.

    >>> float(kendall_tau([1, 2, 3], [1, 3, 2]).round(3))
    0.333
    """
    ours, theirs = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if ours.shape != theirs.shape or not ours.ndim or ours.shape[-1] < 2:
        raise UsageError(f"scores of shapes {ours.shape} and {theirs.shape}; expected the same, two or more")
    first, second = np.triu_indices(ours.shape[-1], 1)
    a = np.sign(ours[..., first] - ours[..., second])
    b = np.sign(theirs[..., first] - theirs[..., second])
    scale = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    tau = np.full(np.shape(scale), math.nan)
    np.divide((a * b).sum(axis=-1), scale, out=tau, where=scale > 0)
    return tau
