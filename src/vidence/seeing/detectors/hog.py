"""OpenCV's people detector: histograms of oriented gradients, no weights to download.

hog
hog:?least_px=48&confidence=0.4
"""

import importlib.util
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.installation import adding, pip
from vidence.records import Record
from vidence.seeing.boxes import areas_px, clip, share_inside, suppress
from vidence.seeing.tracks import PERSON
from vidence.seeing.watching import FrameDetections, Image

if TYPE_CHECKING:
    import cv2

_VERSION: Final = 3
_WINDOW_PX: Final = (64, 128)
# The people that the detector was trained on are 96 pixels high in windows of 128 (Dalal and Triggs 2005,
# section 4); the width of a walking person is 0.41 of the height (Dollar et al. 2012, section 2.1).
_PERSON_PX: Final = 96
_WIDTH_OF_HEIGHT: Final = 0.41
_PERSON_ID: Final = 1  # as in COCO
_STEP_PX: Final = 8
_PADDING_PX: Final = 16
_MARGIN: Final = 1 / 6  # of the person's height above and below, in the window
CAUTION: Final = (
    "hog found the people, the last resort: on PETS09-S2L1 it finds 85 % of the boxes of a trained detector, "
    "and a quarter of its own show no one; it sees people in 33 % of 97 empty frames of 3 other clips. "
    "Better are rfdetr:WEIGHTS, grounding-dino:WEIGHTS, owlv2:WEIGHTS, boxes:FILE (boxes from elsewhere)"
)
_TIMES_LARGER, _INSIDE, _SURE = 2.0, 0.8, 0.8
# Margin of the classifier -> confidence. At a margin of 0.7, four of five boxes on PETS09-S2L1 are people.
_EVEN_MARGIN: Final = 0.7
_STEEPNESS: Final = 3.0


class Settings(Record):
    """Options of the people detector.

    Frames are scaled so that a person of `least_px` has the size that the detector knows. Half of it takes
    four times as long.
    """

    least_px: Annotated[
        float, Meta(ge=16, description="height in pixels of the smallest detectable person")
    ] = 64.0
    confidence: Annotated[float, Meta(ge=0, le=1, description="minimum confidence of a box")] = 0.3
    most: Annotated[int, Meta(ge=1, description="boxes to keep per frame, best first")] = 300
    ladder: Annotated[float, Meta(ge=1.01, le=2, description="factor between successive scales")] = 1.1
    most_iou: Annotated[float, Meta(ge=0, le=1, description="maximum IoU of two people")] = 0.4


