"""A small drawn film, and the way it is encoded."""

from collections.abc import Iterable
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw

FPS = 10
SIZE = (96, 64)


def squares() -> Iterable[Image.Image]:
    """A white square goes out through the right edge; a grey one stays."""
    for n in range(4 * FPS):
        image = Image.new("RGB", SIZE, "black")
        pen = ImageDraw.Draw(image)
        pen.rectangle((10, 44, 22, 56), fill="grey")
        pen.rectangle((20 + 3 * n, 8, 32 + 3 * n, 20), fill="white")
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
