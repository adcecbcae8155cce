"""The numbers of frames that searches of `mrfs` try: the maximum, and monotonicity of answers."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final


def bisect_steps(low: int, high: int) -> int:
    """Return the most numbers that bisecting `low` to `high` tries.

    >>> bisect_steps(1, 16), bisect_steps(1, 1)
    (4, 0)
    """
    return (high - low).bit_length()


def official_steps(low: int, high: int) -> int:
    """Return the most numbers that the released search tries; the final one is tried again.

    >>> official_steps(1, 16)
    4
    """

    @cache
    def longest(low: int, high: int) -> int:
        middle = (low + high) // 2
        return 0 if middle <= low else 1 + max(longest(low, middle), longest(middle + 1, high))

    return longest(low, high) + 1


MOST_STEPS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "nested-bisect": bisect_steps,
    "exhaustive": lambda low, high: high - low,
    "official": official_steps,
}
"""Step counts by mode, from the smallest and largest number of frames."""


def is_monotone(right: Mapping[int, bool | None], tried: range) -> bool | None:
    """Whether right answers stay right with more frames; None if too few are known.

    >>> is_monotone({1: False, 2: True}, range(1, 3)), is_monotone({1: True, 2: False}, range(1, 3))
    (True, False)
    >>> is_monotone({2: True}, range(1, 3)) is None
    True
    """
    entries = [right.get(n) for n in tried if n > 0]
    seen = [is_right for is_right in entries if is_right is not None]
    if seen != sorted(seen):
        return False
    return True if entries and len(seen) == len(entries) else None
