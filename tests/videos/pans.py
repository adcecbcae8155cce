"""Films that pan over a landscape at a known speed, and one that is a still all through."""

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 192, 128
RATE = 10
_CELL_PX = 12


def ground(seed: int = 0) -> NDArray[np.uint8]:
    """Soft patches of grey and colour, many frames wide; shape (480, 1440, 3)."""
    cells = np.random.default_rng(seed).uniform(0, 255, (40, 120, 3))
    picture = np.kron(cells, np.ones((_CELL_PX, _CELL_PX, 1)))
    soft = np.ones(9) / 9
    for axis in (0, 1):
        picture = np.apply_along_axis(np.convolve, axis, picture, soft, mode="same")
    return picture.astype(np.uint8)


def pan(speed: float, *, n_frames: int) -> Iterator[NDArray[np.uint8]]:
    """Frames that move by `speed` hundredths of their width in a second."""
    wide = ground()
    for i in range(n_frames):
        left = round(WIDTH * speed / 100 * i / RATE)
        yield wide[50 : 50 + HEIGHT, left : left + WIDTH]


def write(path: Path, frames: Iterator[NDArray[np.uint8]], *, rate: int = RATE) -> Path:
    """Encode frames of this size."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "18", "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.thread_count = 1
        for frame in frames:
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return path
