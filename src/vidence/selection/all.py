"""Every frame there is."""

import numpy as np

from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item
from vidence.selection import _rules


class All:
    """Every frame, in the order of time, whatever the budget.

    Source: ours.
    Departs: no.
    """

    version = 1
    budget = "ignored"

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """All positions of `clip`, in the order of time; `n_frames` is not used."""
        return np.arange(clip.n_frames, dtype=np.int64)


def create(argument: str = "") -> Selector:
    """The selector; it takes no argument.

    Source: see `All`.
    Departs: see `All`.

    Raises:
        UsageError: an argument was given.
    """
    _rules.refuse_argument("all", argument)
    return All()
