"""A short film of drifting landscapes whose cuts are known, for those who look for cuts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 96, 64
RATE = 25
LENGTHS = (30, 25, 20, 27)
CUTS = (30, 55, 75)


def landscape(seed: int) -> NDArray[np.uint8]:
    """Soft blobs of a few colours, larger than the frame; shape (2 * HEIGHT, 2 * WIDTH, 3)."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[: 2 * HEIGHT, : 2 * WIDTH]
    picture = np.full((2 * HEIGHT, 2 * WIDTH, 3), rng.uniform(20, 220, 3))
    for _ in range(14):
        y, x, radius = rng.uniform(0, 2 * HEIGHT), rng.uniform(0, 2 * WIDTH), rng.uniform(8, 30)
        weight = np.exp(-((rows - y) ** 2 + (columns - x) ** 2) / (2 * radius**2))[..., None]
        picture = picture * (1 - weight) + rng.uniform(0, 255, 3) * weight
    return picture.astype(np.uint8)


def frames(lengths: Sequence[int] = LENGTHS) -> Iterator[NDArray[np.uint8]]:
    """The frames of all shots in order, each panning over a landscape of its own while a disc crosses it."""
    for shot, length in enumerate(lengths):
        wide = landscape(shot + 1)
        for i in range(length):
            frame = wide[i : i + HEIGHT, 2 * i % WIDTH : 2 * i % WIDTH + WIDTH].copy()
            rows, columns = np.mgrid[:HEIGHT, :WIDTH]
            frame[(rows - 32) ** 2 + (columns - 3 * i) ** 2 < 64] = (240, 240, 40)
            yield frame


def write(path: Path, pictures: Iterator[NDArray[np.uint8]] | None = None, *, keyframes: int = 12) -> Path:
    """Encode the film, or other pictures of its size, with a keyframe every so many frames."""
    options = {"g": str(keyframes), "crf": "18", "preset": "veryfast", "x264-params": "scenecut=0"}
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE, options=options)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.thread_count = 1
        for picture in frames() if pictures is None else pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    return path
