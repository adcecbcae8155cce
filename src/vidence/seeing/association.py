"""Associate boxes to tracks, with a constant-velocity Kalman filter for boxes."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, Protocol, runtime_checkable

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.media.video import Video
from vidence.records import Record
from vidence.seeing.boxes import iou
from vidence.seeing.tracks import PAPER_FPS, PERSON, Detections, Rows, Track, frames_in
from vidence.weights.checkpoints import library

_MEASURED: Final = 4
_STATES: Final = 8
# Standard deviations as parts of the height of the box, and for the ratio of the sides.
_POSITION: Final = 1 / 20
_VELOCITY: Final = 1 / 160
_RATIO: Final = 1e-2
_RATIO_VELOCITY: Final = 1e-5
_RATIO_MEASURED: Final = 1e-1


@dataclass(frozen=True, kw_only=True)
class Belief(Rows):
    """The Kalman state of some boxes.

    Shapes: `means` (n, 8): centre x, centre y, width over height, height, and the change of each in one
    frame; `covariances` (n, 8, 8). Units: pixels.
    """

    row_shapes: ClassVar = {"means": (_STATES,), "covariances": (_STATES, _STATES)}
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]

    @property
    def boxes_px(self) -> NDArray[np.float64]:
        """Expected boxes, shape (n, 4): left, top, right, bottom."""
        heights = np.maximum(self.means[:, 3:4], 1.0)
        widths = np.maximum(self.means[:, 2:3] * heights, 1.0)
        halves = np.hstack([widths, heights]) / 2
        return np.hstack([self.means[:, :2] - halves, self.means[:, :2] + halves])

    def with_part(self, chosen: NDArray[np.int64], other: "Belief") -> "Belief":
        """Return the state with some rows replaced."""
        means, covariances = self.means.copy(), self.covariances.copy()
        means[chosen], covariances[chosen] = other.means, other.covariances
        return Belief(means=means, covariances=covariances)


def nothing() -> Belief:
    """The state of zero boxes."""
    return Belief(means=np.zeros((0, _STATES)), covariances=np.zeros((0, _STATES, _STATES)))


def measurements(boxes_px: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert boxes (n, 4) to measurements: centre x, centre y, width over height, height."""
    sides = boxes_px[:, 2:] - boxes_px[:, :2]
    centres = boxes_px[:, :2] + sides / 2
    return np.hstack([centres, sides[:, :1] / sides[:, 1:], sides[:, 1:]])


def begin(boxes_px: NDArray[np.float64]) -> Belief:
    """Return the state of boxes after their first observation.

    Source: Wojke et al. 2017 (DeepSORT), section 2.1, with the constants of its released code.
    """
    seen = measurements(boxes_px)
    noise = _noise(seen[:, 3], position=2 * _POSITION, velocity=10 * _VELOCITY)
    return Belief(means=np.hstack([seen, np.zeros_like(seen)]), covariances=noise)


def predict(belief: Belief, *, n_frames: int) -> Belief:
    """Predict the state some frames later.

    Source: as `begin`.
    Departs: over several frames at once, where frames are left out; the noise of each frame is added.
    """
    step = np.eye(_STATES)
    step[:_MEASURED, _MEASURED:] = n_frames * np.eye(_MEASURED)
    noise = _noise(np.maximum(belief.means[:, 3], 1.0), position=_POSITION, velocity=_VELOCITY)
    return Belief(
        means=belief.means @ step.T, covariances=step @ belief.covariances @ step.T + n_frames * noise
    )


def update(belief: Belief, boxes_px: NDArray[np.float64]) -> Belief:
    """Update the state with one new box each, shape (n, 4).

    Source: as `begin`.
    """
    expected, spread = _projected(belief)
    gains = np.linalg.solve(spread, belief.covariances[:, :_MEASURED, :]).transpose(0, 2, 1)
    surprise = measurements(boxes_px) - expected
    means = belief.means + np.einsum("nij,nj->ni", gains, surprise)
    covariances = belief.covariances - gains @ spread @ gains.transpose(0, 2, 1)
    return Belief(means=means, covariances=covariances)


