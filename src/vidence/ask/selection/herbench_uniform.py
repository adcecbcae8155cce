"""Uniform frames as HERBench takes them."""

from vidence.ask.selection import _rules
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item


class HerbenchUniform:
    """The first frame of each of min(n_frames, available) equal segments; all distinct.

    Source: HERBench, section 5.1 and released code (uniform frame selector).
    Departs: no.
    """

    version = 1

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """Positions in `clip`, in the order of time.

        Raises:
            UsageError: `n_frames` is not positive.
        """
        return _rules.choose(_rules.left_edges, clip, n_frames=n_frames)


def create(argument: str = "") -> Selector:
    """The selector; it takes no argument.

    Raises:
        UsageError: an argument was given.
    """
    _rules.refuse_argument("herbench-uniform", argument)
    return HerbenchUniform()
