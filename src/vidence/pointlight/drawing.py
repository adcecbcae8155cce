"""Dots -> pictures: smooth discs on an even background."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vidence.pointlight.stimulus import Stimulus

_BLOCK = 32  # frames that are drawn together


def frames(stimulus: Stimulus, *, block: int = _BLOCK) -> Iterator[NDArray[np.uint8]]:
    """The pictures of a stimulus one after the other, RGB of shape (height, width, 3).

    A pixel is covered by as much of a disc as its centre lies inside the edge: fully from half a pixel
    inside, not at all from half a pixel outside. Later dots lie over earlier ones.

    Args:
        stimulus: the dots.
        block: how many frames are drawn together; it changes the speed only.
    """
    for first in range(0, stimulus.n_frames, block):
        yield from _drawn(stimulus, first, min(first + block, stimulus.n_frames))


def _drawn(stimulus: Stimulus, first: int, last: int) -> NDArray[np.uint8]:
    """Frames `first` to `last` - 1, shape (n, height, width, 3)."""
    spec, n_frames = stimulus.spec, last - first
    centres, radii = stimulus.centres_px[first:last], stimulus.radii_px[first:last]
    reach = int(np.ceil(radii.max(initial=1.0) + 1.0))
    shape = (n_frames, spec.height_px + 2 * reach, spec.width_px + 2 * reach, 3)
    canvas = np.full(shape, stimulus.background, np.uint8)
    for dot in range(centres.shape[1]):
        x, y = centres[:, dot, 0], centres[:, dot, 1]
        # Dots are drawn into a border of their own size; further out they are not in the picture.
        inside = (x > -reach) & (y > -reach) & (x < spec.width_px + reach) & (y < spec.height_px + reach)
        shown = np.flatnonzero(inside)
        if len(shown) == 0:
            continue
        _stamp(
            canvas,
            shown,
            centres[shown, dot],
            radius=radii[shown, dot],
            level=stimulus.levels[dot],
            border=reach,
        )
    made: NDArray[np.uint8] = canvas[:, reach : reach + spec.height_px, reach : reach + spec.width_px]
    return made


def _stamp(
    canvas: NDArray[np.uint8],
    shown: NDArray[np.int64],
    centres: NDArray[np.float64],
    *,
    radius: NDArray[np.float64],
    level: NDArray[np.uint8],
    border: int,
) -> None:
    """Draw one dot into the frames `shown`; `canvas` has a border as wide as the largest dot reaches."""
    x, y = centres[:, 0], centres[:, 1]
    offsets = np.arange(-border, border + 1)
    column, row = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    # The centre of pixel (i, j) lies at (i + 0.5, j + 0.5).
    dx = column[:, None] + offsets + 0.5 - x[:, None]
    dy = row[:, None] + offsets + 0.5 - y[:, None]
    away = np.sqrt(dx[:, None, :] ** 2 + dy[:, :, None] ** 2)
    covered = np.clip(radius[:, None, None] + 0.5 - away, 0.0, 1.0)[..., None]
    rows = np.clip(row[:, None] + offsets + border, 0, canvas.shape[1] - 1)
    columns = np.clip(column[:, None] + offsets + border, 0, canvas.shape[2] - 1)
    where = (shown[:, None, None], rows[:, :, None], columns[:, None, :])
    under = canvas[where].astype(np.float64)
    canvas[where] = np.rint(under + covered * (level.astype(np.float64) - under)).astype(np.uint8)
