"""Parts of the frame: edge bands and named regions."""

from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record

Edge: TypeAlias = Literal["top", "bottom", "left", "right"]
EDGES: Final[tuple[Edge, ...]] = ("top", "bottom", "left", "right")


class Bands(Record):
    """How far each edge band reaches into the frame, as shares of its height or width.

    Source: HERBench, section 7.3 (y < 0.3 H, y > 0.85 H, x < 0.15 W, x > 0.85 W).
    Departs: no. The wide band at the top is as printed.
    """

    top: float = 0.3
    bottom: float = 0.15
    left: float = 0.15
    right: float = 0.15

    def __post_init__(self) -> None:
        if not all(0 <= band <= 1 for band in (self.top, self.bottom, self.left, self.right)):
            raise UsageError(
                f"edge bands {self.top}, {self.bottom}, {self.left}, {self.right}: "
                "expected shares from 0 to 1"
            )


class Region(Record):
    """A named rectangle, in pixels."""

    name: str
    left_px: float
    top_px: float
    right_px: float
    bottom_px: float

    def __post_init__(self) -> None:
        if not (self.left_px < self.right_px and self.top_px < self.bottom_px):
            raise UsageError(
                f"the region {self.name!r} goes from {self.left_px}, {self.top_px} to {self.right_px}, "
                f"{self.bottom_px}; expected left < right and top < bottom"
            )

    @property
    def box_px(self) -> NDArray[np.float64]:
        """Left, top, right, bottom; shape (4,)."""
        return np.array([self.left_px, self.top_px, self.right_px, self.bottom_px], np.float64)


def edges_at(
    centre_px: NDArray[np.float64], *, width_px: int, height_px: int, bands: Bands | None = None
) -> tuple[Edge, ...]:
    """The edge bands that a point lies in: none, one, or several in a corner. Shapes: (2,).

    Source: HERBench, section 7.3 (entry/exit edge labeling).
    """
    bands = bands or Bands()
    x, y = (centre_px / (width_px, height_px)).tolist()
    within = {
        "top": y < bands.top,
        "bottom": y > 1 - bands.bottom,
        "left": x < bands.left,
        "right": x > 1 - bands.right,
    }
    return tuple(edge for edge in EDGES if within[edge])


def named_regions(width_px: int, height_px: int) -> dict[str, Region]:
    """Halves, quarters and thirds of a frame, by name.

    >>> sorted(named_regions(640, 360))[:4]
    ['bottom-half', 'bottom-left', 'bottom-right', 'bottom-third']
    >>> named_regions(640, 360)["top-right"]
    Region(name='top-right', left_px=320.0, top_px=0.0, right_px=640.0, bottom_px=180.0)
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
    return {
        name: Region(
            name=name,
            left_px=float(left * width_px),
            top_px=float(top * height_px),
            right_px=float(right * width_px),
            bottom_px=float(bottom * height_px),
        )
        for name, (left, top, right, bottom) in shares.items()
    }
