"""The area that boxes enclose together."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_Point: TypeAlias = tuple[float, float]


def hull_area(boxes: NDArray[np.float64]) -> float:
    """The area of the convex hull of all corners of boxes, in square units of the boxes; 0 for no box.

    Shapes: `boxes` (n, 4), left, top, right, bottom, finite.

    >>> hull_area(np.array([[0.0, 0, 10, 10], [20, 20, 30, 30]]))
    500.0
    """
    points: set[_Point] = set()
    for x, y in ((0, 1), (0, 3), (2, 1), (2, 3)):
        points.update(_outermost(boxes[:, x], boxes[:, y], to_left=x == 0, to_top=y == 1))
    ordered = sorted(points)
    corners = _chain(ordered) + _chain(ordered[::-1])
    if not corners:
        return 0.0
    (x0, y0), total = corners[0], 0.0
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        total += (ax - x0) * (by - y0) - (bx - x0) * (ay - y0)
    return abs(total) / 2


def _outermost(
    x: NDArray[np.float64], y: NDArray[np.float64], *, to_left: bool, to_top: bool
) -> list[_Point]:
    """Of one corner of each box, those that no other lies beyond in both directions."""
    order = np.lexsort((y if to_top else -y, x if to_left else -x))
    outwards = y[order] if to_top else -y[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = outwards[1:] < np.minimum.accumulate(outwards)[:-1]
    kept = order[is_new]
    return list(zip(x[kept].tolist(), y[kept].tolist(), strict=True))


def _chain(points: list[_Point]) -> list[_Point]:
    """One side of the hull of sorted points (Andrew's monotone chain), without its last point."""
    chain: list[_Point] = []
    for x, y in points:
        while len(chain) > 1:
            (ax, ay), (bx, by) = chain[-2], chain[-1]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                break
            chain.pop()
        chain.append((x, y))
    return chain[:-1]
