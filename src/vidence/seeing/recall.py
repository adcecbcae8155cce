"""How many of the people in a video are found, measured on frames that a person counted or marked."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.seeing.boxes import iou, share_inside
from vidence.seeing.corrections import listed_others
from vidence.seeing.space import Region
from vidence.seeing.tracks import PERSON, Recall, Track, TrackedVideo
from vidence.statistics.intervals import quantile

LEAST_POOLED: Final = 3
"""From so many counted videos on, others of the same set are taken to be like them."""
_SAME_PERSON = 0.5  # overlap (IoU) from which a box shows the person that was marked
_INSIDE = 0.5


@dataclass(frozen=True, kw_only=True)
class LabelledFrame:
    """One frame that a person looked at: how many people are in it, and which tracks show whom.

    `real` and `false` are the ids of the tracks with a box in it that show somebody, and that show nobody or
    somebody who has another box.
    """

    time_s: float
    n_people: int
    real: tuple[str, ...]
    false: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The frames of one video that were looked at, and what is needed of its tracks.

    `lengths` are the numbers of boxes of the tracks by id; `stay_s` is how long a track lasts that is met in
    a frame taken at random: frames nearer to each other show the same people.
    """

    looked: tuple[LabelledFrame, ...]
    lengths: Mapping[str, int]
    stay_s: float


def shown(tracked: TrackedVideo, frame_index: int, region: Region | None = None) -> tuple[str, ...]:
    """The ids of the people with a box in a frame, the longest track first, those left out included.

    With a region only those who are in it with half of their box.
    """
    found: list[tuple[int, str]] = []
    for track in people_of(tracked):
        box = _box(track, frame_index)
        if box is None or (region is not None and _share(box, region) < _INSIDE):
            continue
        found.append((-len(track.frame_indices), track.track_id))
    return tuple(name for _, name in sorted(found))


def people_of(tracked: TrackedVideo) -> tuple[Track, ...]:
    """All tracks of people that counts know, those that refining left out from half a second on included."""
    everybody = (*tracked.tracks, *listed_others(tracked.others, tracked))
    return tuple(one for one in everybody if one.class_name == PERSON)


def counted_frame(
    tracked: TrackedVideo, frame_index: int, *, n_people: int, n_false: int, region: Region | None = None
) -> LabelledFrame:
    """A frame of which a person said how many people it shows, and how many boxes are false.

    Which boxes are false is not said: it is taken to be those of the shortest tracks, so that as many tracks
    as possible are false.

    Raises:
        ValueError: more boxes are false than there are, or more are real than there are people.
    """
    names = shown(tracked, frame_index, region)
    n_real = len(names) - n_false
    if n_false > len(names):
        raise ValueError(f"{n_false} false boxes, but the frame has {len(names)} boxes")
    if n_real > n_people:
        raise ValueError(
            f"{len(names)} boxes of which {n_false} are false leave {n_real} people, but {n_people} were "
            "counted; a box of nobody and a second box of somebody are false"
        )
    return LabelledFrame(
        time_s=float(tracked.times_s[frame_index]),
        n_people=n_people,
        real=names[:n_real],
        false=names[n_real:],
    )


def marked_frame(
    tracked: TrackedVideo,
    frame_index: int,
    *,
    people_px: NDArray[np.float64],
    ignored_px: NDArray[np.float64],
    region: Region | None = None,
) -> LabelledFrame:
    """A frame in which a person marked everybody.

    Args:
        tracked: the tracks to measure.
        frame_index: the frame.
        people_px: the boxes of the people, shape (n, 4).
        ignored_px: boxes of what is neither a person nor a fault, shape (m, 4).
        region: only people with half of their box in it, and tracks likewise.
    """
    boxes = {one.track_id: box for one in people_of(tracked) if (box := _box(one, frame_index)) is not None}
    names = list(boxes)
    mine = np.array([boxes[name] for name in names], np.float64).reshape(-1, 4)
    pairs = _pairs(iou(mine[:, None], people_px[None]))
    others = iou(mine[:, None], ignored_px[None])
    wanted = [region is None or _share(box, region) >= _INSIDE for box in people_px]
    real = tuple(names[i] for i, j in pairs if wanted[j])
    matched = {i for i, _ in pairs}
    false = tuple(
        name
        for i, name in enumerate(names)
        if i not in matched
        and not np.any(others[i] >= _SAME_PERSON)
        and (region is None or _share(boxes[name], region) >= _INSIDE)
    )
    return LabelledFrame(
        time_s=float(tracked.times_s[frame_index]), n_people=sum(wanted), real=real, false=false
    )


