"""What was done to a video, as one record beside its tracks."""

import importlib.metadata
from collections.abc import Mapping

import msgspec

from vidence.media.video import Video
from vidence.records import Record
from vidence.seeing.following import Followed, mean_fps
from vidence.seeing.quality import Quality, measure
from vidence.seeing.refine import Refined, RefineSettings
from vidence.seeing.track_files import MotRows, rows_of
from vidence.seeing.tracks import Account, DroppedTrack

_PACKAGES = ("vidence", "av", "numpy", "scipy", "opencv-python-headless", "torch", "rfdetr", "trackers")


class TrackRecord(Record, kw_only=True, omit_defaults=True):
    """What `vidence track` did, as written to ``track.json``.

    `identities` are what the tracks depend on: detector, describer, tracker, and who found the cuts.
    `versions` are those of the packages that may have taken part. `cuts` are the frames with which shots
    begin, without the first: tracks end there. `parts` are tracks left out as limbs. `counts` are frames,
    boxes and tracks, `problems` the frames that could not be shown. `quality` is there with ground truth: of
    the tracks as they were associated (``associated``) and as they were written (``refined``).
    """

    format: str = "vidence-track/1"
    video: str
    n_frames: int
    width_px: int
    height_px: int
    fps: float
    stride: int
    identities: dict[str, str]
    versions: dict[str, str]
    counts: dict[str, int]
    settings: RefineSettings
    account: Account
    cuts: tuple[int, ...] = ()
    parts: tuple[DroppedTrack, ...] = ()
    problems: tuple[str, ...] = ()
    quality: dict[str, Quality] = msgspec.field(default_factory=dict)


def record_of(
    video: Video,
    followed: Followed,
    *,
    refined: Refined,
    settings: RefineSettings,
    truth: MotRows | None = None,
) -> TrackRecord:
    """The record of one video; with ground truth, its tracks are measured.

    Raises:
        UsageError: the library of metrics is not installed.
        DataError: the ground truth cannot be used.
    """
    tracked = followed.tracked
    n_boxes = len(tracked.detections.frame_indices) if tracked.detections is not None else 0
    frames = followed.frame_indices
    quality = {}
    if truth is not None:
        quality = {
            "associated": measure(truth, rows_of(tracked.tracks)),
            "refined": measure(truth, rows_of(refined.video.tracks)),
        }
    return TrackRecord(
        video=video.probe.path,
        n_frames=video.n_frames,
        width_px=tracked.width_px,
        height_px=tracked.height_px,
        fps=round(mean_fps(video), 4),
        stride=frames[1] - frames[0] if len(frames) > 1 else 1,
        identities=followed.identities,
        versions=_versions(),
        counts={
            "frames_looked_at": len(frames) - len(followed.problems),
            "frames_with_problems": len(followed.problems),
            "detections": n_boxes,
            "detections_out_of_scale": followed.n_out_of_scale,
            "shots": len(tracked.cuts) + 1,
            "tracks_associated": len(tracked.tracks),
            "boxes_associated": sum(len(track.frame_indices) for track in tracked.tracks),
            "tracks": len(refined.video.tracks),
            "boxes": sum(len(track.frame_indices) for track in refined.video.tracks),
        },
        settings=settings,
        account=refined.account,
        cuts=tracked.cuts,
        parts=followed.parts,
        problems=tuple(problem.message for problem in followed.problems),
        quality=quality,
    )


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def quality_lines(quality: Mapping[str, Quality]) -> list[str]:
    """The figures in lines, for people."""
    lines = []
    for name, found in quality.items():
        lines.append(
            f"{name:<11} MOTA {found.mota:.4f}  IDF1 {found.idf1:.4f}  HOTA {found.hota:.4f}  "
            f"switches {found.n_switches}  missed {found.n_missed}  false {found.n_false}  "
            f"of {found.n_true_boxes} boxes"
        )
    return lines
