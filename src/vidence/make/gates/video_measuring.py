"""One video in one decoding pass: shots, motion, people, and the frames that models are shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.catalog import create
from vidence.errors import UsageError
from vidence.make.gates import video_motion as moving
from vidence.make.gates.video_motion import GreyObserver, Motion, motion
from vidence.make.gates.video_rules import MeasureRules
from vidence.make.pipeline.material import Crop
from vidence.make.pipeline.pictures import PictureFolder
from vidence.media.encode import Size
from vidence.media.pixels import resize
from vidence.media.scan import Scan
from vidence.media.video import FrameProblem, Video
from vidence.records import Record
from vidence.seeing.chunks import OpensAnywhere
from vidence.seeing.following import open_detector
from vidence.seeing.shooting import Shot, ShotDetector, ShotObserver
from vidence.seeing.tracks import PERSON, Detections
from vidence.seeing.watching import (
    Detector,
    Finder,
    FrameDetections,
    Observer,
    check_problems,
    frames_at,
    watch_part,
)

VERSION: Final = 1
N_LOOKED, N_CAPTIONED = 8, 16
"""How many frames a model is shown that looks for text, and one that writes a caption."""
_SHOWN: Final = Size(kind="long", pixels=512)
_QUALITY: Final = 85
_NOBODY: Final = FrameDetections(
    boxes_px=np.zeros((0, 4)), confidences=np.zeros(0), class_ids=np.zeros(0, np.int64), class_names={}
)
_NOT_ASKED_FOR: Final = "not asked for"


class Measured(Record, omit_defaults=True):
    """What was measured of one video; None where it was not, and `why` says why, by the name of the measure.

    `shots` counts them. `people`, `things` are a frame that the detector was shown, `classes` distinct ones
    besides people. `frames` are the pictures that models are shown. `problem` is what is wrong with the file,
    `n_damaged` how many of its frames could not be read.
    """

    seconds: float
    fps: float
    width_px: int
    height_px: int
    has_audio: bool
    n_frames: int
    n_damaged: int = 0
    problem: str = ""
    shots: int | None = None
    motion: Motion = Motion()
    people: float | None = None
    things: float | None = None
    classes: int | None = None
    why: dict[str, str] = msgspec.field(default_factory=dict)
    frames: tuple[Crop, ...] = ()


def identity(rules: MeasureRules, *, n_shown: Sequence[int]) -> list[object]:
    """All that a measurement depends on besides the video.

    Raises:
        UsageError: a detector of people or of shots cannot be used.
    """
    detector = open_detector(rules.detector).identity if rules.detector else ""
    cuts = _cutter(rules).identity if rules.cuts else ""
    return [VERSION, moving.VERSION, detector, cuts, rules.looks, sorted(n_shown)]


def check_detector(rules: MeasureRules, *, n_videos: int) -> None:
    """See that the detector can look at so many videos.

    Raises:
        UsageError: it cannot be used, or knows the boxes of one video and there are several.
    """
    try:
        detector = open_detector(rules.detector) if rules.detector else None
    except UsageError as error:
        raise UsageError(f"{error}. Without counts of people: --detector none") from error
    if detector is not None and n_videos > 1 and not isinstance(detector, Finder):
        raise UsageError(
            f"the detector {rules.detector} knows the boxes of one video, and there are {n_videos}; "
            "name one that looks, such as hog or rfdetr:WEIGHTS, or none"
        )


def can_part(rules: MeasureRules) -> bool:
    """Whether videos can be measured side by side: a detector on a device is opened once."""
    detector = open_detector(rules.detector) if rules.detector else None
    return detector is None or (isinstance(detector, OpensAnywhere) and detector.opens_anywhere)


def evenly(times_s: NDArray[np.float64], n: int, *, seconds: float) -> tuple[int, ...]:
    """The frames on screen in the middle of so many equal parts of a video; fewer where it has fewer.

    Shapes: `times_s` (n_frames,), ascending.

    >>> evenly(np.arange(10) / 10, 2, seconds=1.0)
    (2, 7)
    """
    marks_s = (np.arange(n) + 0.5) * seconds / n
    found = np.searchsorted(times_s, marks_s + 1e-9, side="right") - 1
    return tuple(np.unique(np.clip(found, 0, len(times_s) - 1)).tolist())


@dataclass(frozen=True, kw_only=True)
class MeasuredAway:
    """What was measured on another machine, and the pictures that models are shown."""

    measured: Measured
    pictures: tuple[bytes, ...]


def measure_away(scan: Scan, rules: MeasureRules, *, n_shown: Sequence[int] = ()) -> MeasuredAway:
    """As `measure`, on a machine whose folders nobody else sees: pictures come back with the result."""
    with TemporaryDirectory(prefix="vidence-") as folder:
        pictures = PictureFolder(Path(folder))
        measured = measure(scan, rules, pictures=pictures.root, n_shown=n_shown)
        shown = tuple(pictures.get(digest) for digest in {crop.digest: None for crop in measured.frames})
    return MeasuredAway(measured=measured, pictures=shown)


def measure(scan: Scan, rules: MeasureRules, *, pictures: Path, n_shown: Sequence[int] = ()) -> Measured:
    """Read a video once, and say what is in it.

    Args:
        scan: what is known of the file.
        rules: what is measured.
        pictures: the folder into which frames for models are written.
        n_shown: how many frames, evenly over the video, models will want to see.

    Raises:
        MediaError: it cannot be read, or none of its frames can.
        UsageError: a detector that cannot be used.
    """
    video = Video(scan)
    size_px = (video.probe.width_px, video.probe.height_px)
    moves = frames_at(video.times_s, moving.RATE)
    greys = GreyObserver(moves, size_px=size_px)
    seconds = video.probe.counted.duration_s
    shown = sorted({index for n in n_shown for index in evenly(video.times_s, n, seconds=seconds)})
    keeper = _FrameKeeper(shown, folder=PictureFolder(pictures))
    observers: list[Observer] = [greys, keeper]
    cuts: ShotObserver | None = None
    if rules.cuts:
        cuts = ShotObserver(_cutter(rules), n_frames=video.n_frames, size_px=size_px)
        observers.append(cuts)
    detector = open_detector(rules.detector) if rules.detector else None
    looks = evenly(video.times_s, rules.looks, seconds=seconds) if detector is not None else ()
    wanted = range(video.n_frames) if cuts else sorted({*moves, *shown, *looks})
    detections, problems = _read(video, wanted, detector=detector, looks=looks, observers=observers)
    check_problems(video, problems, n_read=len(wanted))
    damaged = {one.frame_index for one in problems}
    shots = cuts.shots(video.times_s) if cuts else None
    whole = {index: grey for index, grey in greys.greys.items() if index not in damaged}
    found = Measured(
        seconds=seconds,
        fps=video.probe.counted.fps,
        width_px=size_px[0],
        height_px=size_px[1],
        has_audio=video.probe.has_audio,
        n_frames=video.n_frames,
        n_damaged=len(damaged),
        problem=video.probe.problem,
        shots=None if shots is None else len(shots),
        motion=motion(whole, moves, times_s=video.times_s, shots=shots),
        frames=tuple(keeper.crops[index] for index in shown if index not in damaged),
    )
    seen = [index for index in looks if index not in damaged]
    return _with_people(_with_reasons(found, shots), detector, detections, n_seen=len(seen))


def _with_reasons(found: Measured, shots: Sequence[Shot] | None) -> Measured:
    why = {"motion": found.motion.why, "flow": found.motion.why_no_flow}
    if shots is None:
        why["shots_per_minute"] = f"cuts were {_NOT_ASKED_FOR}"
    elif not found.seconds:
        why["shots_per_minute"] = "it is one frame"
    return msgspec.structs.replace(found, why={name: words for name, words in why.items() if words})


def _with_people(
    found: Measured, detector: Detector | None, detections: Detections | None, *, n_seen: int
) -> Measured:
    """With people and things a frame; a detector that says nothing but people has no things."""
    names = ("people", "things", "classes")
    if detector is None or detections is None or not n_seen:
        lacks = f"a detector was {_NOT_ASKED_FOR}" if detector is None else "no frame that it wants is whole"
        return msgspec.structs.replace(found, why={**found.why, **dict.fromkeys(names, lacks)})
    is_person = np.array([detections.class_names[int(i)] == PERSON for i in detections.class_ids], np.bool_)
    people = float(is_person.sum() / n_seen)
    if is_person.all():
        lacks = "the detector saw nothing but people, and may know nothing else"
        why = {**found.why, "things": lacks, "classes": lacks}
        return msgspec.structs.replace(found, people=people, why=why)
    return msgspec.structs.replace(
        found,
        people=people,
        things=float((~is_person).sum() / n_seen),
        classes=len({int(i) for i in detections.class_ids[~is_person]}),
    )


def _read(
    video: Video,
    wanted: Sequence[int],
    *,
    detector: Detector | None,
    looks: Sequence[int],
    observers: Sequence[Observer],
) -> tuple[Detections | None, tuple[FrameProblem, ...]]:
    """Show frames to all, once; without a detector they are read no larger than anybody wants them."""
    if detector is not None:
        watched = watch_part(video, wanted, detector=detector, observers=observers, looks=looks)
        return watched.detections, watched.problems
    passed: set[int] = set()

    def show(index: int, image: NDArray[np.uint8]) -> None:
        if index not in passed:
            passed.add(index)
            for one in observers:
                one.see(index, image, _NOBODY)

    made = video.read(wanted, show, size=_SHOWN)
    return None, tuple(one for one in made.values() if isinstance(one, FrameProblem))


class _FrameKeeper:
    """Keeps the frames that models are shown; an observer."""

    def __init__(self, frame_indices: Sequence[int], *, folder: PictureFolder) -> None:
        self._wanted = frozenset(frame_indices)
        self._folder = folder
        self.crops: dict[int, Crop] = {}

    def see(self, frame_index: int, image: NDArray[np.uint8], found: object) -> None:
        if frame_index in self._wanted:
            small = resize(image, size=_SHOWN.fit(image.shape[1], image.shape[0]))
            self.crops[frame_index] = self._folder.keep(small, frame_index=frame_index, quality=_QUALITY)


def _cutter(rules: MeasureRules) -> ShotDetector:
    cutter: ShotDetector = create("shot-detector", rules.cuts)
    return cutter
