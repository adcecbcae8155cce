"""No frames: the question is asked in words alone."""

import numpy as np

from vidence.ask.selection import _rules
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item


class NoFrames:
    """Nothing, whatever the budget: what the words give away.

    Source: HumanPCR, table 5 (text control); HERBench, section 3 (text-only filter).
    Departs: no.
    """

    version = 1
    budget = "ignored"
    needs_media = False

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """No positions; `n_frames` is not used."""
        return np.empty(0, np.int64)


def create(argument: str = "") -> Selector:
    """The selector; it takes no argument.

    Raises:
        UsageError: an argument was given.
    """
    _rules.refuse_argument("none", argument)
    return NoFrames()
