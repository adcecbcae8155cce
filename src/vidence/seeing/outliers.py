"""Boxes that cannot be right: unusable ones, and those that jump."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.tracks import Track

LEAST_SIDE_PX = 1.0


def with_boxes(track: Track, keep: NDArray[np.integer | np.bool_]) -> Track:
    """The track with some of its boxes.

    Shapes: `keep` is positions (n_kept,), or one statement for each box (n,).
    """
    return Track(
        track_id=track.track_id,
        class_name=track.class_name,
        frame_indices=track.frame_indices[keep],
        boxes_px=track.boxes_px[keep],
        confidences=track.confidences[keep],
        is_detected=track.is_detected[keep],
    )


def keep_usable(track: Track, *, width_px: int, height_px: int) -> Track | None:
    """The track with its boxes cut to the frame, without those that cannot be used.

    A box cannot be used when a coordinate is not a finite number, or when what lies inside the frame is
    less than one pixel wide or high (boxes outside the frame, turned around, or without area). Detectors
    give boxes inside the frame; other sources need not.

    Returns:
        None where no box can be used.
    """
    finite = np.asarray(np.isfinite(track.boxes_px).all(axis=1))
    boxes = np.where(finite[:, None], track.boxes_px, 0.0)
    limits = np.array([width_px, height_px, width_px, height_px], np.float64)
    cut = np.clip(boxes, 0.0, limits)
    keep = finite & (cut[:, 2:] - cut[:, :2] >= LEAST_SIDE_PX).all(axis=1)
    if keep.all() and np.array_equal(cut, track.boxes_px):
        return track
    return with_boxes(replace(track, boxes_px=cut), keep) if keep.any() else None


def drop_jumps(track: Track, *, most_px_per_frame: float = 50.0) -> Track:
    """The track without boxes that it could only have reached by moving too fast.

    The speed of a box is the distance of its centre from that of the last box that was kept, divided by
    the frames between the two. Of two boxes the later one goes; the first box of a track always stays.

    Source: HERBench, section 7.1 (outlier removal: more than 50 pixels per frame).
    Departs: the paper does not say between which boxes speed is measured, nor which one goes. The limit
    knows neither the size of the video nor its frame rate; it is a parameter.
    """
    centres, frames = track.centroids_px, track.frame_indices
    steps = np.hypot(*np.diff(centres, axis=0).T)
    if (steps <= most_px_per_frame * np.diff(frames)).all():
        return track
    points, at = centres.tolist(), frames.tolist()
    kept = [0]
    for i in range(1, len(at)):
        last = kept[-1]
        if math.dist(points[i], points[last]) <= most_px_per_frame * (at[i] - at[last]):
            kept.append(i)
    return with_boxes(track, np.array(kept))
