"""Detect and track the people in a video: tracks, a contact sheet, measures."""

from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from vidence.catalog import check_name
from vidence.console.flags import FILE, JOBS, PROGRESS, argument, command, flag, given_flags
from vidence.console.progress import Meter, interruptible
from vidence.console.screen import Screen, say
from vidence.errors import UsageError
from vidence.media.whole import own_folder
from vidence.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vidence.make.pipeline.watching import KeptWork
    from vidence.media.video import Video
    from vidence.seeing.chunks import ChunkWork
    from vidence.seeing.given_tracks import GivenTracks
    from vidence.seeing.quality import Quality
    from vidence.seeing.refine import RefineSettings
    from vidence.seeing.track_files import MotRows
    from vidence.seeing.track_run import TrackJob, TrackRecord
    from vidence.seeing.tracks import TrackedVideo

GROUP = "videos"

_SHOWN_PROBLEMS = 3


class Following(Record):
    """How to detect and track people."""

    detector: Annotated[str, flag("People detector: hog, rfdetr:WEIGHTS, boxes:FILE.", metavar="SPEC")] = (
        "hog"
    )
    tracker: Annotated[str, flag("Tracker: deepsort, deepsort:mobilenet, sort.", metavar="SPEC")] = "deepsort"
    rate: Annotated[
        float,
        flag(
            "Frames per second for the detector, at most; 0: every frame.",
            type=click.FloatRange(0),
            metavar="PER_S",
        ),
    ] = 10.0  # that of `seeing.following`, which takes long to import
    cuts: Annotated[
        str,
        flag(
            "Cut detector; tracks end at cuts: content, transnetv2; none: tracks may cross them.",
            metavar="SPEC",
        ),
    ] = "content"
    steps: Annotated[
        str,
        flag(
            "Comma-separated cleaning steps; all: with the hard filter; none: keep raw tracks.",
            "--refine",
            metavar="STEPS",
        ),
    ] = "gaps,smoothing,merging"


class Shown(Record):
    """Where to write results, and how to draw them."""

    out: Annotated[Path | None, flag("Output folder (default: tracks/ and the name of the video).")] = None

    def write(self, medium: "Video", tracked: "TrackedVideo", record: "TrackRecord", *, folder: Path) -> None:
        """The files of a run, and its pictures."""
        from vidence.make.pipeline.track_page import write_track_page
        from vidence.seeing.track_run import write_run

        write_run(folder, tracked, record)
        write_track_page(folder / "contact-sheet.html", medium, tracked=tracked, record=record)


class Track(Record):
    """The video and the outputs."""

    video: Annotated[Path | None, argument()] = None
    following: Following
    config: Annotated[
        Path | None,
        flag("Track as this configuration of make herbench does; track numbers match its sheets.", type=FILE),
    ] = None
    tracks: Annotated[
        str | None,
        flag(
            "Draw and measure these tracks (MOTChallenge format) unchanged; run no detector.", metavar="FILE"
        ),
    ] = None
    gt: Annotated[Path | None, flag("Ground truth in MOTChallenge format to measure the tracks against.")] = (
        None
    )
    shown: Shown
    jobs: Annotated[int | None, JOBS] = None
    progress: Annotated[str, PROGRESS] = "auto"


@command()
def track(given: Track) -> None:
    """Detect the people in VIDEO, track them, and write their tracks.

    VIDEO is a file, or a folder of numbered images. Writes tracks.txt and detections.txt (MOTChallenge
    format), tracks.csv, contact-sheet.html, and track.json with settings and counts. With --tracks, existing
    tracks are drawn and measured instead; measuring alone (--gt) needs no VIDEO.
    """
    from vidence.engine.environment import environment
    from vidence.media.files import known_video
    from vidence.seeing.track_run import track_video

    video = given.video
    if given.tracks is not None:
        others = {"--config": given.config, "--jobs": given.jobs}
        if unused := [
            *given_flags(type(given.following)),
            *(flag for flag, value in others.items() if value),
        ]:
            raise UsageError(f"--tracks takes tracks as they are; leave out {', '.join(unused)}")
        if video is None:
            _measure_given(given.tracks, _truth(given.gt))
            return
    if video is None:
        raise UsageError("no video given; expected vidence videos track VIDEO")
    job = _job(given, video)
    _check_names(job)
    kind: Literal["frames", "video"] = "frames" if video.is_dir() else "video"
    medium, content_hash = known_video(video, kind=kind, cache_root=environment().cache_root)
    truth = _truth(given.gt)
    folder = given.shown.out or Path("tracks") / video.resolve().stem
    kept = _kept(folder, job, content_hash=content_hash, jobs=given.jobs)
    own_folder(folder, ".vidence-track")
    if given.tracks is not None:
        tracked, record, lines = _show_given(medium, given.tracks, truth=truth)
        given.shown.write(medium, tracked, record, folder=folder)
    else:
        with _progress(video.name, kept, mode=given.progress) as work:
            tracked, record = track_video(medium, job, truth=truth, work=work)
        given.shown.write(medium, tracked, record, folder=folder)
        kept.clear()
        lines = _lines(record)
    for line in lines:
        click.echo(line)
    click.echo(f"wrote {folder}", err=True)


def _job(given: Track, video: Path) -> "TrackJob":
    """Return the tracking job from flags or from a configuration; flags must not contradict it."""
    from vidence.make.herbench.config import read_herbench
    from vidence.make.herbench.track_job import job_of
    from vidence.seeing.track_run import TrackJob

    how = given.following
    if given.config is not None:
        if said := given_flags(type(how)):
            raise UsageError(
                f"{', '.join(said)} and --config both say how people are followed; leave out one of them"
            )
        return job_of(read_herbench(given.config), video, root=given.config.parent)
    refine = _settings(how.steps)
    return TrackJob(detector=how.detector, tracker=how.tracker, cuts=how.cuts, rate=how.rate, refine=refine)


