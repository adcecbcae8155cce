"""The interface of describers, and the observer that collects their vectors."""

from collections.abc import Collection
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.tracks import Detections
from vidence.seeing.watching import FrameDetections, Image


class Describer(Protocol):
    """Turns pictures of people into vectors; one file in ``seeing/describers``.

    `identity` is what the vectors depend on.
    """

    identity: str
    n_dims: int

    def describe(self, image: Image, boxes_px: NDArray[np.float64]) -> NDArray[np.float32]:
        """One vector of length 1 for each box, shape (n, n_dims).

        Args:
            image: RGB, shape (height, width, 3).
            boxes_px: (n, 4), inside the picture.
        """


class Portraits:
    """Collects the vectors of the boxes it is shown; an observer for `watching.watch`.

    Boxes of classes that are not named get a vector of zeros.
    """

    def __init__(self, describer: Describer, *, class_names: Collection[str] = ()) -> None:
        self._describer = describer
        self._class_names = frozenset(class_names)
        self._vectors: dict[int, NDArray[np.float32]] = {}

    def see(self, frame_index: int, image: Image, detections: FrameDetections) -> None:
        """Describe the boxes of one frame."""
        vectors = np.zeros((len(detections.boxes_px), self._describer.n_dims), np.float32)
        is_named = [detections.class_names.get(int(i)) in self._class_names for i in detections.class_ids]
        wanted = np.array(is_named, np.bool_) | (not self._class_names)
        if wanted.any():
            vectors[wanted] = self._describer.describe(image, detections.boxes_px[wanted])
        self._vectors[frame_index] = vectors

    def of(self, detections: Detections) -> NDArray[np.float32]:
        """The vectors of all boxes in order; zeros for frames that could not be decoded."""
        parts: list[NDArray[np.float32]] = [np.zeros((0, self._describer.n_dims), np.float32)]
        for frame in np.unique(detections.frame_indices):
            first, last = np.searchsorted(detections.frame_indices, [frame, frame + 1])
            nothing = np.zeros((last - first, self._describer.n_dims), np.float32)
            parts.append(self._vectors.get(int(frame), nothing))
        return np.concatenate(parts)


def corners(boxes_px: NDArray[np.float64], image: Image) -> list[tuple[int, int, int, int]]:
    """The boxes in whole pixels, at least one pixel wide and high, inside the picture."""
    height, width = image.shape[:2]
    corners: list[tuple[int, int, int, int]] = []
    for left, top, right, bottom in boxes_px.tolist():
        x0, y0 = min(max(int(left), 0), width - 1), min(max(int(top), 0), height - 1)
        corners.append(
            (x0, y0, max(min(round(right), width), x0 + 1), max(min(round(bottom), height), y0 + 1))
        )
    return corners


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows scaled to length 1; a row of zeros stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: NDArray[np.float32] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return rows
