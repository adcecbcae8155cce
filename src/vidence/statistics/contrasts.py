"""Groups of items of one run against each other, such as hard questions less easy ones.

The groups share videos, so a difference between them is not one of two independent means: the error is that
of `sandwich.Layout` for a weighted sum of the means of groups, in which a video that has items in several
groups counts once.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record, noun_of
from vidence.statistics.intervals import ClusteredMean, too_few
from vidence.statistics.paired import Verdict, verdict
from vidence.statistics.resampling import ROUNDING, as_values, check_level
from vidence.statistics.sandwich import Layout
from vidence.statistics.student import quantile, two_sided

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
        """Whether it differs clearly from 0."""
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
        level: coverage of the interval; 1 minus the level of the test.

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
    check_level(level)
    numbers = as_values(values)
    _check(numbers, clusters=clusters, groups=groups)
    _check_weights(weights, groups)
    kept = [i for i, group in enumerate(groups) if group in weights]
    labels, noun = sorted(weights), noun_of(clusters)
    mean = ClusteredMean.of(
        numbers[kept], clusters=[clusters[i] for i in kept], groups=[groups[i] for i in kept]
    )
    layout = Layout.of(mean.layout.counts, weights=[weights[label] for label in labels])
    has_items = layout.counts > 0
    n_fewest, fewest = min(zip(has_items.sum(axis=0).tolist(), labels, strict=True))
    reason = f"{too_few(n_fewest, noun)} in {fewest}" if n_fewest < LEAST_VIDEOS else ""
    how = f"no interval: {reason}"
    value, half, p_value = float(layout.mean(mean.totals)), math.nan, 1.0
    if not reason:
        error = math.sqrt(_variance(layout, mean.totals))
        half, p_value = quantile(layout.dof, level) * error, two_sided(layout.dof, value / error)
        how = f"clustered error CR2, t with {layout.dof:.1f} degrees of freedom"
    largest = sum(weight for weight in weights.values() if weight > 0)
    low, high = np.clip([value - half, value + half], -largest, largest).tolist()
    return Contrast(
        weights={label: float(weights[label]) for label in weights},
        estimate=Estimate(
            value=value,
            low=low,
            high=high,
            level=level,
            n=len(kept),
            n_clusters=layout.n_clusters,
            method=f"{name}; {how}",
            dof=None if reason else layout.dof,
            reason=reason,
            clustered_by=noun,
        ),
        p_value=p_value,
        n_shared=int((has_items.sum(axis=1) > 1).sum()),
    )


def trend_weights(labels: Sequence[str]) -> dict[str, float]:
    """The weights of a slope: by how much the mean of a group grows from one label to the next.

    It is the slope of the straight line through the means of the groups, each alike, one step apart.

    Args:
        labels: the groups in order, two or more.

    Raises:
        UsageError: fewer than two labels, or one twice.

    >>> trend_weights(["1", "2", "3"])
    {'1': -0.5, '2': 0.0, '3': 0.5}
    """
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise UsageError(
            f"a trend over {', '.join(labels) or 'nothing'}; expected two or more different groups"
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
    if broken := {label: weight for label, weight in weights.items() if not math.isfinite(weight)}:
        label, weight = next(iter(broken.items()))
        raise UsageError(f"the weight of {label!r} is {weight}; expected a finite number")
    total = math.fsum(weights.values())
    if len(weights) < 2 or not any(weights.values()) or abs(total) > 1e-9:
        listed = ", ".join(f"{label}: {weight:g}" for label, weight in weights.items())
        raise UsageError(
            f"weights {listed or 'of nothing'}; expected two groups or more with weights that add up to 0, "
            "such as 1 and -1"
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