def _kept(folder: Path, job: "TrackJob", *, content_hash: str, jobs: int | None) -> "KeptWork":
    """Return the video work, stored in chunks in the folder until all are done."""
    from vidence.engine.environment import environment
    from vidence.engine.executor import Parallelism
    from vidence.make.pipeline.cache import ArtifactCache
    from vidence.make.pipeline.watching import KeptWork
    from vidence.seeing.following import open_tracker

    return KeptWork(
        ArtifactCache(folder=folder / "stages"),
        inputs={"video": content_hash},
        specs=(job.detector, open_tracker(job.tracker).describer),
        parallel=Parallelism.of(environment(), jobs=jobs),
    )


def _given(spec: str) -> "GivenTracks":
    """Open a file of tracks, named with optional format and options."""
    from vidence.seeing.given_tracks import open_tracks

    return open_tracks(spec if spec.startswith("mot:") else f"mot:{spec}")


def _measure_given(spec: str, truth: "MotRows | None") -> None:
    """Measure a file of tracks; no video is needed."""
    from vidence.seeing.quality import measure

    given = _given(spec)
    if truth is None:
        raise UsageError(
            "--tracks draws tracks on their video or measures them; add the VIDEO, --gt, or both"
        )
    for line in _quality_lines({"given": measure(truth, given.rows)}):
        click.echo(line)


def _show_given(
    medium: "Video", spec: str, *, truth: "MotRows | None"
) -> "tuple[TrackedVideo, TrackRecord, list[str]]":
    """Show the tracks of a file in its video, with notes."""
    from vidence.seeing.track_run import show_given

    tracked, record, notes = show_given(medium, _given(spec), truth=truth)
    counts = record.counts
    others = counts["people_not_considered"]
    line = (
        f"{counts['tracks']} tracks, {counts['boxes']} boxes in {counts['frames_with_boxes']} of "
        f"{record.n_frames} frames" + (f"; {others} people are not to be considered" if others else "")
    )
    return tracked, record, [line, *notes, *_quality_lines(record.quality)]


@contextmanager
def _progress(name: str, kept: "KeptWork", *, mode: str) -> "Iterator[ChunkWork]":
    """Run the video work with a progress display."""
    console = Screen(stderr=True)
    meter = Meter(console, mode=mode)

    def begin(n_frames: int, n_done: int) -> None:
        meter.begin("looking for people, frames", total=n_frames, n_done=n_done)
        meter.note(lambda: name)

    with meter, interruptible(console):
        yield kept.work(
            on_begin=begin,
            on_frames=meter.advance,
            on_trouble=lambda words: say(console, ("note: ", "yellow"), words),
        )


def _check_names(job: "TrackJob") -> None:
    """Raises: UnknownNameError for an unknown detector or tracker."""
    for kind, spec in {"detector": job.detector, "tracker": job.tracker}.items():
        check_name(kind, spec)
    if job.cuts != "none":
        check_name("shot-detector", job.cuts)


def _settings(steps: str) -> "RefineSettings":
    """Raises: UsageError for an unknown step."""
    from vidence.seeing.refine import STEPS, RefineSettings

    if steps == "none":
        return RefineSettings(steps=())
    if steps == "all":
        return RefineSettings(steps=STEPS)
    named = [step.strip() for step in steps.split(",") if step.strip()]
    unknown = [step for step in named if step not in STEPS]
    if unknown or not named:
        raise UsageError(
            f"--refine {steps!r}: expected all, none, or some of {', '.join(STEPS)} with commas between them"
        )
    return RefineSettings(steps=tuple(step for step in STEPS if step in named))


def _truth(path: Path | None) -> "MotRows | None":
    """Read ground truth before the long work, and check that the metrics library is installed."""
    from vidence.seeing.quality import check_installed
    from vidence.seeing.track_files import read_mot

    if path is None:
        return None
    check_installed()
    return read_mot(path)


def _lines(record: "TrackRecord") -> list[str]:
    counts = record.counts
    lines = [
        f"{counts['detections']} boxes in {counts['frames_looked_at']} frames; "
        f"{counts['tracks_associated']} tracks, {counts['tracks']} after cleaning"
    ]
    if record.cuts:
        lines.append(f"{counts['shots']} shots; no track crosses a cut")
    if not counts["detections"]:
        lines.append(
            "no people were detected; check contact-sheet.html, and try a detector for smaller people: "
            "hog:?least_px=32"
        )
    elif not counts["tracks"]:
        lines.append("no track is left; account in track.json says what became of each")
    if record.caution:
        lines.append(record.caution)
    if record.problems:
        lines.append(f"{len(record.problems)} frames could not be shown, and are gaps in the tracks:")
        lines += [f"  {problem}" for problem in record.problems[:_SHOWN_PROBLEMS]]
    return lines + _quality_lines(record.quality)


def _quality_lines(quality: "Mapping[str, Quality]") -> list[str]:
    return [
        f"{name:<11} MOTA {result.mota:.4f}  IDF1 {result.idf1:.4f}  HOTA {result.hota:.4f}  "
        f"switches {result.n_switches}  missed {result.n_missed}  false {result.n_false}  "
        f"of {result.n_true_boxes} boxes"
        for name, result in quality.items()
    ]
