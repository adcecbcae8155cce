"""Records of tracking: detections, tracks, shots of a video, and the account of the outcome of tracks."""

import hashlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from vidence.records import Record

PERSON = "person"
_LETTERS: Final = str.maketrans("0123456789", "ghjkmnpqrs")
_CHECK_CHARS: Final = 12
_LEAST_OTHER_S: Final = 0.5
PAPER_FPS = 30.0
"""The frame rate for which the papers state limits in frames."""


def frames_in(seconds: float, fps: float) -> int:
    """The number of frames closest to a duration, with halves rounded up.

    >>> frames_in(1.0, 7.0), frames_in(2 / 3, 30.0)
    (7, 20)
    """
    return int(seconds * fps + 0.5)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Arrays with one row per thing; rows are scalars unless `row_shapes` says otherwise."""

    row_shapes: ClassVar[Mapping[str, tuple[int, ...]]] = {"boxes_px": (4,)}

    def __post_init__(self) -> None:
        arrays = self._arrays()
        n = len(next(iter(arrays.values())))
        if any(array.shape != (n, *self.row_shapes.get(name, ())) for name, array in arrays.items()):
            message = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise ValueError(f"the arrays of {type(self).__name__} do not belong together: {message}")

    def part(self, keep: NDArray[np.integer | np.bool_] | slice) -> Self:
        """Select rows by position or mask."""
        return replace(self, **{name: array[keep] for name, array in self._arrays().items()})

    def joined(self, others: Sequence[Self]) -> Self:
        """Concatenate rows; values that are not arrays are those of the first."""
        if not others:
            return self
        every = (self, *others)
        return replace(
            self,
            **{name: np.concatenate([getattr(entry, name) for entry in every]) for name in self._arrays()},
        )

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in every.items() if isinstance(value, np.ndarray)}


@dataclass(frozen=True, kw_only=True)
class Detections(Rows):
    """Boxes found in the frames of one video, in order of frames.

    Shapes: `frame_indices`, `confidences`, `class_ids` are (n,), `boxes_px` is (n, 4).
    Units: `boxes_px` is left, top, right, bottom in pixels of the video as it is shown (rotation applied);
    frames count from 0. `class_names` names every class id that occurs.
    """

    frame_indices: NDArray[np.int64]
    boxes_px: NDArray[np.float64]
    confidences: NDArray[np.float64]
    class_ids: NDArray[np.int64]
    class_names: Mapping[int, str]


def rows_in_frames(
    frames: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every pair of positions at which two lists of frames agree: in `wanted`, and in `frames`.

    Shapes: `frames` (n,), sorted; `wanted` (m,); both results (n_pairs,), in the order of `wanted`.

    >>> mine, theirs = rows_in_frames(np.array([2, 2, 5]), np.array([1, 2, 5]))
    >>> mine.tolist(), theirs.tolist()
    ([1, 1, 2], [0, 1, 2])
    """
    low = np.searchsorted(frames, wanted, side="left")
    n = np.searchsorted(frames, wanted, side="right") - low
    return np.repeat(np.arange(len(n)), n), np.repeat(low, n) + np.arange(n.sum()) - np.repeat(
        np.cumsum(n) - n, n
    )


@dataclass(frozen=True, kw_only=True)
class Track(Rows):
    """One person or thing over time: one box in each of some frames, in ascending order.

    Shapes: `frame_indices`, `confidences`, `is_detected` are (n,), `boxes_px` is (n, 4).
    Units: as in `Detections`. `is_detected` is False where a box was filled in between detections.
    """

    track_id: str
    class_name: str
    frame_indices: NDArray[np.int64]
    boxes_px: NDArray[np.float64]
    confidences: NDArray[np.float64]
    is_detected: NDArray[np.bool_]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.frame_indices) == 0:
            raise ValueError(f"the track {self.track_id} has no box")
        if np.any(np.diff(self.frame_indices) <= 0):
            raise ValueError(f"the frames of the track {self.track_id} do not ascend")

    @property
    def centroids_px(self) -> NDArray[np.float64]:
        """The centres of the boxes, shape (n, 2), in pixels."""
        return (self.boxes_px[:, :2] + self.boxes_px[:, 2:]) / 2

    @property
    def first_frame(self) -> int:
        """The first frame with a box."""
        return int(self.frame_indices[0])

    @property
    def last_frame(self) -> int:
        """The last frame with a box."""
        return int(self.frame_indices[-1])


@dataclass(frozen=True, kw_only=True)
class Span:
    """The frames of one shot, `first_frame` to `last_frame`, both included.

    The first `n_mixed` of them still show the shot before it, or come up from black.
    """

    first_frame: int
    last_frame: int
    n_mixed: int = 0

    @property
    def clear_frame(self) -> int:
        """The first frame that shows only this shot."""
        return self.first_frame + self.n_mixed

    def is_clear(self, frame_index: int) -> bool:
        """Whether a frame shows only this shot."""
        return self.clear_frame <= frame_index <= self.last_frame


