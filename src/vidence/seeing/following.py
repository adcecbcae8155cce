"""Detect, describe and associate: from a video to its tracks, in one reading of the video."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vidence.catalog import create
from vidence.errors import UsageError
from vidence.media.video import FrameProblem, Video
from vidence.seeing.association import SeeingTracker, Tracker
from vidence.seeing.chunks import ChunkStore, ChunkWork, Eyes, Watch
from vidence.seeing.describers.describing import Describer
from vidence.seeing.limbs import out_of_scale, without_parts
from vidence.seeing.same_person import SamePersonRules, TrackAppearance, looks_of
from vidence.seeing.shooting import ShotDetector, find_scored_shots
from vidence.seeing.tracks import Detections, DroppedTrack, Span, Track, TrackedVideo
from vidence.seeing.watching import Detector, Finder

LOOKS_PER_S = 10.0
"The default rate of a detector, in frames per second."


@dataclass(frozen=True, kw_only=True)
class ShotTracks:
    """The associated tracks of a video.

    `raw_ids` are the ids of all, `tracks` those that are no limbs, `parts` why the others are.
    `n_out_of_scale` is the number of boxes that were not used because their size does not fit their place.
    """

    raw_ids: tuple[str, ...]
    tracks: tuple[Track, ...]
    parts: tuple[DroppedTrack, ...] = ()
    n_out_of_scale: int = 0


def untracked(video: Video, detections: Detections, *, shots: Sequence[Span]) -> TrackedVideo:
    """A video with its detected boxes, before tracking."""
    return TrackedVideo(
        width_px=video.probe.width_px,
        height_px=video.probe.height_px,
        times_s=video.times_s,
        tracks=(),
        detections=detections,
        shots=tuple(shots),
    )


def track_shots(
    video: TrackedVideo,
    detections: Detections,
    *,
    tracker: Tracker,
    frame_indices: Sequence[int],
    vectors: NDArray[np.float32] | None = None,
    finds_parts: bool = False,
) -> ShotTracks:
    """The tracks of each shot, named ``1``, ``2``, ... over the whole video.

    Args:
        video: what the boxes were found in, without tracks; where it has cuts, tracks end there.
        detections: the boxes.
        tracker: what makes tracks of them; it is shown vectors if it asks for any.
        frame_indices: the frames that were looked at.
        vectors: one for each box, shape (n, n_dims).
        finds_parts: whether the detector takes limbs for people now and then.

    Source: HERBench, section 7.1.
    Departs: the paper does not say what becomes of tracks at cuts; ours end there.
    """
    raw_ids: list[str] = []
    tracks: list[Track] = []
    limbs: list[DroppedTrack] = []
    n_out = 0
    looked = np.unique(np.array(frame_indices, np.int64))
    for first, end in pairwise((0, *video.cuts, len(video.times_s))):
        here = (detections.frame_indices >= first) & (detections.frame_indices < end)
        if finds_parts:
            is_out = out_of_scale(
                detections.part(here), height_px=video.height_px, looks_per_s=_rate(video.times_s[looked])
            )
            n_out += int(np.count_nonzero(is_out))
            here[here] = ~is_out
        shots = tracker.track(
            detections.part(here),
            frame_indices=looked[(looked >= first) & (looked < end)].tolist(),
            fps=video.fps,
            vectors=vectors[here] if vectors is not None and tracker.describer else None,
        )
        mine = tuple(replace(track, track_id=str(len(raw_ids) + i)) for i, track in enumerate(shots, 1))
        raw_ids += [track.track_id for track in mine]
        if finds_parts:
            mine, parts = without_parts(mine)
            limbs += parts
        tracks += mine
    return ShotTracks(raw_ids=tuple(raw_ids), tracks=tuple(tracks), parts=tuple(limbs), n_out_of_scale=n_out)


def _rate(times_s: NDArray[np.float64]) -> float:
    """Return the frame rate of these times."""
    last_s = float(times_s[-1] - times_s[0]) if len(times_s) else 0.0
    return (len(times_s) - 1) / last_s if last_s > 0 else 0.0


@dataclass(frozen=True, kw_only=True)
class Followed:
    """The associated tracks of a video, with the boxes they were made from."""

    tracked: TrackedVideo
    frame_indices: tuple[int, ...]
    """The frames looked at."""
    problems: tuple[FrameProblem, ...]
    """The frames that could not be decoded."""
    identities: dict[str, str]
    """What the tracks depend on, by part: detector, describer, tracker."""
    parts: tuple[DroppedTrack, ...] = ()
    "Tracks dropped as limbs of a person."
    n_out_of_scale: int = 0
    """Boxes not used because their size does not fit their position."""
    looks: Mapping[str, TrackAppearance] = field(default_factory=dict)
    """The appearance of tracks, by id; empty if no boxes were described."""


def open_detector(spec: str) -> Detector:
    """The detector that a spec names, such as ``hog`` or ``boxes:det.txt``.

    Raises:
        UsageError: there is none, or it cannot be used: the message says what is missing, and where from.
        DataError: a file of boxes cannot be read.
    """
    detector: Detector = create("detector", spec)
    return detector


def open_tracker(spec: str) -> Tracker:
    """The tracker that a spec names, such as ``deepsort`` or ``sort?max_age_s=2``.

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


