"""Geometry of boxes: areas, overlap, hull, suppression of doubles.

Boxes are left, top, right, bottom in pixels.
"""

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]


def areas_px(boxes: Boxes) -> NDArray[np.float64]:
    """The areas in square pixels, shape (...,); 0 where a box has no inside."""
    sides = np.maximum(boxes[..., 2:] - boxes[..., :2], 0.0)
    areas: NDArray[np.float64] = sides[..., 0] * sides[..., 1]
    return areas


def intersections_px(these: Boxes, those: Boxes) -> NDArray[np.float64]:
    """The areas that two boxes share, in square pixels."""
    left_top = np.maximum(these[..., :2], those[..., :2])
    right_bottom = np.minimum(these[..., 2:], those[..., 2:])
    return areas_px(np.concatenate([left_top, right_bottom], axis=-1))


def iou(these: Boxes, those: Boxes) -> NDArray[np.float64]:
    """Intersection over union, 0 to 1; 0 where both boxes have no area.

    >>> float(iou(np.array([0.0, 0, 2, 2]), np.array([1.0, 0, 3, 2])))
    0.3333333333333333
    """
    shared = intersections_px(these, those)
    return _ratio(shared, areas_px(these) + areas_px(those) - shared)


def share_inside(these: Boxes, those: Boxes) -> NDArray[np.float64]:
    """The part of each of `these` that lies in those, 0 to 1; 0 for a box without area.

    >>> float(share_inside(np.array([0.0, 0, 2, 2]), np.array([1.0, 0, 3, 2])))
    0.5
    """
    shared = intersections_px(these, those)
    return _ratio(shared, np.broadcast_to(areas_px(these), shared.shape))


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


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


def hull_area(boxes: NDArray[np.float64]) -> float:
    """The area of the convex hull of all corners of boxes, in square units; 0 where they lie on a line.

    Shapes: `boxes` (n, 4), left, top, right, bottom, finite.

    >>> hull_area(np.array([[0.0, 0, 10, 10], [20, 20, 30, 30]]))
    500.0
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        return float(ConvexHull(boxes[:, [0, 1, 0, 3, 2, 1, 2, 3]].reshape(-1, 2)).volume)
    except (QhullError, ValueError):  # all corners on one line; no corner at all
        return 0.0
