"""Steps that clean one track: gaps, smoothing, and the hard filter."""

from dataclasses import replace

import numpy as np

from vidence.errors import UsageError
from vidence.records import Record
from vidence.seeing.boxes import areas_px
from vidence.seeing.tracks import PAPER_FPS, PERSON, DroppedTrack, Track, frames_in
from vidence.weights.checkpoints import library

LEAST_SIDE_PX = 1.0


def keep_usable(track: Track, *, width_px: int, height_px: int) -> Track | None:
    """The track with its boxes clipped to the frame, without unusable ones.

    A box cannot be used when a coordinate is not a finite number, or when what lies inside the frame is
    less than one pixel wide or high (boxes outside the frame, turned around, or without area). Detectors
    give boxes inside the frame; other sources need not.

    Returns:
        None if no box can be used.
    """
    finite = np.asarray(np.isfinite(track.boxes_px).all(axis=1))
    boxes = np.where(finite[:, None], track.boxes_px, 0.0)
    limits = np.array([width_px, height_px, width_px, height_px], np.float64)
    cut = np.clip(boxes, 0.0, limits)
    keep = finite & (cut[:, 2:] - cut[:, :2] >= LEAST_SIDE_PX).all(axis=1)
    if keep.all() and np.array_equal(cut, track.boxes_px):
        return track
    return replace(track, boxes_px=cut).part(keep) if keep.any() else None


def fill_gaps(track: Track, *, most_frames: int = 30) -> Track:
    """The track with boxes interpolated in its short gaps.

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
    return replace(
        track,
        frame_indices=filled,
        boxes_px=boxes,
        confidences=np.where(is_there, np.repeat(track.confidences, repeats), 0.0),
        is_detected=is_there & np.repeat(track.is_detected, repeats),
    )


def smooth(track: Track, *, window_frames: int = 5, sigma: float = 1.0) -> Track:
    """The track with box sides averaged over neighbouring frames.

    Every run of frames without a gap is smoothed by itself, so that boxes on both sides of an open gap
    never mix. At the ends of a run the boxes are mirrored (the last one counts twice).

    Raises:
        UsageError: the window is even or below 1, or `sigma` (in frames) is not above 0.

    Source: HERBench, section 7.1 (Gaussian filtering, window size 5).
    Departs: the paper gives neither sigma (ours 1.0 frame) nor what happens at the ends (ours mirrors),
    nor what is smoothed (ours left, top, right and bottom).
    """
    if window_frames < 1 or window_frames % 2 == 0 or not sigma > 0:
        raise UsageError(
            f"a smoothing window of {window_frames} frames with sigma {sigma}: expected an odd number of "
            "frames (5 is the paper's, 1 smooths nothing) and a sigma above 0"
        )
    if window_frames == 1:
        return track
    ndimage = library("scipy.ndimage", owner="tracking", extra="build")
    breaks = np.flatnonzero(np.diff(track.frame_indices) > 1) + 1
    runs = [
        ndimage.gaussian_filter1d(run, sigma, axis=0, mode="reflect", radius=window_frames // 2)
        for run in np.split(track.boxes_px, breaks)
    ]
    return replace(track, boxes_px=np.concatenate(runs))


STAGE = "hard-filter"


class FilterSettings(Record):
    """The requirements for keeping a track.

    `least_s` is the least time with a box, in seconds, `least_area_px` the least mean area of its boxes in
    square pixels, `least_in_middle_s` the least time with its centre in the middle of the frame, which is the
    frame without a border of `margin` times its width and height on each side.

    Source: HERBench, section 7.1: 20 frames, 5,500 square pixels, 5 frames in the middle.
    Departs: the paper counts frames, at 30 a second; ours are seconds, so that films of other rates give the
    same tracks.
    """

    class_name: str = PERSON
    least_s: float = 20 / PAPER_FPS
    least_area_px: float = 5500.0
    margin: float = 0.1
    least_in_middle_s: float = 5 / PAPER_FPS


def why_dropped(
    track: Track, settings: FilterSettings, *, width_px: int, height_px: int, fps: float = PAPER_FPS
) -> DroppedTrack | None:
    """The first test of the hard filter that a track fails; None if it passes.

    The reasons, in this order: ``not-a-person``, ``too-short``, ``too-small``, ``not-in-the-middle``.

    Source: HERBench, section 7.1 (hard filter cascade).
    Departs: lengths are times, see `FilterSettings`. Length is the number of frames with a box, those that
    were filled in included.
    """
    if track.class_name != settings.class_name:
        return _dropped(track, "not-a-person", f"class {track.class_name!r}, not {settings.class_name!r}")
    n = len(track.frame_indices)
    least = frames_in(settings.least_s, fps)
    if n < least:
        return _dropped(track, "too-short", f"{n} frames, at least {least} ({settings.least_s:.2g} s)")
    area = float(areas_px(track.boxes_px).mean())
    if area < settings.least_area_px:
        return _dropped(
            track, "too-small", f"{area:.0f} square pixels on average, at least {settings.least_area_px:.0f}"
        )
    n_inside = frames_in_middle(track, margin=settings.margin, width_px=width_px, height_px=height_px)
    least = frames_in(settings.least_in_middle_s, fps)
    if n_inside < least:
        return _dropped(
            track,
            "not-in-the-middle",
            f"centre in the middle of the frame in {n_inside} frames, at least {least} "
            f"({settings.least_in_middle_s:.2g} s)",
        )
    return None


def frames_in_middle(track: Track, *, margin: float, width_px: int, height_px: int) -> int:
    """In how many frames the centre is at least `margin` times the frame's size from each edge.

    The edge of the middle belongs to it.
    """
    size = np.array([width_px, height_px], np.float64)
    centres = track.centroids_px
    inside = (centres >= margin * size) & (centres <= (1 - margin) * size)
    return int(inside.all(axis=1).sum())


def _dropped(track: Track, reason: str, detail: str) -> DroppedTrack:
    return DroppedTrack(what=track.track_id, stage=STAGE, reason=reason, detail=detail)
