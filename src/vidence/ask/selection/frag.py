"""Uniform frames as FRAG takes its candidates."""

from vidence.ask.selection import _rules
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item


class Frag:
    """Every (available / n_frames)-th frame from the first; one frame is the middle one. All distinct.

    For some lengths the released arithmetic gives n_frames + 1 frames (51 for 50 of 1,799).

    Source: FRAG, released code (loading of frames); its candidates are 256 such frames.
    Departs: no.
    """

    version = 1
    budget = "one over"

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """Positions in `clip`, in the order of time.

        Raises:
            UsageError: `n_frames` is not positive.
        """
        return _rules.choose(_rules.strided, clip, n_frames=n_frames)


def create(argument: str = "") -> Selector:
    """The selector; it takes no argument.

    Raises:
        UsageError: an argument was given.
    """
    _rules.refuse_argument("frag", argument)
    return Frag()
