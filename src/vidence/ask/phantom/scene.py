"""What phantom videos show: moving scenery, a clock, cards; and figures in a drawn street."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vidence.ask.phantom.code import TOP, Payload, strip
from vidence.errors import UsageError
from vidence.records import Record

COLOURS = {
    "red": (205, 40, 40),
    "green": (40, 150, 60),
    "blue": (45, 85, 205),
    "yellow": (240, 215, 50),
    "orange": (240, 135, 30),
    "purple": (125, 55, 165),
    "pink": (245, 150, 190),
    "brown": (120, 75, 40),
    "white": (248, 248, 248),
    "black": (20, 20, 20),
    "grey": (135, 135, 135),
    "teal": (0, 135, 135),
}
_NAMES = tuple(COLOURS)
_DAY_S = 12.0  # the light changes from day to evening and back in this time


@dataclass(frozen=True, kw_only=True)
class Card:
    """A card: its colour, its number, and its code."""

    colour: str
    payload: Payload


def piece_number(video: int, colour: str) -> int:
    """Return the code's number for the card of that colour in that video, from 0.

    >>> piece_number(2, "green")
    25
    """
    return video * len(_NAMES) + _NAMES.index(colour)


def colour_of(piece: int) -> str:
    """Return the colour of the card with this code.

    >>> colour_of(25)
    'green'
    """
    return _NAMES[piece % len(_NAMES)]


def _font(size_px: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(size=max(size_px, 8))


def _centred(draw: ImageDraw.ImageDraw, text: str, *, centre: tuple[float, float], size_px: int) -> None:
    draw.text(centre, text, fill=(20, 20, 20), font=_font(size_px), anchor="mm")


def _card_picture(card: Card, width_px: int, *, height_px: int) -> NDArray[np.uint8]:
    """Draw a white card with a thick coloured frame, its number and its name."""
    picture = Image.new("RGB", (width_px, height_px), (20, 20, 20))
    draw = ImageDraw.Draw(picture)
    border = height_px // 9
    draw.rectangle((1, 1, width_px - 2, height_px - 2), fill=COLOURS[card.colour])
    draw.rectangle((border, border, width_px - 1 - border, height_px - 1 - border), fill=(235, 232, 220))
    centre_x = width_px / 2
    _centred(
        draw, str(card.payload.value), centre=(centre_x, height_px * 0.42), size_px=int(height_px * 0.52)
    )
    _centred(draw, card.colour, centre=(centre_x, height_px * 0.76), size_px=int(height_px * 0.17))
    return np.asarray(picture)


def _panorama(width_px: int, height_px: int, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw a seamless sky over two ranges of hills: (height, width, 3), levels 0..255."""
    x = np.arange(width_px) * 2 * np.pi / width_px
    y = np.arange(height_px)[:, None] / height_px
    picture = (1 - y)[..., None] * np.array([95, 150, 225.0]) + y[..., None] * np.array([225, 225, 205.0])
    picture = np.broadcast_to(picture, (height_px, width_px, 3)).copy()
    for level, colour in ((0.5, (110, 140, 120)), (0.72, (75, 115, 65))):
        waves = rng.integers(2, 7, size=3)
        phases = rng.uniform(0, 2 * np.pi, size=3)
        line = level + 0.05 * np.sin(np.outer(waves, x) + phases[:, None]).sum(axis=0)
        picture[y > line[None, :]] = colour
    return picture


