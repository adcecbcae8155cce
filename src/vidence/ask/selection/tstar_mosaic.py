"""Mosaics of T*: many frames as the cells of one picture, for an object detector."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError

Picture: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class Box:
    """An object that was detected: its corners in pixels from the upper left, its label, 0 to 1."""

    left_px: float
    top_px: float
    right_px: float
    bottom_px: float
    label: str
    confidence: float


@runtime_checkable
class Detector(Protocol):
    """Finds objects in a picture. Pictures are RGB, shape (height, width, 3)."""

    def detect(self, picture: Picture, labels: Sequence[str]) -> Sequence[Box]:
        """The objects with one of these labels."""
        ...


def mosaic(cells: Sequence[Picture], side: int) -> Picture:
    """`side` x `side` cells of one size as one picture, row by row; cells that are left over are black.

    Source: T*, released code.
    Departs: no.

    Raises:
        DataError: more cells than places, or cells of different sizes.
    """
    if len(cells) > side**2 or len({cell.shape for cell in cells}) != 1:
        sizes = ", ".join(sorted({str(cell.shape) for cell in cells}))
        raise DataError(f"{len(cells)} cells of sizes {sizes} for {side} x {side} places; expected one size")
    height, width = cells[0].shape[:2]
    picture = np.zeros((side * height, side * width, 3), np.uint8)
    for i, cell in enumerate(cells):
        row, column = divmod(i, side)
        picture[row * height : (row + 1) * height, column * width : (column + 1) * width] = cell
    return picture


def by_cell(boxes: Sequence[Box], *, side: int, width_px: int, height_px: int) -> list[dict[str, float]]:
    """For each cell the highest confidence of every label with the centre of a box in it: side² of them.

    Args:
        boxes: what was detected on the whole mosaic.
        side: cells in a row.
        width_px: width of one cell.
        height_px: height of one cell.

    Source: T*, released code.
    Departs: a centre outside the picture counts for the nearest cell.
    """
    found: list[dict[str, float]] = [{} for _ in range(side**2)]
    for box in boxes:
        column = int((box.left_px + box.right_px) / 2 // width_px)
        row = int((box.top_px + box.bottom_px) / 2 // height_px)
        cell = found[min(max(row, 0), side - 1) * side + min(max(column, 0), side - 1)]
        cell[box.label] = max(cell.get(box.label, 0.0), box.confidence)
    return found
