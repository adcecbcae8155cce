"""``vidence track``."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from rich.console import Console

from vidence.catalog import create
from vidence.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vidence.media.video import Video
    from vidence.seeing.mot import MotRows
    from vidence.seeing.record import TrackRecord
    from vidence.seeing.refine import RefineSettings
    from vidence.seeing.shooting import ShotDetector
    from vidence.seeing.tracks import ShotFrames, TrackedVideo
    from vidence.seeing.watching import Found, Onlooker

_SHOWN_PROBLEMS = 3
_STEPS = "outliers,gaps,smoothing,merging"


@click.command()
@click.argument("video", type=click.Path(path_type=Path))
@click.option(
    "--detector",
    default="hog",
    show_default=True,
    metavar="SPEC",
    help="Who finds people: hog, rfdetr:WEIGHTS, boxes:FILE.",
)
@click.option(
    "--tracker",
    default="deepsort",
    show_default=True,
    metavar="SPEC",
    help="Who joins boxes to tracks: deepsort, deepsort:mobilenet, motion, bytetrack.",
)
@click.option(
    "--frames-stride",
    "stride",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Look at every Nth frame.",
)
@click.option(
    "--cuts",
    default="content",
    show_default=True,
    metavar="SPEC",
    help="Who finds the cuts, where tracks end: content, transnetv2; none follows people across them.",
)
@click.option(
    "--refine",
    "steps",
    default=_STEPS,
    show_default=True,
    metavar="STEPS",
    help="Cleaning steps, a comma between them; all adds the hard filter, none leaves tracks as they are.",
)
@click.option(
    "--gt",
    type=click.Path(path_type=Path),
    help="Ground truth in the format of MOTChallenge: measure the tracks against it.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder (default: tracks/ and the name of the video)."
)
@click.option(
    "--table",
    type=click.Choice(["parquet", "csv"]),
    default="parquet",
    show_default=True,
    help="Form of the table.",
)
@click.option("--video/--no-video", "with_video", default=True, help="Write the video with boxes drawn.")
@click.option(
    "--most-shown",
    type=click.IntRange(1),
    default=40,
    show_default=True,
    help="Tracks on the contact sheet.",
)
def track(
    *,
    video: Path,
    detector: str,
    tracker: str,
    stride: int,
    cuts: str,
    steps: str,
    gt: Path | None,
    out: Path | None,
    table: str,
    with_video: bool,
    most_shown: int,
) -> None:
    """Find the people in VIDEO, follow them, and write their tracks.

    VIDEO is a file, or a folder of numbered images. Written are tracks.txt and detections.txt (format of
    MOTChallenge), a table, contact-sheet.jpg, annotated.mp4, and track.json with settings and counts.
    """
    from vidence.media.video import open_video
    from vidence.seeing.following import follow, open_detector, open_tracker
    from vidence.seeing.parts import without_parts
    from vidence.seeing.record import quality_lines, record_of
    from vidence.seeing.refine import refine
    from vidence.seeing.table import check_parquet

    settings = _settings(steps)
    medium = open_video(video, kind="frames" if video.is_dir() else "video")
    truth = _truth(gt)
    if table == "parquet":
        check_parquet()
    finder, joiner = open_detector(detector), open_tracker(tracker)
    is_read = finder.looks or bool(joiner.describer)
    scissors = _Scissors(cuts, medium, looks_on=is_read and stride == 1)
    n_frames = len(range(0, medium.n_frames, stride))
    with _watching(n_frames, is_read=is_read) as watching:
        onlookers: tuple[Onlooker, ...] = (*watching, *scissors.onlookers)
        followed = follow(
            medium, detector=finder, tracker=joiner, stride=stride, onlookers=onlookers, shots=scissors.shots
        )
    followed = replace(followed, identities={**followed.identities, **scissors.identities})
    refined = refine(followed.tracked, settings)
    if getattr(finder, "finds_parts", False):  # once more: fragments of a person are whole only now
        whole, limbs = without_parts(refined.video.tracks)
        refined = replace(refined, video=replace(refined.video, tracks=whole))
        followed = replace(followed, parts=(*followed.parts, *limbs))
    record = record_of(medium, followed, refined=refined, settings=settings, truth=truth)
    folder = out if out is not None else Path("tracks") / video.resolve().stem
    _write(folder, refined.video, table=table, record=record)
    _paint(folder, refined.video, medium=medium, with_video=with_video, most_shown=most_shown)
    for line in (*_lines(record), *quality_lines(record.quality)):
        click.echo(line)
    click.echo(f"wrote {folder}", err=True)


def _settings(steps: str) -> "RefineSettings":
    """Raises: UsageError where a step is not known."""
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
    """The ground truth, read before the long work; the library that measures must be there too."""
    from vidence.seeing.mot import read_mot
    from vidence.seeing.quality import check_installed

    if path is None:
        return None
    check_installed()
    return read_mot(path)


class _Scissors:
    """Finds where shots begin: while the video is read, or in a pass of its own."""

    def __init__(self, spec: str, video: "Video", *, looks_on: bool) -> None:
        from vidence.catalog import parse_spec
        from vidence.make.herbench.tracking import ShotObserver

        self._video = video
        self._detector: ShotDetector | None = None
        self.onlookers: tuple[ShotObserver, ...] = ()
        self.identities: dict[str, str] = {}
        if spec == "none":
            return
        named = parse_spec(spec)
        detector: ShotDetector = create("shot-detector", named)
        self._detector = detector
        self.identities = {"cuts": detector.identity}
        if looks_on:
            size_px = (video.probe.width_px, video.probe.height_px)
            self.onlookers = (ShotObserver(detector, n_frames=video.n_frames, size_px=size_px),)

    def shots(self) -> "list[ShotFrames]":
        """The shots of the video; none where nobody wants them."""
        from vidence.seeing.shooting import find_shots

        if self._detector is None:
            return []
        if self.onlookers:
            shots = self.onlookers[0].shots(self._video.times_s)
        else:
            shots = find_shots(self._video, self._detector)
        return [shot.frames for shot in shots]


class _Counter:
    """Looks on and counts."""

    def __init__(self, console: Console, n_frames: int) -> None:
        from rich.progress import Progress

        self.progress = Progress(console=console, disable=not console.is_terminal)
        self._task = self.progress.add_task("looking for people", total=n_frames)

    def see(self, frame_index: int, image: "NDArray[np.uint8]", found: "Found") -> None:
        """One frame more; which one, and what is on it, does not matter."""
        del frame_index, image, found
        self.progress.advance(self._task)


@contextmanager
def _watching(n_frames: int, *, is_read: bool) -> "Iterator[tuple[_Counter, ...]]":
    """Whom to show the frames to; nobody, where the video need not be read."""
    if not is_read:
        yield ()
        return
    counter = _Counter(Console(stderr=True), n_frames)
    with counter.progress:
        yield (counter,)


def _write(folder: Path, tracked: "TrackedVideo", *, table: str, record: "TrackRecord") -> None:
    from vidence.media.cache import write_whole
    from vidence.seeing.mot import write_detections, write_tracks
    from vidence.seeing.table import write_csv, write_parquet

    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_tracks(folder / "tracks.txt", tracked.tracks)
        if tracked.detections is not None:
            write_detections(folder / "detections.txt", tracked.detections)
        (write_parquet if table == "parquet" else write_csv)(folder / f"tracks.{table}", tracked)
        text = msgspec.json.format(msgspec.json.encode(record), indent=2)
        write_whole(folder / "track.json", text + b"\n")
    except OSError as error:
        raise DataError(f"{folder} cannot be written ({error}); say another folder with --out") from error


def _paint(
    folder: Path, tracked: "TrackedVideo", *, medium: "Video", with_video: bool, most_shown: int
) -> None:
    from vidence.seeing.painting import paint
    from vidence.seeing.sheet import ContactSheet

    n = len(tracked.tracks)
    title = f"{Path(medium.probe.path).name}: {n} track{'' if n == 1 else 's'}"
    sheet = ContactSheet(tracked, title=title, most=most_shown)
    paint(
        medium,
        tracked,
        sheet=sheet,
        sheet_path=folder / "contact-sheet.jpg",
        film_path=folder / "annotated.mp4" if with_video else None,
    )


def _lines(record: "TrackRecord") -> list[str]:
    counts = record.counts
    lines = [
        f"{counts['detections']} boxes in {counts['frames_looked_at']} frames; "
        f"{counts['tracks_associated']} tracks, {counts['tracks']} after cleaning"
    ]
    if record.cuts:
        lines.append(f"{counts['shots']} shots; nobody is followed from one into the next")
    if not counts["detections"]:
        lines.append(
            "nobody was found; look at contact-sheet.jpg, and try a detector that finds smaller people: "
            "hog:?least_px=32"
        )
    elif not counts["tracks"]:
        lines.append("no track is left; account in track.json says what became of each")
    if record.problems:
        lines.append(f"{len(record.problems)} frames could not be shown, and are gaps in the tracks:")
        lines += [f"  {problem}" for problem in record.problems[:_SHOWN_PROBLEMS]]
    return lines
