"""Boxes whose size does not fit their place: seen by one camera, people at one spot are equally high."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.tracks import Detections

_SURE: Final = 0.9
_FEWEST: Final = 100  # sure boxes; a line through fewer says little
_NEAR: Final = 0.35  # of the logarithm: boxes farther from the line do not shape it
_N_FITS: Final = 10
_MOST_SPREAD: Final = 0.1  # of the logarithm, in the median
_FACTOR: Final = 2.0
_EDGE_PX: Final = 2.0


def out_of_scale(detections: Detections, *, height_px: int) -> NDArray[np.bool_]:
    """Which boxes are twice as high as people are where they stand, or half as high; shape (n,).

    How high people are is a straight line over the lower edge of the box, fitted to those boxes that are
    sure (0.9) and wholly in the frame. Where fewer than 100 are, or where half of them are more than a tenth
    off the line (the camera moves, or the ground is not flat), nothing is said of any box; nor is it of boxes
    that are sure themselves, of boxes that the upper or the lower edge of the frame cuts, and of boxes whose
    lower edge is farther from those of the fitted ones than these are from each other: somebody who stands
    still does not tell how high people are far behind.

    Source: the geometry is that of Hoiem et al. 2006 (Putting Objects in Perspective).
    Departs: they estimate the horizon and the height of the camera from a prior, too.
    """
    boxes = detections.boxes_px
    nothing = np.zeros(len(boxes), np.bool_)
    heights, feet = boxes[:, 3] - boxes[:, 1], boxes[:, 3]
    is_whole = (boxes[:, 1] > _EDGE_PX) & (feet < height_px - _EDGE_PX) & (heights > 0)
    is_sure = detections.confidences >= _SURE
    shaping = is_whole & is_sure
    if np.count_nonzero(shaping) < _FEWEST:
        return nothing
    near = shaping
    for _ in range(_N_FITS):
        slope, start = _line(feet[near], heights[near])
        expected = start + slope * feet
        off = np.full(len(boxes), np.inf)
        known = (expected >= 1) & (heights > 0)
        off[known] = np.abs(np.log(heights[known] / expected[known]))
        near = shaping & (off < _NEAR)
        if np.count_nonzero(near) < _FEWEST:
            return nothing
    if np.median(off[shaping]) > _MOST_SPREAD:
        return nothing
    low, high = float(feet[near].min()), float(feet[near].max())
    reach = high - low
    is_told = (feet >= low - reach) & (feet <= high + reach)
    found: NDArray[np.bool_] = is_whole & ~is_sure & is_told & (off > np.log(_FACTOR))
    return found


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and start of the straight line with the least squares; level where all stand at one height."""
    spread = float(np.var(x))
    slope = float(np.mean((x - x.mean()) * (y - y.mean()))) / spread if spread > 1 else 0.0
    return slope, float(y.mean() - slope * x.mean())
