"""Geometry in the frame: areas, overlap and hull of boxes, edge bands, named regions.

Boxes are left, top, right, bottom in pixels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.weights.checkpoints import library

Boxes = NDArray[np.float64]


def areas_px(boxes: Boxes) -> NDArray[np.float64]:
    """The areas in square pixels, shape (...,); 0 for degenerate boxes."""
    sides = np.maximum(boxes[..., 2:] - boxes[..., :2], 0.0)
    return sides[..., 0] * sides[..., 1]


def intersections_px(these: Boxes, those: Boxes) -> NDArray[np.float64]:
    """The areas that two boxes share, in square pixels."""
    left_top = np.maximum(these[..., :2], those[..., :2])
    right_bottom = np.minimum(these[..., 2:], those[..., 2:])
    return areas_px(np.concatenate([left_top, right_bottom], axis=-1))


def iou(these: Boxes, those: Boxes) -> NDArray[np.float64]:
    """Intersection over union, 0 to 1; 0 if both boxes have no area.

    >>> float(iou(np.array([0.0, 0, 2, 2]), np.array([1.0, 0, 3, 2])))
    0.3333333333333333
    """
    shared = intersections_px(these, those)
    return _ratio(shared, areas_px(these) + areas_px(those) - shared)


def share_inside(these: Boxes, those: Boxes) -> NDArray[np.float64]:
    """Return the share of each of `these` that is inside those, 0 to 1; 0 for a box without area.

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
    """The boxes kept, best first: those that no better one overlaps by more than `most_iou`.

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
    """The boxes clipped to the frame, and which are not empty; shapes (n, 4) and (n,)."""
    limits = np.array([width_px, height_px, width_px, height_px], np.float64)
    cut = np.clip(np.nan_to_num(boxes_px, nan=-1.0), 0.0, limits)
    covers: NDArray[np.bool_] = (cut[:, 2] > cut[:, 0]) & (cut[:, 3] > cut[:, 1])
    return cut, covers


def hull_area(boxes: NDArray[np.float64]) -> float:
    """Return the area of the convex hull of all box corners, in square units; 0 if they are collinear.

    Shapes: `boxes` (n, 4), left, top, right, bottom, finite.

    >>> hull_area(np.array([[0.0, 0, 10, 10], [20, 20, 30, 30]]))
    500.0
    """
    spatial = library("scipy.spatial", owner="tracking", extra="build")
    try:
        return float(spatial.ConvexHull(boxes[:, [0, 1, 0, 3, 2, 1, 2, 3]].reshape(-1, 2)).volume)
    except (spatial.QhullError, ValueError):  # all corners on one line; no corner at all
        return 0.0


Edge: TypeAlias = Literal["top", "bottom", "left", "right"]
EDGES: Final[tuple[Edge, ...]] = ("top", "bottom", "left", "right")


BANDS: Final[Mapping[Edge, float]] = {"top": 0.3, "bottom": 0.15, "left": 0.15, "right": 0.15}
"""The depth of each edge band, as a share of the frame's height or width (HERBench, section 7.3: y < 0.3 H,
y > 0.85 H, x < 0.15 W, x > 0.85 W; the wide band at the top is as printed)."""


@dataclass(frozen=True, kw_only=True)
class Region:
    """A named rectangle: left, top, right, bottom in pixels; shape (4,)."""

    name: str
    box_px: NDArray[np.float64]


def edges_at(centre_px: NDArray[np.float64], *, width_px: int, height_px: int) -> tuple[Edge, ...]:
    """Return the edge bands that contain a point: none, one, or two in a corner. Shapes: (2,).

    Source: HERBench, section 7.3 (entry/exit edge labeling).
    """
    x, y = (centre_px / (width_px, height_px)).tolist()
    within = {
        "top": y < BANDS["top"],
        "bottom": y > 1 - BANDS["bottom"],
        "left": x < BANDS["left"],
        "right": x > 1 - BANDS["right"],
    }
    return tuple(edge for edge in EDGES if within[edge])


def named_regions(width_px: int, height_px: int) -> dict[str, Region]:
    """Halves, quarters and thirds of a frame, by name.

    >>> sorted(named_regions(640, 360))[:4]
    ['bottom-half', 'bottom-left', 'bottom-right', 'bottom-third']
    >>> named_regions(640, 360)["top-right"].box_px.tolist()
    [320.0, 0.0, 640.0, 180.0]
    """
    shares = {
        "left-half": (0, 0, 1 / 2, 1),
        "right-half": (1 / 2, 0, 1, 1),
        "top-half": (0, 0, 1, 1 / 2),
        "bottom-half": (0, 1 / 2, 1, 1),
        "top-left": (0, 0, 1 / 2, 1 / 2),
        "top-right": (1 / 2, 0, 1, 1 / 2),
        "bottom-left": (0, 1 / 2, 1 / 2, 1),
        "bottom-right": (1 / 2, 1 / 2, 1, 1),
        "left-third": (0, 0, 1 / 3, 1),
        "centre-third": (1 / 3, 0, 2 / 3, 1),
        "right-third": (2 / 3, 0, 1, 1),
        "top-third": (0, 0, 1, 1 / 3),
        "middle-third": (0, 1 / 3, 1, 2 / 3),
        "bottom-third": (0, 2 / 3, 1, 1),
    }
    size_px = np.array([width_px, height_px] * 2, np.float64)
    return {name: Region(name=name, box_px=np.array(share) * size_px) for name, share in shares.items()}
