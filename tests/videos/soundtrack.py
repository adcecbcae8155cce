"""Files that hold sound and not one frame."""

from pathlib import Path

import av
import numpy as np


def sound(path: Path, *, with_video: bool = False) -> Path:
    """One second of silence; with a video stream that never gets a packet where asked."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=16000)
        if with_video:
            video = container.add_stream("libx264", rate=30)
            video.width, video.height, video.pix_fmt = 64, 64, "yuv420p"
        for _ in range(16):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 1000), np.float32), format="fltp", layout="mono")
            frame.sample_rate = 16000
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path
