"""Asking the same questions again: how far the score moves, and what that says and does not say.

Two uncertainties are kept apart. *Repeat*: the same questions, asked again, are answered differently
(temperature, servers). *Sampling*: other questions on other videos would have been easier or harder. More
repeats shrink the first alone.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record
from vidence.statistics.intervals import SHARE, UNBOUNDED, Bounds, ClusteredMean, mean_interval
from vidence.statistics.resampling import as_values, mean_weights


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
        raise UsageError(f"values of shape {numbers.shape}; expected items by repeats")
    broken = np.argwhere(~np.isfinite(numbers))
    if len(broken):
        item, repeat = broken[0].tolist()
        raise UsageError(f"item {item}, repeat {repeat}: not a number; leave out items that lack a repeat")


def summarise(scores: ArrayLike, *, bounds: Bounds = UNBOUNDED, level: float = 0.95) -> RepeatSummary:
    """Mean, sample variance and t interval of the scores of several runs.

    ``mean +- t((1 + level) / 2, r - 1) * sqrt(variance / r)``. The interval says how far the score moves
    when the same questions are asked again, and nothing about other questions.

    Args:
        scores: one score for each run of the same questions, shape (r,).
        bounds: the minimum and maximum value there can be; the interval ends there.
        level: coverage of the interval.

    Raises:
        UsageError: no scores, one that is not finite, or a level outside (0, 1).

    Source: HumanPCR, section F.3 and table 11 (three runs).
    Departs: the paper's caption says standard deviation; its rows hold the variance, which the printed
        intervals confirm. It has no bounds.

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
    low, high = max(mean.low, bounds[0]), min(mean.high, bounds[1])  # NaN, of no interval, stays NaN
    mean = msgspec.structs.replace(mean, low=low, high=high, method=method, reason=reason)
    return RepeatSummary(mean=mean, variance=variance, n_repeats=n)


