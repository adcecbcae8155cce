"""Measure a video in one decoding pass: shots, motion, people, and frames for the model.

The model says which of them hold text, and which look like a lecture.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.ask.prompting.templates import Template
from vidence.ask.scoring.letters import plain
from vidence.catalog import create
from vidence.contracts import Flow
from vidence.errors import UsageError
from vidence.make.gates.video_rules import MeasureRules
from vidence.make.pipeline.material import Crop
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.wording import CardWording, load_template
from vidence.make.pipeline.writer import Objection, WritingTask, image, in_words, write_all
from vidence.media.encode import Size
from vidence.media.pixels import resize
from vidence.media.scan import Scan
from vidence.media.video import FrameProblem, Video
from vidence.records import Prompt, Record, TextPart
from vidence.seeing.chunks import OpensAnywhere
from vidence.seeing.false_people import peopled
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
    watch,
)

VERSION: Final = 4
N_LOOKED: Final = 8
"""Number of frames shown to a model that looks for text."""
RATE: Final = 2.0
"""Most picture comparisons per second."""
_SHOWN: Final = Size(kind="long", pixels=512)
_GREY: Final = Size(kind="long", pixels=64)
_LUMA: Final = np.array([0.299, 0.587, 0.114])
_QUALITY: Final = 85
_NOBODY: Final = FrameDetections(
    boxes_px=np.zeros((0, 4)), confidences=np.zeros(0), class_ids=np.zeros(0, np.int64), class_names={}
)
_NOT_ASKED_FOR: Final = "not asked for"

Grey: TypeAlias = NDArray[np.uint8]

LOOK_VERSION: Final = 1
_VARIABLES: Final[Mapping[str, str]] = {"n_frames": "how many frames are shown, in order"}
_NUMBERS: Final = re.compile(r"(?:frames? )?\d+(?:(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+|\s+)\d+)*")
_LINE: Final = re.compile(r"^\W*(text|lecture)\W*:\s*(.*?)\W*$", re.IGNORECASE)


class Measured(Record, omit_defaults=True):
    """Measurements of a video; None for missing ones, with the reason in `why`.

    `shots` counts them. `motion` is the mean absolute difference of two greys, 0 to 255. `people` and
    `things` are a frame that the detector was shown; `peopled` says in how many of them it saw people, and
    how many these are. `frames` are the pictures that a model is shown.
    `problem` is what is wrong with the file, `n_damaged` how many of its frames could not be read.
    """

    seconds: float
    fps: float
    width_px: int
    height_px: int
    has_audio: bool
    n_damaged: int = 0
    problem: str = ""
    shots: int | None = None
    motion: float | None = None
    people: float | None = None
    things: float | None = None
    peopled: tuple[int, int] = (0, 0)
    why: dict[str, str] = msgspec.field(default_factory=dict)
    frames: tuple[Crop, ...] = ()


def identity(rules: MeasureRules, *, n_shown: int) -> list[object]:
    """Return everything besides the video that a measurement depends on.

    Raises:
        UsageError: a detector of people or of shots cannot be used.
    """
    detector = open_detector(rules.detector).identity if rules.detector else ""
    cuts = _cutter(rules).identity if rules.cuts else ""
    return [VERSION, detector, cuts, rules.looks, n_shown]


def check_detector(rules: MeasureRules, *, n_videos: int) -> None:
    """Check that the detector can process this many videos.

    Raises:
        UsageError: it cannot be used, or knows the boxes of one video and there are several.
    """
    try:
        detector = open_detector(rules.detector) if rules.detector else None
    except UsageError as error:
        raise UsageError(f"{error}. Without counts of people: --detector none") from error
    if detector is not None and n_videos > 1 and not isinstance(detector, Finder):
        raise UsageError(
            f"the detector {rules.detector} has the boxes of one video, but there are {n_videos}; name a "
            "detector that sees frames, such as hog or rfdetr:WEIGHTS, or none"
        )


def can_part(rules: MeasureRules) -> bool:
    """Return whether videos can be measured in parallel: a GPU detector is opened once."""
    detector = open_detector(rules.detector) if rules.detector else None
    return detector is None or (isinstance(detector, OpensAnywhere) and detector.opens_anywhere)


def evenly(times_s: NDArray[np.float64], n: int, *, seconds: float) -> tuple[int, ...]:
    """Return the middle frames of `n` equal parts of a video; fewer if it has fewer frames.

    Shapes: `times_s` (n_frames,), ascending.

    >>> evenly(np.arange(10) / 10, 2, seconds=1.0)
    (2, 7)
    """
    marks_s = (np.arange(n) + 0.5) * seconds / n
    values = np.searchsorted(times_s, marks_s + 1e-9, side="right") - 1
    return tuple(np.unique(np.clip(values, 0, len(times_s) - 1)).tolist())


def measure(scan: Scan, rules: MeasureRules, *, pictures: Path, n_shown: int = 0) -> Measured:
    """Measure a video in one pass.

    Args:
        scan: what is known of the file.
        rules: what is measured.
        pictures: the folder into which frames for a model are written.
        n_shown: how many frames, evenly over the video, a model will want to see.

    Raises:
        MediaError: it cannot be read, or none of its frames can.
        UsageError: a detector that cannot be used.
    """
    video = Video(scan)
    size_px = (video.probe.width_px, video.probe.height_px)
    moves = frames_at(video.times_s, RATE)
    greys = _GreyObserver(moves, size_px=size_px)
    seconds = video.probe.counted.duration_s
    values = evenly(video.times_s, n_shown, seconds=seconds) if n_shown else ()
    keeper = _FrameKeeper(values, folder=PictureFolder(pictures))
    observers: list[Observer] = [greys, keeper]
    cuts: ShotObserver | None = None
    if rules.cuts:
        cuts = ShotObserver(_cutter(rules), n_frames=video.n_frames, size_px=size_px)
        observers.append(cuts)
    detector = open_detector(rules.detector) if rules.detector else None
    looks = evenly(video.times_s, rules.looks, seconds=seconds) if detector is not None else ()
    wanted = range(video.n_frames) if cuts else sorted({*moves, *values, *looks})
    detections, problems = _read(video, wanted, detector=detector, looks=looks, observers=observers)
    check_problems(video, problems, n_read=len(wanted))
    damaged = {problem.frame_index for problem in problems}
    shots = cuts.shots(video.times_s) if cuts else None
    whole = {index: grey for index, grey in greys.greys.items() if index not in damaged}
    measured = Measured(
        seconds=seconds,
        fps=video.probe.counted.fps,
        width_px=size_px[0],
        height_px=size_px[1],
        has_audio=video.probe.has_audio,
        n_damaged=len(damaged),
        problem=video.probe.problem,
        shots=None if shots is None else len(shots),
        motion=motion(whole, moves, shots),
        frames=tuple(keeper.crops[index] for index in values if index not in damaged),
    )
    seen = [index for index in looks if index not in damaged]
    return _with_people(_with_reasons(measured, shots), detector, detections, n_seen=len(seen))


def motion(greys: Mapping[int, Grey], looks: Sequence[int], shots: Sequence[Shot] | None) -> float | None:
    """Return the mean change between looks inside a shot, 0 to 255; cuts are excluded.

    Args:
        greys: the pictures of the looks by frame; those of damaged frames are left out.
        looks: the frames that were to be looked at, in order.
        shots: the shots; None: they are not known, and every pair counts.

    Source: PerceptionComp, section 3.1, wants camera motion and names no measure.
    Departs: the measure is ours.
    """
    differences = [
        np.abs(greys[first].astype(np.int16) - greys[second]).mean()
        for first, second in pairwise(looks)
        if first in greys
        and second in greys
        and (shots is None or any(s.clear_frame <= first and second <= s.last_frame for s in shots))
    ]
    return float(np.mean(differences)) if differences else None


def _with_reasons(measured: Measured, shots: Sequence[Shot] | None) -> Measured:
    why = {}
    if measured.motion is None:
        why["motion"] = "no two of its pictures lie beside each other in one shot"
    if shots is None:
        why["cuts_per_minute"] = f"cuts were {_NOT_ASKED_FOR}"
    elif not measured.seconds:
        why["cuts_per_minute"] = "it is one frame"
    return msgspec.structs.replace(measured, why=why)


def _with_people(
    measured: Measured, detector: Detector | None, detections: Detections | None, *, n_seen: int
) -> Measured:
    """Add people and objects per frame; people-only detectors give no objects."""
    if detector is None or detections is None or not n_seen:
        lacks = f"a detector was {_NOT_ASKED_FOR}" if detector is None else "no frame that it wants is whole"
        return msgspec.structs.replace(measured, why={**measured.why, "people": lacks, "things": lacks})
    is_person = np.array([detections.class_names[int(i)] == PERSON for i in detections.class_ids], np.bool_)
    people = float(is_person.sum() / n_seen)
    measured = msgspec.structs.replace(measured, peopled=(len(peopled(detections)), n_seen))
    if is_person.all():
        lacks = "the detector saw nothing but people, and may know nothing else"
        why = {**measured.why, "things": lacks}
        return msgspec.structs.replace(measured, people=people, why=why)
    return msgspec.structs.replace(measured, people=people, things=float((~is_person).sum() / n_seen))


def _read(
    video: Video,
    wanted: Sequence[int],
    *,
    detector: Detector | None,
    looks: Sequence[int],
    observers: Sequence[Observer],
) -> tuple[Detections | None, tuple[FrameProblem, ...]]:
    """Pass frames to all observers once; without a detector, at the smallest sufficient size."""
    if detector is not None:
        watched = watch(video, wanted, detector=detector, observers=observers, looks=looks)
        return watched.detections, watched.problems
    passed: set[int] = set()

    def show(index: int, image: NDArray[np.uint8]) -> None:
        if index not in passed:
            passed.add(index)
            for observer in observers:
                observer.see(index, image, _NOBODY)

    text = video.read(wanted, show, size=_SHOWN)
    return None, tuple(problem for problem in text.values() if isinstance(problem, FrameProblem))


class _GreyObserver:
    """Observer that keeps small grey pictures of some frames."""

    def __init__(self, frame_indices: Sequence[int], *, size_px: tuple[int, int]) -> None:
        self._wanted = frozenset(frame_indices)
        self._size_px = _GREY.fit(*size_px)
        self.greys: dict[int, Grey] = {}

    def see(self, frame_index: int, image: NDArray[np.uint8], result: object) -> None:
        if frame_index in self._wanted:
            small = resize(image, size=self._size_px)
            self.greys[frame_index] = np.rint(small @ _LUMA).astype(np.uint8)


class _FrameKeeper:
    """Observer that keeps the frames shown to models."""

    def __init__(self, frame_indices: Sequence[int], *, folder: PictureFolder) -> None:
        self._wanted = frozenset(frame_indices)
        self._folder = folder
        self.crops: dict[int, Crop] = {}

    def see(self, frame_index: int, image: NDArray[np.uint8], result: object) -> None:
        if frame_index in self._wanted:
            small = resize(image, size=_SHOWN.fit(image.shape[1], image.shape[0]))
            self.crops[frame_index] = self._folder.keep(small, frame_index=frame_index, quality=_QUALITY)


def _cutter(rules: MeasureRules) -> ShotDetector:
    cutter: ShotDetector = create("shot-detector", rules.cuts)
    return cutter


class FrameShares(Record, omit_defaults=True):
    """A model's shares of frames with text, and like a lecture; None if unreadable."""

    text: float | None = None
    lecture: float | None = None
    why: str = ""


