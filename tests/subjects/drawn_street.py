"""A small street drawn by us: coloured boxes that walk known ways while the ground changes with each cut."""

from pathlib import Path

import av
import numpy as np

WIDTH, HEIGHT, FPS, N_FRAMES, SHOT = 320, 240, 10, 180, 30
COLOURS = ((200, 30, 30), (30, 160, 40), (40, 60, 210), (220, 200, 40), (180, 60, 190), (240, 130, 30))
GROUNDS = ((60, 60, 60), (180, 200, 220), (90, 120, 70), (210, 180, 150), (40, 50, 90), (150, 150, 150))
# Of each walker: first frame, last frame, left and top at the first and at the last frame.
WALKERS = (
    (0, 175, 10, 90, 270, 90),
    (2, 150, 280, 20, 20, 100),
    (5, 178, 100, 130, 160, 30),
    (20, 178, 200, 140, 40, 20),
    (8, 140, 40, 10, 250, 120),
    (0, 130, 240, 110, 90, 110),
)
BOX = (40, 80)


def box_at(walker: int, frame: int) -> tuple[float, float, float, float] | None:
    """Left, top, right, bottom of a walker in a frame; None where the walker is not there."""
    first, last, x0, y0, x1, y1 = WALKERS[walker]
    if not first <= frame <= last:
        return None
    share = (frame - first) / (last - first)
    left, top = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
    return left, top, left + BOX[0], top + BOX[1]


def picture(frame: int) -> np.ndarray:
    """One frame, RGB."""
    shade = np.linspace(-20, 20, WIDTH)[None, :, None]
    ground = np.array(GROUNDS[frame // SHOT])[None, None] + shade
    image = np.clip(np.broadcast_to(ground, (HEIGHT, WIDTH, 3)), 0, 255).astype(np.uint8)
    for walker, colour in enumerate(COLOURS):
        box = box_at(walker, frame)
        if box is not None:
            left, top, right, bottom = (round(x) for x in box)
            image[top:bottom, left:right] = colour
            image[top : top + 16, left + 10 : right - 10] = (230, 190, 160)
    return image


def write_street(folder: Path) -> Path:
    """Write ``street.mp4`` and ``boxes.txt`` (MOT, frames from 1)."""
    folder.mkdir(parents=True, exist_ok=True)
    with av.open(str(folder / "street.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {"preset": "ultrafast", "crf": "18"}
        for frame in range(N_FRAMES):
            shown = av.VideoFrame.from_ndarray(picture(frame), format="rgb24")
            for packet in stream.encode(shown):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    lines = []
    for frame in range(N_FRAMES):
        for walker in range(len(WALKERS)):
            box = box_at(walker, frame)
            if box is not None:
                lines.append(f"{frame + 1},-1,{box[0]:.2f},{box[1]:.2f},{BOX[0]},{BOX[1]},0.9,-1,-1,-1")
    (folder / "boxes.txt").write_text("\n".join(lines) + "\n")
    return folder / "street.mp4"


CONFIG = """
name = "street"
seed = 1
videos = "videos"

[[sources]]
path = "*.mp4"
collection = "OURS"
licence = "CC0-1.0"
detections = "videos/boxes.txt"

[tracking]
tracker = "deepsort"
end_at_cuts = false

[tracking.refine.filter]
least_area_px = 1000.0

[shots]
detector = "content"

[models]
writer = "scripted:written"
tasks = "scripted:asked"

[cards]
model = "writer"

[cards.crops]
most_covered = 1.0

[scenes]
model = "writer"
"""
