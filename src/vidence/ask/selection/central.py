"""One frame: the middle one."""

from vidence.ask.selection import _rules
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item


class Central:
    """The middle frame (the later of two), whatever the budget: what a single image gives away.

    Source: HumanPCR, table 5 (image control).
    Departs: no. The paper does not say which of two middle frames it takes.
    """

    version = 1
    budget = "ignored"

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """The middle position of `clip`; `n_frames` is not used."""
        return _rules.choose(_rules.midpoints, clip, n_frames=1)


def create(argument: str = "") -> Selector:
    """The selector; it takes no argument.

    Raises:
        UsageError: an argument was given.
    """
    _rules.refuse_argument("central", argument)
    return Central()
