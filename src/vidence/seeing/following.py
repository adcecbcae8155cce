"""A video -> its tracks: detect, describe, associate, in one reading of the video."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vidence.catalog import create, parse_spec
from vidence.errors import UsageError
from vidence.media.video import FrameProblem, Video
from vidence.seeing.account import DroppedTrack
from vidence.seeing.association import Tracker
from vidence.seeing.describers.describing import Describer, Portraits
from vidence.seeing.shotwise import Footage, track_shots
from vidence.seeing.tracks import Detector, ShotFrames, TrackedVideo
from vidence.seeing.watching import Onlooker, watch


@dataclass(frozen=True, kw_only=True)
class Followed:
    """The tracks of a video as association gives them, with the boxes that they were made from.

    `frame_indices` are the frames that were looked at, `problems` those that could not be shown.
    `identities` are what the tracks depend on, by part: detector, describer, tracker. `parts` are tracks
    that were left out as limbs of somebody, `n_out_of_scale` boxes that were not used because their size does
    not fit their place, where the detector is one that takes limbs for people.
    """

    tracked: TrackedVideo
    frame_indices: tuple[int, ...]
    problems: tuple[FrameProblem, ...]
    identities: dict[str, str]
    parts: tuple[DroppedTrack, ...] = ()
    n_out_of_scale: int = 0


def open_detector(spec: str) -> Detector:
    """The detector that a spec names, such as ``hog`` or ``boxes:det.txt``.

    Raises:
        UsageError: there is none, or it cannot be used: the message says what is missing, and where from.
        DataError: a file of boxes cannot be read.
    """
    named = parse_spec(spec)
    detector: Detector = create("detector", named)
    return detector


def open_tracker(spec: str) -> Tracker:
    """The tracker that a spec names, such as ``deepsort`` or ``motion?max_age=60``.

    Raises:
        UsageError: as `open_detector`.
    """
    named = parse_spec(spec)
    tracker: Tracker = create("tracker", named)
    return tracker


def open_describer(spec: str) -> Describer:
    """The describer that a spec names, such as ``colour`` or ``mobilenet``.

    Raises:
        UsageError: as `open_detector`.
    """
    named = parse_spec(spec)
    describer: Describer = create("describer", named)
    return describer


def follow(
    video: Video,
    *,
    detector: Detector,
    tracker: Tracker,
    stride: int = 1,
    onlookers: Sequence[Onlooker] = (),
    shots: Callable[[], Sequence[ShotFrames]] | None = None,
) -> Followed:
    """The tracks of a video, from every `stride`-th frame.

    The video is read once, for the detector, the describer and the onlookers together; not at all where
    the boxes come from a file and nobody looks. When it was, `shots` is asked for the shots that it has:
    tracks end where the next one begins.

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
    looking = [*onlookers, *([portraits] if portraits is not None else [])]
    watched = watch(video, wanted, detector=detector, onlookers=looking)
    parted = () if shots is None else tuple(shots())
    found = track_shots(
        watched.detections,
        tracker,
        Footage(
            n_frames=video.n_frames,
            height_px=video.probe.height_px,
            fps=mean_fps(video),
            stride=stride,
            cuts=tuple(shot.first_frame for shot in parted[1:]),
        ),
        vectors=portraits.of(watched.detections) if portraits is not None else None,
        finds_parts=getattr(detector, "finds_parts", False),
    )
    tracked = TrackedVideo(
        width_px=video.probe.width_px,
        height_px=video.probe.height_px,
        times_s=video.times_s,
        tracks=found.tracks,
        detections=watched.detections,
        shots=parted,
    )
    return Followed(
        tracked=tracked,
        frame_indices=tuple(wanted),
        problems=watched.problems,
        identities=identities,
        parts=found.parts,
        n_out_of_scale=found.n_out_of_scale,
    )


def mean_fps(video: Video) -> float:
    """Frames per second on average; 0 for a single frame."""
    span_s = float(video.times_s[-1] - video.times_s[0])
    return (video.n_frames - 1) / span_s if span_s > 0 else 0.0
