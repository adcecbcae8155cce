"""Of boxes that find the same thing several times, the best one."""

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.overlap import iou


def suppress(
    boxes_px: NDArray[np.float64], confidences: NDArray[np.float64], *, most_iou: float
) -> NDArray[np.int64]:
    """The boxes that stay, best first: those that no better one overlaps by more than `most_iou`.

    Shapes: `boxes_px` (n, 4), `confidences` (n,). Of two boxes with the same confidence the earlier is
    the better one.
    """
    waiting = np.argsort(-confidences, kind="stable")
    kept: list[int] = []
    while len(waiting):
        best, waiting = int(waiting[0]), waiting[1:]
        kept.append(best)
        waiting = waiting[iou(boxes_px[best], boxes_px[waiting]) <= most_iou]
    return np.array(kept, np.int64)


def clip(
    boxes_px: NDArray[np.float64], *, width_px: int, height_px: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The boxes cut to the frame, and which of them still cover anything; shapes (n, 4) and (n,)."""
    limits = np.array([width_px, height_px, width_px, height_px], np.float64)
    cut = np.clip(np.nan_to_num(boxes_px, nan=-1.0), 0.0, limits)
    covers: NDArray[np.bool_] = (cut[:, 2] > cut[:, 0]) & (cut[:, 3] > cut[:, 1])
    return cut, covers
