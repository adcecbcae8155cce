"""A street of 640 x 360 drawn by us at any frame rate: people walk, slow down and stop."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from scipy.interpolate import PchipInterpolator

WIDTH, HEIGHT = 640, 360
_WIDE = 0.41  # of the height
_TALL = 112  # pixels, from head to feet, as figures are drawn
STEPS = 8  # pictures of one gait
_FINE = 2  # figures are drawn so many times larger, and shrunk
# Of each look: the colours of coat and trousers.
LOOKS = (
    ((196, 24, 24), (20, 20, 60)),
    ((24, 120, 40), (15, 15, 15)),
    ((20, 40, 190), (60, 50, 40)),
    ((120, 20, 150), (20, 20, 20)),
    ((90, 50, 10), (30, 30, 90)),
    ((0, 120, 130), (10, 10, 10)),
    ((12, 12, 12), (70, 20, 20)),
    ((220, 90, 0), (25, 40, 25)),
    ((190, 20, 110), (40, 40, 40)),
    ((90, 110, 0), (20, 20, 50)),
    ((70, 70, 75), (150, 30, 30)),
    ((160, 140, 20), (20, 30, 20)),
    ((0, 60, 60), (90, 20, 60)),
    ((140, 60, 60), (20, 20, 20)),
    ((60, 20, 90), (40, 60, 40)),
)


@cache
def figure(look: int, step: int, facing: int) -> Image.Image:
    """Somebody on transparent ground; `step` is a place in the gait, of `STEPS`; `facing` 1 or -1."""
    coat, trousers = LOOKS[look]
    size = (2 * _TALL * _FINE, _TALL * _FINE)
    image = Image.new("RGBA", size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    unit, middle = _TALL * _FINE, _TALL * _FINE

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
    return image.resize((2 * _TALL, _TALL), Image.Resampling.LANCZOS)


@dataclass(frozen=True)
class Person:
    """Somebody: a look, a height, and where the feet are at some times."""

    look: int
    tall_px: float
    start_s: float
    end_s: float
    across: PchipInterpolator
    down: PchipInterpolator

    def box(self, time_s: float) -> tuple[float, float, float, float] | None:
        """Left, top, right, bottom inside the frame; None where less than half of the width is in it."""
        if not self.start_s <= time_s <= self.end_s:
            return None
        x, y = float(self.across(time_s)), float(self.down(time_s))
        half = _WIDE * self.tall_px / 2
        left, right = max(x - half, 0.0), min(x + half, WIDTH)
        if right - left <= half:
            return None
        return left, max(y - self.tall_px, 0.0), right, min(y, HEIGHT)


def people(*, n: int = 12, span_s: float = 16.0, seed: int = 7, pace: float = 1.0) -> tuple[Person, ...]:
    """People who cross the street, the near ones larger; every third one stops on the way."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(n):
        feet = rng.uniform(170, 350)
        tall = 70 + (feet - 170) * 0.45
        start_s = rng.uniform(-4, span_s - 4)
        times_s = np.linspace(start_s, start_s + rng.uniform(6, 11) / pace, 7)
        ends = (-30, WIDTH + 30) if rng.random() < 0.5 else (WIDTH + 30, -30)
        share = np.linspace(0, 1, 7) + np.r_[0, rng.uniform(-0.07, 0.07, 5), 0]
        if number % 3 == 0:
            share[3] = share[2]
        down = feet + np.r_[0, np.cumsum(rng.uniform(-8, 8, 6))]
        ways = PchipInterpolator(times_s, down)
        across = PchipInterpolator(times_s, ends[0] + (ends[1] - ends[0]) * share)
        found.append(Person(number % len(LOOKS), tall, times_s[0], times_s[-1], across, ways))
    return tuple(found)


def _empty() -> Image.Image:
    rng = np.random.default_rng(1)
    ground = np.full((HEIGHT, WIDTH, 3), (186.0, 188.0, 190.0))
    ground[:130] = (214, 208, 196)
    noise = Image.fromarray((rng.random((HEIGHT // 4, WIDTH // 4)) * 255).astype(np.uint8))
    grain = np.asarray(noise.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC), float) - 128
    shade = np.linspace(-14, 14, WIDTH)[None, :, None]
    whole = np.clip(ground + grain[..., None] * 0.12 + shade, 0, 255).astype(np.uint8)
    return Image.fromarray(whole).filter(ImageFilter.GaussianBlur(1))


def write(folder: Path, *, fps: int = 30, n_s: float = 10.0, who: tuple[Person, ...] | None = None) -> Path:
    """Write ``street.mp4`` and ``gt.txt`` (MOTChallenge, frames from 1)."""
    folder.mkdir(parents=True, exist_ok=True)
    walking, ground, lines = people() if who is None else who, _empty(), []
    with av.open(str(folder / "street.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=Fraction(fps))
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "20", "g": str(2 * fps)}
        for frame in range(round(n_s * fps)):
            time_s, image = frame / fps, ground.copy()
            for number, one in sorted(enumerate(walking, 1), key=lambda pair: pair[1].tall_px):
                if not one.start_s <= time_s <= one.end_s:
                    continue
                x, y = float(one.across(time_s)), float(one.down(time_s))
                facing = 1 if float(one.across.derivative()(time_s)) >= 0 else -1
                shown = figure(one.look, int(abs(x) / (0.09 * one.tall_px)) % STEPS, facing)
                size = (round(2 * one.tall_px), round(one.tall_px))
                shown = shown.resize(size, Image.Resampling.LANCZOS)
                image.paste(shown, (round(x) - size[0] // 2, round(y) - size[1]), shown)
                box = one.box(time_s)
                if box is not None:
                    left, top, right, bottom = box
                    sides = f"{left:.2f},{top:.2f},{right - left:.2f},{bottom - top:.2f}"
                    lines.append(f"{frame + 1},{number},{sides},1,1,1")
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.asarray(image), format="rgb24")))
        container.mux(stream.encode(None))
    (folder / "gt.txt").write_text("\n".join(lines) + "\n")
    return folder / "street.mp4"
