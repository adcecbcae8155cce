"""A small street with people drawn by us: where each one is in every frame is known exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

WIDTH, HEIGHT, RATE = 320, 240, 10


@dataclass(frozen=True, kw_only=True)
class Walker:
    """A person in coloured clothes whose box moves with a constant speed, in pixels per frame."""

    left_px: float
    top_px: float
    speed_px: tuple[float, float] = (0.0, 0.0)
    coat: tuple[int, int, int] = (180, 30, 30)
    legs: tuple[int, int, int] = (30, 30, 60)
    size_px: tuple[float, float] = (40.0, 96.0)
    frames: tuple[int, int] = (0, 10_000)

    def box(self, frame: int) -> tuple[float, float, float, float] | None:
        """Left, top, right, bottom; None where the person is not there."""
        if not self.frames[0] <= frame <= self.frames[1]:
            return None
        left = self.left_px + self.speed_px[0] * frame
        top = self.top_px + self.speed_px[1] * frame
        return left, top, left + self.size_px[0], top + self.size_px[1]


def picture(walkers: tuple[Walker, ...], frame: int, *, seed: int = 0) -> NDArray[np.uint8]:
    """One frame, RGB."""
    rng = np.random.default_rng(seed)
    ground = rng.integers(150, 190, (HEIGHT // 8, WIDTH // 8, 1)).astype(np.uint8)
    image = Image.fromarray(np.repeat(np.repeat(np.repeat(ground, 3, 2), 8, 0), 8, 1))
    pen = ImageDraw.Draw(image)
    for walker in walkers:
        box = walker.box(frame)
        if box is None:
            continue
        left, top, right, bottom = box
        width, height = right - left, bottom - top

        def part(x0: float, y0: float, x1: float, y1: float, box=box) -> tuple[float, float, float, float]:
            w, h = box[2] - box[0], box[3] - box[1]
            return box[0] + x0 * w, box[1] + y0 * h, box[0] + x1 * w, box[1] + y1 * h

        stride = 0.12 * np.sin(frame)
        pen.ellipse(part(0.33, 0.0, 0.67, 0.16), fill=(200, 160, 130))
        pen.rounded_rectangle(part(0.18, 0.16, 0.82, 0.55), radius=width / 8, fill=walker.coat)
        pen.polygon(_leg(left, top, width, height, 0.32, 0.32 - stride), fill=walker.legs)
        pen.polygon(_leg(left, top, width, height, 0.62, 0.62 + stride), fill=walker.legs)
    return np.asarray(image)


def _leg(left: float, top: float, width: float, height: float, hip: float, foot: float):
    return [
        (left + (hip - 0.1) * width, top + 0.52 * height),
        (left + (hip + 0.16) * width, top + 0.52 * height),
        (left + (foot + 0.12) * width, top + height),
        (left + (foot - 0.08) * width, top + height),
    ]


def film(
    path: Path,
    walkers: tuple[Walker, ...],
    *,
    n_frames: int,
    rate: int = RATE,
    frames: Sequence[int] | None = None,
    is_turned: bool = False,
) -> Path:
    """A video of the street; of some of its frames only, or stored on its side as telephones do."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "18", "g": "50"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.time_base = Fraction(1, rate)
        if is_turned:
            stream.width, stream.height = HEIGHT, WIDTH
            stream.set_display_matrix([0, 1 << 16, 0, -(1 << 16), 0, 0, 0, 0, 1 << 30])
        for number in range(n_frames) if frames is None else frames:
            shown = picture(walkers, number)
            stored = np.ascontiguousarray(np.rot90(shown)) if is_turned else shown
            frame = av.VideoFrame.from_ndarray(stored, format="rgb24")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def mot_lines(walkers: tuple[Walker, ...], *, n_frames: int, with_ids: bool) -> str:
    """The truth in the format of MOTChallenge."""
    lines = []
    for frame in range(n_frames):
        for number, walker in enumerate(walkers, start=1):
            box = walker.box(frame)
            if box is not None:
                left, top, right, bottom = box
                name = number if with_ids else -1
                lines.append(f"{frame + 1},{name},{left},{top},{right - left},{bottom - top},1,-1,-1,-1\n")
    return "".join(lines)


# Three people in clothes of their own. The first two cross, one behind the other; the third stands still,
# away from them, and leaves after frame 30.
STREET = (
    Walker(left_px=10, top_px=60, speed_px=(5, 0)),
    Walker(left_px=270, top_px=75, speed_px=(-4, 0), coat=(20, 120, 40), legs=(90, 60, 30)),
    Walker(left_px=30, top_px=142, coat=(30, 60, 200), legs=(20, 20, 20), frames=(0, 30)),
)
STREET_FRAMES = 40
