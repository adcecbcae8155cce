"""Asking the same questions again: how far the score moves, and what that says and does not say.

Two uncertainties are kept apart. *Repeat*: the same questions, asked again, are answered differently
(temperature, servers). *Sampling*: other questions on other videos would have been easier or harder. More
repeats shrink the first alone.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.statistics.intervals import SHARE, UNBOUNDED, Bounds, clustered_error, mean_interval
from vidence.statistics.resampling import as_labels, as_values


class RepeatSummary(Record):
    """The scores of several runs of the same questions.

    `variance` is the sample variance of the `n_repeats` scores (NaN for one), in squared units of the
    scores; `mean` has the t interval over repeats.
    """

    mean: Estimate
    variance: float
    n_repeats: int


class Components(Record):
    """Where the uncertainty of a mean over repeated questions comes from.

    `mean` has the interval for both together: other questions, asked as often. `repeat_error` is the
    standard error that is left if the questions stay the same, `sampling_error` the one that would be
    left with endless repeats; the squares of the two add up to the square of `total_error`, unless that
    would make `sampling_error` imaginary (then it is 0). `repeat_variance` is the mean variance within a
    question, `item_variance` the variance between the long-run means of questions.
    """

    mean: Estimate
    total_error: float
    repeat_error: float
    sampling_error: float
    repeat_variance: float
    item_variance: float
    n_items: int
    n_clusters: int
    n_repeats: int

    def error_with(self, n_repeats: int) -> float:
        """The standard error to expect if each of these questions were asked so often.

        Raises:
            UsageError: fewer than one repeat.
        """
        if n_repeats < 1:
            raise UsageError(f"n_repeats {n_repeats}; expected 1 or more")
        return math.sqrt(self.sampling_error**2 + self.repeat_variance / (self.n_items * n_repeats))


def over_repeats(values: ArrayLike) -> NDArray[np.float64]:
    """One value for each item: the value itself, or the mean over its repeats.

    Args:
        values: shape (n,), or (n, r) with r repeats of each item.

    Raises:
        UsageError: no values, another shape, or a value that is not finite.

    >>> over_repeats([[1, 0], [1, 1]])
    array([0.5, 1. ])
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 2:
        return as_values(numbers)
    _check_rectangle(numbers)
    return np.asarray(numbers.mean(axis=1), np.float64)


def _check_rectangle(numbers: NDArray[np.float64]) -> None:
    if numbers.ndim != 2 or not numbers.size:
        raise UsageError(
            f"values of shape {numbers.shape}; expected one row for each item and one column for each repeat"
        )
    broken = np.argwhere(~np.isfinite(numbers))
    if len(broken):
        item, repeat = broken[0].tolist()
        raise UsageError(
            f"value {numbers[item, repeat]} of item {item}, repeat {repeat}, is not a finite number; "
            "leave out items that lack a repeat"
        )


def item_means(values: ArrayLike, items: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The mean over the repeats of each item, from one value for each trial.

    Args:
        values: one for each trial, shape (n_trials,).
        items: the name of the item of each trial.

    Returns:
        The names of the items, sorted, and their means, shape (n_items,).

    Raises:
        UsageError: no values, one that is not finite, or not one item for each.
    """
    numbers = as_values(values)
    names, codes = as_labels(items, len(numbers), what="items")
    return names, np.bincount(codes, weights=numbers) / np.bincount(codes)


def summarise(scores: ArrayLike, *, level: float = 0.95) -> RepeatSummary:
    """Mean, sample variance and t interval of the scores of several runs.

    ``mean +- t((1 + level) / 2, r - 1) * sqrt(variance / r)``. The interval says how far the score moves
    when the same questions are asked again, and nothing about other questions.

    Args:
        scores: one score for each run of the same questions, shape (r,).
        level: coverage of the interval.

    Raises:
        UsageError: no scores, one that is not finite, or a level outside (0, 1).

    Source: HumanPCR, section F.3 and table 11 (three runs).
    Departs: the paper's caption says standard deviation; its rows hold the variance, which the printed
        intervals confirm.

    >>> summary = summarise([81.0, 82.0, 83.0])
    >>> summary.variance, round(summary.mean.high, 2)
    (1.0, 84.48)
    """
    numbers = as_values(scores)
    n = len(numbers)
    mean = mean_interval(numbers, clusters=[str(i) for i in range(n)], bounds=UNBOUNDED, level=level)
    variance, reason = math.nan, "a single repeat"
    method = f"mean over {n} repeats of the same items; t with {n - 1} degrees of freedom"
    if n > 1:
        variance = float(numbers.var(ddof=1))
        reason = "all repeats are alike" if mean.reason else ""
    if reason:
        method = f"mean over {n} repeats of the same items; no interval: {reason}"
    mean = msgspec.structs.replace(mean, method=method, reason=reason)
    return RepeatSummary(mean=mean, variance=variance, n_repeats=n)


def components(
    values: ArrayLike, *, clusters: Sequence[str], bounds: Bounds = SHARE, level: float = 0.95
) -> Components:
    """Take the uncertainty of a mean apart into repeats and the sample of questions.

    The variance within questions comes from the repeats (mean of the sample variances); it adds
    ``repeat_variance / (n r)`` to the squared error of the mean. The clustered error of the item means
    holds both parts, so that the rest is due to the sample of questions and videos.

    Repeats count as independent of each other. Something that moves a whole run at once, such as another
    version of the model, is not in `repeat_error`; `summarise` of the run means sees it.

    Args:
        values: shape (n, r), r >= 2 repeats of each of n items.
        clusters: the name of the cluster (video) of each item, n of them.
        bounds: the least and the greatest value there can be; infinite for what has no limit.
        level: coverage of the interval.

    Raises:
        UsageError: fewer than two repeats, a value that is not finite or outside `bounds`, not one cluster
            for each item, or a level outside (0, 1).

    Source: Miller, Adding Error Bars to Evals (2024), sections 2.2 and 3.1; Searle, Casella & McCulloch,
        Variance Components (1992), section 3.6 (balanced one-way analysis of variance).
    Departs: the error of the sample of questions is clustered by video; negative components are set to 0.

    >>> found = components([[1, 1], [0, 1], [0, 0]], clusters=["a", "b", "c"])
    >>> found.mean.value, round(found.repeat_error, 3)
    (0.5, 0.167)
    """
    numbers = np.asarray(values, np.float64)
    _check_rectangle(numbers)
    n, n_repeats = numbers.shape
    if n_repeats < 2:
        raise UsageError("1 repeat of each item; expected two or more to see how much repeats differ")
    means = numbers.mean(axis=1)
    estimate = mean_interval(means, clusters=clusters, bounds=bounds, level=level)
    total = clustered_error(means, clusters=clusters)
    within = float(numbers.var(axis=1, ddof=1).mean())
    between = float(means.var(ddof=1)) - within / n_repeats if n > 1 else math.nan
    of_repeats = within / (n * n_repeats)
    # NaN, of a single cluster, stays NaN.
    of_sampling = total**2 - of_repeats
    return Components(
        mean=estimate,
        total_error=total,
        repeat_error=math.sqrt(of_repeats),
        sampling_error=0.0 if of_sampling < 0 else math.sqrt(of_sampling),
        repeat_variance=within,
        item_variance=0.0 if between < 0 else between,
        n_items=n,
        n_clusters=estimate.n_clusters,
        n_repeats=n_repeats,
    )
