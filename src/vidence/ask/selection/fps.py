"""So many frames per second of presentation time: ``fps:2``."""

from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.selection.uniform import Positions, check_budget, midpoints
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item, Record

# A frame that is due at 29.999999999 grid steps through rounding is due at 30.
ROUNDING = 1e-6


class Settings(Record):
    """Options of the selector."""

    positional: ClassVar[str] = "rate"

    rate: Annotated[float, Meta(gt=0, description="frames per second of presentation time")] = 1.0


def nearest_to_grid(times_s: NDArray[np.float64], rate: float) -> Positions:
    """The frames nearest to the points ``times_s[0] + j / rate``, up to the last frame.

    A point halfway between two frames takes the earlier one; a frame nearest to several points is
    taken once. No grid is built, so that any rate costs the same.

    Args:
        times_s: presentation times, ascending, shape (n,), n >= 1.
        rate: points per second.

    >>> nearest_to_grid(np.array([0.0, 0.4, 0.9, 1.6, 2.0]), 1.0).tolist()
    [0, 2, 4]
    """
    since_s = times_s - times_s[0]
    ends_s = np.append((since_s[:-1] + since_s[1:]) / 2, since_s[-1])
    last_points = np.floor(ends_s * rate + ROUNDING)
    return np.flatnonzero(np.diff(last_points, prepend=-1.0) > 0).astype(np.int64)


class Fps(Selector):
    """Frames on a grid of 1/rate seconds by presentation time, so that a variable frame rate is right.

    Each medium of a question has its own grid from its first frame on. No frame is taken twice. More
    frames than `n_frames` are thinned to the middles of `n_frames` equal segments of the list.
    """

    version = 1
    budget = "at most"

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> Positions:
        """Positions in `clip`, in the order of time, at most `n_frames`.

        Raises:
            UsageError: `n_frames` is not positive.
        """
        check_budget(n_frames)
        if not clip.n_frames:
            return np.empty(0, np.int64)
        starts = np.flatnonzero(np.diff(clip.media_indices, prepend=-1))
        ends = np.append(starts[1:], clip.n_frames)
        on_grid = np.concatenate(
            [a + nearest_to_grid(clip.times_s[a:b], self.rate) for a, b in zip(starts, ends, strict=True)]
        )
        if len(on_grid) <= n_frames:
            return on_grid
        return on_grid[midpoints(len(on_grid), n_frames)]


def create(settings: Settings) -> Selector:
    """The selector; without a rate, one frame per second."""
    return Fps(settings.rate)
