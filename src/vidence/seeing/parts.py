"""Tracks that are an arm or a pair of legs of somebody who is tracked as a whole."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.account import DroppedTrack
from vidence.seeing.overlap import areas_px, share_inside
from vidence.seeing.tracks import Track

STAGE: Final = "parts"
_TIMES_LARGER: Final = 2.0
_INSIDE: Final = 0.8
_OF_BOXES: Final = 0.8
# Limbs stick out of a box that is as narrow as a standing person: by so much of its width and of its height.
_BESIDE, _BELOW = 0.25, 0.1
_TIMES_LARGER_BESIDE: Final = 4.0
_STIRS: Final = 0.1


def without_parts(tracks: Sequence[Track]) -> tuple[tuple[Track, ...], tuple[DroppedTrack, ...]]:
    """The tracks that are no part of another one, and those that are.

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
    together = (frames >= other.first_frame) & (frames <= other.last_frame)
    if together.sum() < _OF_BOXES * len(frames):
        return False
    boxes, around = track.boxes_px[together], _boxes_at(other, frames[together])
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
    """Whether the middle of boxes stays where it is within others, in shares of their width and height."""
    sides = np.maximum(around[:, 2:] - around[:, :2], 1.0)
    places = ((boxes[:, :2] + boxes[:, 2:]) / 2 - around[:, :2]) / sides
    return bool((places.std(axis=0) <= _STIRS).all())


def _boxes_at(track: Track, frames: NDArray[np.int64]) -> NDArray[np.float64]:
    """The boxes of a track in some frames of its life, shape (n, 4)."""
    edges = [np.interp(frames, track.frame_indices, track.boxes_px[:, edge]) for edge in range(4)]
    return np.stack(edges, axis=1)
