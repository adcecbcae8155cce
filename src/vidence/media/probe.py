"""Facts about a file before any frame is decoded, and which packet holds which frame."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from vidence.records import Record, by_key

MediaKind = Literal["video", "image", "frames"]

# Containers round times to whole ticks; more than this off an even rhythm is a rhythm that varies.
_ROUNDING_TICKS = 1.5
_ROUNDING_SHARE = 0.1


class Claimed(Record):
    """What the header claims; None if it says nothing. Headers are often wrong."""

    n_frames: int | None
    duration_s: float | None
    fps: float | None


class PacketCounts(Record):
    """What the file contains, by its packets (or by decoding, if packets do not tell).

    `fps` is the mean rate between the first and the last frame, 0 for a single frame; `duration_s` is
    ``n_frames / fps``, 0 for a single frame. `is_variable` means unevenly spaced frames.
    """

    n_frames: int
    duration_s: float
    fps: float
    is_variable: bool


class Probe(Record):
    """Facts about a file, or a folder of images.

    `width_px` and `height_px` are as displayed, after the turn by `rotation_deg` clockwise; pixels are
    assumed square. `problem` describes a fault; empty if there is none.
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
    """Derive facts from frame times.

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
    """Convert presentation times to seconds from the first frame. Shapes: (n,) to (n,)."""
    return np.asarray((ticks - ticks[0]) * time_base.numerator / time_base.denominator, np.float64)


# No codec reorders by more; a larger shift is a jump of the clock.
_MOST_REORDERED: Final = 32


@dataclass(frozen=True, kw_only=True)
class FrameTable:
    """The frames of a stream by presentation time.

    Shapes: `packet_pts` and `is_key` are (n_packets,), in the order of decoding, times in ticks;
    `packet_of_frame` is (n_frames,), in the order of presentation, and holds positions of packets.
    """

    packet_pts: NDArray[np.int64]
    is_key: NDArray[np.bool_]
    packet_of_frame: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.packet_pts.shape != self.is_key.shape:
            raise ValueError(f"{self.packet_pts.shape} times and {self.is_key.shape} key marks must agree")

    @classmethod
    def of_packets(
        cls, pts: NDArray[np.int64], *, is_key: NDArray[np.bool_], is_shown: NDArray[np.bool_]
    ) -> Self | None:
        """Build the table of packets in decoding order; None if their times do not distinguish frames.

        Frames that no decoder can return are left out: those before the first keyframe, and those shown
        before it.
        """
        keys = np.flatnonzero(is_key)
        if len(keys) == 0 or len(np.unique(pts)) != len(pts):
            return None
        decodable = (np.arange(len(pts)) >= keys[0]) & (pts >= pts[keys[0]])
        values = np.flatnonzero(is_shown & decodable)
        order = np.argsort(pts[values], kind="stable")
        if np.abs(order - np.arange(len(order))).max(initial=0) > _MOST_REORDERED:
            return None
        return cls(packet_pts=pts, is_key=is_key, packet_of_frame=values[order])

    @property
    def n_frames(self) -> int:
        """Return the number of displayable frames."""
        return len(self.packet_of_frame)

    @cached_property
    def frame_pts(self) -> NDArray[np.int64]:
        """Return each frame's time in ticks, ascending; shape (n_frames,)."""
        return self.packet_pts[self.packet_of_frame]

    @cached_property
    def position_of_pts(self) -> dict[int, int]:
        """Return packet positions by time."""
        return {pts: position for position, pts in enumerate(self.packet_pts.tolist())}

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """Return the positions of the keyframes, ascending."""
        return np.flatnonzero(self.is_key)

    def start_of(self, frame_index: int) -> int:
        """Return the position of the keyframe from which decoding gives this frame.

        A frame that is decoded after a keyframe but shown before it (a leading picture of an open group of
        pictures) needs the preceding keyframe.
        """
        position = int(self.packet_of_frame[frame_index])
        nearest = int(np.searchsorted(self.keys, position, side="right")) - 1
        key = int(self.keys[nearest])
        if nearest > 0 and self.packet_pts[position] < self.packet_pts[key]:
            return int(self.keys[nearest - 1])
        return key

    def depends_on(self, frame_index: int, position: int) -> bool:
        """Whether this frame may depend on the packet at `position`."""
        start = self.start_of(frame_index)
        if not start <= position <= self.packet_of_frame[frame_index]:
            return False
        is_leading = self.packet_pts[position] < self.packet_pts[start]
        return not is_leading


@dataclass(frozen=True, kw_only=True)
class Run:
    """Packets to decode in one pass, `first` to `last`, for the requested frames among them."""

    first: int
    last: int
    frames: tuple[int, ...]

    @property
    def cost(self) -> int:
        """Return the approximate work in packets; converting a frame counts as a few."""
        return self.last - self.first + 1 + 4 * len(self.frames)


def plan(table: FrameTable, frame_indices: list[int]) -> list[Run]:
    """Return the fewest packets that give these frames, as non-overlapping runs in decoding order."""
    by_start = by_key((table.start_of(index), index) for index in sorted(set(frame_indices)))
    runs: list[Run] = []
    for first, frames in sorted(by_start.items()):
        run = Run(first=first, last=int(table.packet_of_frame[frames].max()), frames=tuple(frames))
        if runs and first <= runs[-1].last:
            before = runs.pop()
            run = Run(first=before.first, last=max(before.last, run.last), frames=before.frames + run.frames)
        runs.append(run)
    return runs


def longest_first(runs: list[Run]) -> list[Run]:
    """Sort runs so that threads taking them one by one finish at about the same time."""
    return sorted(runs, key=lambda run: -run.cost)
