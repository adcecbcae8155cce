"""Evidence: spans of frames as spans of seconds."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.records import Evidence

# How long a moment is, such as that in which somebody comes into view.
MOMENT_S = 1.0
_ROUNDING_S = 1e-6


class Timeline:
    """The presentation times of a video's frames, and how spans of frames look in seconds.

    `times_s` has shape (n_frames,), ascending. A frame is on screen until the next one comes; the last one
    as long as the middle one of all frames.
    """

    def __init__(self, times_s: NDArray[np.float64]) -> None:
        if len(times_s) == 0 or np.any(np.diff(times_s) <= 0):
            raise DataError(
                f"{len(times_s)} frame times that do not ascend; expected the presentation time of every "
                "frame, each later than the one before. Read the video again"
            )
        last_s = float(np.median(np.diff(times_s))) if len(times_s) > 1 else MOMENT_S
        self.times_s = times_s
        self._ends_s = np.append(times_s[1:], times_s[-1] + last_s)

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.times_s)

    @property
    def end_s(self) -> float:
        """When the last frame goes, in seconds."""
        return float(self._ends_s[-1])

    def time_s(self, frame: int) -> float:
        """When a frame comes, in seconds."""
        return float(self.times_s[frame])

    def frame_at(self, time_s: float) -> int:
        """The frame on screen at a time; the first or the last one outside the video."""
        frame = int(np.searchsorted(self.times_s, time_s, "right")) - 1
        return min(max(frame, 0), self.n_frames - 1)

    def _from(self, time_s: float) -> int:
        """The first frame that comes at that time or later."""
        return int(np.searchsorted(self.times_s, time_s - _ROUNDING_S, "left"))

    def span(self, first: int, last: int, *, note: str, frames: Sequence[int] = ()) -> Evidence:
        """Frames `first` to `last`, both included, shown best by `frames` (by default the middle one)."""
        values = tuple(frames) or ((first + last) // 2,)
        return Evidence(
            kind="oracle",
            start_s=round(float(self.times_s[first]), 3),
            end_s=round(float(self._ends_s[last]), 3),
            frames=tuple(dict.fromkeys(int(f) for f in values)),
            note=note,
        )

    def beginning(self, first: int, last: int, *, note: str) -> Evidence:
        """The first moment of the frames `first` to `last`, shown by the first of them."""
        until = min(last, max(first, self._from(self.time_s(first) + MOMENT_S) - 1))
        return self.span(first, until, note=note, frames=(first,))

    def ending(self, first: int, last: int, *, note: str) -> Evidence:
        """The last moment of the frames `first` to `last`, shown by the last of them."""
        since = max(first, min(last, self._from(float(self._ends_s[last]) - MOMENT_S)))
        return self.span(since, last, note=note, frames=(last,))

    def around(self, frame: int, *, note: str) -> Evidence:
        """The moment around a frame, shown by it."""
        half_s = MOMENT_S / 2
        first = self.frame_at(self.time_s(frame) - half_s)
        last = self.frame_at(self.time_s(frame) + half_s)
        return self.span(min(first, frame), max(last, frame), note=note, frames=(frame,))

    def parts(self, n: int, *, note: str) -> tuple[Evidence, ...]:
        """The whole video in `n` parts of about the same number of frames; fewer where it has fewer."""
        cuts = np.linspace(0, self.n_frames, min(n, self.n_frames) + 1).astype(int)
        return tuple(self.span(int(a), int(b) - 1, note=note) for a, b in pairwise(cuts))
