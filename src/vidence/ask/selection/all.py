"""Every frame there is."""

import numpy as np

from vidence.ask.selection import _rules
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item


class All:
    """Every frame, in the order of time, whatever the budget."""

    version = 1
    budget = "ignored"

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """All positions of `clip`, in the order of time; `n_frames` is not used."""
        return np.arange(clip.n_frames, dtype=np.int64)


def create(argument: str = "") -> Selector:
    """The selector; it takes no argument.

    Raises:
        UsageError: an argument was given.
    """
    _rules.refuse_argument("all", argument)
    return All()
