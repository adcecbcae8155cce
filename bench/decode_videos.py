"""The videos on which sparse reading is measured: textured, moving, with grain and cuts."""

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from clips import texture

DATA = Path(__file__).parent / ".data"
FPS = 30


@dataclass(frozen=True)
class Video:
    """A video to make: `codec` names an encoder of libavcodec."""

    name: str
    codec: str
    width: int
    height: int
    seconds: int


VIDEOS = (
    Video("h264-360p-60s", "libx264", 640, 360, 60),
    Video("h264-720p-100s", "libx264", 1280, 720, 100),
    Video("hevc-720p-100s", "libx265", 1280, 720, 100),
)
QUICK = (Video("h264-360p-20s", "libx264", 640, 360, 20), Video("hevc-360p-20s", "libx265", 640, 360, 20))
OPTIONS = {
    "libx264": {"preset": "medium", "crf": "24", "g": "250", "x264-params": "scenecut=0"},
    "libx265": {"preset": "veryfast", "crf": "27", "x265-params": "keyint=250:scenecut=0:log-level=error"},
}


def write_video(path: Path, video: Video, *, seed: int) -> None:
    """A camera that pans over textures with grain, sprites that cross, a cut every eight seconds."""
    rng = np.random.default_rng(seed)
    height, width = video.height, video.width
    grain = rng.normal(0, 2.2, (height + 64, width + 64, 1)).astype(np.int16)
    temporary = path.with_suffix(".part.mp4")
    with av.open(str(temporary), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream(video.codec, rate=FPS, options=OPTIONS[video.codec])
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for number in range(video.seconds * FPS):
            within = number % (8 * FPS)
            if within == 0:
                scene = texture(rng, height * 2, width * 2)
                sprite = texture(rng, height // 4, width // 6)
                drift = rng.uniform(-1.5, 1.5, 2)
                speed = rng.uniform(1, 5, 2)
            y, x = ((height, width) / np.array([2, 2]) + drift * within).astype(int)
            y, x = int(np.clip(y, 0, height)), int(np.clip(x, 0, width))
            image = scene[y : y + height, x : x + width].astype(np.int16)
            top = int(speed[0] * within) % (height - sprite.shape[0])
            left = int(speed[1] * within) % (width - sprite.shape[1])
            image[top : top + sprite.shape[0], left : left + sprite.shape[1]] = sprite
            gy, gx = rng.integers(0, 64, 2)
            image += grain[gy : gy + height, gx : gx + width]
            picture = np.clip(image, 0, 255).astype(np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    temporary.rename(path)


def path_of(video: Video) -> Path:
    """Where the file of a video lies."""
    return DATA / f"{video.name}.mp4"


def make(videos: Sequence[Video]) -> None:
    """Write the files of videos, two side by side; what is there already is kept."""
    DATA.mkdir(exist_ok=True)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        jobs = [
            pool.submit(write_video, path_of(video), video, seed=seed)
            for seed, video in enumerate(videos)
            if not path_of(video).exists()
        ]
        for job in jobs:
            job.result()
