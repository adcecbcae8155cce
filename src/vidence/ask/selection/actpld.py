"""A few consecutive frames from the middle of a clip, as in ActPLD."""

from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta

from vidence.ask.selection.uniform import Positions, check_budget
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item, Record

# One frame in so many is left out at each end.
TRIM = 10


class Settings(Record):
    """Options of the selector."""

    positional: ClassVar[str] = "stride"

    stride: Annotated[int, Meta(ge=1, le=99_999, description="every which frame of the window is shown")] = 1


def usable(n_total: int, span: int) -> tuple[int, int]:
    """Return the part ``[lo, hi)`` of a clip that windows are taken from: without 10 % at each end.

    If fewer than `span` frames would remain, less is trimmed, equally at both ends.

    Args:
        n_total: number of frames of the clip.
        span: number of frames that a window spans.

    Source: ActPLD, section 2.4 (first and last 10 % of frames trimmed).
    Departs: the paper states neither its rounding (we trim int(0.1 * n_total)) nor how it treats clips that
    are too short.

    >>> usable(100, 8), usable(9, 8), usable(5, 8)
    ((10, 90), (0, 9), (0, 5))
    """
    lo = max(0, min(n_total // TRIM, (n_total - span) // 2))
    return lo, n_total - lo


def start_of(n_total: int, span: int, *, step: int, retry: int) -> int:
    """Return where a window of `span` frames starts: in the middle, or shifted for a retry.

    Retries go one `step` earlier, one later, two earlier, two later and so on, within `usable`.

    Args:
        n_total: number of frames of the clip, at least `span`.
        span: number of frames that the window spans.
        step: number of frames per shift.
        retry: number of the retry; 0 is the first window.

    Source: ActPLD, section 2.4 (central window, shifted earlier or later on a retry).
    Departs: the paper gives neither the size nor the order of the shifts: one window each, as above.

    >>> [start_of(100, 8, step=8, retry=r) for r in range(4)]
    [46, 38, 54, 30]
    """
    lo, hi = usable(n_total, span)
    middle = lo + (hi - lo - span) // 2
    n_steps = (retry + 1) // 2
    shift = -n_steps * step if retry % 2 else n_steps * step
    return min(max(middle + shift, lo), hi - span)


class Actpld(Selector):
    """`n_frames` consecutive frames (or every `stride`-th) from the middle of the clip; the paper shows 8.

    A clip with too few frames for the stride takes the largest stride that fits; with fewer frames
    than the budget it is shown whole.

    Source: ActPLD, section 2.4.
    Departs: see `usable` and `start_of`. The stride is ours: the paper does not say at which frame rate
        it counts, and 8 frames of a native rate last less than a third of a second.
    """

    version = 1

    def __init__(self, stride: int) -> None:
        self.stride = stride

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> Positions:
        """Return positions in `clip`, in time order: the central window.

        Raises:
            UsageError: `n_frames` is not positive.
        """
        return self._window(clip.n_frames, n_frames, retry=0)

    def again(self, clip: Clip, item: Item, *, n_frames: int, retry: int) -> Positions:
        """Return the window of a retry (from 1), or none if it was shown before.

        Raises:
            UsageError: `n_frames` is not positive.
        """
        window = self._window(clip.n_frames, n_frames, retry=retry)
        before = [self._window(clip.n_frames, n_frames, retry=r) for r in range(retry)]
        return np.empty(0, np.int64) if any(np.array_equal(window, b) for b in before) else window

    def _window(self, n_total: int, n_frames: int, *, retry: int) -> Positions:
        check_budget(n_frames)
        if n_total <= n_frames:
            return np.arange(n_total, dtype=np.int64)
        fits = (n_total - 1) // max(n_frames - 1, 1)
        stride = min(self.stride, fits)
        span = (n_frames - 1) * stride + 1
        start = start_of(n_total, span, step=n_frames * stride, retry=retry)
        return start + stride * np.arange(n_frames, dtype=np.int64)


def create(settings: Settings) -> Selector:
    """The selector; ``actpld:4`` takes every fourth frame instead of each."""
    return Actpld(settings.stride)
