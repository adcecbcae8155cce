"""Read a video once for a detector and for everything that observes its boxes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vidence.errors import MediaError
from vidence.media.pixels import resize
from vidence.media.video import FrameProblem, Video
from vidence.seeing.tracks import Detections, Rows

Image = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class Found(Rows):
    """What was found in one picture.

    Shapes: `boxes_px` (n, 4), left, top, right, bottom in pixels; `confidences`, `class_ids` (n,).
    `class_names` names the class ids.
    """

    boxes_px: NDArray[np.float64]
    confidences: NDArray[np.float64]
    class_ids: NDArray[np.int64]
    class_names: Mapping[int, str]


class _Boxing(Protocol):
    """What all detectors say of themselves.

    `identity` is what the boxes depend on: kind, weights, thresholds. `finds_parts` says that limbs are taken
    for people now and then, and boxes found whose size does not fit their place.
    """

    identity: str
    finds_parts: bool


class BoxSource(_Boxing, Protocol):
    """A detector whose boxes are known; no frame is decoded for it."""

    def detect(self, video: Video, frame_indices: Sequence[int]) -> Detections:
        """The boxes in these frames.

        Raises:
            DataError: a file of boxes that cannot be used.
        """


@runtime_checkable
class Finder(_Boxing, Protocol):
    """A detector that is shown pictures; `n_together` is how many it wants at once."""

    n_together: int

    def find(self, images: Sequence[Image]) -> Sequence[Found]:
        """What is in each picture; pictures are RGB, shape (height, width, 3)."""


@runtime_checkable
class LastResort(Protocol):
    """A detector that is only for want of a better one; `caution` says so, how good it is, what is better."""

    caution: str


Detector: TypeAlias = Finder | BoxSource
"""Says where people and things are; one file in ``seeing/detectors``."""


class Observer(Protocol):
    """Who sees every frame with the boxes found in it: for vectors, crops, small pictures for shots."""

    def see(self, frame_index: int, image: Image, found: Found) -> None:
        """Look at one frame. Frames mostly come in order; one that had to be read again comes later."""


@dataclass(frozen=True, kw_only=True)
class Watched:
    """The boxes of a video, and the frames that could not be shown."""

    detections: Detections
    problems: tuple[FrameProblem, ...] = ()


def watch(
    video: Video,
    frame_indices: Sequence[int],
    *,
    detector: Detector,
    observers: Sequence[Observer] = (),
) -> Watched:
    """Read frames once, find boxes in them, and show both to the observers.

    Where the boxes are known, the frames are read only if there are observers.

    Raises:
        MediaError: not one of the frames can be read.
        DataError: a file of boxes cannot be used.
    """
    wanted = sorted({int(index) for index in frame_indices})
    if isinstance(detector, Finder):
        return _find(video, wanted, finder=detector, observers=observers)
    detections = detector.detect(video, wanted)
    if not observers:
        return Watched(detections=detections)
    shown: set[int] = set()

    def show(index: int, image: Image) -> None:
        if index not in shown:
            shown.add(index)
            for observer in observers:
                observer.see(index, image, _of_frame(detections, index))

    made = video.read(wanted, lambda index, image: show(index, in_size(image, video)))
    return Watched(detections=detections, problems=_problems(video, made))


def in_size(image: Image, video: Video) -> Image:
    """A frame in the size that its video is said to have: some files change their size on the way."""
    size_px = (video.probe.width_px, video.probe.height_px)
    return image if (image.shape[1], image.shape[0]) == size_px else resize(image, size=size_px)


def _find(video: Video, wanted: list[int], *, finder: Finder, observers: Sequence[Observer]) -> Watched:
    waiting: dict[int, Image] = {}
    found: dict[int, Found] = {}

    def look() -> None:
        results = finder.find(list(waiting.values()))
        for (index, image), result in zip(waiting.items(), results, strict=True):
            if index not in found:
                found[index] = result
                for observer in observers:
                    observer.see(index, image, result)
        waiting.clear()

    def take(index: int, image: Image) -> None:
        waiting[index] = image
        if len(waiting) >= finder.n_together:
            look()

    made = video.read(wanted, lambda index, image: take(index, in_size(image, video)))
    if waiting:
        look()
    problems = _problems(video, made)
    damaged = {problem.frame_index for problem in problems}  # known only after the finder has seen them
    whole = {index: result for index, result in found.items() if index not in damaged}
    return Watched(detections=gather(whole), problems=problems)


def _problems(video: Video, made: Mapping[int, object]) -> tuple[FrameProblem, ...]:
    problems = tuple(value for _, value in sorted(made.items()) if isinstance(value, FrameProblem))
    if made and len(problems) == len(made):
        raise MediaError(
            f"{video.probe.path}: none of the {len(made)} frames can be read: {problems[0].message}; "
            "look at the file with `vidence probe`"
        )
    return problems


def _of_frame(detections: Detections, frame_index: int) -> Found:
    """The boxes in one frame."""
    first, last = np.searchsorted(detections.frame_indices, [frame_index, frame_index + 1])
    return Found(
        boxes_px=detections.boxes_px[first:last],
        confidences=detections.confidences[first:last],
        class_ids=detections.class_ids[first:last],
        class_names=detections.class_names,
    )


def gather(found: Mapping[int, Found]) -> Detections:
    """The boxes of all frames in one, in the order of the frames."""
    ordered = sorted(found.items())
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
