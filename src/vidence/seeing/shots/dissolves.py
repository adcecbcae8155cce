"""Find dissolves without a network: frames that are mixtures of an earlier and a later one."""

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.shooting import Gap

# Frames from the first to the last picture of a window; those between are compared with mixtures of the two.
_WINDOW: Final = 8
_HALF: Final = _WINDOW // 2
_BRIDGED: Final = 6  # windows that explain nothing, amid a dissolve in which things move
_MOST_LEFT: Final = 0.25  # of what mixtures may leave unexplained, as part of what they explain
_LEAST_CHANGE: Final = 0.015  # root mean square over a window, 0 to 1
_BACK, _MOST_STEP = 0.02, 0.45  # how far shares may go back, and forth, from frame to frame
_SHORTEST, _LONGEST = 5, 100  # frames
_REACH: Final = 3  # cells that things may have moved
_STANDS_OUT: Final = 0.25  # a cell is another one from here on, in standard deviations of the picture
_LEAST_APART, _LEAST_CELLS = 0.33, 0.45
_LEAST_SPREAD: Final = 4.0  # of 255 levels; what varies less is nearly blank
_LEAST_STILL: Final = 0.3
_EDGE: Final = 0.05  # shares below it, or above 1 less it, are clear frames
_SLOW: Final = 0.35  # of the fastest growth of shares; what grows more slowly moves within a shot


@dataclass
class _Run:
    """Middles of windows that are mixtures, and all pictures from the beginning of the first window on."""

    first: int
    last: int
    pictures: list[NDArray[np.uint8]]
    steepest: float = 0.0
    still: float = 0.0


class DissolveMeter:
    """Searches for dissolves, frame by frame.

    Of nine pictures in a row the seven in the middle are compared with mixtures of the first and the last.
    Where these explain them, with shares that grow from frame to frame, the middle is part of a mixture.
    A run of such frames is a dissolve if the pictures on both sides of it have another layout: brightness
    and contrast made equal, nearly half of the cells are like no cell around there in the other one. That
    leaves out fades, lamps and what moves a little. Pans are no mixtures where they are fast; where they are
    slow, motion explains the steepest part of the run.

    Source: the comparison of pictures far apart is the twin comparison of Zhang, Kankanhalli and Smoliar
        (1993).
    Departs: they add up differences of histograms between neighbours; ours fits mixtures.
    """

    def __init__(self) -> None:
        self._last: deque[NDArray[np.uint8]] = deque(maxlen=_WINDOW + 1)
        self._n_seen = 0
        self._run: _Run | None = None
        self._gaps: list[Gap] = []

    def see(self, cells: NDArray[np.uint8]) -> None:
        """Look at the next frame, made by `jumps.small`."""
        self._last.append(cells)
        self._n_seen += 1
        if len(self._last) <= _WINDOW:
            return
        self._advance([*self._last])

    def gaps(self) -> list[Gap]:
        """The dissolves in all frames seen; the next shot starts with the first mixed frame."""
        if self._run is not None:
            self._run.pictures += [*self._last][_HALF + 1 :]
        self._close()
        return list(self._gaps)

    def _advance(self, window: list[NDArray[np.uint8]]) -> None:
        middle = self._n_seen - 1 - _HALF
        change = _mixing(np.stack(window))
        run = self._run
        if run is None:
            if change is None:
                return
            run = self._run = _Run(first=middle, last=middle, pictures=window[:_HALF])
        if len(run.pictures) <= _LONGEST + 2 * _WINDOW:
            run.pictures.append(window[_HALF])
        if change is None:
            if middle - run.last >= _BRIDGED:
                self._close()
            return
        run.last = middle
        if change > run.steepest:
            run.steepest, run.still = change, _still(window[0], window[-1])

    def _close(self) -> None:
        run, self._run = self._run, None
        if run is None or run.last - run.first + 1 > _LONGEST or run.still < _LEAST_STILL:
            return
        pictures = run.pictures[: run.last - run.first + _WINDOW + 1]
        if not _is_other(pictures[0], pictures[-1]):
            return
        shares = _shares(np.stack(pictures))
        mixed = _mixed(shares)
        if len(mixed) >= _SHORTEST:
            first, last = (run.first - _HALF + int(mixed[i]) for i in (0, -1))
            self._gaps.append(Gap(last_frame=first - 1, first_frame=first, n_mixed=last - first + 1))


