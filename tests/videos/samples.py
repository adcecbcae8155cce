"""Draw the pictures and videos of the samples in tests/golden; run as a script, it writes them anew.

They are small and plain, so that what the questions of the samples ask can be seen in them.
"""

from collections.abc import Iterable
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw

GOLDEN = Path(__file__).parents[1] / "golden"
FPS = 10
SIZE = (96, 64)


def picture(background: str = "white") -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """An empty picture and the pen for it."""
    image = Image.new("RGB", SIZE, background)
    return image, ImageDraw.Draw(image)


def figure(pen: ImageDraw.ImageDraw, x: int, *, arms: tuple[int, int] = (8, 8), hat: bool = False) -> None:
    """A figure of lines at `x`; `arms` say how far the left and right hand hang below the shoulder."""
    pen.ellipse((x - 5, 14, x + 5, 24), outline="black")
    pen.line((x, 24, x, 42), fill="black", width=2)
    pen.line((x, 42, x - 7, 58), fill="black", width=2)
    pen.line((x, 42, x + 7, 58), fill="black", width=2)
    pen.line((x, 28, x - 10, 28 + arms[0]), fill="black", width=2)
    pen.line((x, 28, x + 10, 28 + arms[1]), fill="black", width=2)
    if hat:
        pen.rectangle((x - 7, 9, x + 7, 14), fill="red")


def ball(pen: ImageDraw.ImageDraw, x: int, y: int) -> None:
    """A blue ball with its centre there."""
    pen.ellipse((x - 4, y - 4, x + 4, y + 4), fill="blue")


def shots() -> Iterable[Image.Image]:
    """Four shots of one second: red, blue, green, yellow."""
    for colour in ("red", "blue", "green", "yellow"):
        yield from [picture(colour)[0]] * FPS


def flashes() -> Iterable[Image.Image]:
    """Three white flashes on black, each of 0.2 s, at 0.5, 1.5 and 3.0 s of 4 s."""
    for n in range(4 * FPS):
        lit = any(start <= n < start + 2 for start in (5, 15, 30))
        yield picture("white" if lit else "black")[0]


def squares() -> Iterable[Image.Image]:
    """A white square goes out through the right edge; a grey one stays."""
    for n in range(4 * FPS):
        image, pen = picture("black")
        pen.rectangle((10, 44, 22, 56), fill="grey")
        pen.rectangle((20 + 3 * n, 8, 32 + 3 * n, 20), fill="white")
        yield image


def wave() -> Iterable[Image.Image]:
    """A figure stands still for 1 s and waves its right hand for 2 s."""
    for n in range(3 * FPS):
        image, pen = picture()
        figure(pen, 48, arms=(8, 8 if n < FPS else -10 + 4 * (n % 3)))
        yield image


def drop() -> Iterable[Image.Image]:
    """A figure holds a ball; a second one bumps into it at 1.5 s, and the ball falls to the ground."""
    for n in range(4 * FPS):
        image, pen = picture()
        figure(pen, 60, arms=(2, 8))
        figure(pen, min(12 + 2 * n, 42), hat=True)
        ball(pen, 50, min(32 + 4 * max(0, n - 15), 56))
        yield image


def write_video(path: Path, frames: Iterable[Image.Image]) -> None:
    """Encode frames as H.264 in MP4."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        for image in frames:
            frame = av.VideoFrame.from_ndarray(np.asarray(image), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def pictures() -> Iterable[tuple[str, Image.Image]]:
    """The pictures of the HumanPCR sample with their names: figures with hands up, hats and balls."""
    for name, x, arms, has_hat, ball_at in (
        ("left-of-ball", 24, (8, 8), False, (70, 54)),
        ("hand-up", 48, (8, -12), False, None),
        ("hat-1", 48, (8, 8), False, None),
        ("hat-2", 48, (8, 8), True, None),
        ("hat-3", 48, (-8, 8), False, None),
        ("throw-1", 24, (8, 2), False, (36, 30)),
        ("throw-2", 24, (8, -10), False, (76, 20)),
    ):
        image, pen = picture()
        figure(pen, x, arms=arms, hat=has_hat)
        if ball_at is not None:
            ball(pen, *ball_at)
        yield name, image


if __name__ == "__main__":
    write_video(GOLDEN / "herbench" / "videos" / "trailers" / "shots.mp4", shots())
    write_video(GOLDEN / "herbench" / "videos" / "HD_EPIC" / "flashes.mp4", flashes())
    write_video(GOLDEN / "herbench" / "videos" / "PersonPath22" / "squares.mp4", squares())
    write_video(GOLDEN / "humanpcr" / "videos" / "wave.mp4", wave())
    write_video(GOLDEN / "humanpcr" / "videos" / "drop.mp4", drop())
    images = GOLDEN / "humanpcr" / "images"
    images.mkdir(parents=True, exist_ok=True)
    for name, image in pictures():
        image.save(images / f"{name}.png", optimize=True)
