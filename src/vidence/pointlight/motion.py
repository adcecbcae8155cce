"""Motions: named points over time, with trimming, windows, rates, gaps."""

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record


class MotionSource(Record, omit_defaults=True):
    """The source of a motion."""

    file: str = ""
    format: str = ""
    fps_claimed: float | None = None
    """Frames per second according to the file; None: not stated."""
    fps_note: str = ""
    """Why another rate was used."""
    metres_per_unit: float = 1.0
    """Length of one unit of the file."""
    scaled_to_m: float | None = None
    """The stature in metres that the body was scaled to; None if the unit is known."""
    notes: tuple[str, ...] = ()
    """Defects found, and how each was handled."""
    first_frame: int = 0
    """Frames of the file before the first one kept, so that partners can be synchronized."""
    bones_of: str = ""
    """Whose bones the body has, if not the subject's own."""


@dataclass(frozen=True, kw_only=True)
class Motion:
    """Named points over time: one body, or a cloud of markers.

    Shapes: `positions_m` (n_frames, n_points, 3); `is_valid` (n_frames, n_points), False if a point was
    not seen (its position is then NaN).
    Units: metres; y points up, x and z span the floor, right-handed. `fps` is the true rate in frames per
    second.
    `parents` gives for every point the point that its bone comes from, -1 for a root; empty for markers.
    """

    positions_m: NDArray[np.float64]
    is_valid: NDArray[np.bool_]
    names: tuple[str, ...]
    fps: float
    kind: Literal["joints", "markers", "body"] = "joints"
    parents: tuple[int, ...] = ()
    source: MotionSource = field(default_factory=MotionSource)

    def __post_init__(self) -> None:
        n_frames, n_points = self.is_valid.shape
        if self.positions_m.shape != (n_frames, n_points, 3) or len(self.names) != n_points:
            raise ValueError(
                f"positions {self.positions_m.shape}, validity {self.is_valid.shape} and {len(self.names)} "
                "names do not belong together"
            )
        if self.parents and len(self.parents) != n_points:
            raise ValueError(f"{len(self.parents)} parents for {n_points} points")
        if not self.fps > 0:
            raise ValueError(f"a motion needs a frame rate above 0, not {self.fps}")

    @property
    def n_frames(self) -> int:
        """The number of frames."""
        return len(self.positions_m)

    @property
    def duration_s(self) -> float:
        """The time from the first frame to the end of the last, in seconds."""
        return self.n_frames / self.fps

    def index(self, name: str) -> int:
        """The position of a point by name.

        Raises:
            KeyError: there is none.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(name) from None


def runs(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Runs of set flags: the first of each and the one after its last, shape (n_runs, 2).

    >>> runs(np.array([True, True, False, True])).tolist()
    [[0, 2], [3, 4]]
    """
    edges = np.flatnonzero(np.diff(np.r_[False, flags, False].astype(np.int8)))
    return edges.reshape(-1, 2)


def part(motion: Motion, first: int, last: int, *, step: int = 1) -> Motion:
    """Frames `first` to `last`, both included, every `step`-th; the frame rate goes down with the step.

    Raises:
        UsageError: frames that do not exist, or a step below 1.
    """
    if not 0 <= first <= last < motion.n_frames or step < 1:
        raise UsageError(
            f"frames {first} to {last} in steps of {step} are not in a motion of {motion.n_frames} frames"
        )
    kept = slice(first, last + 1, step)
    return replace(
        motion, positions_m=motion.positions_m[kept], is_valid=motion.is_valid[kept], fps=motion.fps / step
    )


def trimmed(motion: Motion, share: float = 0.1) -> Motion:
    """Without a share of the frames at each end, rounded up, as in ActPLD.

    Source: ActPLD, section 2.1: 10 % are cut off at both ends.

    Raises:
        UsageError: a share outside [0, 0.5), or one that leaves nothing.
    """
    if not 0 <= share < 0.5:
        raise UsageError(f"a share of {share} cannot be cut off both ends; give one in [0, 0.5)")
    n_cut = math.ceil(share * motion.n_frames)
    if motion.n_frames - 2 * n_cut < 1:
        raise UsageError(f"cutting {n_cut} frames off both ends leaves nothing of {motion.n_frames}")
    return part(motion, n_cut, motion.n_frames - 1 - n_cut)


def resampled(motion: Motion, fps: float) -> Motion:
    """The motion at another frame rate, with points interpolated linearly.

    A new frame is valid where both of its neighbours are (or the one that it falls on).

    Raises:
        UsageError: a rate that is not above 0.
    """
    if not 0 < fps < math.inf:
        raise UsageError(f"a frame rate must be above 0, not {fps}")
    if fps == motion.fps:
        return motion
    # Up to the time of the last frame; a hair's breadth keeps it in when rounding puts it just outside.
    n_new = math.floor((motion.n_frames - 1) / motion.fps * fps + 1e-9) + 1
    at = np.minimum(np.arange(n_new) * (motion.fps / fps), motion.n_frames - 1)
    low = np.minimum(np.floor(at + 1e-9).astype(np.int64), motion.n_frames - 1)
    high = np.minimum(low + 1, motion.n_frames - 1)
    weight = np.clip(at - low, 0.0, 1.0)
    high = np.where(weight < 1e-9, low, high)
    mixed = (1 - weight)[:, None, None] * motion.positions_m[low] + weight[
        :, None, None
    ] * motion.positions_m[high]
    return replace(
        motion, positions_m=mixed, is_valid=motion.is_valid[low] & motion.is_valid[high], fps=float(fps)
    )


def noted(motion: Motion, note: str) -> Motion:
    """The same motion with a note."""
    source = msgspec.structs.replace(motion.source, notes=(*motion.source.notes, note))
    return replace(motion, source=source)


def drop_first(motion: Motion, n_frames: int, *, note: str) -> Motion:
    """The motion without its first frames, with a note."""
    rest = noted(part(motion, n_frames, motion.n_frames - 1), note)
    source = msgspec.structs.replace(rest.source, first_frame=rest.source.first_frame + n_frames)
    return replace(rest, source=source)
