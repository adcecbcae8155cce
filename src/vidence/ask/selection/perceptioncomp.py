"""Uniform frames as PerceptionComp takes them."""

from vidence.ask.selection import _rules
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item


class Perceptioncomp:
    """min(n_frames, available) frames from the first to the last; all distinct.

    The paper's budget is 64.

    Source: PerceptionComp, released code (API runner).
    Departs: no.
    """

    version = 1

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """Positions in `clip`, in the order of time.

        Raises:
            UsageError: `n_frames` is not positive.
        """
        return _rules.choose(_rules.inclusive_distinct, clip, n_frames=n_frames)


def create(argument: str = "") -> Selector:
    """The selector; it takes no argument.

    Raises:
        UsageError: an argument was given.
    """
    _rules.refuse_argument("perceptioncomp", argument)
    return Perceptioncomp()
