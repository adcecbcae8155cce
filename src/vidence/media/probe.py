"""What is known about a file before any of its frames is wanted."""

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vidence.records import Record

MediaKind = Literal["video", "image", "frames"]

# Containers round times to whole ticks; more than this off an even rhythm is a rhythm that varies.
_ROUNDING_TICKS = 1.5
_ROUNDING_SHARE = 0.1


class Claimed(Record):
    """What the header says; None where it says nothing. Headers are wrong often enough."""

    n_frames: int | None
    duration_s: float | None
    fps: float | None


class PacketCounts(Record):
    """What the file holds, by its packets (or by decoding it, where packets do not tell).

    `fps` is the mean rate between the first and the last frame, 0 for a single frame; `duration_s`
    is ``n_frames / fps``, 0 for a single frame. `is_variable` says that frames are not evenly spaced.
    """

    n_frames: int
    duration_s: float
    fps: float
    is_variable: bool


class Probe(Record):
    """One file, or one folder of images.

    `width_px` and `height_px` are as shown, after the turn by `rotation_deg` clockwise; pixels are
    taken as square. `problem` is empty for a sound file, otherwise it says what is wrong with it.
    """

    path: str
    kind: MediaKind
    container: str
    codec: str
    width_px: int
    height_px: int
    rotation_deg: int
    claimed: Claimed
    counted: PacketCounts
    has_audio: bool
    problem: str = ""


def count(ticks: NDArray[np.int64], *, time_base: Fraction) -> PacketCounts:
    """The facts that follow from the times of the frames.

    Args:
        ticks: presentation times in order, in units of `time_base`, shape (n_frames,), at least one.
        time_base: seconds per tick.
    """
    n_frames = len(ticks)
    span = int(ticks[-1] - ticks[0])
    if n_frames < 2 or span <= 0:
        return PacketCounts(n_frames=n_frames, duration_s=0.0, fps=0.0, is_variable=False)
    interval = span / (n_frames - 1)
    even = ticks[0] + interval * np.arange(n_frames)
    off = float(np.abs(ticks - even).max())
    fps = Fraction(n_frames - 1, span) / time_base
    return PacketCounts(
        n_frames=n_frames,
        duration_s=float(n_frames / fps),
        fps=float(fps),
        is_variable=off > max(_ROUNDING_TICKS, _ROUNDING_SHARE * interval),
    )


def seconds(ticks: NDArray[np.int64], *, time_base: Fraction) -> NDArray[np.float64]:
    """Presentation times in seconds from the first frame. Shapes: (n,) to (n,)."""
    return np.asarray((ticks - ticks[0]) * time_base.numerator / time_base.denominator, np.float64)