def components(
    values: ArrayLike,
    *,
    clusters: Sequence[str],
    groups: Sequence[str] | None = None,
    bounds: Bounds = SHARE,
    level: float = 0.95,
) -> Components:
    """Take the uncertainty of a mean apart into repeats and the sample of questions.

    The variance within questions comes from the repeats (mean of the sample variances); it adds
    ``repeat_variance / (n r)`` to the squared error of the mean over items. The clustered error of the item
    means holds both parts, so that the rest is due to the sample of questions and videos.

    Repeats count as independent of each other. Something that moves a whole run at once, such as another
    version of the model, is not in `repeat_error`; `summarise` of the run means sees it.

    Args:
        values: shape (n, r), r >= 2 repeats of each of n items.
        clusters: the name of the cluster (video) of each item, n of them.
        groups: where given, the mean is that over these groups, each alike, and so are its errors.
        bounds: the minimum and maximum value there can be; infinite for what has no limit.
        level: coverage of the interval.

    Raises:
        UsageError: fewer than two repeats, a value that is not finite or outside `bounds`, not one cluster,
            or group, for each item, or a level outside (0, 1).

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
    averaged = ClusteredMean.of(means, clusters=clusters, groups=groups)
    estimate, total = averaged.interval(bounds=bounds, level=level), averaged.error
    within_each = numbers.var(axis=1, ddof=1)
    within = float(within_each.mean())
    between = float(means.var(ddof=1)) - within / n_repeats if n > 1 else math.nan
    of_repeats = float(mean_weights(groups, n) ** 2 @ within_each) / n_repeats
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


# --------------------------------------------------------------------------- what repeats find


def pass_at(n_right: ArrayLike, *, n_repeats: int, k: int) -> NDArray[np.float64]:
    """The chance that at least one of k repeats is right, for each item ("pass@k").

    ``1 - C(r - c, k) / C(r, k)`` with c of r repeats right: the share of all ways to take k of the repeats
    that hold a right one. Its mean over r is free of bias, which ``1 - (1 - c/r)^k`` is not.

    Args:
        n_right: how many repeats of each item are right, shape (n_items,).
        n_repeats: how many repeats there are.
        k: how many of them are taken.

    Raises:
        UsageError: k is not between 1 and `n_repeats`, or a count not between 0 and `n_repeats`.

    Source: Chen and others, Evaluating Large Language Models Trained on Code (2021), section 2.1.
    Departs: no.

    >>> pass_at([0, 1, 3], n_repeats=3, k=2).round(3)
    array([0.   , 0.667, 1.   ])
    """
    counts = _checked_counts(n_right, n_repeats=n_repeats, k=k)
    return 1 - _all_of(n_repeats - counts, n_repeats=n_repeats, k=k)


def pass_all(n_right: ArrayLike, *, n_repeats: int, k: int) -> NDArray[np.float64]:
    """The chance that all of k repeats are right, for each item ("pass^k").

    ``C(c, k) / C(r, k)`` with c of r repeats right.

    Args:
        n_right: how many repeats of each item are right, shape (n_items,).
        n_repeats: how many repeats there are.
        k: how many of them are taken.

    Raises:
        UsageError: k is not between 1 and `n_repeats`, or a count not between 0 and `n_repeats`.

    Source: Yao and others, tau-bench (2024), section 4.2.
    Departs: no.

    >>> pass_all([0, 2, 3], n_repeats=3, k=2).round(3)
    array([0.   , 0.333, 1.   ])
    """
    counts = _checked_counts(n_right, n_repeats=n_repeats, k=k)
    return _all_of(counts, n_repeats=n_repeats, k=k)


def _checked_counts(n_right: ArrayLike, *, n_repeats: int, k: int) -> NDArray[np.int64]:
    counts = np.asarray(n_right, np.int64)
    if not 1 <= k <= n_repeats:
        raise UsageError(f"{k} of {n_repeats} repeats; expected k from 1 to the number of repeats")
    if counts.size and not (counts.min() >= 0 and counts.max() <= n_repeats):
        raise UsageError(
            f"between {counts.min()} and {counts.max()} of {n_repeats} repeats are right; "
            f"expected 0 to {n_repeats}"
        )
    return counts


def _all_of(counts: NDArray[np.int64], *, n_repeats: int, k: int) -> NDArray[np.float64]:
    ways = np.array([math.comb(c, k) / math.comb(n_repeats, k) for c in range(n_repeats + 1)])
    return np.asarray(ways[counts], np.float64)


def vote_at(votes: Sequence[Hashable | None], values: ArrayLike, *, k: int) -> float:
    """What the answer that most of k repeats give gets: the mean over all ways to take k of them.

    Of answers that are given equally often each counts alike. A repeat without an answer is no vote; k
    repeats without any get 0.

    Args:
        votes: the answer of each repeat; None if there is none.
        values: what each repeat gets, shape (n_repeats,); an answer gets the mean over those that give it.
        k: how many of them are taken.

    Raises:
        UsageError: k is not between 1 and the number of repeats, or not one value for each.

    Source: Wang and others, Self-Consistency (2023), section 2, for all repeats; the mean over subsets is
        that of `pass_at`.
    Departs: ties are split, see `majority`.

    >>> vote_at(["A", "A", "B"], [1, 1, 0], k=1), vote_at(["A", "A", "B"], [1, 1, 0], k=3)
    (0.6666666666666666, 1.0)
    """
    numbers = _of_each(values, len(votes), k=k)
    sizes = Counter(vote for vote in votes if vote is not None)
    gets = {
        vote: float(np.mean([v for hashable, v in zip(votes, numbers, strict=True) if hashable == vote]))
        for vote in sizes
    }
    n_silent = len(votes) - sum(sizes.values())
    # Ways to take some so far: how many, the most of one answer, how many answers have so many, their sum.
    ways: Counter[tuple[int, int, int, float]] = Counter(
        {(n, 0, 0, 0.0): math.comb(n_silent, n) for n in range(min(k, n_silent) + 1)}
    )
    for vote, size in sizes.items():
        longer: Counter[tuple[int, int, int, float]] = Counter()
        for (taken, most, n_first, total), number in ways.items():
            for n in range(min(size, k - taken) + 1):
                now = (taken + n, most, n_first, total)
                if n > most:
                    now = (taken + n, n, 1, gets[vote])
                elif n and n == most:
                    now = (taken + n, most, n_first + 1, total + gets[vote])
                longer[now] += number * math.comb(size, n)
        ways = longer
    value = sum(
        number * total / n_first
        for (taken, _, n_first, total), number in ways.items()
        if taken == k and n_first
    )
    return value / math.comb(len(votes), k)


def best_of(ranks: ArrayLike, values: ArrayLike, *, k: int) -> float:
    """What the best-ranked of k repeats gets: the mean over all ways to take k of them, ties split evenly.

    With b repeats ranked below a rank that g repeats share, ``C(b + g, k) - C(b, k)`` of the
    ``C(n, k)`` ways have that rank as their highest.

    Args:
        ranks: the rank of each repeat, such as points; higher is better, shape (n_repeats,).
        values: what each repeat gets, shape (n_repeats,).
        k: how many of them are taken.

    Raises:
        UsageError: k is not between 1 and the number of repeats, or not one value for each.

    >>> best_of([4, 1, 1], [1, 0, 0], k=1), best_of([4, 1, 1], [1, 0, 0], k=2)
    (0.3333333333333333, 0.6666666666666666)
    """
    ranked = as_values(ranks)
    numbers, n = _of_each(values, len(ranked), k=k), len(ranked)
    best = 0.0
    for rank in np.unique(ranked):
        n_below, n_here = int((ranked < rank).sum()), int((ranked == rank).sum())
        n_ways = math.comb(n_below + n_here, k) - math.comb(n_below, k)
        best += n_ways * float(numbers[ranked == rank].mean())
    return best / math.comb(n, k)


def _of_each(values: ArrayLike, n: int, *, k: int) -> NDArray[np.float64]:
    """One value for each of n repeats, of which k are taken."""
    numbers = as_values(values)
    if len(numbers) != n:
        raise UsageError(f"{len(numbers)} values for {n} repeats; expected one for each")
    if not 1 <= k <= n:
        raise UsageError(f"{k} of {n} repeats; expected k from 1 to the number of repeats")
    return numbers
