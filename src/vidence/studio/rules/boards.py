"""What boards compute: what to look at first, who may be one person, orders that tell nothing."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.make.review.people.rows import CountRow
from vidence.seeing.boxes import iou
from vidence.seeing.tracks import Track, TrackedVideo

N_CROPS: Final = 8
MOST_CROPS: Final = 16
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

    `gap_s` is the time between the two; `likeness` the cosine of their looks, None if one is not known.
    """

    track_id: str
    gap_s: float
    likeness: float | None

    @property
    def words(self) -> str:
        """Why it may be the same person."""
        apart = f"{self.gap_s:.1f} s apart" if self.gap_s else "together in time"
        return apart if self.likeness is None else f"{apart}, alike {self.likeness}"


def meetings(track: Track, others: Sequence[Track]) -> tuple[Meeting, ...]:
    """When a track comes near others, in time order; one for each time that they meet."""
    meetings: list[Meeting] = []
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
            meetings += [
                Meeting(other=other.track_id, frame=int(both[part[np.argmax(near[part])]])) for part in parts
            ]
    return tuple(sorted(meetings, key=lambda meeting: (meeting.frame, meeting.other)))


def neighbours(track: Track, video: TrackedVideo, everybody: Sequence[Track]) -> tuple[Neighbour, ...]:
    """Who may be the same person: never in one frame, near in time or alike in look; most likely first."""
    start_s, end_s = video.span_s(track)
    neighbours: list[tuple[float, Neighbour]] = []
    for other in everybody:
        begins_s, ends_s = video.span_s(other)
        gap_s = max(begins_s - end_s, start_s - ends_s, 0.0)
        is_at_once = not gap_s and len(np.intersect1d(track.frame_indices, other.frame_indices))
        if other.track_id == track.track_id or is_at_once:
            continue
        likeness = _likeness(video, track.track_id, other.track_id)
        if gap_s <= _NEXT_S or (likeness is not None and likeness >= _ALIKE):
            worth = (likeness or 0.0) - gap_s / (10 * _NEXT_S)
            neighbours.append((-worth, Neighbour(track_id=other.track_id, gap_s=gap_s, likeness=likeness)))
    neighbours.sort(key=lambda values: (values[0], values[1].track_id))
    return tuple(neighbour for _, neighbour in neighbours[:_MOST_NEIGHBOURS])


def _likeness(video: TrackedVideo, name: str, other: str) -> float | None:
    mine: NDArray[np.float32] | None = video.looks.get(name)
    theirs: NDArray[np.float32] | None = video.looks.get(other)
    return None if mine is None or theirs is None else round(float(mine @ theirs), 2)


def suspicions(
    track: Track, video: TrackedVideo, *, met: Sequence[Meeting], left_out: str = ""
) -> tuple[str, ...]:
    """Return the reasons to check a track first; empty without a reason.

    Args:
        track: the track.
        video: for its times.
        met: whom it meets.
        left_out: why a program left it out; empty if none did.
    """
    start_s, end_s = video.span_s(track)
    suspicions = [f"left out by a program: {left_out}"] if left_out else []
    if met:
        others = ", ".join(dict.fromkeys(meeting.other for meeting in met))
        suspicions.append(f"meets {others}")
    if end_s - start_s < _SHORT_S:
        suspicions.append(f"only {end_s - start_s:.1f} s long")
    if float(track.is_detected.mean()) < _FILLED:
        suspicions.append(f"{1 - float(track.is_detected.mean()):.0%} of its boxes were filled in")
    longest = max((b - a for a, b in pairwise(track.frame_indices.tolist())), default=1) - 1
    if longest > 1:
        suspicions.append(f"away for {longest} frames")
    return tuple(suspicions)


def crop_frames(track: Track, *, met: Sequence[Meeting], usual: Sequence[int]) -> tuple[int, ...]:
    """The frames of the crops of a track: its ends, those spread over its life, both sides of meetings."""
    frames = {int(track.frame_indices[0]), int(track.frame_indices[-1]), *usual}
    for meeting in met:
        if len(frames) >= MOST_CROPS - 1:
            break
        at = int(np.searchsorted(track.frame_indices, meeting.frame))
        last = len(track.frame_indices) - 1
        frames |= {int(track.frame_indices[min(max(at + step, 0), last)]) for step in (-5, 5)}
    return tuple(sorted(frames))


# --------------------------------------------------------------------------- drawn orders


def drawn(names: Sequence[str], *, seed: str) -> tuple[str, ...]:
    """These names in an order that the seed alone decides, and that tells nothing of them.

    >>> drawn(["1", "2", "3"], seed="a") == drawn(["3", "1", "2"], seed="a")
    True
    """
    return tuple(sorted(names, key=lambda name: hashlib.sha256(f"{seed}\n{name}".encode()).digest()))


# --------------------------------------------------------------------------- counts


def agreement(counts: Sequence[CountRow]) -> str:
    """In words how far counters of the same window and place agree."""
    if len(counts) < 2:
        return "counted once; a second count is missing"
    low, high = max(row.n_low for row in counts), min(row.n_high for row in counts)
    numbers = [row.n for row in counts]
    apart = max(numbers) - min(numbers)
    both = "both" if len(counts) == 2 else "all"
    if apart == 0:
        return f"{both} counted {numbers[0]}"
    if low > high:
        return f"they differ by {apart}, and no number is in {both} ranges: look again together"
    shared = str(low) if low == high else f"{low} to {high}"
    return f"they differ by {apart}, and {both} ranges hold {shared}"


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A counted person: the first frame at which one of `counters` did, and who did not."""

    frame: int
    counters: tuple[str, ...]
    missed_by: tuple[str, ...]


def moments(counts: Sequence[CountRow], *, within: int) -> tuple[Moment, ...]:
    """Return the people noted by counters in order of time, with the counters who noted each.

    Counters press the key at slightly different frames: what different counters noted `within` so many
    frames is taken for one person. The same counter noted two people at two times, however near.

    Args:
        counts: of the same window and place; those without frames noted no person, and miss none.
        within: how many frames two notes of one person may lie apart.
    """
    noted = {row.counter for row in counts if row.frames}
    groups: list[tuple[int, list[str]]] = []
    for frame, counter in sorted((frame, row.counter) for row in counts for frame in row.frames):
        near = (by for first, by in groups if frame - first <= within and counter not in by)
        by = next(near, None)
        if by is None:
            groups.append((frame, [counter]))
        else:
            by.append(counter)
    return tuple(
        Moment(frame=frame, counters=tuple(by), missed_by=tuple(sorted(noted - set(by))))
        for frame, by in groups
    )
