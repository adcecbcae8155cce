"""Boxes -> tracks: which box in this frame is whose box of the frames before."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record
from vidence.seeing import kalman
from vidence.seeing.overlap import iou
from vidence.seeing.tracks import PERSON, Detections, Track

# The 95 % point of the chi-square distribution with four degrees of freedom (DeepSORT, section 2.2).
_GATE: Final = 9.4877
_IMPOSSIBLE: Final = 1e5


class AssociationSettings(Record, kw_only=True):
    """How boxes become tracks.

    `high` parts boxes by confidence: those above it are matched first at an IoU of at least `high_iou` with
    where the track is expected, the others then at `low_iou`. Boxes above `high` that are still left are
    matched once more at `last_iou` (1 or more: they are not). A track ends `max_age` frames after its last
    box, and counts from its `n_init`-th box on. Where vectors of the boxes are given, they are matched first:
    by the least cosine distance from the last `gallery` vectors of a track plus `place` times what the IoU
    with the expected place lacks of 1; the sum is at most `most_distance`. Somebody who looks like a track
    (at most `alike`) and whom every other track is farther from by `clear_by` or more needs no place.
    `classes` are the names of what is tracked, each by itself; empty: everything.

    Source: HERBench, section 7.1 (`high`, `high_iou`, `low_iou`); Wojke et al. 2017 (DeepSORT), sections 2.3
    and 3, and its released code (`max_age`, `n_init`, `most_distance`, `gallery`).
    Departs: HERBench does not say whether 0.7 is a least IoU or a most cost (ours: a least IoU), nor any age.
    `last_iou` is ours: without it a person whose box jumps starts anew. So are `place`, `alike`, `clear_by`:
    DeepSORT compares looks alone wherever a person can be (``place=0&most_distance=0.2&alike=0``), and then
    takes one person for another where boxes are few pixels wide.
    """

    high: float = 0.5
    high_iou: float = 0.7
    low_iou: float = 0.35
    last_iou: float = 0.3
    max_age: int = 30
    n_init: int = 3
    place: float = 0.3
    most_distance: float = 0.25
    alike: float = 0.2
    clear_by: float = 0.1
    gallery: int = 100
    classes: tuple[str, ...] = (PERSON,)


class Tracker(Protocol):
    """Makes tracks of boxes; made by ``create(argument, options)``, one file in ``tracking/trackers/``.

    `identity` is what the tracks depend on besides the boxes. `describer` is the spec of what turns boxes
    into vectors; empty: none is wanted. `classes` are the names of what is tracked; empty: everything.
    """

    identity: str
    describer: str
    classes: tuple[str, ...]

    def track(
        self,
        detections: Detections,
        *,
        frame_indices: Sequence[int],
        fps: float,
        vectors: NDArray[np.float32] | None = None,
    ) -> tuple[Track, ...]:
        """The tracks, in the order of their first box.

        Args:
            detections: the boxes.
            frame_indices: the frames that were looked at, whether or not something was found there.
            fps: frames per second of the video.
            vectors: one unit vector for each box, shape (n, n_dims).
        """


def associate(
    detections: Detections,
    settings: AssociationSettings,
    *,
    frame_indices: Sequence[int],
    vectors: NDArray[np.float32] | None = None,
) -> tuple[Track, ...]:
    """The tracks that these boxes make, in the order of their first box, named ``1``, ``2``, ...

    Shapes: `vectors` (n, n_dims), rows of length 1, one for each box.

    Raises:
        UsageError: the number of vectors is not that of the boxes.

    Source: Wojke et al. 2017 (DeepSORT), section 2; HERBench, section 7.1 (two stages by confidence).
    Departs: the boxes of a track are those that were detected, not the filter's; the boxes before the
    `n_init`-th are kept; lost tracks stay candidates for matching by IoU, not only those seen in the last
    frame. Each class is matched by itself.
    """
    if vectors is not None and len(vectors) != len(detections.frame_indices):
        raise UsageError(
            f"{len(vectors)} vectors for {len(detections.frame_indices)} boxes; expected one each"
        )
    histories: list[tuple[str, list[int]]] = []
    for class_id, name in sorted(detections.class_names.items()):
        if settings.classes and name not in settings.classes:
            continue
        matching = _Matching(detections, settings, vectors=vectors)
        rows = np.flatnonzero(detections.class_ids == class_id)
        frames = detections.frame_indices[rows]
        for frame in sorted({int(index) for index in frame_indices}):
            first, last = np.searchsorted(frames, [frame, frame + 1])
            matching.step(frame, rows[first:last])
        histories += [(name, history) for history in matching.finished()]
    return tracks_of(detections, histories)


def tracks_of(detections: Detections, histories: Sequence[tuple[str, Sequence[int]]]) -> tuple[Track, ...]:
    """Tracks from the places of their boxes among the detections, in the order of their first box."""
    frames = detections.frame_indices
    ordered = sorted(histories, key=lambda named: (int(frames[named[1][0]]), named[1][0]))
    return tuple(
        Track(
            track_id=str(number),
            class_name=name,
            frame_indices=frames[list(history)],
            boxes_px=detections.boxes_px[list(history)],
            confidences=detections.confidences[list(history)],
            is_detected=np.ones(len(history), np.bool_),
        )
        for number, (name, history) in enumerate(ordered, start=1)
    )


@dataclass(kw_only=True)
class _Living:
    """A track that may still go on: the places of its boxes, when it was last seen, its last vectors."""

    history: list[int]
    last_frame: int
    gallery: deque[NDArray[np.float32]] = field(default_factory=deque)


class _Matching:
    """The tracks of one class, frame after frame."""

    def __init__(
        self,
        detections: Detections,
        settings: AssociationSettings,
        *,
        vectors: NDArray[np.float32] | None,
    ) -> None:
        self._detections = detections
        self._settings = settings
        self._vectors = vectors
        self._living: list[_Living] = []
        self._belief = kalman.nothing()
        self._ended: list[list[int]] = []
        self._frame = 0

    def finished(self) -> list[list[int]]:
        """The places of the boxes of every track that counts."""
        living = [track.history for track in self._living]
        return [history for history in [*self._ended, *living] if len(history) >= self._settings.n_init]

    def step(self, frame: int, rows: NDArray[np.int64]) -> None:
        """Match the boxes in these rows, all of one frame."""
        if self._living:
            self._belief = kalman.predict(self._belief, n_frames=frame - self._frame)
        self._frame = frame
        self._end([frame - track.last_frame > self._settings.max_age for track in self._living])
        is_high = self._detections.confidences[rows] > self._settings.high
        high, low = rows[is_high], rows[~is_high]
        free = np.arange(len(self._living))
        matched: list[tuple[int, int]] = []
        if self._vectors is not None:
            found, free, high = self._by_look(free, high)
            matched += found
        found, free, high = self._by_place(free, high, least=self._settings.high_iou)
        matched += found
        found, free, _ = self._by_place(free, low, least=self._settings.low_iou)
        matched += found
        if self._settings.last_iou < 1:
            found, free, high = self._by_place(free, high, least=self._settings.last_iou)
            matched += found
        self._continue(matched)
        n_init = self._settings.n_init
        self._end([t.last_frame < frame and len(t.history) < n_init for t in self._living])
        self._start(high)

    def _by_look(
        self, free: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> tuple[list[tuple[int, int]], NDArray[np.int64], NDArray[np.int64]]:
        """Match tracks that count by their vectors, those that were seen last first."""
        matched: list[tuple[int, int]] = []
        ages = np.array([self._frame - self._living[i].last_frame for i in free], np.int64)
        counts = np.array([len(self._living[i].history) >= self._settings.n_init for i in free], bool)
        for age in np.unique(ages[counts]):
            group = free[counts & (ages == age)]
            found, _, rows = _assign(
                group, rows, costs=self._look_costs(group, rows), most=self._settings.most_distance
            )
            matched += found
        taken = {track for track, _ in matched}
        return matched, np.array([i for i in free if i not in taken], np.int64), rows

    def _look_costs(self, tracks: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How unlike each box is to each track, in looks and place; impossible where it cannot be so soon."""
        if not len(tracks) or not len(rows):
            return np.full((len(tracks), len(rows)), _IMPOSSIBLE)
        looks = self._look_distances(rows)
        known, boxes = self._belief.part(tracks), self._detections.boxes_px[rows]
        costs = looks[tracks] + self._settings.place * (1.0 - iou(known.boxes_px[:, None], boxes[None]))
        nearest_other = _least_of_others(looks)[tracks]
        is_clear = looks[tracks] <= np.minimum(self._settings.alike, nearest_other - self._settings.clear_by)
        costs = np.where(is_clear, np.minimum(costs, self._settings.most_distance), costs)
        costs[kalman.distances(known, boxes) > _GATE] = _IMPOSSIBLE
        return costs

    def _look_distances(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The least cosine distance of each box from each track, shape (n_tracks, n_boxes)."""
        if self._vectors is None:
            raise ValueError("there are no vectors to compare")
        wanted = self._vectors[rows].T
        return np.array([1.0 - (np.stack(track.gallery) @ wanted).max(axis=0) for track in self._living])

    def _by_place(
        self, free: NDArray[np.int64], rows: NDArray[np.int64], *, least: float
    ) -> tuple[list[tuple[int, int]], NDArray[np.int64], NDArray[np.int64]]:
        """Match tracks with boxes where they are expected."""
        expected = self._belief.boxes_px[free]
        overlaps = iou(expected[:, None], self._detections.boxes_px[rows][None])
        return _assign(free, rows, costs=1.0 - overlaps, most=1.0 - least)

    def _continue(self, matched: list[tuple[int, int]]) -> None:
        """Give tracks the boxes that were found to be theirs."""
        if not matched:
            return
        tracks, rows = np.array(matched, np.int64).T
        known = kalman.update(self._belief.part(tracks), self._detections.boxes_px[rows])
        self._belief = self._belief.with_part(tracks, known)
        for track, row in matched:
            self._living[track].history.append(row)
            self._living[track].last_frame = self._frame
            self._remember(self._living[track], row)

    def _start(self, rows: NDArray[np.int64]) -> None:
        """A new track for every box that is nobody's."""
        if len(rows):
            self._belief = self._belief.joined(kalman.begin(self._detections.boxes_px[rows]))
        for row in rows.tolist():
            track = _Living(history=[row], last_frame=self._frame)
            track.gallery = deque(maxlen=self._settings.gallery)
            self._remember(track, row)
            self._living.append(track)

    def _remember(self, track: _Living, row: int) -> None:
        if self._vectors is not None:
            track.gallery.append(self._vectors[row])

    def _end(self, is_over: Sequence[bool]) -> None:
        """Let tracks go that are not seen any more."""
        if any(is_over):
            stay = np.array([not over for over in is_over], bool)
            self._ended += [t.history for t, over in zip(self._living, is_over, strict=True) if over]
            self._living = [t for t, over in zip(self._living, is_over, strict=True) if not over]
            self._belief = self._belief.part(stay)


def _least_of_others(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """For every entry the least of the others in its column; minus infinity where there are none."""
    if len(values) < 2:
        return np.full(values.shape, -np.inf)
    two = np.sort(values, axis=0)[:2]
    is_first = np.arange(len(values))[:, None] == values.argmin(axis=0)[None]
    least: NDArray[np.float64] = np.where(is_first, two[1], two[0])
    return least


def _assign(
    tracks: NDArray[np.int64], rows: NDArray[np.int64], *, costs: NDArray[np.float64], most: float
) -> tuple[list[tuple[int, int]], NDArray[np.int64], NDArray[np.int64]]:
    """The cheapest pairs of tracks and boxes; then the tracks and the boxes that have none.

    Shapes: `costs` (n_tracks, n_boxes). No pair costs more than `most`; as many pairs are made as can be.
    """
    from scipy.optimize import linear_sum_assignment

    if not costs.size:
        return [], tracks, rows
    allowed = costs <= most + 1e-9
    chosen = linear_sum_assignment(np.where(allowed, costs, _IMPOSSIBLE))
    pairs = [(int(i), int(j)) for i, j in zip(*chosen, strict=True) if allowed[i, j]]
    free_tracks, free_rows = np.ones(len(tracks), bool), np.ones(len(rows), bool)
    for i, j in pairs:
        free_tracks[i] = free_rows[j] = False
    return (
        [(int(tracks[i]), int(rows[j])) for i, j in pairs],
        tracks[free_tracks],
        rows[free_rows],
    )
