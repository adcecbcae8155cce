"""Clips whose every frame carries its number in black and white blocks, so that truth can be read off."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 192, 108
N_BITS = 12
N_FRAMES = 120
RATE = 30
_BLOCK = WIDTH // N_BITS


def picture(number: int, *, seed: int = 0) -> NDArray[np.uint8]:
    """Frame `number` as I420: moving texture, and the number along the upper edge, first bit left."""
    rng = np.random.default_rng(seed)
    rows, columns = np.arange(HEIGHT)[:, None], np.arange(WIDTH)[None]
    texture = rng.integers(60, 180, (HEIGHT * 2, WIDTH * 2))
    smooth = (texture[:-1, :-1] + texture[1:, :-1] + texture[:-1, 1:] + texture[1:, 1:]) // 4
    top, left = (number * 2) % HEIGHT, (number * 3) % (WIDTH - 1)
    luma = smooth[top : top + HEIGHT, left : left + WIDTH].copy()
    ball = (rows - 60 - 25 * np.sin(number / 7)) ** 2 + (columns - 90 - 60 * np.cos(number / 11)) ** 2 < 400
    luma[ball] = 220
    bits = [(number >> (N_BITS - 1 - i)) & 1 for i in range(N_BITS)]
    for position, bit in enumerate(bits):
        luma[:_BLOCK, position * _BLOCK : (position + 1) * _BLOCK] = 235 if bit else 16
    chroma = np.full((HEIGHT // 2, WIDTH), 128)
    chroma[20:40, : WIDTH // 2] = 90 + number % 60
    return np.vstack([luma, chroma]).astype(np.uint8)


def read_number(image: NDArray[np.uint8]) -> int:
    """The number in an upright RGB picture of any size."""
    height, width = image.shape[:2]
    block_height, block_width = height * _BLOCK / HEIGHT, width / N_BITS
    row = slice(int(block_height * 0.3), max(int(block_height * 0.7), int(block_height * 0.3) + 1))
    number = 0
    for position in range(N_BITS):
        start = int((position + 0.3) * block_width)
        stop = max(int((position + 0.7) * block_width), start + 1)
        number = number * 2 + int(image[row, start:stop].mean() > 127)
    return number


@contextmanager
def own_schedule() -> Iterator[None]:
    """Undo what libsvtav1 does where it may: it gives the thread that encodes real-time priority for good.

    Its children would inherit that, and one that waits in a loop would then leave no time to anybody.
    """
    if not hasattr(os, "sched_getscheduler"):
        yield
        return
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        if os.sched_getscheduler(0) != policy:
            os.sched_setscheduler(0, policy, priority)


def write(
    path: Path,
    *,
    codec: str = "libx264",
    options: dict[str, str] | None = None,
    pix_fmt: str = "yuv420p",
    ticks: Sequence[int] | None = None,
    time_base: Fraction = Fraction(1, RATE),
    movflags: str = "",
    matrix: Sequence[int] | None = None,
    numbers: Iterable[int] = range(N_FRAMES),
) -> Path:
    """Encode the frames with these numbers, shown at `ticks` of `time_base` (one per tick by default)."""
    defaults = {"libx264": {"g": "30", "preset": "veryfast", "bf": "3", "x264-params": "scenecut=0"}}
    os.environ.setdefault("SVT_LOG", "0")
    mux = {"movflags": movflags} if movflags else {}
    with own_schedule(), av.open(str(path), "w", options=mux) as container:
        stream = container.add_stream(codec, rate=RATE, options=options or defaults.get(codec, {}))
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, pix_fmt
        stream.codec_context.thread_count = 1
        stream.time_base = stream.codec_context.time_base = time_base
        if matrix is not None:
            stream.set_display_matrix(matrix)
        for position, number in enumerate(numbers):
            frame = av.VideoFrame.from_ndarray(picture(number), format="yuv420p")
            if pix_fmt != "yuv420p":
                frame = frame.reformat(format=pix_fmt)
            frame.pts = position if ticks is None else ticks[position]
            frame.time_base = time_base
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def copy(source: Path, target: Path, *, first_pts: int = 0, shift_s: float = 0.0, movflags: str = "") -> Path:
    """Put the packets of a video into another container, undecoded.

    Packets before the keyframe at or before `first_pts` are left out; times are moved by `shift_s`.
    """
    with (
        av.open(str(source)) as parser,
        av.open(str(target), "w", options={"movflags": movflags} if movflags else {}) as writer,
    ):
        stream = parser.streams.video[0]
        copied = writer.add_stream_from_template(stream)
        shift = round(Fraction(shift_s) / stream.time_base)
        packets = [packet for packet in parser.demux(stream) if packet.size]
        keys = [i for i, p in enumerate(packets) if p.is_keyframe and p.pts <= first_pts]
        for packet in packets[keys[-1] :]:
            packet.pts += shift
            packet.dts += shift
            packet.stream = copied
            writer.mux(packet)
    return target


def cut_off(source: Path, target: Path, *, share: float) -> Path:
    """The first part of a file."""
    content = source.read_bytes()
    target.write_bytes(content[: int(len(content) * share)])
    return target


def packet_places(path: Path) -> list[tuple[int, int, int, bool]]:
    """Offset in the file, size, time and key mark of every packet, in decoding order."""
    with av.open(str(path)) as container:
        return [(p.pos, p.size, p.pts, p.is_keyframe) for p in container.demux(video=0) if p.size]


def damage(source: Path, target: Path, *, places: Sequence[int], n_bytes: int = 24, seed: int = 0) -> Path:
    """A copy with random bytes at these offsets."""
    rng = np.random.default_rng(seed)
    content = bytearray(source.read_bytes())
    for place in places:
        content[place : place + n_bytes] = rng.bytes(n_bytes)
    target.write_bytes(bytes(content))
    return target
