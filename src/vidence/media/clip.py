"""The frames of a question's media as one sequence, for selectors."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.records import FrameRef


@dataclass(frozen=True, kw_only=True)
class Clip:
    """All frames that could be shown, in order: the item's media one by one.

    Shapes: `times_s`, `media_indices`, `frame_indices` are all (n_frames,).
    Units: `times_s` is presentation time in seconds from the first frame of its own file; `fps` is the mean
    frame rate in frames per second, 0 for a single frame.
    """

    times_s: NDArray[np.float64]
    media_indices: NDArray[np.int64]
    frame_indices: NDArray[np.int64]
    fps: float

    def __post_init__(self) -> None:
        if not (self.times_s.shape == self.media_indices.shape == self.frame_indices.shape):
            raise ValueError(
                f"times {self.times_s.shape}, media {self.media_indices.shape} and frames "
                f"{self.frame_indices.shape} must have the same shape"
            )

    @property
    def n_frames(self) -> int:
        """Return the number of frames."""
        return len(self.times_s)

    @property
    def duration_s(self) -> float:
        """Return the duration in seconds, each frame lasting 1/fps."""
        return self.n_frames / self.fps if self.fps > 0 else 0.0

    def refs(self, positions: ArrayLike) -> list[FrameRef]:
        """Return references to the frames at these positions, in order."""
        at = np.asarray(positions, np.int64)
        known = (self.media_indices[at].tolist(), self.frame_indices[at].tolist(), self.times_s[at].tolist())
        return [
            FrameRef(media_index=media_index, frame_index=frame_index, time_s=time_s)
            for media_index, frame_index, time_s in zip(*known, strict=True)
        ]

    def part(self, positions: NDArray[np.int64]) -> Self:
        """Return the frames at these positions as a sequence."""
        return replace(
            self,
            times_s=self.times_s[positions],
            media_indices=self.media_indices[positions],
            frame_indices=self.frame_indices[positions],
        )
