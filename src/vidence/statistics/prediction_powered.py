"""Scores corrected for what reading and judging get wrong, by some replies that a person read.

A program marks every reply, a person marks some, drawn by strata of what the program made of them. The mean
of the program is precise and may be off; that of the person is right and imprecise. Here they are one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics.intervals import SHARE, UNBOUNDED, Bounds, ClusteredMean, Values, share_ends
from vidence.statistics.resampling import as_labels, as_values, mean_weights
from vidence.statistics.student import quantile, two_sided

APART: Bounds = (-1.0, 1.0)
LEAST_READ = 5
"""Replies of each stratum that are read where there are so many, and room for it."""


def allocated(sizes: Sequence[int], spreads: Sequence[float], n: int) -> tuple[int, ...]:
    """How many of each stratum a person reads: at least `LEAST_READ`, the others where they tell most.

    Args:
        sizes: how many replies each stratum has.
        spreads: how much marks by a person are expected to vary in it (a standard deviation).
        n: how many are read in all, as far as there are so many.

    Source: Neyman (1934); Wright (2012), "The equivalence of Neyman optimum allocation for sampling and equal
        proportions for apportioning the U.S. House of Representatives" (whole numbers).
    Departs: the least number.

    >>> allocated([900, 90, 3], [0.15, 0.5, 0.5], 50)
    (35, 12, 3)
    """
    least = max(2, min(LEAST_READ, n // len(sizes)))
    values = [min(size, least) for size in sizes]
    for _ in range(min(n, sum(sizes)) - sum(values)):
        gains = [
            size * spread / math.sqrt(k * (k + 1)) if k < size else -1.0
            for size, spread, k in zip(sizes, spreads, values, strict=True)
        ]
        values[gains.index(max(gains))] += 1
    return tuple(values)


@dataclass(frozen=True, kw_only=True)
class PseudoMarks:
    """Marks of replies of a run, of which a person read some.

    The mean of `values`, shape (n_items,), estimates the score that the person would give to all. `codes` are
    the strata of the items and `is_read` says which were read, shape (n_items,). `shares`, shape (n_strata,),
    is the mean mark by the person of each stratum, or by the program where the person read nothing of it.

    Source: Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient Prediction-Powered Inference", the mean and
        power tuning; Fisch and others (2024), "Stratified Prediction-Powered Inference for Hybrid Language
        Model Evaluation", section 4 (strata).
    Departs: the mark that is expected of a reply is the mean of what was read in its stratum, in place of
        lambda times its mark. In strata with one mark each this is the estimate at every lambda, and its
        variance is that at the best one; no lambda is estimated from few replies.
    """

    values: Values
    codes: NDArray[np.int64]
    is_read: NDArray[np.bool_]
    shares: Values

    @classmethod
    def of(cls, marks: ArrayLike, *, read: ArrayLike, strata: Sequence[str]) -> "PseudoMarks":
        """Put the marks of program and person together, for all replies that could be drawn.

        Args:
            marks: by the program, from 0 to 1, shape (n_items,).
            read: by the person; NaN if it was not read.
            strata: of each item, by which it was drawn.

        Raises:
            UsageError: no marks, one that is not finite, or not one mark by the person and stratum for each.
        """
        numbers, people = as_values(marks), np.asarray(read, np.float64)
        if people.shape != numbers.shape:
            raise UsageError(f"{people.size} marks by a person for {numbers.size} items; give NaN where none")
        names, codes = as_labels(strata, len(numbers), what="strata")
        is_read, n = ~np.isnan(people), len(names)
        n_all, n_read = (np.bincount(some, minlength=n) for some in (codes, codes[is_read]))
        sums = np.bincount(codes[is_read], weights=people[is_read], minlength=n)
        shares = np.where(n_read > 0, sums, np.bincount(codes, weights=numbers)) / np.where(
            n_read > 0, n_read, n_all
        )
        values = shares[codes]
        values[is_read] += ((n_all / np.maximum(n_read, 1))[codes] * (people - values))[is_read]
        return cls(values=values, codes=codes, is_read=is_read, shares=shares)

    @property
    def n_read(self) -> int:
        """How many the person read."""
        return int(self.is_read.sum())

    def part(self, positions: Sequence[int]) -> "PseudoMarks":
        """Those of some of the items; what is expected of a reply stays the mean over the whole stratum."""
        at = list(positions)
        return replace(self, values=self.values[at], codes=self.codes[at], is_read=self.is_read[at])

    def slack(self, weights: Values, *, level: float) -> tuple[float, float]:
        """What rare errors add to the variance of a mean, below it and above it.

        Where few replies were read otherwise, or none, their variance says that there are no others. By as
        much as Wilson's interval of the share in a stratum reaches further, its part of the mean may, too.

        Args:
            weights: of the items in the mean, shape (n_items,).
            level: coverage of the interval.

        Source: Wilson (1927); Zou & Donner (2008), "Construction of confidence limits about effect measures:
            a general approach" (limits of parts, in squares).
        Departs: only what goes beyond the variance of the marks is added, and less where more was read.
        """
        z, p = quantile(math.inf, level), self.shares
        n_all, n = (np.bincount(some, minlength=len(p)) for some in (self.codes, self.codes[self.is_read]))
        unread = 1 - n / np.maximum(n_all, 1)
        factor = np.bincount(self.codes, weights=weights, minlength=len(p)) ** 2 * unread
        spread = p * (1 - p)
        centre, half = (n * p + z**2 / 2) / (n + z**2), z / (n + z**2) * np.sqrt(n * spread + z**2 / 4)
        seen = np.where(n > 0, spread / np.maximum(n, 1), 0.0)
        below, above = (((half + side * (p - centre)) / z) ** 2 - seen for side in (1, -1))
        return float(factor @ np.maximum(below, 0)), float(factor @ np.maximum(above, 0))


def corrected(
    marks: PseudoMarks,
    less: PseudoMarks | None = None,
    *,
    clusters: Sequence[str],
    groups: Sequence[str] | None = None,
    level: float = 0.95,
) -> tuple[Estimate, float]:
    """The mean mark as a person would give it, or by how much it is above another, and the p-value of 0.

    The interval is that of `mean_interval`, or of the difference, on the pseudo-marks, and reaches further by
    `PseudoMarks.slack`. Where all was read it is that of the marks by the person.

    Args:
        marks: pseudo-marks of the items.
        less: those of the same items under another run, whose mean is subtracted.
        clusters: of each item.
        groups: of each item, for the unweighted mean of the means of groups.
        level: coverage of the interval.

    Raises:
        UsageError: as `mean_interval`; different numbers of items.

    Source: as `PseudoMarks`; error and degrees of freedom as `sandwich.Layout`; Miller, Adding Error Bars to
        Evals (2024), section 3.2 (paired differences).
    Departs: the papers have independent items and normal intervals.

    >>> read = [1, 1, 0, 0] + [math.nan] * 8
    >>> marks = PseudoMarks.of([1] * 12, read=read, strata=["right"] * 12)
    >>> corrected(marks, clusters=[str(i) for i in range(12)])[0].value
    0.5
    """
    weights = mean_weights(groups, len(marks.values))
    values, slack, bounds = marks.values, marks.slack(weights, level=level), SHARE
    if less is not None:
        if len(values) != len(less.values):
            raise UsageError(f"{len(values)} and {len(less.values)} items; expected the same items")
        values, bounds, other = values - less.values, APART, less.slack(weights, level=level)
        slack = slack[0] + other[1], slack[1] + other[0]
    mean = ClusteredMean.of(values, clusters=clusters, groups=groups)
    if less is not None and (marks.is_read & less.is_read).all():
        return mean.difference(bounds=APART, level=level)
    return reaching(mean, slack, bounds=bounds, level=level)


def reaching(
    mean: ClusteredMean, slack: tuple[float, float], *, bounds: Bounds, level: float
) -> tuple[Estimate, float]:
    """A mean of pseudo-marks or their differences with a slack on both sides, and its p-value of being 0."""
    plain, dof, value = mean.interval(bounds=UNBOUNDED, level=level), mean.layout.dof, mean.value
    is_share = bounds == SHARE
    if mean.reason:
        return plain, 1.0
    critical = quantile(dof, level)
    sides = (critical * math.sqrt(mean.variance),) * 2
    if is_share:
        value = min(max(value, 0.0), 1.0)
        ends = share_ends([value], [mean.variance], layout=mean.layout, level=level)
        sides = value - float(ends[0][0]), float(ends[1][0]) - value
    low, high = (
        math.hypot(side, critical * math.sqrt(more)) for side, more in zip(sides, slack, strict=True)
    )
    error = (low if value > 0 else high) / critical  # the side on which 0 lies decides
    estimate = msgspec.structs.replace(
        plain,
        value=value,
        low=max(bounds[0], value - low),
        high=min(bounds[1], value + high),
        method=f"prediction-powered {'mean; Wilson with unseen clusters' if is_share else 'difference'}, "
        f"clustered error CR2, t with {dof:.1f} degrees of freedom, wider by Wilson's limits of strata",
        dof=dof,
        reason="",
    )
    return estimate, two_sided(dof, value / error) if error > 0 else float(value == 0)
