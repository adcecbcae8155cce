"""Tracks made by hand, and tracks read from MOT files without the package's own reader."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from vidence.make.herbench.tasks.people import REACH, End
from vidence.seeing.tracks import PERSON, Detections, Span, Track, TrackBasis, TrackedVideo

# Tracks of a detector, for which no person answers.
DETECTED = TrackBasis(detector="all")


def track(
    name: str,
    boxes: Sequence[Sequence[float]],
    *,
    first: int = 0,
    frames: Sequence[int] | None = None,
    confidences: Sequence[float] | None = None,
    detected: Sequence[bool] | None = None,
    kind: str = PERSON,
) -> Track:
    """A track with these boxes, in `frames` or from `first` on."""
    n = len(boxes)
    return Track(
        track_id=name,
        class_name=kind,
        frame_indices=np.array(frames if frames is not None else range(first, first + n), np.int64),
        boxes_px=np.array(boxes, np.float64).reshape(n, 4),
        confidences=np.array(confidences if confidences is not None else [1.0] * n),
        is_detected=np.array(detected if detected is not None else [True] * n),
    )


def walk(
    name: str,
    centres: Iterable[Sequence[float]],
    *,
    size: tuple[float, float] = (100.0, 200.0),
    first: int = 0,
    kind: str = PERSON,
) -> Track:
    """A track whose box of one size has these centres, frame by frame."""
    w, h = size
    return track(
        name, [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for x, y in centres], first=first, kind=kind
    )


def video(
    tracks: Iterable[Track],
    *,
    size: tuple[int, int] = (1000, 800),
    n_frames: int = 400,
    fps: float = 10.0,
    detections: Detections | None = None,
    basis: TrackBasis | None = None,
) -> TrackedVideo:
    """The video that they are in, with frames at regular times; by default a person answers for them."""
    return TrackedVideo(
        width_px=size[0],
        height_px=size[1],
        times_s=np.arange(n_frames) / fps,
        tracks=tuple(tracks),
        detections=detections,
        basis=basis or TrackBasis(kind="given"),
    )


def shots(*cuts: int, n_frames: int = 400) -> tuple[Span, ...]:
    """The shots between hard cuts, of which the first frames of the later shots are given."""
    return tuple(Span(first_frame=first, last_frame=end - 1) for first, end in pairwise((0, *cuts, n_frames)))


def things(rows: Sequence[tuple[int, str, Sequence[float]]]) -> Detections:
    """Detections of (frame, class, box), all with confidence 0.9."""
    names = sorted({name for _, name, _ in rows})
    return Detections(
        frame_indices=np.array([frame for frame, _, _ in rows], np.int64),
        boxes_px=np.array([box for _, _, box in rows], np.float64).reshape(len(rows), 4),
        confidences=np.full(len(rows), 0.9),
        class_ids=np.array([names.index(name) for _, name, _ in rows], np.int64),
        class_names=dict(enumerate(names)),
    )


def read_mot(path: Path, *, only_class: int | None = None) -> tuple[Track, ...]:
    """The tracks of a MOT file, frames from 0; of ground truth only one class."""
    rows = np.loadtxt(path, delimiter=",")
    if only_class is not None:
        rows = rows[rows[:, 7] == only_class]
    found = []
    for number in np.unique(rows[:, 1]):
        mine = rows[rows[:, 1] == number]
        mine = mine[np.argsort(mine[:, 0])]
        left, top, width, height = mine[:, 2:6].T
        found.append(
            track(
                str(int(number)),
                np.stack([left, top, left + width, top + height], axis=1).tolist(),
                frames=(mine[:, 0] - 1).astype(int).tolist(),
                confidences=mine[:, 6].tolist(),
            )
        )
    return tuple(found)


def ways(who: Track, tracked: TrackedVideo, *, unclear_s: float, reach: float = REACH) -> tuple[str, str]:
    """How somebody comes and goes."""
    comes, goes = (End.of(who, tracked, at=at, reach=reach, unclear_s=unclear_s) for at in (0, -1))
    return comes.way, goes.way


def is_inside(
    who: Track, tracked: TrackedVideo, *, at: Literal[0, -1], reach: float, unclear_s: float
) -> bool:
    """Whether somebody's track begins (0) or ends (-1) inside the frame."""
    return End.of(who, tracked, at=at, reach=reach, unclear_s=unclear_s).is_inside
