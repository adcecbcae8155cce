"""TrackRank: score the tracks of a video and pick diverse ones (HERBench, eq. 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.records import Record
from vidence.seeing.appearance import rarity
from vidence.seeing.boxes import areas_px, hull_area, iou
from vidence.seeing.refine import check_tracks
from vidence.seeing.tracks import PERSON, Detections, Track, TrackedVideo, rows_in_frames

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
    """The length of the path between successive centres, in pixels."""
    steps = np.diff(track.centroids_px, axis=0)
    return float(np.hypot(steps[:, 0], steps[:, 1]).sum())


def check_boxes(track: Track) -> None:
    """Reject a track with boxes that cannot be measured.

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
    values = track.confidences[track.is_detected & np.isfinite(track.confidences)]
    return max(float(values.mean()), 0.0) if len(values) else 0.0


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


def count_objects(tracks: Sequence[Track], detections: Detections, *, over: float) -> NDArray[np.int64]:
    """How many kinds of things each track was seen with, shape (n_tracks,).

    A kind counts when, in any frame, one of its boxes overlaps that of the track by an IoU of more than
    `over`.
    """
    others = [i for i, name in detections.class_names.items() if name != PERSON]
    rows = np.flatnonzero(np.isin(detections.class_ids, others))
    rows = rows[np.argsort(detections.frame_indices[rows], kind="stable")]
    frames, boxes = detections.frame_indices[rows], detections.boxes_px[rows]
    classes = detections.class_ids[rows]
    counts = np.zeros(len(tracks), np.int64)
    for i, track in enumerate(tracks):
        mine, theirs = rows_in_frames(frames, track.frame_indices)
        met = classes[theirs][iou(boxes[theirs], track.boxes_px[mine]) > over]
        counts[i] = len({detections.class_names[int(c)] for c in np.unique(met)})
    return counts


class Weights(Record):
    """The weight of each term; the defaults are the paper's and sum to 14.1.

    Source: HERBench, section 7.1, list under eq. 3.

    >>> round(sum(Weights().values), 9)
    14.1
    """

    duration: float = 2.0
    size: float = 1.0
    associated_objects: float = 2.0
    centre_distance: float = 2.4
    motion: float = 1.0
    appearance: float = 2.2
    scene_coverage: float = 1.5
    confidence: float = 0.8
    smoothness: float = 0.7
    aspect_stability: float = 0.5

    def __post_init__(self) -> None:
        if not all(0 <= value < float("inf") for value in self.values) or not sum(self.values) > 0:
            raise UsageError(f"TrackRank weights {self.values}: expected numbers of 0 or above, not all 0")

    @property
    def values(self) -> tuple[float, ...]:
        """The weights in the order of `TERMS`."""
        return msgspec.structs.astuple(self)


TERMS: tuple[str, ...] = tuple(field.name for field in msgspec.structs.fields(Weights))


class RankSettings(Record):
    """The weights of the terms; a thing counts as associated at an IoU of more than `objects_over`."""

    weights: Weights = Weights()
    objects_over: float = 0.2


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The tracks of one video with what was measured of them.

    Shapes: `measured` and `terms` are (n_tracks, n_terms) in the order of `TERMS`, `scores` is (n_tracks,).
    The rows are in the order of first frame and id. `measured` is in the units of `vidence.seeing.trackrank`
    (smoothness and aspect stability as 1 - x); `terms` is divided by the largest of the video. `absent`
    names terms that are 0 for every track because what they need was not given.
    """

    track_ids: tuple[str, ...]
    measured: NDArray[np.float64]
    terms: NDArray[np.float64]
    scores: NDArray[np.float64]
    absent: tuple[str, ...] = ()

    @property
    def best_first(self) -> tuple[str, ...]:
        """The ids by score; of ties, the track that appears first."""
        return tuple(self.track_ids[i] for i in order_by(self.scores))


def order_by(scores: NDArray[np.float64]) -> list[int]:
    """The rows of a ranking by descending score; ties keep their order."""
    return [int(i) for i in np.argsort(-scores, kind="stable")]


def rank(
    video: TrackedVideo,
    *,
    appearances: Mapping[str, NDArray[np.float64]] | None = None,
    corpus_mean: NDArray[np.float64] | None = None,
    settings: RankSettings | None = None,
) -> Ranking:
    """Score the tracks of a video: ``S = sum(w M) / sum(w)`` over ten terms.

    Every term is divided by its largest value over the tracks of this video, and is 0 for all where that
    is 0. So scores compare tracks of one video only.

    Args:
        video: tracks that were refined (see `vidence.seeing.refine`), and the detections for things
            beside people; without those no track has associated objects.
        appearances: for each track id what it looks like (see `vidence.seeing.appearance`); a track
            without one has 0. None: the term is absent.
        corpus_mean: the appearance that rarity is measured from; None: the mean over the tracks here.
        settings: what the paper leaves open, and the weights.

    Raises:
        DataError: tracks that do not belong to the video, or boxes without area.
        UsageError: appearances whose lengths differ.

    Source: HERBench, section 7.1, eq. 3 and the list under it.
    Departs: where the paper leaves a choice or contradicts itself (docs/making/tracking.md): duration is in
    seconds; motion is the length of the way, as the paper prints centre distance twice; aspect stability is
    0 where it would be below. Rarity is measured from the corpus where its mean is given, otherwise from the
    video ("the dataset's average", yet "all computed per video"). Normalised acceleration is the mean
    magnitude divided by the largest of the video. Confidence counts detected boxes only.
    """
    settings = settings or RankSettings()
    check_tracks(video)
    tracks = sorted(video.tracks, key=lambda track: (track.first_frame, track.track_id))
    for track in tracks:
        check_boxes(track)
    columns = _columns(tracks, video, settings=settings)
    columns["appearance"] = rarity([t.track_id for t in tracks], appearances or {}, mean=corpus_mean)
    measured = np.column_stack([columns[name] for name in TERMS])
    shares = over_largest(measured)
    needed = {"appearance": appearances, "associated_objects": video.detections}
    return Ranking(
        track_ids=tuple(track.track_id for track in tracks),
        measured=measured,
        terms=shares,
        scores=weighted(shares, np.array(settings.weights.values)),
        absent=tuple(name for name in TERMS if name in needed and needed[name] is None),
    )


def weighted(shares: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Eq. 3: the weighted mean of the terms. Shapes: (n_tracks, n_terms), (n_terms,) to (n_tracks,)."""
    scores: NDArray[np.float64] = (shares * weights).sum(axis=1) / weights.sum()
    return scores


