"""Uniform frames as MMVU takes them for models behind an API."""

from vidence.ask.selection import _rules
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item


class MmvuApi:
    """Exactly n_frames frames from the first to the last; short videos repeat frames.

    One frame is the first frame, as the released code has it.

    Source: MMVU, released code (frames for API models).
    Departs: no.
    """

    version = 1
    repeats = True

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """Positions in `clip`, in the order of time.

        Raises:
            UsageError: `n_frames` is not positive.
        """
        return _rules.choose(_rules.inclusive, clip, n_frames=n_frames)


def create(argument: str = "") -> Selector:
    """The selector; it takes no argument.

    Raises:
        UsageError: an argument was given.
    """
    _rules.refuse_argument("mmvu-api", argument)
    return MmvuApi()
