"""Ranges of counts as options: disjoint, and wider for larger counts."""

import math
from dataclasses import dataclass

import numpy as np

N_RANGES = 5
_NARROWEST = 2
# The right range reaches beyond what was counted by this share, one at least: a count may be off.
_SLACK = 0.1
_WIDTH = 0.5
_GROWTH = (1.25, 1.75)


@dataclass(frozen=True, kw_only=True)
class Range:
    """The whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    @property
    def width(self) -> int:
        """How many numbers it holds."""
        return self.high - self.low + 1

    @property
    def text(self) -> str:
        """As an option."""
        return f"{self.low} to {self.high}"


def ranges_around(low: int, high: int, *, rng: np.random.Generator) -> tuple[Range, tuple[Range, ...]]:
    """The range that holds a count, and four others that do not.

    How many of the four lie below is drawn from what fits, so that the place of the right one among them
    tells little. Sorted, each range is wider than the one before; between two there may be a gap.

    Args:
        low: the least that the count can be.
        high: the most that it can be; both lie in the first range, with room around them.
        rng: draws widths, gaps and places.

    Source: HERBench, figure 21.
    Departs: the paper does not say how it makes its ranges.
    """
    right = _right(low, high, rng)
    below: list[Range] = []
    while len(below) < N_RANGES - 1 and (one := _below((right, *below)[-1], rng)) is not None:
        below.append(one)
    below = below[: int(rng.integers(len(below) + 1))]
    above: list[Range] = []
    while len(below) + len(above) < N_RANGES - 1:
        above.append(_above((right, *above)[-1], rng))
    return right, (*reversed(below), *above)


def _right(low: int, high: int, rng: np.random.Generator) -> Range:
    slack = max(1, round(_SLACK * high))
    first, last = max(0, low - slack), high + slack
    extra = max(0, math.ceil(_WIDTH * high) + _NARROWEST - (last - first + 1))
    before = int(rng.integers(extra + 1))
    return Range(low=max(0, first - before), high=last + extra - before)


def _below(one: Range, rng: np.random.Generator) -> Range | None:
    """The next range towards 0, narrower; None where there is no room."""
    width = min(one.width - 1, round(one.width / rng.uniform(*_GROWTH)))
    high = one.low - 1 - int(rng.integers(max(1, width // 2)))
    low = max(0, high - width + 1)
    return Range(low=low, high=high) if high - low + 1 >= _NARROWEST else None


def _above(one: Range, rng: np.random.Generator) -> Range:
    width = max(one.width + 1, round(one.width * rng.uniform(*_GROWTH)))
    low = one.high + 1 + int(rng.integers(max(1, one.width // 2)))
    return Range(low=low, high=low + width - 1)
