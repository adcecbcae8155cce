"""Pictures for people: some frames of a stimulus side by side, and the paths of its dots."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vidence.errors import UsageError
from vidence.pointlight.stimulus import Stimulus

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


def contact_sheet(
    pictures: Sequence[NDArray[np.uint8]], *, fps: float, n_shown: int = 12, columns: int = 4
) -> NDArray[np.uint8]:
    """Frames at even distances, the first and the last included, each with its number and time.

    Args:
        pictures: the frames, RGB, all of one size.
        fps: their rate, for the times.
        n_shown: how many are shown at most.
        columns: how many stand in a row.

    Returns:
        An RGB picture.

    Raises:
        UsageError: no pictures.
    """
    if not pictures or n_shown < 1 or columns < 1:
        raise UsageError("a contact sheet needs at least one picture, one column, one frame")
    chosen = np.unique(np.rint(np.linspace(0, len(pictures) - 1, min(n_shown, len(pictures)))).astype(int))
    height_px, width_px = pictures[0].shape[:2]
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

    Eight frames at even distances where there are more, the first and the last included; cells that are
    left over are black.

    Source: ActPLD, section 2.2: montages of 4x2.
    Departs: "4x2" is read as 4 columns and 2 rows.

    Raises:
        UsageError: no pictures.
    """
    if not pictures:
        raise UsageError("a montage needs at least one picture")
    n_cells = columns * rows
    chosen = np.rint(np.linspace(0, len(pictures) - 1, min(n_cells, len(pictures)))).astype(int)
    height_px, width_px = pictures[0].shape[:2]
    canvas = np.zeros((rows * height_px, columns * width_px, 3), np.uint8)
    for place, index in enumerate(chosen):
        row, column = divmod(place, columns)
        canvas[row * height_px : (row + 1) * height_px, column * width_px : (column + 1) * width_px] = (
            pictures[index]
        )
    return canvas
