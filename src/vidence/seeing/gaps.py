"""Frames in which a track was not seen, filled in between the boxes before and after."""

import numpy as np

from vidence.seeing.tracks import Track


def fill_gaps(track: Track, *, most_frames: int = 30) -> Track:
    """The track with a box in every frame of its short gaps.

    A gap is a number of frames without a box between two frames with one. The four sides of the box move
    evenly. A filled box has confidence 0 and is marked as not detected; boxes that were there stay as they
    are. Longer gaps stay open.

    Source: HERBench, section 7.1 (gap interpolation, up to 30 frames).
    Departs: the paper does not name the interpolation; ours is linear in the frame number.
    """
    frames = track.frame_indices
    missing = np.diff(frames) - 1
    fill = np.where(missing <= most_frames, missing, 0)
    if not fill.any():
        return track
    repeats = np.append(fill, 0) + 1
    starts = np.cumsum(repeats) - repeats
    offset = np.arange(repeats.sum()) - np.repeat(starts, repeats)
    filled = np.repeat(frames, repeats) + offset
    is_there = offset == 0
    boxes = np.stack([np.interp(filled, frames, side) for side in track.boxes_px.T], axis=1)
    boxes[is_there] = track.boxes_px
    return Track(
        track_id=track.track_id,
        class_name=track.class_name,
        frame_indices=filled,
        boxes_px=boxes,
        confidences=np.where(is_there, np.repeat(track.confidences, repeats), 0.0),
        is_detected=is_there & np.repeat(track.is_detected, repeats),
    )
