"""Read a video once for a detector and for everything that observes its boxes."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vidence.errors import MediaError
from vidence.media.pixels import resize
from vidence.media.video import FrameProblem, Video
from vidence.seeing.tracks import Detections, Rows

Image = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class FrameDetections(Rows):
    """The boxes detected in one picture.

    Shapes: `boxes_px` (n, 4), left, top, right, bottom in pixels; `confidences`, `class_ids` (n,).
    `class_names` names the class ids.
    """

    boxes_px: NDArray[np.float64]
    confidences: NDArray[np.float64]
    class_ids: NDArray[np.int64]
    class_names: Mapping[int, str]


_NOTHING: Final = FrameDetections(
    boxes_px=np.zeros((0, 4)), confidences=np.zeros(0), class_ids=np.zeros(0, np.int64), class_names={}
)


class _Boxing(Protocol):
    """The properties common to all detectors.

    `identity` is what the boxes depend on: kind, weights, thresholds. `finds_parts` says that limbs are taken
    for people now and then, and boxes found whose size does not fit their place.
    """

    identity: str
    finds_parts: bool


class BoxSource(_Boxing, Protocol):
    """A detector with known boxes, which decodes no frame."""

    def detect(self, video: Video, frame_indices: Sequence[int]) -> Detections:
        """The boxes in these frames.

        Raises:
            DataError: a file of boxes that cannot be used.
        """


@runtime_checkable
class Finder(_Boxing, Protocol):
    """A detector that reads pictures; `n_together` is its batch size."""

    n_together: int

    def find(self, images: Sequence[Image]) -> Sequence[FrameDetections]:
        """What is in each picture; pictures are RGB, shape (height, width, 3)."""


@runtime_checkable
class LastResort(Protocol):
    """A fallback detector; `caution` says how good it is and what is better."""

    caution: str


Detector: TypeAlias = Finder | BoxSource
"""Detects people and things; one file in ``seeing/detectors``."""


class Observer(Protocol):
    """An observer of every frame with its boxes: for vectors, crops, small pictures for shots."""

    def see(self, frame_index: int, image: Image, detections: FrameDetections) -> None:
        """Look at one frame. Frames mostly come in order; one that had to be read again comes later."""


@dataclass(frozen=True, kw_only=True)
class Watched:
    """The boxes of a video, and the frames that could not be decoded."""

    detections: Detections
    problems: tuple[FrameProblem, ...] = ()


def watch(
    video: Video,
    frame_indices: Sequence[int],
    *,
    detector: Detector,
    observers: Sequence[Observer] = (),
    looks: Sequence[int] | None = None,
) -> Watched:
    """Read frames once, find boxes in them, and show both to the observers; all frames may be damaged.

    Where the boxes are known, the frames are read only if there are observers.

    Args:
        video: the video.
        frame_indices: the frames that are read.
        detector: finds the boxes.
        observers: see all of the frames.
        looks: those of the frames that the detector looks at (None: all); the others have no box.

    Raises:
        MediaError: the file cannot be opened any more.
        DataError: a file of boxes cannot be used.
    """
    wanted = sorted({int(index) for index in frame_indices})
    if isinstance(detector, Finder):
        looked = set(wanted if looks is None else looks)
        return _find(video, wanted, looks=looked, finder=detector, observers=observers)
    detections = detector.detect(video, wanted if looks is None else sorted({*looks} & {*wanted}))
    if not observers:
        return Watched(detections=detections)
    values: set[int] = set()

    def show(index: int, image: Image) -> None:
        if index not in values:
            values.add(index)
            for observer in observers:
                observer.see(index, image, _of_frame(detections, index))

    text = video.read(wanted, lambda index, image: show(index, in_size(image, video)))
    return Watched(detections=detections, problems=_problems(text))


def frames_at(times_s: NDArray[np.float64], rate: float) -> tuple[int, ...]:
    """Return the frames at a rate per second; all frames if there are fewer.

    Each is the frame nearest in time to a multiple of the step, so that it does not matter how many frames
    a second has, nor whether their times are even. A rate of 0 means all frames.

    Shapes: `times_s` (n_frames,), ascending, in seconds from the first.

    >>> frames_at(np.arange(12) / 30, 7.5)
    (0, 4, 8)
    >>> frames_at(np.arange(4) / 7, 7.5)
    (0, 1, 2, 3)
    """
    n = len(times_s)
    last_s = float(times_s[-1]) if n else 0.0
    if not rate or last_s <= 0 or (n - 1) / last_s <= rate:
        return tuple(range(n))
    marks_s = np.arange(int(last_s * rate + 1e-6) + 1) / rate
    later = np.clip(np.searchsorted(times_s, marks_s), 1, n - 1)
    is_earlier = marks_s - times_s[later - 1] <= times_s[later] - marks_s
    return tuple(np.unique(np.where(is_earlier, later - 1, later)).tolist())


def in_size(image: Image, video: Video) -> Image:
    """Return a frame scaled to the nominal size of its video: some files change size midway."""
    size_px = (video.probe.width_px, video.probe.height_px)
    return image if (image.shape[1], image.shape[0]) == size_px else resize(image, size=size_px)


def _find(
    video: Video, wanted: list[int], *, looks: Set[int], finder: Finder, observers: Sequence[Observer]
) -> Watched:
    finding = _Finding(finder=finder, observers=observers, looks=looks)
    text = video.read(wanted, lambda index, image: finding.take(index, in_size(image, video)))
    finding.look()
    problems = _problems(text)
    damaged = {problem.frame_index for problem in problems}  # known only after the finder has seen them
    whole = {index: result for index, result in finding.found.items() if index not in damaged}
    return Watched(detections=gather(whole), problems=problems)


@dataclass(kw_only=True)
class _Finding:
    """Batches pictures for a finder and passes each once to the observers."""

    finder: Finder
    observers: Sequence[Observer]
    looks: Set[int]
    found: dict[int, FrameDetections] = field(default_factory=dict)
    waiting: dict[int, Image] = field(default_factory=dict)
    passed: set[int] = field(default_factory=set)

    def take(self, index: int, image: Image) -> None:
        """Receive a frame, which may repeat."""
        if index in self.looks:
            self.waiting[index] = image
            if len(self.waiting) >= self.finder.n_together:
                self.look()
        elif index not in self.passed:
            self.passed.add(index)
            self._show(index, image, _NOTHING)

    def look(self) -> None:
        """Run the finder on the waiting pictures."""
        results = self.finder.find(list(self.waiting.values())) if self.waiting else ()
        for (index, image), result in zip(self.waiting.items(), results, strict=True):
            if index not in self.found:
                self.found[index] = result
                self._show(index, image, result)
        self.waiting.clear()

    def _show(self, index: int, image: Image, detections: FrameDetections) -> None:
        for observer in self.observers:
            observer.see(index, image, detections)


def _problems(values: Mapping[int, object]) -> tuple[FrameProblem, ...]:
    return tuple(value for _, value in sorted(values.items()) if isinstance(value, FrameProblem))


def check_problems(video: Video, problems: Sequence[FrameProblem], *, n_read: int) -> None:
    """Reject a video without a single readable frame.

    Raises:
        MediaError: as many frames have problems as were read.
    """
    if n_read and len(problems) == n_read:
        raise MediaError(
            f"{video.probe.path}: none of the {n_read} frames can be read: {problems[0].message}; "
            "look at the file with `vidence videos probe`"
        )


def _of_frame(detections: Detections, frame_index: int) -> FrameDetections:
    """The boxes in one frame."""
    first, last = np.searchsorted(detections.frame_indices, [frame_index, frame_index + 1])
    return FrameDetections(
        boxes_px=detections.boxes_px[first:last],
        confidences=detections.confidences[first:last],
        class_ids=detections.class_ids[first:last],
        class_names=detections.class_names,
    )


def gather(values: Mapping[int, FrameDetections]) -> Detections:
    """The boxes of all frames, in order of frames."""
    ordered = sorted(values.items())
    parts = [result for _, result in ordered]
    names = {i: name for part in parts for i, name in part.class_names.items()}
    class_ids = np.concatenate([np.zeros(0, np.int64), *(part.class_ids for part in parts)])
    return Detections(
        frame_indices=np.repeat(
            np.array([index for index, _ in ordered], np.int64), [len(part.boxes_px) for part in parts]
        ),
        boxes_px=np.concatenate([np.zeros((0, 4)), *(part.boxes_px for part in parts)]),
        confidences=np.concatenate([np.zeros(0), *(part.confidences for part in parts)]),
        class_ids=class_ids,
        class_names={i: names.get(i, f"class {i}") for i in sorted({*map(int, class_ids)})},
    )
