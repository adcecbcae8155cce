"""Counts to choose among: five questions share them, and each count is right in one of the five."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError

N_OTHERS = 4
# Three occurrences are the fewest that are three pieces of evidence.
LEAST_COUNT = 3
# The largest of five options is at most so many times the smallest: counts far apart take no counting.
MOST_TIMES = 4


def shared_options(counts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """For each right count of many questions its five options, ascending; none where it is left over.

    Five questions with five different counts share these counts as their options. So each option is right
    in one of the five, and nothing that can be said of an option by itself (the smallest, the middle one, one
    that is common as a count) is right in more. As small counts are many and large ones few, the largest that
    is left comes first and is joined by those that the most questions are left with; some small ones are left
    over in the end. Of equal counts the first come first.

    Args:
        counts: what is right, one for each question.

    Source: HERBench, section 7.5 (the rank of the right count varies uniformly over the options).
    Departs: the paper does not say how; wrong counts that are nobody's right one would be told by their size.

    >>> shared_options([4, 3, 3, 5, 6, 7])
    ((3, 4, 5, 6, 7), (3, 4, 5, 6, 7), (), (3, 4, 5, 6, 7), (3, 4, 5, 6, 7), (3, 4, 5, 6, 7))
    """
    left = Counter(counts)
    dealt: dict[int, list[tuple[int, ...]]] = {}
    for largest in sorted(left, reverse=True):
        while left[largest]:
            near = [one for one in left if left[one] and one < largest <= MOST_TIMES * one]
            if len(near) < N_OTHERS:
                break
            others = sorted(near, key=lambda one: (-left[one], -one))[:N_OTHERS]
            options = tuple(sorted((*others, largest)))
            for one in options:
                left[one] -= 1
                dealt.setdefault(one, []).append(options)
    queues = {one: iter(options) for one, options in dealt.items()}
    return tuple(next(queues.get(one, iter(())), ()) for one in counts)


def counts_around(right: int, *, rank: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Five counts of which the right one has `rank` others below it, ascending, none below 0.

    Neighbouring counts are apart by 1 to a quarter of what the right one is above `LEAST_COUNT`, so that
    large counts are not asked to the unit.

    Args:
        right: the right count.
        rank: how many of the others are smaller, 0 to 4.
        rng: draws the distances.

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
    return tuple(int(count) for count in (*below[::-1], right, *above))
