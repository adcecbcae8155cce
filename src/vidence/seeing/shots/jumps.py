"""Measure how much frames change beyond small motion; find cuts and blank frames."""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.media.pixels import resize
from vidence.records import Record
from vidence.seeing.shooting import Gap

WIDTH_PX, HEIGHT_PX = 48, 27
# Things may move by so many cells between two frames without counting as a change.
_REACH: Final = 2
# One step of 8-bit pixels; jumps of still pictures stay below it.
_NOISE: Final = 1 / 255


def small(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture scaled to 48 x 27 pixels; shape (27, 48, 3)."""
    return resize(picture, size=(WIDTH_PX, HEIGHT_PX))


class CutRule(Record):
    """Which jumps are cuts.

    A cut is at least `least` large, and `ratio` times as large as the largest jump among the `window`
    before it and the `window` behind it. Frames whose cells vary by less than `blank` of 255 levels in every
    colour show nothing: black, white, or the moment between a fade out and a fade in.
    """

    ratio: Annotated[float, Meta(gt=1, description="how much a cut exceeds the jumps around it")] = 3.0
    least: Annotated[float, Meta(gt=0, description="smallest jump that is a cut, 0 to 1")] = 0.02
    window: Annotated[int, Meta(ge=1, description="frames before and after to compare with")] = 2
    blank: Annotated[
        float, Meta(ge=0, description="spread of values (0 to 255) below which a frame is blank")
    ] = 2.0


class JumpMeter:
    """The jumps of one video.

    The jump between two frames is the mean over cells of the smallest colour distance to a cell of the
    other frame within reach, taken both ways. Colours are compared by their square roots, so that a cut
    between dark pictures counts as much as one between bright ones.

    Source: the comparison with the frames around is that of PySceneDetect's adaptive detector.
    Departs: no.
    """

    def __init__(self) -> None:
        self._before: NDArray[np.float32] | None = None
        self._jumps: list[float] = []
        self._spreads: list[float] = []

    def see(self, cells: NDArray[np.uint8]) -> None:
        """Look at the next frame, made by `small`."""
        root = np.ascontiguousarray(np.sqrt(cells.astype(np.float32) / 255).transpose(2, 0, 1))
        self._jumps.append(0.0 if self._before is None else _apart(root, self._before))
        self._spreads.append(float(cells.reshape(-1, 3).std(axis=0).max()))
        self._before = root

    @property
    def jumps(self) -> NDArray[np.float64]:
        """The jump of every frame from its predecessor, 0 for the first; shape (n_frames,), 0 to 1."""
        return np.asarray(self._jumps, np.float64)

    @property
    def spreads(self) -> NDArray[np.float64]:
        """The spread of every frame's cells in the most variable colour; shape (n_frames,)."""
        return np.asarray(self._spreads, np.float64)

    def blanks(self, rule: CutRule) -> list[Gap]:
        """The gaps left by blank frames."""
        is_blank = np.concatenate([[False], self.spreads < rule.blank, [False]])
        begins = np.flatnonzero(~is_blank[:-1] & is_blank[1:]).tolist()
        ends = np.flatnonzero(is_blank[:-1] & ~is_blank[1:]).tolist()
        return [Gap(last_frame=a - 1, first_frame=b) for a, b in zip(begins, ends, strict=True)]

    def cuts(self, rule: CutRule) -> list[Gap]:
        """The gaps of hard cuts, see `cuts_in`."""
        return [Gap(last_frame=i - 1, first_frame=i) for i in cuts_in(self.jumps, rule)]


def _apart(values: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """The mean distance of each picture's cells to the nearest colour around them in the other.

    Shapes: (3, height, width) both.
    """
    _, height, width = values.shape
    of_one = np.full((height, width), np.inf, np.float32)
    of_other = of_one.copy()
    for down in range(-_REACH, _REACH + 1):
        here_y, there_y = _overlap(down, height)
        for right in range(-_REACH, _REACH + 1):
            here_x, there_x = _overlap(right, width)
            apart = np.abs(values[:, here_y, here_x] - other[:, there_y, there_x])
            colours = apart[0] + apart[1] + apart[2]
            np.minimum(of_one[here_y, here_x], colours, out=of_one[here_y, here_x])
            np.minimum(of_other[there_y, there_x], colours, out=of_other[there_y, there_x])
    return float(of_one.mean() + of_other.mean()) / 6


def _overlap(shift: int, length: int) -> tuple[slice, slice]:
    """Return which positions of one row have a neighbour in another row shifted by `shift`, and those."""
    first, last = max(-shift, 0), min(length - shift, length)
    return slice(first, last), slice(first + shift, last + shift)


def cuts_in(jumps: Sequence[float] | NDArray[np.float64], rule: CutRule) -> tuple[int, ...]:
    """The first frames of new shots.

    >>> cuts_in([0, 0.01, 0.01, 0.4, 0.01, 0.01], CutRule())
    (3,)
    """
    values = np.asarray(jumps, np.float64)
    cuts: list[int] = []
    for i in range(1, len(values)):
        around = [*values[max(i - rule.window, 1) : i], *values[i + 1 : i + rule.window + 1]]
        if values[i] >= max(rule.least, rule.ratio * (max(around, default=0.0) + _NOISE)):
            cuts.append(i)
    return tuple(cuts)
