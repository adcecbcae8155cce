"""What boards compute: what to look at first, who may be one person, what readers and counters say."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.boxes import iou
from vidence.seeing.tracks import Track, TrackedVideo
from vidence.statistics.intervals import proportion

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
CHANCE: Final = 0.5
"""How often somebody is right who tells true from false without knowing: as many are true as are false."""


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


# --------------------------------------------------------------------------- false cards


@dataclass(frozen=True, kw_only=True)
class Told:
    """How often readers told true sentences from false ones by their words alone.

    `n_unsure` said that they cannot say, and count nowhere. `chance` is what guessing gives.
    """

    n: int
    n_right: int
    n_unsure: int
    share: float | None
    low: float
    high: float
    chance: float = CHANCE

    @property
    def is_above_chance(self) -> bool:
        """Whether the words give the false ones away, as far as can be told."""
        return self.low > self.chance

    @property
    def words(self) -> str:
        """The same as a sentence."""
        unsure = f"; {self.n_unsure} cannot say" if self.n_unsure else ""
        if self.share is None:
            return f"nobody has told one yet{unsure}"
        return (
            f"{self.n_right} of {self.n} told right without the film: {self.share:.0%} "
            f"({self.low:.0%} to {self.high:.0%} at 95%), by guessing {self.chance:.0%}{unsure}"
        )


def told(answers: Sequence[tuple[bool, Literal["true", "false", "cannot-say"]]]) -> Told:
    """What readers tell by words alone; an answer is whether the sentence is true, and what was said of it.

    >>> told([(True, "true"), (False, "true"), (False, "cannot-say")]).n_right
    1
    """
    said = [(is_true, word == "true") for is_true, word in answers if word != "cannot-say"]
    n_unsure = len(answers) - len(said)
    if not said:
        return Told(n=0, n_right=0, n_unsure=n_unsure, share=None, low=0.0, high=1.0)
    n_right = sum(is_true == word for is_true, word in said)
    found = proportion(n_right, len(said))
    low, high = found.low, found.high
    return Told(
        n=len(said),
        n_right=n_right,
        n_unsure=n_unsure,
        share=n_right / len(said),
        low=0.0 if low is None else low,
        high=1.0 if high is None else high,
    )


# --------------------------------------------------------------------------- counts


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What one counter says: `n`, surely between `n_low` and `n_high`."""

    counter: str
    n: int
    n_low: int
    n_high: int


def agreement(counts: Sequence[Counted]) -> str:
    """In words how far counters of the same window and place agree.

    >>> one = Counted(counter="a", n=5, n_low=5, n_high=6)
    >>> agreement([one, Counted(counter="b", n=6, n_low=6, n_high=6)])
    'they differ by 1, and both ranges hold 6'
    """
    if len(counts) < 2:
        return "counted once; a second counter has not counted yet"
    low, high = max(one.n_low for one in counts), min(one.n_high for one in counts)
    numbers = [one.n for one in counts]
    apart = max(numbers) - min(numbers)
    both = "both" if len(counts) == 2 else "all"
    if apart == 0:
        return f"{both} counted {numbers[0]}"
    if low > high:
        return f"they differ by {apart}, and no number is in {both} ranges: look again together"
    shared = str(low) if low == high else f"{low} to {high}"
    return f"they differ by {apart}, and {both} ranges hold {shared}"
