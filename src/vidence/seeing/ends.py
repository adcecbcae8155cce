"""How tracks begin and end: where, how fast they move there, and out of which edges of the frame."""

from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.space import EDGES, Edge
from vidence.seeing.tracks import Track, frames_in

FIT_S: Final = 0.6
"""So long before its end, or after its beginning, the motion of a track is taken from."""
_FEWEST: Final = 3
_STANDS: Final = 0.05  # heights in a second; who is slower stands


@dataclass(frozen=True, kw_only=True)
class EndMotion:
    """Where a track is in its first frame or in its last, and how it goes on from there, out of the track.

    What is `ahead` of an end lies in the past for a beginning: somebody who comes in through the left edge
    moves out through it when time is turned around. A straight line through the centres of the boxes of
    `FIT_S` seconds says both; of fewer than three boxes nothing is known, and the track stands.

    Shapes: `box_px` (4,), `ahead_px_per_s` (2,).
    Units: `height_px` is the median of those boxes.
    """

    box_px: NDArray[np.float64]
    ahead_px_per_s: NDArray[np.float64]
    height_px: float

    @classmethod
    def of(cls, track: Track, *, at: Literal[0, -1], fps: float) -> Self:
        """The beginning (0) or the end (-1) of a track."""
        frame = track.first_frame if at == 0 else track.last_frame
        near = np.abs(track.frame_indices - frame) <= max(frames_in(FIT_S, fps), _FEWEST - 1)
        boxes = track.boxes_px[near]
        before_s = np.abs(track.frame_indices[near] - frame) / fps
        points = (boxes[:, :2] + boxes[:, 2:]) / 2
        pace = np.zeros(2)
        if len(points) >= _FEWEST:
            away = before_s.mean() - before_s
            pace = (away[:, None] * points).sum(axis=0) / (away**2).sum()
        return cls(
            box_px=boxes[at],
            ahead_px_per_s=pace,
            height_px=float(np.median(boxes[:, 3] - boxes[:, 1])),
        )

    def touches_in_s(self, *, size_px: tuple[int, int]) -> dict[Edge, float]:
        """When the box touches each edge that it moves towards; absent are those that it does not."""
        left, top, right, bottom = self.box_px.tolist()
        return self._after(size_px, room={"top": top, "left": left, "bottom": bottom, "right": right})

    def is_out_in_s(self, *, size_px: tuple[int, int]) -> dict[Edge, float]:
        """When nothing of the box is left inside each edge that it moves towards; absent are the others."""
        left, top, right, bottom = self.box_px.tolist()
        return self._after(size_px, room={"top": bottom, "left": right, "bottom": top, "right": left})

    def _after(self, size_px: tuple[int, int], *, room: dict[Edge, float]) -> dict[Edge, float]:
        """When sides at these coordinates reach their edges."""
        right, down = self.ahead_px_per_s.tolist()
        paces: dict[Edge, float] = {"top": -down, "left": -right, "bottom": down, "right": right}
        far: dict[Edge, float] = {**room, "bottom": size_px[1] - room["bottom"]}
        far["right"] = size_px[0] - room["right"]
        slowest = _STANDS * self.height_px
        return {edge: max(far[edge], 0.0) / paces[edge] for edge in EDGES if paces[edge] > slowest}