class Scene:
    """Draws the frames of one video.

    Args:
        width_px: width of the frames.
        height_px: height of the frames.
        rng: decides the shape of the hills.
    """

    def __init__(self, width_px: int, height_px: int, *, rng: np.random.Generator) -> None:
        self.width_px = width_px
        self.height_px = height_px
        wide = _panorama(2 * width_px, height_px, rng=rng)
        doubled = np.concatenate([wide, wide[:, :width_px]], axis=1)
        lights = (np.array([1.0, 1.0, 1.0]), np.array([0.9, 0.8, 0.75]), np.array([0.75, 0.6, 0.65]))
        self._lights = [(doubled * light).astype(np.uint8) for light in lights]
        self._cards: dict[Card, tuple[NDArray[np.uint8], NDArray[np.uint8]]] = {}
        self._clocks: dict[int, NDArray[np.uint8]] = {}

    def frame(self, time_s: float, card: Card | None) -> NDArray[np.uint8]:
        """Return the frame at a time, with or without a card.

        Shapes: (height, width, 3), RGB.
        """
        phase = abs((time_s / _DAY_S) % 2 - 1)
        light = self._lights[min(int(phase * len(self._lights)), len(self._lights) - 1)]
        left = int(time_s * self.width_px / 16) % (2 * self.width_px)
        image: NDArray[np.uint8] = light[:, left : left + self.width_px].copy()
        clock = self._clock(int(time_s))
        image[2 : 2 + clock.shape[0], 2 : 2 + clock.shape[1]] = clock
        if card is not None:
            self._show(image, card)
        return image

    def _clock(self, second: int) -> NDArray[np.uint8]:
        if second not in self._clocks:
            size_px = self.height_px // 12
            picture = Image.new("RGB", (size_px * 3, size_px + 4), (20, 20, 20))
            ImageDraw.Draw(picture).text((3, 0), f"{second} s", fill=(235, 235, 235), font=_font(size_px))
            self._clocks[second] = np.asarray(picture)
        return self._clocks[second]

    def _show(self, image: NDArray[np.uint8], card: Card) -> None:
        if card not in self._cards:
            size = (int(self.width_px * 0.36), int(self.height_px * TOP * 0.9))
            blocks = strip(card.payload, self.width_px, height_px=self.height_px)
            self._cards[card] = (_card_picture(card, size[0], height_px=size[1]), blocks)
        picture, blocks = self._cards[card]
        top = int(self.height_px * TOP * 0.05)
        left = (self.width_px - picture.shape[1]) // 2
        image[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
        image[self.height_px - len(blocks) :] = blocks[:, :, None]


class Appearance(Record):
    """A person's look: the coat's RGB colour, and a description."""

    colour: tuple[int, int, int]
    words: str


LOOKS: tuple[Appearance, ...] = tuple(
    Appearance(colour=colour, words=words)
    for colour, words in (
        ((200, 30, 30), "Red raincoat with large brass buttons. Short black curls and a heavy build."),
        ((30, 150, 50), "Green tracksuit top, canvas trainers. A grey ponytail and narrow shoulders."),
        ((40, 60, 210), "Navy blue overalls over a striped jersey. Bald, with a long dark beard."),
        ((228, 208, 40), "Yellow summer dress, straw hat. Blonde braids and freckles."),
        ((150, 50, 185), "Purple velvet gown with lace cuffs. Silver bun and thin spectacles."),
        ((242, 130, 25), "Orange builder vest, hard helmet. Broad chest and a thick moustache."),
        ((60, 205, 215), "Turquoise anorak, woollen scarf. Tall, with cropped auburn hair."),
        ((105, 68, 38), "Brown leather jacket and a tie. Bushy eyebrows, slim figure."),
        ((22, 22, 24), "Black cloak with a hood. Pale face, very small."),
        ((250, 150, 195), "Pink cardigan, pearl necklace. White hair in a bob."),
    )
)


def look_of(pictures: Sequence[NDArray[np.uint8]]) -> Appearance:
    """Return whose coat is in the middle of most of these pictures of one figure.

    Args:
        pictures: RGB, shape (height, width, 3) each; at least one.

    Raises:
        UsageError: no pictures.
    """
    if not pictures:
        raise UsageError("no pictures; expected at least one to read a look from")
    known = np.array([look.colour for look in LOOKS])
    votes = np.zeros(len(LOOKS), int)
    for picture in pictures:
        height, width = picture.shape[:2]
        middle = picture[int(0.32 * height) : int(0.58 * height), int(0.35 * width) : int(0.65 * width)]
        away = np.abs(known[:, None] - middle.reshape(-1, 3).astype(int)).sum(axis=2)
        votes += np.bincount(away.argmin(axis=0), minlength=len(LOOKS))
    return LOOKS[int(votes.argmax())]