class TrackBasis(Record, omit_defaults=True):
    """Whether tracks come from a detector, from people, or from a detector with human review.

    `detector` names what found the boxes, or the file that gave the tracks.
    """

    kind: Literal["detected", "given", "reviewed"] = "detected"
    detector: str = ""

    @property
    def is_trusted(self) -> bool:
        """Whether a person guarantees that the tracks are complete."""
        return self.kind != "detected"


@dataclass(frozen=True, kw_only=True)
class TrackedVideo:
    """All tracks of one video."""

    width_px: int
    height_px: int
    times_s: NDArray[np.float64]
    """Presentation times of the frames, shape (n_frames,)."""
    tracks: tuple[Track, ...]
    detections: Detections | None = None
    """The detections that tracks were made from, including things; None for imported tracks."""
    others: tuple[Track, ...] = ()
    """Tracks of people dropped in refining: not asked about, but included in counts of people."""
    shots: tuple[Span, ...] = ()
    """Shots in order, with blank frames between; empty if cuts were not sought or tracks cross them."""
    looks: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    """Mean vectors of tracks and others by id, shape (n_dims,), length 1; absent where none is seen well."""
    basis: TrackBasis = field(default_factory=TrackBasis)
    """What the tracks rest on."""

    @property
    def fps(self) -> float:
        """Average frames per second; the paper's if there is only one frame."""
        span_s = float(self.times_s[-1] - self.times_s[0])
        return (len(self.times_s) - 1) / span_s if span_s > 0 else PAPER_FPS

    @property
    def cuts(self) -> tuple[int, ...]:
        """The first frame of each shot but the first, ascending; no track crosses one."""
        return tuple(shot.first_frame for shot in self.shots[1:])

    def shot_of(self, frame_index: int) -> Span:
        """The shot that a frame belongs to.

        A frame in no shot, a black one, counts to the shot before it, or to the first.
        """
        if not self.shots:
            return Span(first_frame=0, last_frame=len(self.times_s) - 1)
        return self.shots[bisect_right(self.shots, frame_index, lo=1, key=lambda span: span.first_frame) - 1]

    def track(self, track_id: str) -> Track:
        """The track with that id.

        Raises:
            KeyError: there is none.
        """
        for track in self.tracks:
            if track.track_id == track_id:
                return track
        raise KeyError(track_id)

    def span_s(self, track: Track) -> tuple[float, float]:
        """When a track is visible, from its first frame to its last, in seconds."""
        return float(self.times_s[track.first_frame]), float(self.times_s[track.last_frame])


class DroppedTrack(Record, omit_defaults=True):
    """A track that was dropped.

    `what` is its id, `stage` the step that dropped it. `reason` is a short name that accounts are kept by,
    `detail` what was seen.
    """

    what: str
    stage: str
    reason: str
    detail: str = ""


class Merge(Record):
    """Two fragments that were joined: `before` ends where `after` begins; both are now `into`.

    `gap_frames` is the number of frames between them that have a box of neither; `cost` is eq. 2.
    """

    before: str
    after: str
    into: str
    gap_frames: int
    distance_px: float
    iou: float
    cost: float


class StepCount(Record):
    """Counts before and after one step.

    ``tracks_out = tracks_in - tracks_dropped - tracks_merged`` and
    ``boxes_out = boxes_in - boxes_dropped + boxes_added``. `tracks_changed` had boxes moved, added or
    dropped; the boxes of dropped tracks are among `boxes_dropped`.
    """

    step: str
    tracks_in: int
    tracks_out: int
    tracks_dropped: int = 0
    tracks_merged: int = 0
    tracks_changed: int = 0
    boxes_in: int
    boxes_out: int
    boxes_dropped: int = 0
    boxes_added: int = 0


class Account(Record):
    """The counts of refining by step; every input track is an output, dropped, or merged."""

    steps: tuple[StepCount, ...] = ()
    dropped: tuple[DroppedTrack, ...] = ()
    merges: tuple[Merge, ...] = ()


def listed_others(
    others: Sequence[Track], video: TrackedVideo, *, least_s: float = _LEAST_OTHER_S
) -> tuple[Track, ...]:
    """Return dropped tracks that are in view for at least half a second, for review."""
    spans = ((other, *video.span_s(other)) for other in others)
    return tuple(track for track, start_s, end_s in spans if end_s - start_s >= least_s)


def track_check(track: Track) -> str:
    """Return a 12-letter checksum of a track's frames and boxes.

    They hold no digit: a spreadsheet takes ``4811828e6756`` for a number and writes another one back.
    """
    frames = np.ascontiguousarray(track.frame_indices.astype("<i8"))
    boxes = np.ascontiguousarray(np.rint(track.boxes_px).astype("<i8"))
    digest = hashlib.sha256(frames.tobytes() + boxes.tobytes()).hexdigest()
    return check_letters(digest)


def check_letters(digest: str) -> str:
    """Twelve letters of a hexadecimal digest."""
    return digest[:_CHECK_CHARS].translate(_LETTERS)
