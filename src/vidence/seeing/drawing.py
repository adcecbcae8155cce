"""Tracks drawn on frames."""

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from vidence.seeing.tracks import Track
from vidence.seeing.watching import Image

_GOLDEN: Final = 0.618034
PAPER: Final = (255, 255, 255)
INK: Final = (20, 20, 20)

Colour = tuple[int, int, int]


def colour_of(place: int) -> Colour:
    """A colour for the track at a place in the list; neighbours differ most."""
    hue = place * _GOLDEN % 1.0
    red, green, blue = colorsys.hsv_to_rgb(hue, 0.85, 0.95 if place % 2 == 0 else 0.75)
    return int(red * 255), int(green * 255), int(blue * 255)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A box to draw. `is_dashed` marks one that was filled in."""

    box_px: NDArray[np.float64]
    text: str
    colour: Colour
    is_dashed: bool = False


def marks_by_frame(tracks: Sequence[Track]) -> dict[int, list[Mark]]:
    """What is to be drawn in each frame that has a box."""
    marks: dict[int, list[Mark]] = {}
    for place, track in enumerate(tracks):
        for frame, box, is_seen in zip(track.frame_indices, track.boxes_px, track.is_detected, strict=True):
            mark = Mark(box_px=box, text=track.track_id, colour=colour_of(place), is_dashed=not bool(is_seen))
            marks.setdefault(int(frame), []).append(mark)
    return marks


def draw(image: Image, marks: Sequence[Mark], *, note: str = "", scale: float = 1.0) -> Image:
    """A picture with boxes; `scale` is the size of the picture over that of the video."""
    picture = Pictures.fromarray(np.ascontiguousarray(image))
    pen = ImageDraw.Draw(picture)
    font = font_of(max(round(min(image.shape[:2]) / 30), 11))
    for mark in marks:
        left, top, right, bottom = (mark.box_px * scale).tolist()
        right, bottom = max(right, left + 1), max(bottom, top + 1)
        if mark.is_dashed:
            _dashed(pen, (left, top, right, bottom), mark.colour)
        else:
            pen.rectangle((left, top, right, bottom), outline=mark.colour, width=2)
        text_box = pen.textbbox((left, top), mark.text, font=font, anchor="lb")
        down = max(-text_box[1], 0)  # a box at the upper edge has its name inside
        pen.rectangle(
            (text_box[0], text_box[1] + down, text_box[2] + 2, text_box[3] + down), fill=mark.colour
        )
        pen.text((left + 1, top + down), mark.text, font=font, fill=PAPER, anchor="lb")
    if note:
        pen.rectangle(pen.textbbox((4, 4), note, font=font), fill=INK)
        pen.text((4, 4), note, font=font, fill=PAPER)
    return np.asarray(picture)


def _dashed(pen: ImageDraw.ImageDraw, box: tuple[float, float, float, float], colour: Colour) -> None:
    left, top, right, bottom = box
    for first, last, is_across, at in (
        (left, right, True, top),
        (left, right, True, bottom),
        (top, bottom, False, left),
        (top, bottom, False, right),
    ):
        for start in np.arange(first, last, 8.0):
            end = min(float(start) + 4, last)
            line = (float(start), at, end, at) if is_across else (at, float(start), at, end)
            pen.line(line, fill=colour, width=2)


def font_of(size_px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font that Pillow carries, at some size."""
    return ImageFont.load_default(size_px)