def look_template(folder: Path | None) -> Template:
    """Return the prompt for looking; ``select_look.txt`` in the user's folder replaces ours.

    Raises:
        UsageError: it cannot be used.
    """
    return load_template("select_look", variables=_VARIABLES, folder=folder)


def look(frames: Sequence[Crop], template: Template, repairs: CardWording) -> Callable[[], Flow[FrameShares]]:
    """Ask which frames have text, and which look like a lecture; retry once if no list is returned."""

    def read(text: str) -> FrameShares | Objection:
        return _lists(text, n=len(frames))

    def start() -> Flow[FrameShares]:
        words = TextPart(text=template.fill({"n_frames": len(frames)}))
        prompt = Prompt(parts=(*map(image, frames), words), template=template.label)
        (task,) = yield from write_all([WritingTask(prompt=prompt, read=in_words(read))], repairs)
        if task.made is not None:
            return task.made
        objection = task.objection
        return FrameShares(why=f"{objection.reason}: {objection.detail}" if objection else "no reply")

    return start


def _lists(text: str, *, n: int) -> FrameShares | Objection:
    """Parse two lists of frames into shares.

    >>> _lists("TEXT: 1, 2" + chr(10) + "LECTURE: none", n=4)
    FrameShares(text=0.5, lecture=0.0, why='')
    """
    lists: dict[str, float] = {}
    for line in text.splitlines():
        if (match := _LINE.match(plain(line))) is None:
            continue
        message = match[2].strip().casefold()
        is_list = _NUMBERS.fullmatch(message) is not None
        numbers = {int(entry) for entry in re.findall(r"\d+", message)} if is_list else set()
        if message != "none" and (not numbers or not numbers <= set(range(1, n + 1))):
            detail = (
                f"the line {line.strip()[:80]!r} is no list of frames from 1 to {n}, and not the word none"
            )
            return Objection(reason="misshapen", detail=detail)
        lists[match[1].casefold()] = len(numbers) / n
    if lists.keys() != {"text", "lecture"}:
        return Objection(reason="misshapen", detail="wanted are the two lines TEXT: and LECTURE:")
    return FrameShares(text=lists["text"], lecture=lists["lecture"])
