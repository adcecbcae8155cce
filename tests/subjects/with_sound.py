"""Small videos with a sound track."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np


def write(path: Path, *, codec: str, sound: str | None, n_frames: int = 12) -> Path:
    """Grey pictures at 10 a second, each brighter than the last, with a tone where a codec is given."""
    with av.open(str(path), "w") as made:
        pictures = made.add_stream(codec, rate=10, width=64, height=48, pix_fmt="yuv420p")
        tone = made.add_stream(sound, rate=48000) if sound else None
        for i in range(n_frames):
            image = np.full((48, 64, 3), 15 * i + 20, np.uint8)
            made.mux(pictures.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        made.mux(pictures.encode())
        if tone is not None:
            for i in range(40):
                samples = np.zeros((1, 960), np.float32)
                frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
                frame.sample_rate, frame.pts, frame.time_base = 48000, 960 * i, Fraction(1, 48000)
                made.mux(tone.encode(frame))
            made.mux(tone.encode())
    return path
