"""Counts to choose among, with the right one at a given rank."""

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError

N_OTHERS = 4
# The smallest count that can have any rank among five counts, since none is below 0.
LEAST_COUNT = N_OTHERS


def counts_around(right: int, *, rank: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Four other counts, so that the right one has `rank` others below it.

    Neighbouring counts are apart by 1 to a quarter of what the right one is above `LEAST_COUNT`, so that
    large counts are not asked to the unit and, from twice `LEAST_COUNT` on, no option is below what a right
    answer can be.

    Args:
        right: the right count.
        rank: how many of the others are smaller, 0 to 4.
        rng: draws the distances.

    Returns:
        The others, ascending, distinct, none below 0.

    Raises:
        UsageError: a rank outside 0 to 4, or a count below the rank.

    Source: HERBench, section 7.5 (the rank of the right count varies uniformly over the options).
    Departs: the paper does not say how far apart the counts are.
    """
    if not 0 <= rank <= N_OTHERS or right < rank:
        raise UsageError(
            f"count {right} with {rank} smaller ones; expected 0 to 4 smaller ones, none below 0"
        )
    widest = max(1, (right - LEAST_COUNT) // N_OTHERS)
    steps: NDArray[np.int64] = rng.integers(1, widest + 1, size=N_OTHERS)
    below = right - np.cumsum(steps[:rank])
    above = right + np.cumsum(steps[rank:])
    return tuple(int(count) for count in (*below[::-1], *above))
