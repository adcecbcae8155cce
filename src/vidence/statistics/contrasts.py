"""Groups of items of one run against each other, such as hard questions less easy ones.

The groups share videos, so a difference between them is not one of two independent means: the error is that
of `sandwich.Layout` for a weighted sum of the means of groups, in which a video that has items in several
groups counts once.
"""

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record, noun_of
from vidence.statistics.intervals import quantile, too_few
from vidence.statistics.paired import Verdict, verdict
from vidence.statistics.resampling import ROUNDING, as_labels, as_values, check_level
from vidence.statistics.sandwich import Layout

# With fewer videos in a group nothing is said of how sure its mean is.
LEAST_VIDEOS = 6


class Contrast(Record):
    """A weighted sum of the means of groups, with the p-value of its being 0.

    `weights` add up to 0. `n_shared` counts the clusters that have items in two groups or more.
    """

    weights: dict[str, float]
    estimate: Estimate
    p_value: float
    n_shared: int

    @property
    def verdict(self) -> Verdict:
        """Whether it can be told from 0."""
        return verdict(self.p_value, self.estimate)


def contrast(
    values: ArrayLike,
    *,
    clusters: Sequence[str],
    groups: Sequence[str],
    weights: Mapping[str, float],
    name: str = "difference of groups",
    level: float = 0.95,
) -> Contrast:
    """A weighted sum of the means of groups, with Student's t interval, clustered by video.

    Items of groups without a weight are left out. The interval is cut off at the most that the weights allow.
    Where a group lies in fewer than `LEAST_VIDEOS` clusters there is none, and `reason` says so. A group
    whose clusters are all alike shows no variance; it gets that of one more cluster that is all right and one
    that is all wrong.

    Args:
        values: one score from 0 to 1 for each item, shape (n,).
        clusters: the name of the cluster (video) of each item, n of them.
        groups: the name of the group of each item, n of them.
        weights: what the mean of each group counts, adding up to 0: 1 and -1 for a difference.
        name: what it is, for `method`.
        level: coverage of the interval; 1 less the level of the test.

    Raises:
        UsageError: a value outside of 0 to 1, a group of the weights without items, weights that do not add
            up to 0, not one cluster and group for each value, or a level outside (0, 1).

    Source: as `sandwich.Layout`; Agresti & Caffo (2000) for the cluster of each kind that is added.
    Departs: no interval below `LEAST_VIDEOS` clusters; clusters are added to groups alone that are all alike.

    >>> found = contrast(
    ...     [1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0],
    ...     clusters=[*"abcdef", *"abcdef"],
    ...     groups=["easy"] * 6 + ["hard"] * 6,
    ...     weights={"hard": 1, "easy": -1},
    ... )
    >>> round(found.estimate.value, 3), found.verdict
    (-0.667, 'clear')
    """
    from scipy.special import stdtr

    check_level(level)
    numbers = as_values(values)
    _check(numbers, clusters=clusters, groups=groups)
    _check_weights(weights, groups)
    kept = [i for i, group in enumerate(groups) if group in weights]
    numbers = numbers[kept]
    names, rows = as_labels([clusters[i] for i in kept], len(kept), what="clusters")
    labels, columns = as_labels([groups[i] for i in kept], len(kept), what="groups")
    shape = (len(names), len(labels))
    cells = rows * len(labels) + columns
    counts = np.bincount(cells, minlength=math.prod(shape)).astype(np.float64).reshape(shape)
    totals = np.bincount(cells, weights=numbers, minlength=math.prod(shape)).astype(np.float64).reshape(shape)
    layout = Layout.of(counts, weights=[weights[label] for label in labels])
    n_clusters = dict(zip(labels, (counts > 0).sum(axis=0).tolist(), strict=True))
    largest = sum(weight for weight in weights.values() if weight > 0)
    estimate = Estimate(
        value=float(layout.mean(totals)),
        low=math.nan,
        high=math.nan,
        level=level,
        n=len(kept),
        n_clusters=len(names),
        method=name,
        clustered_by=noun_of(clusters),
    )
    fewest = min(labels, key=lambda label: n_clusters[label])
    if n_clusters[fewest] < LEAST_VIDEOS:
        reason = f"{too_few(n_clusters[fewest], noun_of(clusters))} in {fewest}"
        method, p_value = f"{name}; no interval: {reason}", 1.0
        estimate = msgspec.structs.replace(estimate, method=method, reason=reason)
    else:
        error = math.sqrt(_variance(layout, totals))
        half = quantile(layout.dof, level) * error
        estimate = msgspec.structs.replace(
            estimate,
            low=max(-largest, estimate.value - half),
            high=min(largest, estimate.value + half),
            method=f"{name}; clustered error CR2, t with {layout.dof:.1f} degrees of freedom",
            dof=layout.dof,
        )
        p_value = 2 * float(stdtr(layout.dof, -abs(estimate.value) / error))
    return Contrast(
        weights={label: float(weights[label]) for label in weights},
        estimate=estimate,
        p_value=p_value,
        n_shared=int(((counts > 0).sum(axis=1) > 1).sum()),
    )


