"""A reward model whose points tell right from wrong as well as is planted."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from vidence.records import Item

_CUTS = (-0.6, 0.1, 0.8, 1.5)
_NORMAL = NormalDist()


@dataclass(frozen=True, kw_only=True)
class GradedReward:
    """Points of 0 to 4: normal scores cut into five, of right replies higher so that the AUC is `sharpness`.

    What picking by them gets follows from the distributions of the points, see `best` and `auc`.
    """

    rng: np.random.Generator
    sharpness: float = 0.75

    @property
    def _shift(self) -> float:
        return math.sqrt(2) * _NORMAL.inv_cdf(self.sharpness)

    def __call__(self, asked: Item, text: str) -> int:
        """The points of one reply."""
        is_right = text.split(maxsplit=1)[0] == asked.answer
        return int(np.searchsorted(_CUTS, self.rng.normal(self._shift if is_right else 0.0)))

    def shares(self, *, is_right: bool) -> NDArray[np.float64]:
        """How often right, or wrong, replies get 0, 1, 2, 3 and 4 points."""
        below = [_NORMAL.cdf(cut - (self._shift if is_right else 0.0)) for cut in _CUTS]
        return np.diff([0.0, *below, 1.0])

    def best(self, p: float, n: int) -> float:
        """The accuracy of the best of `n` replies that are right with the chance `p`, ties at random."""
        right = p * self.shares(is_right=True)
        mixed = right + (1 - p) * self.shares(is_right=False)
        below = np.concatenate([[0.0], np.cumsum(mixed)])
        return float(((below[1:] ** n - below[:-1] ** n) * right / mixed).sum())

    @property
    def auc(self) -> float:
        """How often a right reply has more points than a wrong one, ties half: a little below `sharpness`."""
        right, wrong = self.shares(is_right=True), self.shares(is_right=False)
        return float(right @ (np.cumsum(wrong) - wrong / 2))
