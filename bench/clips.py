"""Clips for the benches: textured, moving, with cuts; H.264, GOP 250, at the bit rates of the web."""

import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import av
import numpy as np

FPS = 30


def texture(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Noise with the 1/f spectrum of natural images, as RGB."""
    planes = []
    for _ in range(3):
        spectrum = np.fft.rfft2(rng.standard_normal((height, width)))
        fy = np.fft.fftfreq(height)[:, None]
        fx = np.fft.rfftfreq(width)[None]
        radius = np.hypot(fy, fx)
        radius[0, 0] = 1
        plane = np.fft.irfft2(spectrum / radius**1.15, s=(height, width))
        planes.append(np.clip((plane / plane.std()) * 45 + 120, 0, 255))
    return np.dstack(planes).astype(np.uint8)


def write_clip(path: Path, *, seed: int, seconds: int, width: int, height: int, crf: int = 30) -> None:
    """One clip: a camera that pans over textures, sprites that cross, a cut every eight seconds."""
    rng = np.random.default_rng(seed)
    temporary = path.with_suffix(".part.mp4")
    with av.open(str(temporary), "w") as container:
        stream = container.add_stream("libx264", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": str(crf), "g": "250", "x264-params": "scenecut=0"}
        stream.codec_context.thread_count = 1
        for number in range(seconds * FPS):
            within = number % (8 * FPS)
            if within == 0:
                scene = texture(rng, height * 2, width * 2)
                sprite = texture(rng, height // 4, width // 6)
                drift = rng.uniform(-1.2, 1.2, 2)
                sprite_speed = rng.uniform(1, 4, 2)
                start = rng.uniform(0.25, 0.75, 2) * (height, width)
            y, x = (start + drift * within).astype(int) % (height, width)
            image = scene[y : y + height, x : x + width].copy()
            top = int(sprite_speed[0] * within) % (height - sprite.shape[0])
            left = int(sprite_speed[1] * within) % (width - sprite.shape[1])
            image[top : top + sprite.shape[0], left : left + sprite.shape[1]] = sprite
            for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    temporary.rename(path)


def _write(job: tuple[Path, int, int]) -> None:
    path, seed, seconds = job
    write_clip(path, seed=seed, seconds=seconds, width=640, height=360, crf=22 + seed % 8)


def make_load(folder: Path, *, n_clips: int, n_questions: int, seconds: int = 60, tag: str = "") -> Path:
    """Clips and a file of questions about them; what is there already is kept.

    Returns:
        The JSONL file; every question about a clip has words of its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"clip{i:02d}-{seconds}s.mp4" for i in range(n_clips)]
    absent = [(path, i, seconds) for i, path in enumerate(paths) if not path.exists()]
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(_write, absent))
    questions = folder / f"questions-{n_clips}x{n_questions}{tag}.jsonl"
    with questions.open("w", encoding="utf-8") as file:
        for i, path in enumerate(paths):
            for j in range(n_questions):
                item = {
                    "item_id": f"{i:02d}-{j:03d}",
                    "media": [{"path": path.name}],
                    "question": f"Question {j} about clip {i}: what moves over the picture?",
                    "choices": ["a car", "a dog", "a patch", "nothing"],
                    "answer": "ABCD"[(i + j) % 4],
                }
                file.write(json.dumps(item) + "\n")
    return questions