def trend_weights(labels: Sequence[str]) -> dict[str, float]:
    """The weights of a slope: by how much the mean of a group grows from one label to the next.

    It is the slope of the straight line through the means of the groups, each alike, one step apart.

    Args:
        labels: the groups in their order, two or more.

    Raises:
        UsageError: fewer than two labels, or one twice.

    >>> trend_weights(["1", "2", "3"])
    {'1': -0.5, '2': 0.0, '3': 0.5}
    """
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise UsageError(
            f"a trend over {', '.join(labels) or 'nothing'}; expected two different groups or more"
        )
    steps = np.arange(len(labels)) - (len(labels) - 1) / 2
    return dict(zip(labels, (steps / (steps @ steps)).tolist(), strict=True))


def _check(numbers: NDArray[np.float64], *, clusters: Sequence[str], groups: Sequence[str]) -> None:
    if numbers.min() < 0 or numbers.max() > 1:
        raise UsageError(f"scores from {numbers.min():g} to {numbers.max():g}; expected 0 to 1")
    for what, labels in (("clusters", clusters), ("groups", groups)):
        if len(labels) != len(numbers):
            raise UsageError(f"{len(labels)} {what} for {len(numbers)} values; expected one for each")


def _check_weights(weights: Mapping[str, float], groups: Sequence[str]) -> None:
    broken = {label: weight for label, weight in weights.items() if not math.isfinite(weight)}
    if broken:
        label, weight = next(iter(broken.items()))
        raise UsageError(f"the weight of {label!r} is {weight}; expected a finite number")
    total = math.fsum(weights.values())
    if len(weights) < 2 or not any(weights.values()) or abs(total) > 1e-9:
        listed = ", ".join(f"{label}: {weight:g}" for label, weight in weights.items())
        raise UsageError(
            f"weights {listed or 'of nothing'}; expected two groups or more whose weights add up to 0, such "
            "as 1 and -1"
        )
    if missing := [label for label in weights if label not in set(groups)]:
        raise UsageError(f"no item in {', '.join(map(repr, missing))}; there is nothing to compare")


def _variance(layout: Layout, totals: NDArray[np.float64]) -> float:
    """The variance of the weighted sum; groups in which all videos are alike add what they may hide.

    So do all groups where the videos differ within groups and yet the sum does not.
    """
    means, n_videos = totals.sum(axis=0) / layout.sizes, (layout.counts > 0).sum(axis=0)
    is_alike = (np.abs(totals - layout.counts * means) < ROUNDING * layout.sizes).all(axis=0)
    seen = float(layout.variance(totals))
    # One more video that is all right and one that is all wrong.
    shares = (n_videos * means + 1) / (n_videos + 2)
    hidden = layout.weights**2 * shares * (1 - shares) / (n_videos + 2)
    return seen + float(hidden[is_alike if seen > 0 else slice(None)].sum())