def distances(belief: Belief, boxes_px: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared Mahalanobis distances of boxes (m, 4) from the expected ones; shape (n, m).

    Source: Wojke et al. 2017 (DeepSORT), eq. 1.
    """
    expected, spread = _projected(belief)
    surprise = measurements(boxes_px)[None] - expected[:, None]
    whitened = np.linalg.solve(spread, surprise.transpose(0, 2, 1))
    squared: NDArray[np.float64] = np.einsum("nmi,nim->nm", surprise, whitened)
    return squared


def _projected(belief: Belief) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the expected measurement and its covariance."""
    heights = np.maximum(belief.means[:, 3], 1.0)
    position = _POSITION * heights
    deviations = np.stack([position, position, np.full_like(heights, _RATIO_MEASURED), position], axis=1)
    spread = belief.covariances[:, :_MEASURED, :_MEASURED] + _diagonal(deviations)
    return belief.means[:, :_MEASURED], spread


def _noise(heights: NDArray[np.float64], *, position: float, velocity: float) -> NDArray[np.float64]:
    """Covariances (n, 8, 8) with deviations that grow with the heights (n,)."""
    moves, speeds = position * heights, velocity * heights
    ratio, ratio_speed = np.full_like(heights, _RATIO), np.full_like(heights, _RATIO_VELOCITY)
    return _diagonal(np.stack([moves, moves, ratio, moves, speeds, speeds, ratio_speed, speeds], axis=1))


def _diagonal(deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariances (n, k, k) of independent quantities with these standard deviations (n, k)."""
    return deviations[:, :, None] ** 2 * np.eye(deviations.shape[1])


# The 95 % point of the chi-square distribution with four degrees of freedom (DeepSORT, section 2.2).
_GATE: Final = 9.4877
_IMPOSSIBLE: Final = 1e5


class AssociationSettings(Record):
    """How boxes are associated by appearance and position.

    Where vectors of the boxes are given, they are matched first: by the least cosine distance from the last
    `gallery` vectors of a track plus `place` times what the IoU with the expected place lacks of 1; the sum
    is at most `most_distance`. Somebody who looks like a track (at most `alike`) and whom every other track
    is farther from by `clear_by` or more needs no place.

    Then boxes above `high` are matched at an IoU of at least `high_iou` with where the track is expected, the
    others at `low_iou`. Boxes above `high` that are still left are matched once more at `last_iou`. A track
    ends `max_age_s` seconds after its last box, and counts from its `n_init`-th box on.

    Source: HERBench, section 7.1 (`high`, `high_iou`, `low_iou`); Wojke et al. 2017 (DeepSORT), sections 2.3
    and 3, and its released code (`most_distance`, `gallery`, 30 frames without a box, `n_init`).
    Departs: HERBench does not say whether 0.7 is a least IoU or a most cost (ours: a least IoU), nor any age.
    `last_iou` is ours: without it a person whose box jumps starts again. So are `place`, `alike` and
    `clear_by`: DeepSORT compares looks alone wherever a person can be
    (``place=0&most_distance=0.2&alike=0``), and then takes one person for another where boxes are few pixels
    wide.
    """

    high: Annotated[float, Meta(ge=0, le=1, description="minimum confidence of a high-confidence box")] = 0.5
    high_iou: Annotated[
        float, Meta(ge=0, le=1, description="minimum IoU of a match of a high-confidence box")
    ] = 0.7
    low_iou: Annotated[
        float, Meta(ge=0, le=1, description="minimum IoU of a match of a low-confidence box")
    ] = 0.35
    last_iou: Annotated[
        float,
        Meta(ge=0, le=1, description="minimum IoU of the last match of high-confidence boxes (1: skip it)"),
    ] = 0.3
    max_age_s: Annotated[float, Meta(gt=0, description="seconds for which a track may be lost")] = 1.0
    n_init: Annotated[int, Meta(ge=1, description="boxes that a valid track needs")] = 3
    classes: Annotated[tuple[str, ...], Meta(description="names of the classes to track, or all")] = (PERSON,)
    place: Annotated[float, Meta(ge=0, description="weight of position relative to appearance")] = 0.3
    most_distance: Annotated[float, Meta(ge=0, description="maximum distance in appearance and position")] = (
        0.25
    )
    alike: Annotated[float, Meta(ge=0, description="cosine distance of people who look the same")] = 0.2
    clear_by: Annotated[float, Meta(ge=0, description="distance to the next track that makes it clear")] = 0.1
    gallery: Annotated[int, Meta(ge=1, description="vectors to keep per track")] = 100


def named_classes(classes: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the classes that are tracked; empty, which means every class, for ``all``."""
    return () if classes == ("all",) else classes


class Tracker(Protocol):
    """Makes tracks from boxes; one file in ``seeing/trackers``.

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


@runtime_checkable
class SeeingTracker(Protocol):
    """A tracker that reads the frames itself."""

    def seeing(self, video: Video) -> Tracker:
        """The tracker with access to the frames of a video."""


def associate(
    detections: Detections,
    settings: AssociationSettings,
    *,
    frame_indices: Sequence[int],
    fps: float = PAPER_FPS,
    vectors: NDArray[np.float32] | None = None,
) -> tuple[Track, ...]:
    """The tracks made from these boxes, in order of first box, named ``1``, ``2``, ...

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
    for name, frames in by_class(detections, settings.classes, frame_indices=frame_indices):
        matching = _Matching(detections, settings, fps=fps, vectors=vectors)
        for frame, rows in frames:
            matching.step(frame, rows)
        histories += [(name, history) for history in matching.finished()]
    return tracks_of(detections, histories)


def by_class(
    detections: Detections, classes: tuple[str, ...], *, frame_indices: Sequence[int]
) -> Iterator[tuple[str, list[tuple[int, NDArray[np.int64]]]]]:
    """The tracked classes, each with its detections (by position) in every frame, in order."""
    wanted = named_classes(classes)
    for class_id, name in sorted(detections.class_names.items()):
        if not wanted or name in wanted:
            rows = np.flatnonzero(detections.class_ids == class_id)
            order = sorted({int(index) for index in frame_indices})
            low = np.searchsorted(detections.frame_indices[rows], order, side="left")
            high = np.searchsorted(detections.frame_indices[rows], order, side="right")
            yield name, [(f, rows[a:b]) for f, a, b in zip(order, low, high, strict=True)]


def tracks_of(detections: Detections, histories: Sequence[tuple[str, Sequence[int]]]) -> tuple[Track, ...]:
    """Tracks from the positions of their boxes among the detections, in order of first box."""
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
    """An active track: positions of its boxes, last frame, last vectors."""

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
        fps: float,
        vectors: NDArray[np.float32] | None,
    ) -> None:
        self._most_lost = max(1, frames_in(settings.max_age_s, fps))
        self._detections = detections
        self._settings = settings
        self._vectors = vectors
        self._living: list[_Living] = []
        self._belief = nothing()
        self._ended: list[list[int]] = []
        self._frame = 0

    def finished(self) -> list[list[int]]:
        """The positions of the boxes of every track that counts."""
        living = [track.history for track in self._living]
        return [history for history in [*self._ended, *living] if len(history) >= self._settings.n_init]

    def step(self, frame: int, rows: NDArray[np.int64]) -> None:
        """Match the boxes in these rows, all of one frame."""
        if self._living:
            self._belief = predict(self._belief, n_frames=frame - self._frame)
        self._frame = frame
        self._end([frame - track.last_frame > self._most_lost for track in self._living])
        is_high = self._detections.confidences[rows] > self._settings.high
        high, low = rows[is_high], rows[~is_high]
        free = np.arange(len(self._living))
        matched: list[tuple[int, int]] = []
        if self._vectors is not None:
            entries, free, high = self._by_look(free, high)
            matched += entries
        entries, free, high = self._by_place(free, high, least=self._settings.high_iou)
        matched += entries
        entries, free, _ = self._by_place(free, low, least=self._settings.low_iou)
        matched += entries
        if self._settings.last_iou < 1:
            entries, free, high = self._by_place(free, high, least=self._settings.last_iou)
            matched += entries
        self._continue(matched)
        n_init = self._settings.n_init
        self._end([t.last_frame < frame and len(t.history) < n_init for t in self._living])
        self._start(high)

    def _by_look(
        self, free: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> tuple[list[tuple[int, int]], NDArray[np.int64], NDArray[np.int64]]:
        """Match tracks that count by appearance, the most recently seen first."""
        matched: list[tuple[int, int]] = []
        ages = np.array([self._frame - self._living[i].last_frame for i in free], np.int64)
        counts = np.array([len(self._living[i].history) >= self._settings.n_init for i in free], bool)
        for age in np.unique(ages[counts]):
            group = free[counts & (ages == age)]
            entries, _, rows = _assign(
                group, rows, costs=self._look_costs(group, rows), most=self._settings.most_distance
            )
            matched += entries
        taken = {track for track, _ in matched}
        return matched, np.array([i for i in free if i not in taken], np.int64), rows

    def _look_costs(self, tracks: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cost of each box for each track by appearance and position; infinite if out of reach."""
        if not len(tracks) or not len(rows):
            return np.full((len(tracks), len(rows)), _IMPOSSIBLE)
        looks = self._look_distances(rows)
        known, boxes = self._belief.part(tracks), self._detections.boxes_px[rows]
        costs = looks[tracks] + self._settings.place * (1.0 - iou(known.boxes_px[:, None], boxes[None]))
        nearest_other = _least_of_others(looks)[tracks]
        is_clear = looks[tracks] <= np.minimum(self._settings.alike, nearest_other - self._settings.clear_by)
        costs = np.where(is_clear, np.minimum(costs, self._settings.most_distance), costs)
        costs[distances(known, boxes) > _GATE] = _IMPOSSIBLE
        return costs

    def _look_distances(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The smallest cosine distance of each box from each track, shape (n_tracks, n_boxes)."""
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
        """Append the matched boxes to their tracks."""
        if not matched:
            return
        tracks, rows = np.array(matched, np.int64).T
        known = update(self._belief.part(tracks), self._detections.boxes_px[rows])
        self._belief = self._belief.with_part(tracks, known)
        for track, row in matched:
            self._living[track].history.append(row)
            self._living[track].last_frame = self._frame
            self._remember(self._living[track], row)

    def _start(self, rows: NDArray[np.int64]) -> None:
        """Start a new track for every unmatched box."""
        if len(rows):
            self._belief = self._belief.joined([begin(self._detections.boxes_px[rows])])
        for row in rows.tolist():
            track = _Living(history=[row], last_frame=self._frame)
            track.gallery = deque(maxlen=self._settings.gallery)
            self._remember(track, row)
            self._living.append(track)

    def _remember(self, track: _Living, row: int) -> None:
        if self._vectors is not None:
            track.gallery.append(self._vectors[row])

    def _end(self, is_over: Sequence[bool]) -> None:
        """End tracks that have not been seen for too long."""
        if any(is_over):
            stay = np.array([not over for over in is_over], bool)
            self._ended += [t.history for t, over in zip(self._living, is_over, strict=True) if over]
            self._living = [t for t, over in zip(self._living, is_over, strict=True) if not over]
            self._belief = self._belief.part(stay)


def _least_of_others(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every entry the minimum of the others in its column; minus infinity if it is alone."""
    if len(values) < 2:
        return np.full(values.shape, -np.inf)
    two = np.sort(values, axis=0)[:2]
    is_first = np.arange(len(values))[:, None] == values.argmin(axis=0)[None]
    least: NDArray[np.float64] = np.where(is_first, two[1], two[0])
    return least


def _assign(
    tracks: NDArray[np.int64], rows: NDArray[np.int64], *, costs: NDArray[np.float64], most: float
) -> tuple[list[tuple[int, int]], NDArray[np.int64], NDArray[np.int64]]:
    """The cheapest pairs of tracks and boxes; then the unmatched tracks and boxes.

    Shapes: `costs` (n_tracks, n_boxes). No pair costs more than `most`; as many pairs are made as can be.
    """
    optimize = library("scipy.optimize", owner="tracking", extra="build")
    if not costs.size:
        return [], tracks, rows
    allowed = costs <= most + 1e-9
    chosen = optimize.linear_sum_assignment(np.where(allowed, costs, _IMPOSSIBLE))
    pairs = [(int(i), int(j)) for i, j in zip(*chosen, strict=True) if allowed[i, j]]
    free_tracks, free_rows = np.ones(len(tracks), bool), np.ones(len(rows), bool)
    for i, j in pairs:
        free_tracks[i] = free_rows[j] = False
    return ([(int(tracks[i]), int(rows[j])) for i, j in pairs], tracks[free_tracks], rows[free_rows])
