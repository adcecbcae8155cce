"""Where a path begins and ends, and how it turns: computed from the centres of a track's boxes."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.boxes import EDGES, Edge

REGIONS: Final = (
    "the top left part of the frame",
    "the top right part of the frame",
    "the bottom left part of the frame",
    "the bottom right part of the frame",
    "the middle of the frame",
)
EDGE_WORDS: Final[dict[Edge, str]] = {edge: f"the {edge} edge" for edge in EDGES}
_HALF_MIDDLE = 0.2
_REGION_GUARD = 0.04

SHAPES: Final = (
    "The person goes to the right and does not turn back",
    "The person goes to the left and does not turn back",
    "The person first goes to the right, then turns back to the left",
    "The person first goes to the left, then turns back to the right",
    "The person turns back more than once",
    "The person hardly moves to either side",
)
# A move to one side counts from this share of the frame's width; shares around it must tell the same.
_MOVE = 0.12
_MOVE_GUARDS = (0.09, 0.15)


def region_of(point: NDArray[np.float64]) -> str:
    """Return the one of `REGIONS` that contains a point; empty near a border.

    The middle reaches 0.2 of the frame's width and height to each side of its centre. `point` holds shares,
    shape (2,).

    Source: HERBench, figure 15 (quadrants, the centre).
    Departs: the paper does not say how large its centre is; the guard of 0.04 is ours.
    """
    off = point - 0.5
    around = {_region(off + np.array(step) * _REGION_GUARD) for step in ((-1, -1), (-1, 1), (1, -1), (1, 1))}
    here = _region(off)
    return here if around == {here} else ""


def _region(off: NDArray[np.float64]) -> str:
    if np.all(np.abs(off) < _HALF_MIDDLE):
        return REGIONS[4]
    return REGIONS[2 * int(off[1] >= 0) + int(off[0] >= 0)]


def moves(xs: NDArray[np.float64], *, least: float) -> tuple[int, ...]:
    """The moves to the right (1) and to the left (-1) of at least `least`, in turn.

    A move ends where the path has come back by `least` from its farthest point. `xs` has shape (n,).

    >>> moves(np.array([0.1, 0.5, 0.45, 0.9, 0.2]), least=0.1)
    (1, -1)
    """
    moves: list[int] = []
    low = high = float(xs[0])
    for x in xs.tolist():
        low, high = min(low, x), max(high, x)
        if x - low >= least and (not moves or moves[-1] < 0):
            moves.append(1)
            high = x
        elif high - x >= least and (not moves or moves[-1] > 0):
            moves.append(-1)
            low = x
        if moves and moves[-1] > 0:
            low = high = max(high, x)
        elif moves:
            low = high = min(low, x)
    return tuple(moves)


def shape_of(xs: NDArray[np.float64]) -> str:
    """Return the one of `SHAPES` of a path; empty if a small change of threshold changes it.

    Args:
        xs: how far to the right the path is, as shares of the width, shape (n,).

    Source: HERBench, section 3.2 (motion topology).
    Departs: the paper does not say which shapes it asks for; these are ours.
    """
    seen = {_shape(moves(xs, least=least)) for least in (*_MOVE_GUARDS, _MOVE)}
    return seen.pop() if len(seen) == 1 else ""


def _shape(values: tuple[int, ...]) -> str:
    match values:
        case ():
            return SHAPES[5]
        case (only,):
            return SHAPES[0] if only > 0 else SHAPES[1]
        case (first, _):
            return SHAPES[2] if first > 0 else SHAPES[3]
    return SHAPES[4]
