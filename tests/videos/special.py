"""The files on which decoding libraries go wrong, each with what it truly holds."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from videos.stamped import N_FRAMES, RATE, copy, cut_off, write

_ALL = tuple(range(N_FRAMES))
_ONE = 1 << 16


@dataclass(frozen=True)
class Clip:
    """A file; the numbers of its frames in the order shown; their times from the first, in seconds."""

    path: Path
    numbers: tuple[int, ...]
    times_s: tuple[float, ...]
    tick_s: float = 1e-6
    rotation_deg: int = 0
    is_mirrored: bool = False
    is_variable: bool = False


def _even(numbers: tuple[int, ...] = _ALL) -> tuple[float, ...]:
    return tuple((n - numbers[0]) / RATE for n in numbers)


def _plain(path: Path, tick_s: float = 1e-6, numbers: tuple[int, ...] = _ALL) -> Clip:
    return Clip(path, numbers, _even(numbers), tick_s=tick_s)


def _h264(folder: Path) -> Path:
    path = folder / "h264.mp4"
    return path if path.exists() else write(path, movflags="faststart")


def _vfr(folder: Path) -> Clip:
    """Like a telephone or a screen recording: 30 and 10 frames per second, jitter, one long freeze."""
    rng = np.random.default_rng(11)
    numbers = [n for n in _ALL if not ((n // 30) % 2 and n % 3) and not 64 <= n < 80]
    ticks = [n * 3000 + (int(rng.integers(0, 700)) if n else 0) for n in numbers]
    path = write(folder / "vfr.mp4", ticks=ticks, time_base=Fraction(1, 90000), numbers=numbers)
    return Clip(path, tuple(numbers), tuple(t / 90000 for t in ticks), is_variable=True)


def _turned(name: str, matrix: tuple[int, int, int, int], degrees: int, mirrored: bool = False):
    def make(folder: Path) -> Clip:
        a, b, c, d = (value * _ONE for value in matrix)
        path = write(folder / f"{name}.mp4", matrix=[a, b, 0, c, d, 0, 0, 0, 1 << 30], numbers=_ALL[:40])
        return Clip(path, _ALL[:40], _even(_ALL[:40]), rotation_deg=degrees, is_mirrored=mirrored)

    return make


def _cut(folder: Path) -> Clip:
    """A cut without encoding anew: packets from the keyframe before, hidden by an edit list."""
    path = copy(_h264(folder), folder / "cut.mp4", first_pts=45 * 512, shift_s=Fraction(-45, RATE))
    return _plain(path, numbers=_ALL[45:])


def _trimmed(folder: Path) -> Clip:
    """An edit list that hides the end: its duration is written shorter into the file."""
    content = _h264(folder).read_bytes()
    place = content.index(b"elst") + 12
    assert int.from_bytes(content[place : place + 4], "big") == 4000
    path = folder / "trimmed.mp4"
    path.write_bytes(content[:place] + (2000).to_bytes(4, "big") + content[place + 4 :])
    return _plain(path, numbers=_ALL[:60])


def _encoded(name: str, codec: str, options: dict[str, str], tick_s: float = 1e-6, pix_fmt: str = "yuv420p"):
    def make(folder: Path) -> Clip:
        return _plain(write(folder / name, codec=codec, options=options, pix_fmt=pix_fmt), tick_s)

    return make


def _copied(name: str, tick_s: float = 1e-6, shift_s: float = 0.0, movflags: str = ""):
    def make(folder: Path) -> Clip:
        return _plain(copy(_h264(folder), folder / name, shift_s=shift_s, movflags=movflags), tick_s)

    return make


def _interlaced_ts(folder: Path) -> Clip:
    source = MAKERS["interlaced"](folder).path
    return _plain(copy(source, folder / "interlaced.ts"))


_X264 = {"preset": "veryfast", "bf": "3"}
_VPX = {
    "deadline": "good",
    "cpu-used": "5",
    "auto-alt-ref": "1",
    "lag-in-frames": "16",
    "g": "40",
    "b": "400k",
}
_X265 = "log-level=error:keyint=30:min-keyint=30:pools=1:frame-threads=1"

MAKERS: dict[str, Callable[[Path], Clip]] = {
    "h264": lambda folder: _plain(_h264(folder)),
    "mov": _copied("h264.mov"),
    "hevc-open": _encoded("open.hevc.mp4", "libx265", {"preset": "superfast", "x265-params": _X265}),
    "hevc-closed": _encoded(
        "closed.hevc.mkv", "libx265", {"preset": "superfast", "x265-params": _X265 + ":open-gop=0"}, 1e-3
    ),
    "vp9": _encoded("vp9.webm", "libvpx-vp9", _VPX, 1e-3),
    "vp8": _encoded("vp8.webm", "libvpx", _VPX, 1e-3),
    "av1": _encoded("av1.mp4", "libsvtav1", {"preset": "10", "g": "40"}),
    "mpeg4": _encoded("mpeg4.mp4", "mpeg4", {"bf": "2", "g": "25", "b": "600k"}),
    "mpeg4-avi": _encoded("mpeg4.avi", "mpeg4", {"bf": "0", "g": "25", "b": "600k"}),
    "mpeg4-avi-b": _encoded("mpeg4b.avi", "mpeg4", {"bf": "2", "g": "25", "b": "600k"}),
    "mpeg2-ts": _encoded("mpeg2.ts", "mpeg2video", {"bf": "2", "g": "15", "b": "900k"}),
    "mjpeg": _encoded("mjpeg.avi", "mjpeg", {}, pix_fmt="yuvj420p"),
    "gif": _encoded("a.gif", "gif", {}, 1e-2, pix_fmt="rgb8"),
    "vfr": _vfr,
    "open-gop": _encoded(
        "opengop.mp4", "libx264", _X264 | {"x264-params": "open-gop=1:keyint=20:min-keyint=20:scenecut=0"}
    ),
    "intra-refresh": _encoded(
        "refresh.mp4", "libx264", _X264 | {"x264-params": "intra-refresh=1:keyint=30:scenecut=0"}
    ),
    "cut": _cut,
    "trimmed": _trimmed,
    "offset": _copied("offset.mp4", shift_s=5.0),
    "fragmented": _copied("frag.mp4", movflags="frag_keyframe+empty_moov"),
    "mkv": _copied("h264.mkv", 1e-3),
    "ts": _copied("h264.ts"),
    "avi": _encoded("h264.avi", "libx264", _X264 | {"g": "30"}),
    "raw": _copied("raw.h264"),
    "interlaced": _encoded(
        "interlaced.mp4", "libx264", _X264 | {"flags": "+ilme+ildct", "g": "30", "x264-params": "tff=1"}
    ),
    "interlaced-ts": _interlaced_ts,
    "turned-90": _turned("turned90", (0, 1, -1, 0), 90),
    "turned-180": _turned("turned180", (-1, 0, 0, -1), 180),
    "turned-270": _turned("turned270", (0, -1, 1, 0), 270),
    "mirrored": _turned("mirrored", (-1, 0, 0, 1), 0, mirrored=True),
}


def truncated(folder: Path, suffix: str) -> Path:
    """A download that stopped at 60 %."""
    whole = _h264(folder) if suffix == "mp4" else copy(_h264(folder), folder / f"whole.{suffix}")
    return cut_off(whole, folder / f"truncated.{suffix}", share=0.6)