class Hog:
    """OpenCV's people detector with its built-in weights.

    Boxes are cut to the person: the detector's own windows have a margin all around. A box inside a much
    larger sure one is a part of that person. The confidence is the logistic function of the classifier's
    margin, even at 0.7.

    Source: Dalal and Triggs, Histograms of oriented gradients for human detection, CVPR 2005; the least
    confidence and the most boxes are those of HERBench, section 7.1.
    Departs: HERBench uses RF-DETR, which needs weights.
    """

    n_together = 1
    finds_parts = True
    caution = CAUTION
    opens_anywhere = True

    def __init__(self, settings: Settings) -> None:
        import cv2

        self._settings = settings
        self._hog = _people_detector()
        self.identity = f"hog/{_VERSION} {settings!r} OpenCV {cv2.__version__}"

    def find(self, images: Sequence[Image]) -> list[FrameDetections]:
        """The people in each picture, on one thread, since more threads cost more CPU time in total."""
        import cv2

        n_threads = cv2.getNumThreads()
        cv2.setNumThreads(1)
        try:
            return [self._find(image) for image in images]
        finally:
            cv2.setNumThreads(n_threads)

    def _find(self, image: Image) -> FrameDetections:
        import cv2

        grey = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY)
        # The detector's window is higher than the person in it: who fills the frame is found only beyond
        # its edges. That is looked at once more, small, so that it costs little.
        near_px = max(self._settings.least_px, grey.shape[0] / 2)
        looks = (
            self._look(grey, least_px=self._settings.least_px, border=0.0),
            self._look(grey, least_px=near_px, border=_MARGIN),
        )
        boxes, margins = (np.concatenate(parts) for parts in zip(*looks, strict=True))
        # Whatever the order in which windows come, it is the same here.
        order = np.lexsort([*boxes.T, -margins])
        boxes, covers = clip(boxes[order], width_px=image.shape[1], height_px=image.shape[0])
        confidences = 1 / (1 + np.exp(_STEEPNESS * (_EVEN_MARGIN - margins[order])))
        boxes, confidences = boxes[covers], confidences[covers]
        kept = suppress(boxes, confidences, most_iou=self._settings.most_iou)
        boxes, confidences = boxes[kept], confidences[kept]
        kept = np.flatnonzero(~inside_larger(boxes, confidences))[: self._settings.most]
        return FrameDetections(
            boxes_px=boxes[kept],
            confidences=confidences[kept],
            class_ids=np.full(len(kept), _PERSON_ID),
            class_names={_PERSON_ID: PERSON},
        )

    def _look(
        self, grey: NDArray[np.uint8], *, least_px: float, border: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """People of at least some height, and classifier margins; with a border, also beyond the edges."""
        import cv2

        scale = _PERSON_PX / least_px
        size = (max(round(grey.shape[1] * scale), 1), max(round(grey.shape[0] * scale), 1))
        scaled = cv2.resize(grey, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        edge = round(border * size[1])
        # OpenCV does not look at a frame that is smaller than the window.
        right = edge + max(_WINDOW_PX[0] - size[0] - 2 * edge, 0)
        low = edge + max(_WINDOW_PX[1] - size[1] - 2 * edge, 0)
        scaled = cv2.copyMakeBorder(scaled, edge, low, edge, right, cv2.BORDER_REPLICATE)
        windows, margins = self._hog.detectMultiScale(
            scaled,
            hitThreshold=_EVEN_MARGIN + _logit(self._settings.confidence) / _STEEPNESS,
            winStride=(_STEP_PX, _STEP_PX),
            padding=(_PADDING_PX, _PADDING_PX),
            scale=self._settings.ladder,
            groupThreshold=0,
        )
        result = np.asarray(windows, np.float64).reshape(-1, 4) - [edge, edge, 0, 0]
        return _people(result) / scale, np.asarray(margins, np.float64).reshape(-1)


def inside_larger(boxes_px: NDArray[np.float64], confidences: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which boxes are parts of a person, being inside a much larger confident box.

    Shapes: `boxes_px` (n, 4), `confidences` (n,). Inside means four fifths of it, much larger twice the
    area, sure a confidence of 0.8: an arm or a pair of legs looks like a small person to the detector.
    """
    areas = areas_px(boxes_px)
    larger = (areas[None] >= _TIMES_LARGER * areas[:, None]) & (confidences >= _SURE)[None]
    inside = share_inside(boxes_px[:, None], boxes_px[None]) >= _INSIDE
    return np.asarray(np.any(larger & inside, axis=1), np.bool_)


def _people(windows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The person in each window: (n, 4) left, top, width, height to left, top, right, bottom."""
    centres = windows[:, :2] + windows[:, 2:] / 2
    heights = windows[:, 3:] * (_PERSON_PX / _WINDOW_PX[1])
    halves = np.hstack([heights * _WIDTH_OF_HEIGHT, heights]) / 2
    return np.hstack([centres - halves, centres + halves])


def _logit(confidence: float) -> float:
    inside = min(max(confidence, 1e-6), 1 - 1e-6)
    return math.log(inside / (1 - inside))


def _people_detector() -> "cv2.HOGDescriptor":
    import cv2

    if not hasattr(cv2, "HOGDescriptor"):
        raise UsageError(
            f"the installed OpenCV {cv2.__version__} has no people detector (OpenCV 5 dropped it); run: "
            f"{pip()} uninstall opencv-python opencv-python-headless && {adding('build')}"
        )
    hog = cv2.HOGDescriptor()
    hog.setSVMDetector(cv2.HOGDescriptor.getDefaultPeopleDetector())
    return hog


def create(settings: Settings) -> Hog:
    """The people detector of OpenCV.

    Raises:
        UsageError: OpenCV is not installed, or is version 5.
    """
    if importlib.util.find_spec("cv2") is None:
        raise UsageError(f"the detector hog needs OpenCV; run: {adding('build')}")
    return Hog(settings)