def _line(pictures: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
    """Each picture minus the first, the last minus the first, and the square of the latter."""
    flat = pictures.reshape(len(pictures), -1).astype(np.float32) / 255
    moved = flat - flat[0]
    return moved, moved[-1], float(moved[-1] @ moved[-1])


def _shares(pictures: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The share of the last picture in each, the rest being the first; shape (n,)."""
    moved, way, square = _line(pictures)
    return np.asarray(moved @ way / max(square, 1e-9), np.float64)


def _mixed(shares: NDArray[np.float64]) -> NDArray[np.intp]:
    """The positions of the frames that are mixed, given the shares of all pictures of a run."""
    growth = np.convolve(np.diff(shares), np.full(_HALF, 1 / _HALF), mode="same")
    fast = np.flatnonzero(growth >= _SLOW * growth.max())
    if not len(fast):
        return fast
    is_mixed = (shares > _EDGE) & (shares < 1 - _EDGE)
    is_mixed[: fast[0] + 1] = is_mixed[fast[-1] + 1 :] = False
    return np.flatnonzero(is_mixed)


def _mixing(pictures: NDArray[np.uint8]) -> float | None:
    """How much changes from the first to the last picture; None if the others are not mixtures."""
    moved, way, square = _line(pictures)
    change = float(np.sqrt(square / len(way)))
    if change < _LEAST_CHANGE:
        return None
    shares = moved @ way / square
    left = float(((moved - shares[:, None] * way) ** 2).sum())
    explained = square * max(float(np.clip(shares * (1 - shares), 0, None).sum()), 1e-3)
    steps = [b - a for a, b in pairwise(shares.tolist())]
    is_mixture = left < _MOST_LEFT * explained and min(steps) > -_BACK and max(steps) < _MOST_STEP
    return change if is_mixture else None


def _is_other(values: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    """Whether two pictures have different layouts, regardless of brightness and contrast."""
    if min(float(p.reshape(-1, 3).std(axis=0).max()) for p in (values, other)) < _LEAST_SPREAD:
        return False
    a, b = (_even(picture) for picture in (values, other))
    apart = np.stack([_nearest(a, b), _nearest(b, a)])
    return bool(apart.mean() >= _LEAST_APART and (apart > _STANDS_OUT).mean() >= _LEAST_CELLS)


def _even(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Square roots of the colours, of mean 0 and deviation 1."""
    root = np.sqrt(picture.astype(np.float32) / 255)
    even: NDArray[np.float32] = (root - root.mean(axis=(0, 1))) / max(float(root.std()), 0.02)
    return even


def _still(values: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """The share of a change left after matching every cell with the nearest colour around it."""
    a, b = (np.float32(1 / 255) * picture.astype(np.float32) for picture in (values, other))
    plain = float(np.abs(a - b).mean())
    return float(np.stack([_nearest(a, b), _nearest(b, a)]).mean()) / max(plain, 1e-9)


def _nearest(values: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each cell, the mean colour distance to the nearest cell of the other picture within reach."""
    height, width, _ = values.shape
    wide = np.pad(other, ((_REACH, _REACH), (_REACH, _REACH), (0, 0)), constant_values=np.inf)
    size = range(2 * _REACH + 1)
    apart = [np.abs(values - wide[y : y + height, x : x + width]).mean(axis=2) for y in size for x in size]
    nearest: NDArray[np.float32] = np.min(apart, axis=0)
    return nearest