def _pairs(overlap: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The pairs of boxes that show the same person, each box once, the most overlap in all."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(np.where(overlap >= _SAME_PERSON, -overlap, 0.0))
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if overlap[i, j] >= _SAME_PERSON]


def _box(track: Track, frame_index: int) -> NDArray[np.float64] | None:
    place = int(np.searchsorted(track.frame_indices, frame_index))
    if place == len(track.frame_indices) or track.frame_indices[place] != frame_index:
        return None
    box: NDArray[np.float64] = track.boxes_px[place]
    return box


def _share(box: NDArray[np.float64], region: Region) -> float:
    return float(share_inside(np.asarray(box)[None], region.box_px)[0])


def sample_of(tracked: TrackedVideo, looked: Sequence[LabelledFrame]) -> Sample:
    """Frames that were looked at, with what is needed of the tracks of their video."""
    tracks = people_of(tracked)
    spans = [tracked.span_s(track) for track in tracks]
    lasts = np.array([end - start for start, end in spans])
    return Sample(
        looked=tuple(sorted(looked, key=lambda one: one.time_s)),
        lengths={track.track_id: len(track.frame_indices) for track in tracks},
        stay_s=float((lasts**2).sum() / lasts.sum()) if lasts.sum() > 0 else 0.0,
    )


# --------------------------------------------------------------------------- shares and their bounds


def recall_of(sample: Sample, *, confidence: float) -> Recall | None:
    """The recall of one video, and the share of its tracks that are false; None where the frames show nobody.

    Frames nearer to each other than people stay are averaged, and count as one moment. The variance of the
    share between moments, and Student's t for how few they are, make the number of people that it is worth,
    never more than the people of the moments. The bounds are those of a Beta distribution with that number
    and a uniform prior. A track is met in a frame the more often the longer it is; each is weighted by one
    over its length, so that `false_share` is one of tracks, worth Kish's effective number of them.

    Source: Korn & Graubard (1998), confidence intervals for proportions with small expected numbers; Horvitz
        & Thompson (1952) for the weights.
    Departs: a uniform prior where they take the exact interval.
    """
    moments: list[list[LabelledFrame]] = []
    for one in sample.looked:
        if moments and one.time_s - moments[-1][0].time_s < sample.stay_s:
            moments[-1].append(one)
        else:
            moments.append([one])
    there = np.array([np.mean([one.n_people for one in some]) for some in moments])
    found = np.array([np.mean([len(one.real) for one in some]) for some in moments])
    if there.sum() == 0:
        return None
    share = float(found.sum() / there.sum())
    n_worth = _worth(found, there, share=share, confidence=confidence)
    false_share, n_tracks = _false_share(sample)
    return _recall(
        share,
        n_worth,
        false_share=false_share,
        n_tracks=n_tracks,
        confidence=confidence,
        n_people=sum(one.n_people for one in sample.looked),
        n_frames=len(sample.looked),
        n_videos=1,
        method=f"{len(sample.looked)} frames of this video at {len(moments)} moments",
    )


def _worth(
    found: NDArray[np.float64], there: NDArray[np.float64], *, share: float, confidence: float
) -> float:
    """How many independent people the share is worth."""
    n_all, n_moments = float(there.sum()), len(there)
    variance = 0.0
    if n_moments > 1:
        variance = n_moments / (n_moments - 1) * float(((found - share * there) ** 2).sum()) / n_all**2
    if variance <= 0 or not 0 < share < 1:
        return max(1.0, n_all)
    few = quantile(1e9, confidence) / quantile(n_moments - 1, confidence)
    return max(1.0, min(n_all, share * (1 - share) / variance * few**2))


