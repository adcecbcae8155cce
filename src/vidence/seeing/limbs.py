"""Remove false people: detected limbs, and boxes with a size that does not fit their position."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.boxes import areas_px, share_inside
from vidence.seeing.tracks import Detections, DroppedTrack, Track

STAGE: Final = "parts"
_TIMES_LARGER: Final = 2.0
_INSIDE: Final = 0.8
_OF_BOXES: Final = 0.8
# Limbs stick out of a box that is as narrow as a standing person: by so much of its width and of its height.
_BESIDE, _BELOW = 0.25, 0.1
_TIMES_LARGER_BESIDE: Final = 4.0
_STIRS: Final = 0.1


def without_parts(tracks: Sequence[Track]) -> tuple[tuple[Track, ...], tuple[DroppedTrack, ...]]:
    """Split tracks into whole people and parts of other tracks.

    A track is a part where at least four fifths of its boxes lie (each with four fifths of its area) inside
    a box of the same other track that is at least twice as large; or inside that box with a quarter of its
    width more on both sides and a tenth of its height more below, if the box is at least four times as large
    and the part keeps its place in it (by a tenth of its width and height): a person behind does not.
    Between its detections the other one is where a straight line says.

    Note: Detectors by gradients take limbs of large people for small people, now and then.
    Departs: HERBench has nothing of the kind; its detector needs it less.
    """
    kept: list[Track] = []
    dropped: list[DroppedTrack] = []
    for track in tracks:
        whole = next((other for other in tracks if other is not track and _is_part(track, other)), None)
        if whole is None:
            kept.append(track)
        else:
            detail = f"its boxes lie inside those of the track {whole.track_id}, which are larger"
            reason = "part-of-another"
            dropped.append(DroppedTrack(what=track.track_id, stage=STAGE, reason=reason, detail=detail))
    return tuple(kept), tuple(dropped)


def _is_part(track: Track, other: Track) -> bool:
    frames = track.frame_indices
    values = (frames >= other.first_frame) & (frames <= other.last_frame)
    if values.sum() < _OF_BOXES * len(frames):
        return False
    boxes, around = track.boxes_px[values], _boxes_at(other, frames[values])
    times = np.divide(areas_px(around), areas_px(boxes), out=np.zeros(len(boxes)), where=areas_px(boxes) > 0)
    sides = around[:, 2:] - around[:, :2]
    margins = np.stack([_BESIDE * sides[:, 0], 0 * sides[:, 0], _BESIDE * sides[:, 0], _BELOW * sides[:, 1]])
    wide = around + margins.T * [-1, -1, 1, 1]
    is_inside = (times >= _TIMES_LARGER) & (share_inside(boxes, around) >= _INSIDE)
    sticks_out = (times >= _TIMES_LARGER_BESIDE) & (share_inside(boxes, wide) >= _INSIDE)
    least = _OF_BOXES * len(frames)
    if np.count_nonzero(is_inside) >= least:
        return True
    return bool(np.count_nonzero(sticks_out) >= least and _keeps_place(boxes, around))


def _keeps_place(boxes: NDArray[np.float64], around: NDArray[np.float64]) -> bool:
    """Whether box centres keep their position within other boxes, in shares of their size."""
    sides = np.maximum(around[:, 2:] - around[:, :2], 1.0)
    places = ((boxes[:, :2] + boxes[:, 2:]) / 2 - around[:, :2]) / sides
    return bool((places.std(axis=0) <= _STIRS).all())


def _boxes_at(track: Track, frames: NDArray[np.int64]) -> NDArray[np.float64]:
    """The boxes of a track in some of its frames, shape (n, 4)."""
    edges = [np.interp(frames, track.frame_indices, track.boxes_px[:, edge]) for edge in range(4)]
    return np.stack(edges, axis=1)


_SURE: Final = 0.9
_LEAST_S: Final = 10 / 3  # that sure boxes last together; a line through fewer says little
_FEWEST: Final = 20  # of them, however seldom somebody looks
_NEAR: Final = 0.35  # of the logarithm: boxes farther from the line do not shape it
_N_FITS: Final = 10
_MOST_SPREAD: Final = 0.1  # of the logarithm, in the median
_FACTOR: Final = 2.0
_EDGE_PX: Final = 2.0


def out_of_scale(detections: Detections, *, height_px: int, looks_per_s: float) -> NDArray[np.bool_]:
    """Which boxes are twice as high as people at that position, or half as high; shape (n,).

    How high people are is a straight line over the lower edge of the box, fitted to those boxes that are
    sure (0.9) and wholly in the frame. Where these are fewer than are found of one person in 3.3 seconds (100
    at 30 looks a second, 20 at least), or where half of them are more than a tenth off the line (the camera
    moves, or the ground is not flat), nothing is said of any box. Nor is it of boxes that are sure
    themselves, of boxes that the upper or the lower edge of the frame cuts, and of boxes whose lower edge is
    farther from those of the fitted ones than these are from each other: somebody who stands still does not
    tell how high people are far behind.

    Source: the geometry is that of Hoiem et al. 2006 (Putting Objects in Perspective).
    Departs: they estimate the horizon and the height of the camera from a prior, too.
    """
    boxes = detections.boxes_px
    nothing = np.zeros(len(boxes), np.bool_)
    heights, feet = boxes[:, 3] - boxes[:, 1], boxes[:, 3]
    is_whole = (boxes[:, 1] > _EDGE_PX) & (feet < height_px - _EDGE_PX) & (heights > 0)
    is_sure = detections.confidences >= _SURE
    shaping = is_whole & is_sure
    fewest = max(_FEWEST, round(_LEAST_S * looks_per_s))
    if np.count_nonzero(shaping) < fewest:
        return nothing
    near = shaping
    for _ in range(_N_FITS):
        slope, start = _line(feet[near], heights[near])
        expected = start + slope * feet
        off = np.full(len(boxes), np.inf)
        known = (expected >= 1) & (heights > 0)
        off[known] = np.abs(np.log(heights[known] / expected[known]))
        near = shaping & (off < _NEAR)
        if np.count_nonzero(near) < fewest:
            return nothing
    if np.median(off[shaping]) > _MOST_SPREAD:
        return nothing
    low, high = float(feet[near].min()), float(feet[near].max())
    reach = high - low
    is_told = (feet >= low - reach) & (feet <= high + reach)
    values: NDArray[np.bool_] = is_whole & ~is_sure & is_told & (off > np.log(_FACTOR))
    return values


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and intercept of the least-squares line; level if all stand at one height."""
    spread = float(np.var(x))
    slope = float(np.mean((x - x.mean()) * (y - y.mean()))) / spread if spread > 1 else 0.0
    return slope, float(y.mean() - slope * x.mean())
