"""How far means over models would come out alike with other models or other questions, by split halves."""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError

N_SPLITS: Final = 200
LEAST_RATERS: Final = 4  # two in each half


def stepped_up(r: float) -> float:
    """The reliability of a whole whose halves correlate so; NaN where the halves have nothing in common.

    Source: Spearman (1910); Brown (1910).
    Departs: no value at or below 0 is given, since the formula has no meaning there.

    >>> round(stepped_up(0.5), 4)
    0.6667
    """
    return 2 * r / (1 + r) if r > 0 else math.nan


def reliability(scores: ArrayLike, *, rng: np.random.Generator, n_splits: int = N_SPLITS) -> float:
    """How far the means of things over raters come out alike with other raters of the kind.

    The raters (such as models) are split into halves at random, `n_splits` times; the correlations of the
    halves' means are averaged and stepped up to all raters.

    Args:
        scores: shape (n_raters, n_things), without gaps.
        rng: where the splits come from.
        n_splits: how many.

    Returns:
        From 0 to 1; NaN with fewer than four raters or three things, or where halves have nothing in common.

    Raises:
        UsageError: not a table of finite numbers.

    >>> planted = np.arange(8.0) + np.random.default_rng(0).normal(0, 0.1, (6, 8))
    >>> reliability(planted, rng=np.random.default_rng(0)) > 0.99
    True
    """
    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise UsageError(f"scores of shape {table.shape}; expected finite numbers, raters by things")
    n_raters, n_things = table.shape
    if n_raters < LEAST_RATERS or n_things < 3:
        return math.nan
    found = []
    for _ in range(n_splits):
        order = rng.permutation(n_raters)
        halves = order[: n_raters // 2], order[n_raters // 2 :]
        found.append(_r(*(table[list(half)].mean(axis=0) for half in halves)))
    known = [r for r in found if not math.isnan(r)]
    return stepped_up(float(np.mean(known))) if known else math.nan


def ceiling(first: float, second: float) -> float:
    """The highest correlation that two measures of these reliabilities can have but for luck.

    Source: Spearman (1904), correction for attenuation.
    Departs: no.
    """
    return math.sqrt(first * second) if first > 0 and second > 0 else math.nan


def _r(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])