def _false_share(sample: Sample) -> tuple[float, float]:
    """The share of tracks that are false, and how many tracks it is worth."""
    real: dict[str, float] = {}
    false: dict[str, float] = {}
    for one in sample.looked:
        for name in one.real:
            real[name] = real.get(name, 0.0) + 1 / sample.lengths[name]
        for name in one.false:
            false[name] = false.get(name, 0.0) + 1 / sample.lengths[name]
    weights = np.array([*real.values(), *false.values()])
    if len(weights) == 0:
        return 0.0, 0.0
    n_worth = float(weights.sum() ** 2 / (weights**2).sum())
    return sum(false.values()) / float(weights.sum()), n_worth


def _recall(  # noqa: PLR0913 - the fields of the record
    share: float,
    n_worth: float,
    *,
    false_share: float,
    n_tracks: float,
    confidence: float,
    n_people: int,
    n_frames: int,
    n_videos: int,
    method: str,
) -> Recall:
    tail = (1 - confidence) / 2
    return Recall(
        share=share,
        low=_beta_end(share, n_worth, tail),
        high=_beta_end(share, n_worth, 1 - tail),
        confidence=confidence,
        n_people=n_people,
        n_frames=n_frames,
        n_videos=n_videos,
        n_independent=n_worth,
        false_share=false_share,
        false_high=_beta_end(false_share, n_tracks, 1 - tail),
        n_independent_tracks=n_tracks,
        method=method,
    )


def _beta_end(share: float, n: float, at: float) -> float:
    """A quantile of the share, of which `n` cases are known, with a uniform prior."""
    from scipy.special import betaincinv

    return float(betaincinv(1 + share * n, 1 + (1 - share) * n, at))


def pooled_recall(recalls: Sequence[Recall], *, confidence: float) -> Recall | None:
    """What is to be expected of another video like these; None for fewer than `LEAST_POOLED`.

    The videos are the clusters: the share of another one scatters around their mean as theirs do, with
    Student's t for how few they are. It is worth no more people, and tracks, than one of them on average.

    Source: the prediction interval of a mean; moments of the Beta distribution.
    Departs: no.
    """
    if len(recalls) < LEAST_POOLED:
        return None
    worth = _worth_of_another([one.share for one in recalls], confidence=confidence)
    worth_tracks = _worth_of_another([one.false_share for one in recalls], confidence=confidence)
    return _recall(
        float(np.mean([one.share for one in recalls])),
        max(1.0, min(worth, float(np.mean([one.n_independent for one in recalls])))),
        false_share=float(np.mean([one.false_share for one in recalls])),
        n_tracks=max(1.0, min(worth_tracks, float(np.mean([one.n_independent_tracks for one in recalls])))),
        confidence=confidence,
        n_people=sum(one.n_people for one in recalls),
        n_frames=sum(one.n_frames for one in recalls),
        n_videos=len(recalls),
        method=f"{len(recalls)} other videos of the set, each a cluster",
    )


def _worth_of_another(shares: Sequence[float], *, confidence: float) -> float:
    mean, n = float(np.mean(shares)), len(shares)
    few = quantile(n - 1, confidence) / quantile(1e9, confidence)
    variance = float(np.var(shares, ddof=1)) * (1 + 1 / n) * few**2
    if variance <= 0 or not 0 < mean < 1:
        return math.inf
    return mean * (1 - mean) / variance - 1


def with_recall(tracked: TrackedVideo, recall: Recall | None, regions: Mapping[str, Recall]) -> TrackedVideo:
    """The same tracks, which say how much of the people they hold."""
    basis = msgspec.structs.replace(tracked.basis, recall=recall, regions=dict(regions))
    return replace(tracked, basis=basis)