def watching(
    video: Video,
    eyes: Eyes,
    *,
    rate: float,
    store: ChunkStore | None = None,
    on_frames: Callable[[int], None] = lambda n: None,
) -> Watch:
    """A video to watch in chunks.

    Args:
        video: the video.
        eyes: who watches it.
        rate: how often a second a detector looks, at most (0: at every frame). Where boxes are known, all
            of them are used.
        store: where chunks are kept until the video is done (None: nowhere).
        on_frames: hears how many frames more are done.

    Raises:
        UsageError: a rate below 0.
    """
    if not 0 <= rate < math.inf:
        raise UsageError(f"looking {rate:g} times a second makes no sense; say 0 for every frame")
    used = rate if isinstance(eyes.detector, Finder) else 0.0
    return Watch(video, eyes, rate=used, store=store, on_frames=on_frames)


def follow(
    video: Video,
    *,
    detector: Detector,
    tracker: Tracker,
    rate: float = 0.0,
    cutter: ShotDetector | None = None,
    work: ChunkWork = ChunkWork(),  # noqa: B008 - a frozen value
) -> Followed:
    """The tracks of a video.

    The video is read once, for the detector, the describer and the shots together; not at all where the
    boxes come from a file and nothing else needs frames. Tracks end where the next shot begins.

    Args:
        video: the video.
        detector: finds the boxes.
        tracker: makes tracks of them.
        rate: how often a second the detector looks, at most (0: at every frame).
        cutter: finds the cuts (None: tracks run across them).
        work: where chunks are watched and kept.

    Raises:
        MediaError: no frame can be read.
        DataError: a file of boxes cannot be used with this video.
        UsageError: a rate below 0.

    Source: HERBench, section 7.1 and figure 6.
    Departs: the paper says nothing of leaving out frames, nor of cuts.
    """
    is_read = isinstance(detector, Finder) or bool(tracker.describer)
    eyes = Eyes(
        detector=detector,
        describer=open_describer(tracker.describer) if tracker.describer else None,
        classes=tracker.classes,
        shot_size=cutter.size if cutter is not None and is_read else None,
    )
    store = None if work.store is None else work.store(eyes)
    watch = watching(video, eyes, rate=rate, store=store, on_frames=work.on_frames)
    work.prepare(watch)
    seen = watch.finish(cutter)
    cut = seen.cut
    if cutter is not None and cut is None:
        cut = find_scored_shots(video, cutter)
    watched, looked = seen.watched, watch.looks
    tracked = untracked(video, watched.detections, shots=[shot.frames for shot in (cut.shots if cut else ())])
    tracks = track_shots(
        tracked,
        watched.detections,
        tracker=tracker.seeing(video) if isinstance(tracker, SeeingTracker) else tracker,
        frame_indices=looked,
        vectors=seen.vectors,
        finds_parts=detector.finds_parts,
    )
    size_px, most = (tracked.width_px, tracked.height_px), SamePersonRules().most_covered
    looks = looks_of(tracks.tracks, watched.detections, seen.vectors, size_px=size_px, most_covered=most)
    return Followed(
        tracked=replace(tracked, tracks=tracks.tracks),
        frame_indices=looked,
        problems=watched.problems,
        identities=_identities(eyes, tracker, cutter),
        parts=tracks.parts,
        n_out_of_scale=tracks.n_out_of_scale,
        looks=looks,
    )


def _identities(eyes: Eyes, tracker: Tracker, cutter: ShotDetector | None) -> dict[str, str]:
    """Return what tracks depend on, by part."""
    named = {"detector": eyes.detector, "describer": eyes.describer, "tracker": tracker, "cuts": cutter}
    return {name: entry.identity for name, entry in named.items() if entry is not None}
