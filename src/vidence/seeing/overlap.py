"""How boxes overlap. Boxes are left, top, right, bottom in pixels, shape (..., 4), and broadcast."""

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
