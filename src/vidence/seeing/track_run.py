"""Track the people of one video: follow, refine, measure, write; or show the tracks of a file.

A run takes what ``vidence videos track`` takes, and gives the tracks and one record of what was done.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from vidence.catalog import create
from vidence.errors import DataError, cause
from vidence.installation import versions
from vidence.media.video import Video
from vidence.media.whole import write_whole
from vidence.records import Record
from vidence.seeing.chunks import ChunkWork
from vidence.seeing.following import LOOKS_PER_S, Followed, follow, open_detector, open_tracker
from vidence.seeing.given_tracks import GivenTracks
from vidence.seeing.limbs import without_parts
from vidence.seeing.quality import Quality, measure
from vidence.seeing.refine import Refined, RefineSettings, refine
from vidence.seeing.shooting import ShotDetector
from vidence.seeing.track_files import MotRows, rows_of, write_csv, write_detections, write_tracks
from vidence.seeing.tracks import Account, DroppedTrack, TrackedVideo
from vidence.seeing.watching import Finder, LastResort

_PACKAGES = (
    "vidence",
    "av",
    "numpy",
    "scipy",
    "opencv-python-headless",
    "torch",
    "transformers",
    "rfdetr",
    "trackers",
)


class TrackJob(Record):
    """How a video is tracked; detector, tracker and shot detector are named by their specs."""

    detector: str = "hog"
    tracker: str = "deepsort"
    cuts: str = "content"
    """Where tracks end; ``none`` tracks people across cuts."""
    rate: float = LOOKS_PER_S
    """Most looks per second of a detector; 0: every frame."""
    refine: RefineSettings = RefineSettings()


class TrackRecord(Record, omit_defaults=True):
    """What `vidence videos track` did, as written to ``track.json``."""

    format: str = "vidence-track/2"
    video: str
    n_frames: int
    width_px: int
    height_px: int
    fps: float
    rate: float
    """Most looks per second of the detector; 0: every frame."""
    identities: dict[str, str]
    """What the tracks depend on: detector, describer, tracker, and shot detector (``cuts``)."""
    versions: dict[str, str]
    """Versions of the packages that may have taken part."""
    counts: dict[str, int]
    """Frames, boxes and tracks."""
    settings: RefineSettings
    account: Account
    cuts: tuple[int, ...] = ()
    """First frames of shots but the first; tracks end there."""
    parts: tuple[DroppedTrack, ...] = ()
    """Tracks dropped as limbs."""
    problems: tuple[str, ...] = ()
    """Frames that could not be decoded."""
    caution: str = ""
    """The caution of a detector of last resort."""
    quality: dict[str, Quality] = msgspec.field(default_factory=dict)
    """With ground truth: of tracks as associated, and as written (``refined``)."""


def track_video(
    video: Video,
    job: TrackJob,
    *,
    truth: MotRows | None = None,
    work: ChunkWork = ChunkWork(),  # noqa: B008 - a frozen value
) -> tuple[TrackedVideo, TrackRecord]:
    """The tracks of a video, and what was done; with ground truth, they are measured.

    Args:
        video: the video.
        job: how it is tracked.
        truth: the ground truth.
        work: where chunks are watched and kept, and who hears of it.

    Raises:
        UsageError: a detector, tracker or measure that cannot be used.
        MediaError: no frame can be read.
        DataError: a file of boxes, or the ground truth, cannot be used.
    """
    detector, tracker = open_detector(job.detector), open_tracker(job.tracker)
    cutter: ShotDetector | None = None if job.cuts == "none" else create("shot-detector", job.cuts)
    followed = follow(video, detector=detector, tracker=tracker, rate=job.rate, cutter=cutter, work=work)
    refined = refine(followed.tracked, job.refine, looks=followed.looks)
    if detector.finds_parts:  # once more: fragments of a person are whole only now
        whole, limbs = without_parts(refined.video.tracks)
        refined = replace(refined, video=replace(refined.video, tracks=whole))
        followed = replace(followed, parts=(*followed.parts, *limbs))
    return refined.video, _record(video, followed, refined=refined, job=job, by=detector, truth=truth)


def show_given(
    video: Video, given: GivenTracks, *, truth: MotRows | None = None
) -> tuple[TrackedVideo, TrackRecord, tuple[str, ...]]:
    """Return the tracks of a file in their video, with a summary and cautions.

    With ground truth they are measured in frames and pixels of the video where the file counts in others.

    Raises:
        DataError: they are of another video.
        UsageError: the library of measures is not installed.
    """
    known = given.of(video)
    tracked = TrackedVideo(
        width_px=video.probe.width_px,
        height_px=video.probe.height_px,
        times_s=video.times_s,
        tracks=known.tracks,
        others=known.others,
        basis=given.basis,
    )
    frames = [track.frame_indices for track in known.tracks]
    record = _record_on(video)(
        rate=0.0,
        identities={"tracks": given.identity},
        counts={
            "frames_with_boxes": len(np.unique(np.concatenate(frames))),
            "tracks": len(known.tracks),
            "boxes": sum(map(len, frames)),
            "people_not_considered": len(known.others),
        },
        settings=RefineSettings(steps=()),
        account=Account(dropped=known.dropped),
        quality={} if truth is None else {"given": measure(truth, given.rows_in(video))},
    )
    return tracked, record, known.notes


def write_run(folder: Path, tracked: TrackedVideo, record: TrackRecord) -> None:
    """Write the tracks, the detections, a table and ``track.json`` to a folder.

    Raises:
        DataError: the folder cannot be written.
    """
    try:
        write_tracks(folder / "tracks.txt", tracked.tracks)
        if tracked.detections is not None:
            write_detections(folder / "detections.txt", tracked.detections)
        write_csv(folder / "tracks.csv", tracked)
        text = msgspec.json.format(msgspec.json.encode(record), indent=2)
        write_whole(folder / "track.json", text + b"\n")
    except OSError as error:
        raise DataError(f"{folder} cannot be written ({cause(error)}); choose another --out") from error


def _record_on(video: Video) -> partial[TrackRecord]:
    """A record with the facts of the video; what was done is still to be added."""
    return partial(
        TrackRecord,
        video=video.probe.path,
        n_frames=video.n_frames,
        width_px=video.probe.width_px,
        height_px=video.probe.height_px,
        fps=round(video.probe.counted.fps, 4),
        versions=versions(_PACKAGES),
    )


def _record(
    video: Video, followed: Followed, *, refined: Refined, job: TrackJob, by: object, truth: MotRows | None
) -> TrackRecord:
    tracked = followed.tracked
    n_boxes = len(tracked.detections.frame_indices) if tracked.detections is not None else 0
    frames = followed.frame_indices
    quality = {}
    if truth is not None:
        quality = {
            "associated": measure(truth, rows_of(tracked.tracks)),
            "refined": measure(truth, rows_of(refined.video.tracks)),
        }
    return _record_on(video)(
        rate=job.rate if isinstance(by, Finder) else 0.0,
        identities=followed.identities,
        counts={
            "frames_looked_at": len(frames) - len({p.frame_index for p in followed.problems} & {*frames}),
            "frames_with_problems": len(followed.problems),
            "detections": n_boxes,
            "detections_out_of_scale": followed.n_out_of_scale,
            "shots": len(tracked.cuts) + 1,
            "tracks_associated": len(tracked.tracks),
            "boxes_associated": sum(len(track.frame_indices) for track in tracked.tracks),
            "tracks": len(refined.video.tracks),
            "boxes": sum(len(track.frame_indices) for track in refined.video.tracks),
        },
        settings=job.refine,
        account=refined.account,
        cuts=tracked.cuts,
        parts=followed.parts,
        problems=tuple(problem.message for problem in followed.problems),
        caution=by.caution if isinstance(by, LastResort) else "",
        quality=quality,
    )
