"""What boards compute: what to look at first, who may be one person, orders that tell nothing."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.boxes import iou
from vidence.seeing.tracks import Track, TrackedVideo

N_CROPS: Final = 8
MOST_CROPS: Final = 16
WAY_WIDTH: Final = 120
_NEAR: Final = 0.1  # the overlap (IoU) from which two boxes are so near that a tracker may mix them up
_MEETING_PAUSE: Final = 10  # frames without nearness between two meetings
_SHORT_S: Final = 1.0
_FILLED: Final = 0.5
_NEXT_S: Final = 3.0
_ALIKE: Final = 0.8
_MOST_NEIGHBOURS: Final = 6


# --------------------------------------------------------------------------- tracks


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """Two boxes that come so near that a tracker may have mixed them up; `frame` is the nearest moment."""

    other: str
    frame: int


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A track that may be the same person: it begins soon after the other one ends, or looks alike.

    `gap_s` is the time between the two; `likeness` the cosine of their looks, None where one is not known.
    """

    track_id: str
    gap_s: float
    likeness: float | None


def meetings(track: Track, others: Sequence[Track]) -> tuple[Meeting, ...]:
    """When a track comes near others, in the order of time; one for each time that they meet."""
    found: list[Meeting] = []
    for other in others:
        if other.last_frame < track.first_frame or track.last_frame < other.first_frame:
            continue
        both, mine, theirs = np.intersect1d(track.frame_indices, other.frame_indices, return_indices=True)
        if other.track_id == track.track_id or not len(both):
            continue
        near = iou(track.boxes_px[mine], other.boxes_px[theirs])
        places = np.flatnonzero(near >= _NEAR)
        if len(places):
            parts = np.split(places, np.flatnonzero(np.diff(both[places]) > _MEETING_PAUSE) + 1)
            found += [
                Meeting(other=other.track_id, frame=int(both[part[np.argmax(near[part])]])) for part in parts
            ]
    return tuple(sorted(found, key=lambda one: (one.frame, one.other)))


def neighbours(track: Track, video: TrackedVideo, everybody: Sequence[Track]) -> tuple[Neighbour, ...]:
    """Who may be the same person: never in the same frame, near in time or alike in look; likeliest first."""
    start_s, end_s = video.span_s(track)
    found: list[tuple[float, Neighbour]] = []
    for other in everybody:
        begins_s, ends_s = video.span_s(other)
        gap_s = max(begins_s - end_s, start_s - ends_s, 0.0)
        is_at_once = not gap_s and len(np.intersect1d(track.frame_indices, other.frame_indices))
        if other.track_id == track.track_id or is_at_once:
            continue
        likeness = _likeness(video, track.track_id, other.track_id)
        if gap_s <= _NEXT_S or (likeness is not None and likeness >= _ALIKE):
            worth = (likeness or 0.0) - gap_s / (10 * _NEXT_S)
            found.append((-worth, Neighbour(track_id=other.track_id, gap_s=gap_s, likeness=likeness)))
    found.sort(key=lambda one: (one[0], one[1].track_id))
    return tuple(one for _, one in found[:_MOST_NEIGHBOURS])


def _likeness(video: TrackedVideo, one: str, other: str) -> float | None:
    mine: NDArray[np.float32] | None = video.looks.get(one)
    theirs: NDArray[np.float32] | None = video.looks.get(other)
    return None if mine is None or theirs is None else round(float(mine @ theirs), 2)


def suspicions(
    track: Track, video: TrackedVideo, *, met: Sequence[Meeting], left_out: str = ""
) -> tuple[str, ...]:
    """Why somebody should look at a track before others; nothing where there is no reason.

    Args:
        track: the track.
        video: for its times.
        met: whom it meets.
        left_out: why a program left it out; empty where none did.
    """
    start_s, end_s = video.span_s(track)
    said = [f"left out by a program: {left_out}"] if left_out else []
    if met:
        others = ", ".join(dict.fromkeys(one.other for one in met))
        said.append(f"meets {others}")
    if end_s - start_s < _SHORT_S:
        said.append(f"only {end_s - start_s:.1f} s long")
    if float(track.is_detected.mean()) < _FILLED:
        said.append(f"{1 - float(track.is_detected.mean()):.0%} of its boxes were filled in")
    longest = max((b - a for a, b in pairwise(track.frame_indices.tolist())), default=1) - 1
    if longest > 1:
        said.append(f"away for {longest} frames")
    return tuple(said)


def crop_frames(track: Track, *, met: Sequence[Meeting], usual: Sequence[int]) -> tuple[int, ...]:
    """The frames of the crops of a track: its ends, those spread over its life, both sides of meetings."""
    frames = {int(track.frame_indices[0]), int(track.frame_indices[-1]), *usual}
    for one in met:
        if len(frames) >= MOST_CROPS - 1:
            break
        at = int(np.searchsorted(track.frame_indices, one.frame))
        last = len(track.frame_indices) - 1
        frames |= {int(track.frame_indices[min(max(at + step, 0), last)]) for step in (-5, 5)}
    return tuple(sorted(frames))


def way(track: Track, *, width_px: int, height_px: int) -> str:
    """Where the feet of a track go, as the points of a line in a picture `WAY_WIDTH` wide."""
    scale = WAY_WIDTH / width_px
    feet = np.stack([track.boxes_px[:, [0, 2]].mean(axis=1), track.boxes_px[:, 3]], axis=1)
    feet = np.clip(feet, 0, [width_px, height_px]) * scale
    step = max(1, len(feet) // WAY_WIDTH)
    shown = [*feet[:-1:step].tolist(), feet[-1].tolist()]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in shown)


# --------------------------------------------------------------------------- drawn orders


def drawn(names: Sequence[str], *, seed: str) -> tuple[str, ...]:
    """These names in an order that the seed alone decides, and that tells nothing of them.

    >>> drawn(["1", "2", "3"], seed="a") == drawn(["3", "1", "2"], seed="a")
    True
    """

    def rank(name: str) -> bytes:
        return hashlib.sha256(f"{seed}\n{name}".encode()).digest()

    return tuple(sorted(names, key=rank))
