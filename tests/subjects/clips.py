"""Clips of single videos, for selectors."""

import numpy as np
from numpy.typing import NDArray

from vidence.media.clip import Clip


def timed_clip(times_s: NDArray[np.float64], *, fps: float, first_index: int = 0) -> Clip:
    """The clip of a single video whose frames have these times."""
    n = len(times_s)
    return Clip(
        times_s=np.asarray(times_s, np.float64),
        media_indices=np.zeros(n, np.int64),
        frame_indices=np.arange(first_index, first_index + n, dtype=np.int64),
        fps=fps,
    )
