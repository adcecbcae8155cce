"""Boxes that tremble less."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.seeing.tracks import Track


def gaussian_window(n_frames: int, *, sigma: float) -> NDArray[np.float64]:
    """The weights of a Gaussian over an odd number of frames, summing to 1; shape (n_frames,).

    Raises:
        UsageError: the number is even or below 1, or `sigma` (in frames) is not above 0.
    """
    if n_frames < 1 or n_frames % 2 == 0 or not sigma > 0:
        raise UsageError(
            f"a smoothing window of {n_frames} frames with sigma {sigma}: expected an odd number of frames "
            "(5 is the paper's, 1 smooths nothing) and a sigma above 0"
        )
    offsets = np.arange(n_frames) - n_frames // 2
    weights = np.exp(-0.5 * (offsets / sigma) ** 2)
    return np.asarray(weights / weights.sum())


def smooth(track: Track, *, window_frames: int = 5, sigma: float = 1.0) -> Track:
    """The track with each side of its boxes averaged over neighbouring frames.

    Every run of frames without a gap is smoothed by itself, so that boxes on both sides of an open gap
    never mix. At the ends of a run the boxes are mirrored (the last one counts twice).

    Raises:
        UsageError: see `gaussian_window`.

    Source: HERBench, section 7.1 (Gaussian filtering, window size 5).
    Departs: the paper gives neither sigma (ours 1.0 frame) nor what happens at the ends (ours mirrors),
    nor what is smoothed (ours left, top, right and bottom).
    """
    weights = gaussian_window(window_frames, sigma=sigma)
    reach = window_frames // 2
    if reach == 0:
        return track
    breaks = np.flatnonzero(np.diff(track.frame_indices) > 1) + 1
    runs = [_smoothed(run, weights, reach=reach) for run in np.split(track.boxes_px, breaks)]
    return replace(track, boxes_px=np.concatenate(runs))


def _smoothed(run: NDArray[np.float64], weights: NDArray[np.float64], *, reach: int) -> NDArray[np.float64]:
    n = len(run)
    mirrored = np.arange(-reach, n + reach) % (2 * n)
    padded = run[np.minimum(mirrored, 2 * n - 1 - mirrored)]
    total = np.zeros_like(run)
    for offset, weight in enumerate(weights.tolist()):
        total += weight * padded[offset : offset + len(run)]
    return total
