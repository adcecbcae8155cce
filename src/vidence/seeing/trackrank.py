"""TrackRank: which tracks of a video are worth asking about (HERBench, eq. 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record
from vidence.seeing import terms
from vidence.seeing.appearance import rarity
from vidence.seeing.refine import check_tracks
from vidence.seeing.tracks import Track, TrackedVideo


class Weights(Record, kw_only=True):
    """The weight of each term; the usual values are the paper's and sum to 14.1.

    Source: HERBench, section 7.1, list under eq. 3.
    Departs: no.

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


class RankSettings(Record, kw_only=True):
    """How the terms are measured, where the paper leaves it open.

    `duration` counts seconds from the first frame to the last, or boxes. `motion` is the length of the way;
    ``displacement`` is what the paper prints, which makes it a second centre distance.
    A kind of thing counts as associated when one of its boxes overlaps the person's by more than
    `objects_over`, as `object_overlap` says: ``iou``, which small things rarely reach, or ``object-area``
    (intersection over the area of the thing). `least_aspect_stability` is where 1 - std is cut off.
    """

    weights: Weights = Weights()
    duration: Literal["seconds", "boxes"] = "seconds"
    motion: Literal["path", "displacement"] = "path"
    object_overlap: terms.ObjectOverlap = "iou"
    objects_over: float = 0.2
    least_aspect_stability: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The tracks of one video with what was measured of them.

    Shapes: `measured` and `terms` are (n_tracks, n_terms) in the order of `TERMS`, `scores` is (n_tracks,).
    The rows are in the order of first frame and id. `measured` is in the units of `vidence.seeing.terms`
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
        """The ids by score; of equal ones the track that appears first."""
        return tuple(self.track_ids[i] for i in order_by(self.scores))


def order_by(scores: NDArray[np.float64]) -> list[int]:
    """The rows of a ranking by score, the highest first; equal ones in the order of the rows."""
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
    Departs: where the paper leaves a choice or contradicts itself, see `RankSettings` and
    docs/making/trackrank.md. Rarity is measured from the corpus where its mean is given, otherwise from the
    video ("the dataset's average", yet "all computed per video"). Normalised acceleration is the mean
    magnitude divided by the largest of the video. Confidence counts detected boxes only.
    """
    settings = settings or RankSettings()
    check_tracks(video)
    tracks = sorted(video.tracks, key=lambda track: (track.first_frame, track.track_id))
    for track in tracks:
        terms.check_boxes(track)
    measured = np.zeros((len(tracks), len(TERMS)))
    columns = _columns(tracks, video, settings=settings)
    columns["appearance"] = rarity([t.track_id for t in tracks], appearances or {}, mean=corpus_mean)
    for k, name in enumerate(TERMS):
        measured[:, k] = columns[name]
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
    """Every column divided by its largest value; 0 where that is not above 0."""
    largest = measured.max(axis=0, initial=0.0)
    shares: NDArray[np.float64] = np.zeros_like(measured)
    np.divide(measured, largest, out=shares, where=largest > 0)
    return shares


def _columns(
    tracks: Sequence[Track], video: TrackedVideo, *, settings: RankSettings
) -> dict[str, NDArray[np.float64]]:
    """Every term but appearance, by name; each of shape (n_tracks,)."""
    times_s = video.times_s
    shaken = np.array([terms.mean_acceleration(track, times_s) for track in tracks])
    spread = np.array([terms.aspect_spread(track) for track in tracks])
    displaced = np.array([terms.displacement_px(track) for track in tracks])
    objects = np.zeros(len(tracks))
    if video.detections is not None:
        found = terms.count_objects(
            tracks, video.detections, over=settings.objects_over, overlap=settings.object_overlap
        )
        objects = found.astype(np.float64)
    by_time = settings.duration == "seconds"
    return {
        "duration": np.array(
            [terms.duration_s(t, times_s) if by_time else float(len(t.frame_indices)) for t in tracks]
        ),
        "size": np.array([terms.mean_area_px(track) for track in tracks]),
        "associated_objects": objects,
        "centre_distance": displaced,
        "motion": (
            displaced
            if settings.motion == "displacement"
            else np.array([terms.path_px(track) for track in tracks])
        ),
        "scene_coverage": np.array([terms.hull_area_px(track) for track in tracks]),
        "confidence": np.array([terms.mean_confidence(track) for track in tracks]),
        "smoothness": 1.0 - over_largest(shaken),
        "aspect_stability": np.maximum(1.0 - spread, settings.least_aspect_stability),
    }
