"""Points moving in space: what every reader gives and every stimulus is made from."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vidence.records import Record


class MotionSource(Record, kw_only=True, omit_defaults=True):
    """Where a motion comes from.

    `fps_claimed` is what the file says (None: nothing), `fps_note` why another
    rate was taken; `metres_per_unit` is the length of one unit of the file. `notes` are defects that were
    found, and what was done about each. `first_frame` counts the frames of the file that were left out before
    the first, so that partners can be put on one clock. `bones_of` says whose bones the body has where they
    are not the subject's own.
    """

    file: str = ""
    format: str = ""
    fps_claimed: float | None = None
    fps_note: str = ""
    metres_per_unit: float = 1.0
    notes: tuple[str, ...] = ()
    first_frame: int = 0
    bones_of: str = ""


@dataclass(frozen=True, kw_only=True)
class Motion:
    """Named points over time: one body, or a cloud of markers.

    Shapes: `positions_m` (n_frames, n_points, 3); `is_valid` (n_frames, n_points), False where a point was
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
        """How many frames there are."""
        return len(self.positions_m)

    @property
    def duration_s(self) -> float:
        """The time from the first frame to the end of the last, in seconds."""
        return self.n_frames / self.fps

    def index(self, name: str) -> int:
        """The place of a point by its name.

        Raises:
            KeyError: there is none.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(name) from None
