"""A street with two cameras: people with limbs and distinct coats walk known ways; the film has known cuts.

What is planted is the plan below. The film, the boxes and the questions are held against it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw, ImageFilter

WIDTH, HEIGHT, FPS = 480, 270, 6
TALL = 112  # pixels, from head to feet
WIDE = round(0.41 * TALL)  # what the detector takes for the width of a person
STEPS = 8  # pictures of one gait
_FINE = 2  # figures are drawn so many times larger, and shrunk

# Of each look: the colours of coat and trousers, and what a card says of it.
LOOKS = (
    ((196, 24, 24), (20, 20, 60), "Red raincoat with large brass buttons. Short black curls, heavy build."),
    ((24, 120, 40), (15, 15, 15), "Green tracksuit top, canvas trainers. Grey ponytail, narrow shoulders."),
    ((20, 40, 190), (60, 50, 40), "Navy overalls over a striped jersey. Bald, with a long dark beard."),
    ((120, 20, 150), (20, 20, 20), "Purple velvet gown, lace cuffs. Silver bun and thin spectacles."),
    ((90, 50, 10), (30, 30, 90), "Brown leather jacket and a tie. Bushy eyebrows, slim figure."),
    ((0, 120, 130), (10, 10, 10), "Teal anorak, woollen scarf. Tall, with cropped auburn hair."),
    ((12, 12, 12), (70, 20, 20), "Black cloak with a hood. Pale face, very small."),
    ((220, 90, 0), (25, 40, 25), "Orange builder vest, hard helmet. Broad chest, thick moustache."),
    ((190, 20, 110), (40, 40, 40), "Magenta cardigan, pearl necklace. White hair in a bob."),
    ((90, 110, 0), (20, 20, 50), "Olive poncho, rubber boots. Blonde braids and freckles."),
    ((70, 70, 75), (150, 30, 30), "Charcoal tailcoat with a white carnation. Monocle, waxed goatee."),
    ((160, 140, 20), (20, 30, 20), "Mustard duffel, corduroy breeches. Round cheeks, ginger fringe."),
    ((0, 60, 60), (90, 20, 60), "Petrol tunic over leggings. Shaved temples and a nose ring."),
    ((140, 60, 60), (20, 20, 20), "Maroon waistcoat, bow tie. Freckled youth with jug ears."),
    ((60, 20, 90), (40, 60, 40), "Indigo kimono, wooden clogs. Elderly, stooped, wispy moustache hairs."),
)


@cache
def figure(look: int, step: int, facing: int) -> Image.Image:
    """Somebody on transparent ground; `step` is a place in the gait, of `STEPS`; `facing` 1 or -1."""
    coat, trousers, _ = LOOKS[look]
    size = (2 * TALL * _FINE, TALL * _FINE)
    image = Image.new("RGBA", size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    unit, middle = TALL * _FINE, TALL * _FINE

    def at(x: float, y: float) -> tuple[float, float]:
        return middle + facing * x * unit, y * unit

    def limb(points: Sequence[tuple[float, float]], width: float, colour: tuple[int, int, int]) -> None:
        places = [at(*point) for point in points]
        draw.line(places, fill=colour, width=round(width * unit), joint="curve")
        for x, y in places:
            r = width * unit / 2
            draw.ellipse((x - r, y - r, x + r, y + r), fill=colour)

    swing = float(np.sin(2 * np.pi * (step + 0.5) / STEPS))
    skin, shoe = (205, 160, 130), (25, 20, 20)
    dark = tuple(int(0.75 * part) for part in coat)
    for side in (-1, 1):
        s = side * swing
        knee, foot = (0.075 * s + 0.02, 0.74), (0.12 * s - (0.03 if s < 0 else 0), 0.955)
        limb([(0.0, 0.52), knee, foot], 0.085, trousers)
        limb([foot, (foot[0] + 0.045, 0.965)], 0.04, shoe)
    limb([(-0.01, 0.2), (-0.07 * swing - 0.03, 0.36), (-0.10 * swing, 0.5)], 0.06, dark)
    draw.polygon(
        [at(-0.1, 0.175), at(0.1, 0.175), at(0.115, 0.3), at(0.09, 0.56), at(-0.09, 0.56), at(-0.115, 0.3)],
        fill=coat,
    )
    limb([(-0.075, 0.2), (0.075, 0.2)], 0.07, coat)
    limb([(0.01, 0.2), (0.07 * swing + 0.01, 0.36), (0.11 * swing + 0.03, 0.5)], 0.06, dark)
    limb([(0.0, 0.15), (0.0, 0.17)], 0.06, skin)
    (left, top), (right, bottom) = at(-0.055 * facing, 0.012), at(0.055 * facing, 0.145)
    draw.ellipse((left, top, right, bottom), fill=skin)
    draw.chord((left, top, right, bottom), 180, 360, fill=tuple(int(0.4 * part) for part in trousers))
    return image.resize((2 * TALL, TALL), Image.Resampling.LANCZOS)


@dataclass(frozen=True)
class Camera:
    """What one camera shows where nobody is: the colours of wall and ground, and how low the wall reaches."""

    wall: tuple[int, int, int]
    ground: tuple[int, int, int]
    horizon: int


@dataclass(frozen=True)
class Take:
    """One shot: who films, from which frame to which, the colour of the awning, and what a card says."""

    camera: Camera
    first: int
    last: int
    awning: tuple[int, int, int]
    words: str


@dataclass(frozen=True)
class Walker:
    """Somebody: a look, and waypoints ``(frame, left, top)`` of the whole figure, in pixels."""

    look: int
    way: tuple[tuple[int, float, float], ...]

    def place(self, frame: int) -> tuple[float, float] | None:
        """The left upper corner of the figure; None where the walker is not there."""
        frames = [point[0] for point in self.way]
        if not frames[0] <= frame <= frames[-1]:
            return None
        x, y = (float(np.interp(frame, frames, [point[i] for point in self.way])) for i in (1, 2))
        return x, y

    def box(self, frame: int) -> tuple[float, float, float, float] | None:
        """What is inside the frame: left, top, right, bottom; None where less than half of it is."""
        place = self.place(frame)
        if place is None:
            return None
        left, top = max(place[0], 0.0), max(place[1], 0.0)
        right, bottom = min(place[0] + WIDE, WIDTH), min(place[1] + TALL, HEIGHT)
        if right <= left or bottom <= top or (right - left) * (bottom - top) < 0.5 * WIDE * TALL:
            return None
        return left, top, right, bottom


@dataclass(frozen=True)
class Film:
    """A film as planned."""

    name: str
    takes: tuple[Take, ...]
    walkers: tuple[Walker, ...]

    @property
    def n_frames(self) -> int:
        return self.takes[-1].last + 1


_OUT_L, _OUT_R, _UP, _DOWN = -WIDE, WIDTH, -TALL, HEIGHT
_A = Camera(wall=(214, 208, 196), ground=(186, 188, 190), horizon=60)
_B = Camera(wall=(150, 170, 205), ground=(200, 214, 190), horizon=150)
STREET = Film(
    name="street",
    takes=(
        Take(_A, 0, 83, (150, 30, 30), "A scarlet awning hangs over a pale wall at dawn."),
        Take(_B, 84, 107, (40, 60, 150), "Blue canvas shades the grass beside some garages."),
        Take(_A, 108, 191, (40, 110, 50), "Someone rolled out green cloth above the pavement."),
        Take(_B, 192, 215, (210, 190, 40), "Yellow tarpaulin covers half of the meadow fence."),
        Take(_A, 216, 299, (110, 40, 130), "Purple drapery marks the shop as closed for today."),
        Take(_B, 300, 323, (20, 20, 20), "Black sheeting flaps where the lawn ends in mist."),
    ),
    walkers=(
        Walker(0, ((0, 250, 70), (36, _OUT_L, 90))),  # is there from the start
        Walker(1, ((2, _OUT_L, 140), (82, _OUT_R, 140))),
        Walker(2, ((10, _OUT_R, 45), (24, 340, 40), (38, 300, _UP))),
        Walker(3, ((24, _OUT_L, 40), (50, 180, 40), (76, _OUT_L, 40))),
        Walker(4, ((40, _OUT_R, 60), (66, 320, 60), (83, 320, 60))),  # stands there when the film is cut
        Walker(5, ((84, 322, 62), (92, 322, 62), (107, 180, 62))),  # stands there then, for another camera
        Walker(6, ((108, 178, 64), (140, _OUT_R, 64))),
        Walker(7, ((110, _OUT_R, 140), (190, _OUT_L, 140))),
        Walker(8, ((130, _OUT_L, 45), (180, 380, 40), (190, 400, 0))),
        Walker(9, ((218, _OUT_L, 100), (258, 200, 120), (284, 210, _DOWN))),
        Walker(10, ((220, _OUT_R, 45), (250, 250, 50), (290, _OUT_R, 45))),
        Walker(11, ((301, _OUT_L, 80), (323, 200, 80))),  # is there until the end
    ),
)
YARD = Film(
    name="yard",
    takes=(Take(_B, 0, 71, (230, 230, 230), "White linen dries on a line across the yard."),),
    walkers=(
        Walker(12, ((3, _OUT_L, 90), (60, _OUT_R, 90))),
        Walker(13, ((8, _OUT_R, 45), (68, _OUT_L, 45))),
        Walker(14, ((2, _OUT_L, 150), (30, 180, 150), (62, _OUT_L, 150))),
    ),
)


@cache
def _empty(take: Take) -> Image.Image:
    """What a shot shows where nobody is."""
    shade = np.linspace(-12, 12, WIDTH)[None, :, None]
    ground = np.empty((HEIGHT, WIDTH, 3))
    ground[:] = take.camera.ground
    ground[: take.camera.horizon] = take.camera.wall
    soft = Image.fromarray(np.clip(ground + shade, 0, 255).astype(np.uint8))
    soft = soft.filter(ImageFilter.GaussianBlur(6))
    ImageDraw.Draw(soft).rectangle((0, 0, WIDTH, 11), fill=take.awning)
    return soft


def picture(film: Film, frame: int) -> np.ndarray:
    """One frame, RGB, shape (height, width, 3)."""
    take = next(one for one in film.takes if one.first <= frame <= one.last)
    soft = _empty(take).copy()
    for walker in film.walkers:
        place = walker.place(frame)
        if place is not None:
            ahead = walker.place(frame + 1) or place
            behind = walker.place(frame - 1) or place
            facing = 1 if ahead[0] >= behind[0] else -1
            moves = abs(ahead[0] - behind[0]) + abs(ahead[1] - behind[1]) > 0.1
            shown = figure(walker.look, frame % STEPS if moves else 1, facing)
            soft.paste(shown, (round(place[0] + WIDE / 2) - TALL, round(place[1])), shown)
    return np.asarray(soft)


def write_film(film: Film, folder: Path) -> Path:
    """Write ``NAME.mp4``."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{film.name}.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {"preset": "ultrafast", "crf": "20"}
        for frame in range(film.n_frames):
            shown = av.VideoFrame.from_ndarray(picture(film, frame), format="rgb24")
            container.mux(stream.encode(shown))
        container.mux(stream.encode(None))
    return path