def over_largest(measured: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each column divided by its maximum; 0 if that is not positive."""
    largest = measured.max(axis=0, initial=0.0)
    shares: NDArray[np.float64] = np.zeros_like(measured)
    np.divide(measured, largest, out=shares, where=largest > 0)
    return shares


def _columns(
    tracks: Sequence[Track], video: TrackedVideo, *, settings: RankSettings
) -> dict[str, NDArray[np.float64]]:
    """Every term but appearance, by name; each of shape (n_tracks,)."""
    times_s = video.times_s
    shaken = np.array([mean_acceleration(track, times_s) for track in tracks])
    spread = np.array([aspect_spread(track) for track in tracks])
    objects = np.zeros(len(tracks))
    if video.detections is not None:
        objects = count_objects(tracks, video.detections, over=settings.objects_over).astype(np.float64)
    return {
        "duration": np.array([duration_s(track, times_s) for track in tracks]),
        "size": np.array([mean_area_px(track) for track in tracks]),
        "associated_objects": objects,
        "centre_distance": np.array([displacement_px(track) for track in tracks]),
        "motion": np.array([path_px(track) for track in tracks]),
        "scene_coverage": np.array([hull_area_px(track) for track in tracks]),
        "confidence": np.array([mean_confidence(track) for track in tracks]),
        "smoothness": 1.0 - over_largest(shaken),
        "aspect_stability": np.maximum(1.0 - spread, 0.0),
    }


class DiversitySettings(Record):
    """How many tracks are picked, from how many rankings, and the range of weight factors.

    The paper picks 6 to 10 tracks; it does not say how many rankings.
    """

    n_tracks: int = 8
    n_rankings: int = 8
    least_factor: float = 0.5
    most_factor: float = 1.5

    def __post_init__(self) -> None:
        if self.n_tracks < 1 or self.n_rankings < 1 or not 0 < self.least_factor <= self.most_factor:
            raise UsageError(
                f"picking {self.n_tracks} tracks from {self.n_rankings} rankings with factors "
                f"{self.least_factor} to {self.most_factor}: expected counts of 1 or above, and factors "
                "above 0, the smaller one first (the paper has 6 to 10 tracks and 0.5 to 1.5)"
            )


class Pick(Record):
    """A picked track: its score with unchanged weights, and the ranking it came from.

    `ranking` is the number of the ranking that it was picked from, `turn` the round, both from 0.
    """

    track_id: str
    score: float
    ranking: int
    turn: int


def pick_diverse(
    ranking: Ranking,
    *,
    rng: np.random.Generator,
    weights: Weights | None = None,
    settings: DiversitySettings | None = None,
) -> tuple[Pick, ...]:
    """Pick tracks in turns from several rankings with randomly scaled weights.

    In each ranking every weight is multiplied by a factor of its own. The rankings then take turns; each
    picks its best track that was not picked yet, until there are enough or no more.

    Returns:
        The picks by their unchanged score, best first; all tracks where there are not more than asked for.

    Source: HERBench, section 7.1 (diversity sampling: round-robin over perturbed weights, U(0.5, 1.5)).
    Departs: the number of rankings is not given (ours 8), nor how many of 6 to 10 tracks (ours 8). The
    ranking with unchanged weights takes no turn.
    """
    settings, weights = settings or DiversitySettings(), weights or Weights()
    factors = rng.uniform(settings.least_factor, settings.most_factor, size=(settings.n_rankings, len(TERMS)))
    orders = [iter(order_by(weighted(ranking.terms, np.array(weights.values) * row))) for row in factors]
    n_wanted = min(settings.n_tracks, len(ranking.track_ids))
    picked: dict[int, Pick] = {}
    turn = 0
    while len(picked) < n_wanted:
        for number, order in enumerate(orders):
            row = next((row for row in order if row not in picked), None)
            if row is not None and len(picked) < n_wanted:
                picked[row] = Pick(
                    track_id=ranking.track_ids[row],
                    score=float(ranking.scores[row]),
                    ranking=number,
                    turn=turn,
                )
        turn += 1
    return tuple(picked[row] for row in order_by(ranking.scores) if row in picked)
