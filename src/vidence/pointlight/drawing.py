"""Draw stimuli: frames, contact sheets, paths of dots, montages."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vidence.errors import UsageError
from vidence.pointlight.stimulus import Stimulus

_BLOCK = 16  # frames that are drawn together


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
        covered = (centres[shown, dot], radii[shown, dot])
        _stamp(canvas, shown, covered, level=stimulus.levels[dot], gamma=spec.gamma, border=reach)
    made: NDArray[np.uint8] = canvas[:, reach : reach + spec.height_px, reach : reach + spec.width_px]
    return made


def _stamp(
    canvas: NDArray[np.uint8],
    shown: NDArray[np.int64],
    disc: tuple[NDArray[np.float64], NDArray[np.float64]],
    *,
    level: NDArray[np.uint8],
    gamma: float,
    border: int,
) -> None:
    """Draw one dot, a disc with its centres and radii, into the frames `shown`.

    `canvas` has a border as wide as the largest dot reaches.
    """
    centres, radius = disc
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
    canvas[where] = _laid_over(canvas[where], level, covered, gamma=gamma)


def _laid_over(
    pixels: NDArray[np.uint8], level: NDArray[np.uint8], covered: NDArray[np.float64], *, gamma: float
) -> NDArray[np.uint8]:
    """Pixels of which a share, from 0 to 1, is covered by a colour."""
    under, over = pixels.astype(np.float64), level.astype(np.float64)
    if gamma != 1:  # what lies between two values is the mean of their luminances
        under, over = 255 * (under / 255) ** gamma, 255 * (over / 255) ** gamma
    mixed = under + covered * (over - under)
    if gamma != 1:
        mixed = 255 * (mixed / 255) ** (1 / gamma)
    return np.rint(mixed).astype(np.uint8)


_GAP = 4
_LINE = 18
_INK, _PAPER = (30, 30, 30), (250, 250, 250)
# Okabe & Ito: told apart by most kinds of colour blindness.
_PATHS = (
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (204, 121, 167),
    (86, 180, 233),
    (213, 94, 0),
    (120, 120, 120),
)
_NOISE = (205, 205, 205)


def evenly(n_frames: int, n_shown: int) -> list[int]:
    """Frames at even distances, at most `n_shown`, the first and the last included.

    >>> evenly(20, 8), evenly(3, 8)
    ([0, 3, 5, 8, 11, 14, 16, 19], [0, 1, 2])
    """
    made = np.rint(np.linspace(0, n_frames - 1, min(n_shown, n_frames))).astype(int)
    return [int(n) for n in made]


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


def path_plot(stimulus: Stimulus) -> NDArray[np.uint8]:
    """The paths of all dots over the clip in one picture, RGB: pale at the start, dark at the end.

    A ring marks where a dot ends. Noise dots are grey.
    """
    spec = stimulus.spec
    plot = Image.new("RGB", (spec.width_px, spec.height_px), _PAPER)
    draw = ImageDraw.Draw(plot)
    centres = stimulus.centres_px
    for dot in [*np.flatnonzero(stimulus.owners < 0), *np.flatnonzero(stimulus.owners >= 0)]:
        colour = np.array(_NOISE if stimulus.owners[dot] < 0 else _PATHS[int(dot) % len(_PATHS)])
        _draw_path(draw, centres[:, dot], colour=colour)
    return np.asarray(plot)


def _draw_path(draw: ImageDraw.ImageDraw, way: NDArray[np.float64], *, colour: NDArray[np.int64]) -> None:
    paper = np.array(_PAPER)
    n_steps = max(len(way) - 1, 1)
    for step in range(len(way) - 1):
        if np.isfinite(way[step : step + 2]).all():
            share = 0.25 + 0.75 * (step + 1) / n_steps
            ink = tuple(int(v) for v in np.rint(paper + share * (colour - paper)))
            draw.line([tuple(way[step]), tuple(way[step + 1])], fill=ink, width=2)
    seen = np.flatnonzero(np.isfinite(way).all(axis=1))
    if len(seen):
        x, y = way[seen[-1]]
        ink = tuple(int(v) for v in colour)
        draw.ellipse((x - 4, y - 4, x + 4, y + 4), outline=ink, width=2)


def montage_of(
    pictures: Sequence[NDArray[np.uint8]], *, columns: int = 4, rows: int = 2
) -> NDArray[np.uint8]:
    """Frames row by row in one picture without gaps, as ActPLD shows them to Gemini.

    Eight of them (see `evenly`) where there are more; cells that are left over are black.

    Source: ActPLD, section 2.2: montages of 4x2.
    Departs: "4x2" is read as 4 columns and 2 rows.

    Raises:
        UsageError: no pictures.
    """
    if not pictures:
        raise UsageError("a montage needs at least one picture")
    chosen = evenly(len(pictures), columns * rows)
    height_px, width_px = pictures[0].shape[:2]
    canvas = np.zeros((rows * height_px, columns * width_px, 3), np.uint8)
    for place, index in enumerate(chosen):
        row, column = divmod(place, columns)
        canvas[row * height_px : (row + 1) * height_px, column * width_px : (column + 1) * width_px] = (
            pictures[index]
        )
    return canvas
