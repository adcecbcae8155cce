"""What TrackRank measures of a track, each in its own unit, before anything is divided by the largest."""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.seeing.hull import hull_area
from vidence.seeing.overlap import areas_px, iou, share_inside
from vidence.seeing.tracks import PERSON, Detections, Track

ObjectOverlap: TypeAlias = Literal["iou", "object-area"]
_ROUNDING: Final = 1e-9


def duration_s(track: Track, times_s: NDArray[np.float64]) -> float:
    """From the first frame of a track to its last, in seconds of presentation time; 0 for one frame."""
    return float(times_s[track.last_frame] - times_s[track.first_frame])


def mean_area_px(track: Track) -> float:
    """The mean area of the boxes, in square pixels."""
    return float(areas_px(track.boxes_px).mean())


def displacement_px(track: Track) -> float:
    """The straight distance between the first centre and the last, in pixels."""
    centres = track.centroids_px
    return float(np.linalg.norm(centres[-1] - centres[0]))


def path_px(track: Track) -> float:
    """The length of the way from centre to centre, in pixels."""
    steps = np.diff(track.centroids_px, axis=0)
    return float(np.hypot(steps[:, 0], steps[:, 1]).sum())


def check_boxes(track: Track) -> None:
    """Refuse a track with boxes that cannot be measured.

    Raises:
        DataError: a box is not of finite numbers, or has no area.
    """
    bad = np.flatnonzero(~(areas_px(track.boxes_px) > 0))
    if len(bad):
        raise DataError(
            f"{len(bad)} boxes of the track {track.track_id!r} have no area, such as "
            f"{track.boxes_px[bad[0]].tolist()} in frame {track.frame_indices[bad[0]]}; refine the tracks "
            "first, which leaves out boxes that cannot be used"
        )


def hull_area_px(track: Track) -> float:
    """The area of the convex hull of all corners of the boxes, in square pixels.

    Raises:
        DataError: see `check_boxes`.
    """
    check_boxes(track)
    return hull_area(track.boxes_px)


def mean_confidence(track: Track) -> float:
    """The mean score of the detections, 0 or above; filled boxes have none and do not count.

    Files that know no scores have negative ones, or none that is a number: such tracks have 0.
    """
    found = track.confidences[track.is_detected & np.isfinite(track.confidences)]
    return max(float(found.mean()), 0.0) if len(found) else 0.0


def mean_acceleration(track: Track, times_s: NDArray[np.float64]) -> float:
    """The mean magnitude of the acceleration of the centre, in pixels per second squared.

    Velocities are taken between neighbouring boxes and the times of their frames, so that frames that come
    irregularly do not look like jitter. Changes of velocity that are nothing but rounding count as none. 0
    for a track of fewer than three boxes.
    """
    if len(track.frame_indices) < 3:
        return 0.0
    times = times_s[track.frame_indices]
    between = np.diff(times)
    velocities = np.diff(track.centroids_px, axis=0) / between[:, None]
    steps = np.diff(velocities, axis=0)
    changes = np.hypot(steps[:, 0], steps[:, 1])
    changes[changes <= _ROUNDING * np.abs(velocities).max()] = 0.0
    return float((changes / ((between[1:] + between[:-1]) / 2)).mean())


def aspect_spread(track: Track) -> float:
    """The standard deviation (over all boxes, not of a sample) of width / height."""
    sides = track.boxes_px[:, 2:] - track.boxes_px[:, :2]
    return float((sides[:, 0] / sides[:, 1]).std())


def count_objects(
    tracks: Sequence[Track],
    detections: Detections,
    *,
    over: float,
    overlap: ObjectOverlap,
    person: str = PERSON,
) -> NDArray[np.int64]:
    """With how many kinds of things each track was seen, shape (n_tracks,).

    A kind counts when, in any frame, one of its boxes overlaps that of the track by more than `over`:
    intersection over union, or intersection over the area of the thing.
    """
    others = [i for i, name in detections.class_names.items() if name != person]
    rows = np.flatnonzero(np.isin(detections.class_ids, others))
    rows = rows[np.argsort(detections.frame_indices[rows], kind="stable")]
    frames, boxes = detections.frame_indices[rows], detections.boxes_px[rows]
    classes = detections.class_ids[rows]
    compare = iou if overlap == "iou" else share_inside
    counts = np.zeros(len(tracks), np.int64)
    for i, track in enumerate(tracks):
        low = np.searchsorted(frames, track.frame_indices, side="left")
        n = np.searchsorted(frames, track.frame_indices, side="right") - low
        if not n.any():
            continue
        mine = np.repeat(np.arange(len(n)), n)
        theirs = np.repeat(low, n) + np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        met = classes[theirs][compare(boxes[theirs], track.boxes_px[mine]) > over]
        counts[i] = len({detections.class_names[int(c)] for c in np.unique(met)})
    return counts
