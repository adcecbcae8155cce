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


def write_video(path: Path, frames: Iterable[Image.Image], size: tuple[int, int] = SIZE) -> None:
    """Encode frames as H.264 in MP4."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
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


def bridge() -> Iterable[Image.Image]:
    """A beam lies on two piers; a load rolls over it."""
    for n in range(3 * FPS):
        image, pen = picture()
        pen.rectangle((8, 34, 88, 38), fill="grey")
        pen.rectangle((10, 38, 16, 60), fill="black")
        pen.rectangle((80, 38, 86, 60), fill="black")
        pen.rectangle((6 + 2 * n, 26, 16 + 2 * n, 34), fill="red")
        yield image


def press() -> Iterable[Image.Image]:
    """A carved block with a black pattern is pressed onto paper, and leaves it there."""
    for n in range(3 * FPS):
        image, pen = picture()
        pen.rectangle((24, 48, 72, 60), outline="black")
        if n > 15:
            pen.line((30, 54, 66, 54), fill="black", width=3)
        top = 8 + 2 * min(n, 16) if n <= 20 else 40 - 3 * (n - 20)
        pen.rectangle((26, top, 70, top + 6), fill="brown")
        yield image


def teeth() -> Iterable[Image.Image]:
    """A row of six teeth; a tool touches the pointed one."""
    for n in range(3 * FPS):
        image, pen = picture("pink")
        for tooth in range(6):
            x = 10 + 13 * tooth
            pen.rectangle((x, 20, x + 10, 36), fill="white")
            if tooth == 2:
                pen.polygon((x, 36, x + 10, 36, x + 5, 46), fill="white")
        pen.line((90, 62, 90 - 1.6 * n, 60 - 0.5 * n), fill="black", width=2)
        yield image


def harbour() -> Iterable[Image.Image]:
    """A small figure in yellow jumps at 1 s; beside it a taller one opens a blue umbrella at 2 s."""
    for n in range(4 * FPS):
        image, pen = picture()
        up = 8 if FPS <= n < FPS + 4 else 0
        pen.rectangle((26, 40 - up, 36, 58 - up), fill="yellow", outline="black")
        figure(pen, 58)
        if n >= 2 * FPS:
            pen.pieslice((44, 2, 74, 24), 180, 360, fill="blue")
        yield image


def court() -> Iterable[Image.Image]:
    """Five balls come to rest on a court before a red light goes on at 2 s."""
    for n in range(3 * FPS):
        image, pen = picture("green")
        for i in range(5):
            ball(pen, 12 + 18 * i, min(8 + 3 * n, 40 + 4 * (i % 3)))
        if n >= 2 * FPS:
            pen.ellipse((84, 4, 92, 12), fill="red")
        yield image


def attic() -> Iterable[Image.Image]:
    """A room: a door at the left beside corner A, corner B at the right, two lamps, a chair, a window."""
    for n in range(3 * FPS):
        image, pen = picture("tan")
        pen.rectangle((2, 24, 14, 60), fill="brown")
        pen.text((18, 50), "A", fill="black")
        pen.text((86, 50), "B", fill="black")
        for x in (34, 70):
            pen.ellipse((x, 4, x + 8, 12), fill="yellow")
        pen.rectangle((46, 16, 60, 30), fill="lightblue")
        pen.rectangle((48, 44, 60, 58), outline="black")
        pen.ellipse((50, 38 + (n // 15) % 2, 58, 44), fill="grey")
        yield image


# Where the points of a walker are, in pixels of a picture of 128 by 128, before it moves.
POINTS = {
    "head": (64, 24), "left shoulder": (54, 38), "right shoulder": (74, 38), "left elbow": (48, 54),
    "right elbow": (80, 54), "left wrist": (46, 70), "right wrist": (82, 70), "left hip": (58, 74),
    "right hip": (70, 74), "left knee": (57, 94), "right knee": (71, 94), "left ankle": (56, 114),
    "right ankle": (72, 114),
}  # fmt: skip


def point_lights(kind: str, n_frames: int = 60) -> Iterable[Image.Image]:
    """White points on black: somebody hops on one leg, rakes leaves, or tosses a hat to a second figure."""
    for n in range(n_frames):
        image = Image.new("RGB", (128, 128), "black")
        pen = ImageDraw.Draw(image)
        swing = np.sin(2 * np.pi * n / 15)
        for name, (x, y) in POINTS.items():
            dx, dy = 0.0, 0.0
            if kind == "hop":
                dy = -12 * abs(swing) - (26 if name in ("right ankle", "right knee") else 0)
            elif kind == "rake" and ("elbow" in name or "wrist" in name):
                dx, dy = 14 + 10 * swing, 6.0
            elif kind == "toss" and name in ("right wrist", "right elbow"):
                dy = -40 * max(swing, 0)
            side = -28 if kind == "toss" else 0
            pen.ellipse((x + dx + side - 2, y + dy - 2, x + dx + side + 2, y + dy + 2), fill="white")
            if kind == "toss":
                pen.ellipse((x + 26, y - 2, x + 30, y + 2), fill="white")
        yield image


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
    mmvu = GOLDEN / "mmvu" / "videos"
    write_video(mmvu / "Civil_Engineering" / "0.mp4", bridge())
    write_video(mmvu / "Art" / "4.mp4", press())
    write_video(mmvu / "Basic_Medicine" / "1.mp4", teeth())
    for name, frames in (("Harbour Walk 2", harbour()), ("court7", court()), ("attic", attic())):
        write_video(GOLDEN / "perceptioncomp" / "videos" / f"{name}.mp4", frames)
    clips = GOLDEN / "actpld" / "clips"
    write_video(clips / "hop-1.mp4", point_lights("hop"), size=(128, 128))
    write_video(clips / "toss-1.mp4", point_lights("toss"), size=(128, 128))
    (clips / "rake-1").mkdir(parents=True, exist_ok=True)
    for n, image in enumerate(point_lights("rake", n_frames=20)):
        image.convert("L").save(clips / "rake-1" / f"{n:03d}.png", optimize=True)
