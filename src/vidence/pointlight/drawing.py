"""Draw stimuli: frames and contact sheets."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vidence.errors import UsageError
from vidence.pointlight.stimulus import Stimulus

_BLOCK = 16  # frames that are drawn together


def frames(stimulus: Stimulus, *, block: int = _BLOCK) -> Iterator[NDArray[np.uint8]]:
    """The frames of a stimulus one by one, RGB of shape (height, width, 3).

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
    centres, radius_px = stimulus.centres_px[first:last], spec.dot_radius_px
    reach = int(np.ceil(max(radius_px, 1.0) + 1.0))
    shape = (n_frames, spec.height_px + 2 * reach, spec.width_px + 2 * reach, 3)
    canvas = np.full(shape, spec.background, np.uint8)
    for dot in range(centres.shape[1]):
        x, y = centres[:, dot, 0], centres[:, dot, 1]
        # Dots are drawn into a border of their own size; further out they are not in the picture.
        inside = (x > -reach) & (y > -reach) & (x < spec.width_px + reach) & (y < spec.height_px + reach)
        values = np.flatnonzero(inside)
        if len(values) == 0:
            continue
        level = stimulus.levels[dot]
        _stamp(canvas, values, centres[values, dot], level=level, radius_px=radius_px, border=reach)
    return canvas[:, reach : reach + spec.height_px, reach : reach + spec.width_px]


def _stamp(
    canvas: NDArray[np.uint8],
    values: NDArray[np.int64],
    centres: NDArray[np.float64],
    *,
    level: NDArray[np.uint8],
    radius_px: float,
    border: int,
) -> None:
    """Draw one dot, a disc, into the frames `values`; `canvas` has a border as wide as a dot."""
    x, y = centres[:, 0], centres[:, 1]
    offsets = np.arange(-border, border + 1)
    column, row = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    # The centre of pixel (i, j) lies at (i + 0.5, j + 0.5).
    dx = offsets + (column + 0.5 - x)[:, None]
    dy = offsets + (row + 0.5 - y)[:, None]
    away = np.sqrt((dx**2)[:, None, :] + (dy**2)[:, :, None])
    # np.clip takes longer than both of these.
    covered = np.minimum(np.maximum(radius_px + 0.5 - away, 0.0), 1.0)[..., None]
    _, height, width, _ = canvas.shape
    rows = np.minimum(np.maximum((row + border)[:, None] + offsets, 0), height - 1)
    columns = np.minimum(np.maximum((column + border)[:, None] + offsets, 0), width - 1)
    where = (values[:, None] * height + rows)[:, :, None] * width + columns[:, None, :]
    pixels = canvas.reshape(-1, 3)
    under = pixels[where].astype(np.float64)
    pixels[where] = np.rint(under + covered * (level.astype(np.float64) - under)).astype(np.uint8)


_GAP = 4
_LINE = 18
_INK, _PAPER = (30, 30, 30), (250, 250, 250)


def evenly(n_frames: int, n_shown: int) -> list[int]:
    """Evenly spaced frames, at most `n_shown`, including the first and last.

    >>> evenly(20, 8), evenly(3, 8)
    ([0, 3, 5, 8, 11, 14, 16, 19], [0, 1, 2])
    """
    values = np.rint(np.linspace(0, n_frames - 1, min(n_shown, n_frames))).astype(int)
    return [int(n) for n in values]


def contact_sheet(
    pictures: Mapping[int, NDArray[np.uint8]], *, fps: float, columns: int = 4
) -> NDArray[np.uint8]:
    """Frames in one picture, each with its number and time.

    Args:
        pictures: the frames that are shown by their numbers (see `evenly`), RGB, all of one size.
        fps: their rate, for the times.
        columns: how many stand in a row.

    Returns:
        An RGB picture.

    Raises:
        UsageError: no pictures.
    """
    if not pictures or columns < 1:
        raise UsageError("a contact sheet needs at least one picture and one column")
    chosen = sorted(pictures)
    height_px, width_px = pictures[chosen[0]].shape[:2]
    rows = -(-len(chosen) // columns)
    n_columns = min(columns, len(chosen))
    size = (_GAP + n_columns * (width_px + _GAP), _GAP + rows * (height_px + _LINE + _GAP))
    sheet = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=12)
    for place, index in enumerate(chosen):
        row, column = divmod(place, columns)
        left, top = _GAP + column * (width_px + _GAP), _GAP + row * (height_px + _LINE + _GAP)
        sheet.paste(Image.fromarray(pictures[index]), (left, top))
        words = f"frame {index}, {index / fps:.2f} s"
        draw.text((left + 2, top + height_px + 2), words, fill=_INK, font=font)
    return np.asarray(sheet)
