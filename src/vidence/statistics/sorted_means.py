"""Means in the order of their size, with the order that equal things would show by chance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.statistics.resampling import BLOCK_CELLS, ROUNDING, check_level

N_DRAWS: Final = 2000


@dataclass(frozen=True, kw_only=True)
class Marks:
    """The marks of one rater, and of which thing each is: two rows of shape (n,)."""

    values: NDArray[np.float64]
    things: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.values.ndim != 1 or self.values.shape != self.things.shape or not len(self.values):
            raise UsageError(
                f"marks of shapes {self.values.shape} and {self.things.shape}; expected two rows of one "
                "length, with one mark at least"
            )


@dataclass(frozen=True, kw_only=True)
class SortedMeans:
    """The means from the highest to the lowest, and where those of each place lie by sorting alone.

    Shapes: all (n_things,), but for `p_value`. `order` holds things; `means`, `low`, `middle` and `high` are
    by place. `p_value` is how often things that do not differ have means that spread as far.
    """

    order: NDArray[np.int64]
    means: NDArray[np.float64]
    low: NDArray[np.float64]
    middle: NDArray[np.float64]
    high: NDArray[np.float64]
    p_value: float
    p_questions: float


def sorted_means(
    raters: Sequence[Marks],
    *,
    n_things: int,
    rng: np.random.Generator,
    are_alike: bool = False,
    level: float = 0.95,
    n_draws: int = N_DRAWS,
) -> SortedMeans:
    """The mean of each thing over raters, sorted, with the envelope of means that differ by luck alone.

    A rater's score of a thing is the mean of its marks there, and raters count alike. In each draw every
    rater's marks are dealt out again over its places, so that it keeps its own mean and no thing is harder
    than another; the envelope is of the sorted means of the draws, place by place.

    Args:
        raters: their marks; every thing has a mark of one of them.
        n_things: how many things there are.
        rng: source of random draws.
        are_alike: whether the marks of all raters are of the same questions in the same order. Whole
            questions, with the marks of all raters, are then dealt out besides, for `p_questions`.
        level: how many of the draws lie inside the envelope at each place.
        n_draws: how many draws.

    Raises:
        UsageError: no raters, a thing without marks, or a level outside (0, 1).

    Source: ActPLD, figures 7 and 9 (sorted means of actions over models).
    Departs: the paper draws no envelope; dealing marks out is a permutation test (Good, 2005, section 3.1).

    >>> one = Marks(values=np.array([1.0, 0.0]), things=np.array([1, 0]))
    >>> sorted_means([one], n_things=2, rng=np.random.default_rng(0)).order.tolist()
    [1, 0]
    """
    check_level(level)
    if not raters:
        raise UsageError("no raters; expected one at least")
    n_own = np.array([np.bincount(rater.things, minlength=n_things) for rater in raters])
    if not n_own.any(axis=0).all():
        raise UsageError(f"thing {int(np.argmin(n_own.any(axis=0)))} has no mark; leave it out")
    means = _means([rater.values[None, :] for rater in raters], raters, n_own)[0]
    rows = max(1, BLOCK_CELLS // max(sum(len(rater.values) for rater in raters), n_things))
    drawn, entries = [], []
    for start in range(0, n_draws, rows):
        n = min(rows, n_draws - start)
        dealt = [rng.permuted(np.tile(rater.values, (n, 1)), axis=1) for rater in raters]
        drawn.append(_means(dealt, raters, n_own))
        if are_alike:
            orders = rng.permuted(np.tile(np.arange(len(raters[0].values)), (n, 1)), axis=1)
            entries.append(_means([rater.values[orders] for rater in raters], raters, n_own))
    null = np.concatenate(drawn)
    p_value = _p_of_spread(means, null)
    p_questions = _p_of_spread(means, np.concatenate(entries)) if entries else math.nan
    null = -np.sort(-null, axis=1)
    order = np.argsort(-means, kind="stable")
    tail = (1 - level) / 2
    low, middle, high = np.quantile(null, (tail, 0.5, 1 - tail), axis=0)
    return SortedMeans(
        order=order.astype(np.int64),
        means=means[order],
        low=low,
        middle=middle,
        high=high,
        p_value=p_value,
        p_questions=p_questions,
    )


def _p_of_spread(means: NDArray[np.float64], null: NDArray[np.float64]) -> float:
    """How often draws spread as far as the means that were seen, which count among them."""
    n_reached = int((null.var(axis=1) >= means.var() - ROUNDING).sum())
    return (n_reached + 1) / (len(null) + 1)


def _means(
    dealt: Sequence[NDArray[np.float64]], raters: Sequence[Marks], n_own: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The means of things over the raters that have marks there, shape (n_draws, n_things)."""
    n_things = n_own.shape[1]
    total = np.zeros((len(dealt[0]), n_things))
    for values, rater, n in zip(dealt, raters, n_own, strict=True):
        of_thing = np.zeros((len(rater.things), n_things))
        of_thing[np.arange(len(rater.things)), rater.things] = 1 / n[rater.things]
        total += values @ of_thing
    of_raters: NDArray[np.float64] = total / (n_own > 0).sum(axis=0)
    return of_raters
