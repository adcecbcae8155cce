"""Detect, describe and associate: from a video to its tracks, in one reading of the video."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vidence.catalog import create
from vidence.errors import UsageError
from vidence.media.video import FrameProblem, Video
from vidence.seeing.association import Tracker
from vidence.seeing.describers.describing import Describer, Portraits
from vidence.seeing.limbs import out_of_scale, without_parts
from vidence.seeing.same_person import Looks, SamePersonRules, looks_of
from vidence.seeing.tracks import Detections, DroppedTrack, Span, Track, TrackedVideo
from vidence.seeing.watching import Detector, Observer, watch


@dataclass(frozen=True, kw_only=True)
class ShotTracks:
    """The tracks of a video as association gives them.

    `raw_ids` are the ids of all, `tracks` those that are no limbs, `parts` why the others are.
    `n_out_of_scale` is the number of boxes that were not used because their size does not fit their place.
    """

    raw_ids: tuple[str, ...]
    tracks: tuple[Track, ...]
    parts: tuple[DroppedTrack, ...] = ()
    n_out_of_scale: int = 0


def track_shots(
    video: TrackedVideo,
    detections: Detections,
    *,
    tracker: Tracker,
    stride: int = 1,
    vectors: NDArray[np.float32] | None = None,
    finds_parts: bool = False,
) -> ShotTracks:
    """The tracks of each shot, named ``1``, ``2``, ... over the whole video.

    Args:
        video: what the boxes were found in, without tracks; where it has cuts, tracks end there.
        detections: the boxes.
        tracker: what makes tracks of them; it is shown vectors if it asks for any.
        stride: each how many-th frame was looked at.
        vectors: one for each box, shape (n, n_dims).
        finds_parts: whether the detector takes limbs for people now and then.

    Source: HERBench, section 7.1.
    Departs: the paper does not say what becomes of tracks at cuts; ours end there.
    """
    raw_ids: list[str] = []
    tracks: list[Track] = []
    limbs: list[DroppedTrack] = []
    n_out = 0
    for first, end in pairwise((0, *video.cuts, len(video.times_s))):
        here = (detections.frame_indices >= first) & (detections.frame_indices < end)
        if finds_parts:
            is_out = out_of_scale(detections.part(here), height_px=video.height_px)
            n_out += int(np.count_nonzero(is_out))
            here[here] = ~is_out
        found = tracker.track(
            detections.part(here),
            frame_indices=range(-(-first // stride) * stride, end, stride),
            fps=video.fps,
            vectors=vectors[here] if vectors is not None and tracker.describer else None,
        )
        mine = tuple(replace(track, track_id=str(len(raw_ids) + i)) for i, track in enumerate(found, 1))
        raw_ids += [track.track_id for track in mine]
        if finds_parts:
            mine, parts = without_parts(mine)
            limbs += parts
        tracks += mine
    return ShotTracks(raw_ids=tuple(raw_ids), tracks=tuple(tracks), parts=tuple(limbs), n_out_of_scale=n_out)


@dataclass(frozen=True, kw_only=True)
class Followed:
    """The tracks of a video as association gives them, with the boxes that they were made from."""

    tracked: TrackedVideo
    frame_indices: tuple[int, ...]
    """The frames that were looked at."""
    problems: tuple[FrameProblem, ...]
    """The frames that could not be shown."""
    identities: dict[str, str]
    """What the tracks depend on, by part: detector, describer, tracker."""
    parts: tuple[DroppedTrack, ...] = ()
    """Tracks that were left out as limbs of somebody."""
    n_out_of_scale: int = 0
    """Boxes that were not used because their size does not fit their place."""
    looks: Mapping[str, Looks] = field(default_factory=dict)
    """What the tracks look like, by id; nothing where no boxes were described."""


def open_detector(spec: str) -> Detector:
    """The detector that a spec names, such as ``hog`` or ``boxes:det.txt``.

    Raises:
        UsageError: there is none, or it cannot be used: the message says what is missing, and where from.
        DataError: a file of boxes cannot be read.
    """
    detector: Detector = create("detector", spec)
    return detector


def open_tracker(spec: str) -> Tracker:
    """The tracker that a spec names, such as ``deepsort`` or ``motion?max_age_s=2``.

    Raises:
        UsageError: as `open_detector`.
    """
    tracker: Tracker = create("tracker", spec)
    return tracker


def open_describer(spec: str) -> Describer:
    """The describer that a spec names, such as ``colour`` or ``mobilenet``.

    Raises:
        UsageError: as `open_detector`.
    """
    describer: Describer = create("describer", spec)
    return describer


def follow(
    video: Video,
    *,
    detector: Detector,
    tracker: Tracker,
    stride: int = 1,
    observers: Sequence[Observer] = (),
    shots: Callable[[], Sequence[Span]] | None = None,
) -> Followed:
    """The tracks of a video, from every `stride`-th frame.

    The video is read once, for the detector, the describer and the observers together; not at all where
    the boxes come from a file and nothing else needs frames. `shots` is called afterwards: tracks end where
    the next shot begins.

    Raises:
        MediaError: no frame can be read.
        DataError: a file of boxes cannot be used with this video.
        UsageError: a stride below 1.

    Source: HERBench, section 7.1 and figure 6.
    Departs: the paper says nothing of leaving out frames, nor of cuts.
    """
    if stride < 1:
        raise UsageError(f"every {stride}th frame makes no sense; say 1 for all frames, 2 for every other")
    wanted = range(0, video.n_frames, stride)
    identities = {"detector": detector.identity}
    portraits: Portraits | None = None
    if tracker.describer:
        describer = open_describer(tracker.describer)
        portraits = Portraits(describer, class_names=tracker.classes)
        identities["describer"] = describer.identity
    identities["tracker"] = tracker.identity
    looking = [*observers, *([portraits] if portraits is not None else [])]
    watched = watch(video, wanted, detector=detector, observers=looking)
    tracked = TrackedVideo(
        width_px=video.probe.width_px,
        height_px=video.probe.height_px,
        times_s=video.times_s,
        tracks=(),
        detections=watched.detections,
        shots=() if shots is None else tuple(shots()),
    )
    vectors = portraits.of(watched.detections) if portraits is not None else None
    found = track_shots(
        tracked,
        watched.detections,
        tracker=tracker,
        stride=stride,
        vectors=vectors,
        finds_parts=detector.finds_parts,
    )
    looks: dict[str, Looks] = {}
    if vectors is not None:
        size_px, most = (tracked.width_px, tracked.height_px), SamePersonRules().most_covered
        looks = looks_of(found.tracks, watched.detections, vectors, size_px=size_px, most_covered=most)
    return Followed(
        tracked=replace(tracked, tracks=found.tracks),
        frame_indices=tuple(wanted),
        problems=watched.problems,
        identities=identities,
        parts=found.parts,
        n_out_of_scale=found.n_out_of_scale,
        looks=looks,
    )
