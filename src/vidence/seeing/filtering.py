"""Tracks that are worth a question: the hard filter before ranking."""

import numpy as np

from vidence.records import Record
from vidence.seeing.account import DroppedTrack
from vidence.seeing.overlap import areas_px
from vidence.seeing.tracks import PERSON, Track

STAGE = "hard-filter"


class FilterSettings(Record, kw_only=True):
    """What a track must have to stay.

    `least_area_px` is the least mean area of its boxes in square pixels. The middle of the frame is the
    frame without a border of `margin` times its width and height on each side.
    """

    class_name: str = PERSON
    least_boxes: int = 20
    least_area_px: float = 5500.0
    margin: float = 0.1
    least_frames_in_middle: int = 5


def why_dropped(
    track: Track, settings: FilterSettings, *, width_px: int, height_px: int
) -> DroppedTrack | None:
    """Why a track does not pass the hard filter, by the first test that it fails; None where it passes.

    The reasons, in this order: ``not-a-person``, ``too-short``, ``too-small``, ``not-in-the-middle``.

    Source: HERBench, section 7.1 (hard filter cascade).
    Departs: no. Length is the number of frames with a box, those that were filled in included.
    """
    if track.class_name != settings.class_name:
        return _dropped(track, "not-a-person", f"class {track.class_name!r}, not {settings.class_name!r}")
    n = len(track.frame_indices)
    if n < settings.least_boxes:
        return _dropped(track, "too-short", f"{n} frames, at least {settings.least_boxes}")
    area = float(areas_px(track.boxes_px).mean())
    if area < settings.least_area_px:
        return _dropped(
            track, "too-small", f"{area:.0f} square pixels on average, at least {settings.least_area_px:.0f}"
        )
    n_inside = frames_in_middle(track, margin=settings.margin, width_px=width_px, height_px=height_px)
    if n_inside < settings.least_frames_in_middle:
        return _dropped(
            track,
            "not-in-the-middle",
            f"centre in the middle of the frame in {n_inside} frames, "
            f"at least {settings.least_frames_in_middle}",
        )
    return None


def frames_in_middle(track: Track, *, margin: float, width_px: int, height_px: int) -> int:
    """In how many frames the centre lies in the frame without a border of `margin` times its size.

    The edge of the middle belongs to it.
    """
    size = np.array([width_px, height_px], np.float64)
    centres = track.centroids_px
    inside = (centres >= margin * size) & (centres <= (1 - margin) * size)
    return int(inside.all(axis=1).sum())


def _dropped(track: Track, reason: str, detail: str) -> DroppedTrack:
    return DroppedTrack(what=track.track_id, stage=STAGE, reason=reason, detail=detail)
