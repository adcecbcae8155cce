"""Positions of people in the frame: edge bands that they cross, regions that they visit."""

from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record
from vidence.seeing.boxes import share_inside
from vidence.seeing.tracks import Track, TrackedVideo

Edge: TypeAlias = Literal["top", "bottom", "left", "right"]
Place: TypeAlias = Edge | Literal["middle", "ambiguous"]
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


class Passage(Record):
    """Through which edge a track enters and leaves.

    ``middle``: no edge band. ``ambiguous``: several, in a corner; not to be asked about.
    """

    track_id: str
    enters: Place
    leaves: Place


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


def passage(track: Track, *, width_px: int, height_px: int, bands: Bands | None = None) -> Passage:
    """Where a track's centre is in its first frame and in its last.

    Source: HERBench, section 7.3.
    Departs: the bands of the paper overlap in the corners; a point in several is ``ambiguous`` here.
    """
    first, last = (
        edges_at(centre, width_px=width_px, height_px=height_px, bands=bands)
        for centre in (track.centroids_px[0], track.centroids_px[-1])
    )
    return Passage(track_id=track.track_id, enters=_place(first), leaves=_place(last))


def _place(edges: tuple[Edge, ...]) -> Place:
    if not edges:
        return "middle"
    return edges[0] if len(edges) == 1 else "ambiguous"


def passages(video: TrackedVideo, *, bands: Bands | None = None) -> tuple[Passage, ...]:
    """The passage of every track of a video, in their order."""
    return tuple(
        passage(track, width_px=video.width_px, height_px=video.height_px, bands=bands)
        for track in video.tracks
    )


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


def visits(track: Track, region: Region, *, least_share: float = 0.5, least_frames: int = 1) -> bool:
    """Whether at least that share of a track's box lies in a region in at least `least_frames` frames.

    Source: HERBench, section 7.3 (intersection over box at least 0.5, "at any frame").
    Departs: no, unless `least_frames` is set.
    """
    shares = share_inside(track.boxes_px, region.box_px)
    return int(np.count_nonzero(shares >= least_share)) >= least_frames


def visitors(
    video: TrackedVideo, region: Region, *, least_share: float = 0.5, least_frames: int = 1
) -> tuple[str, ...]:
    """The ids of the tracks that visit a region, each once, in their order."""
    return tuple(
        track.track_id
        for track in video.tracks
        if visits(track, region, least_share=least_share, least_frames=least_frames)
    )
