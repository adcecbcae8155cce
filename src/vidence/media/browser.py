"""The clock of a video, and copies that every browser plays: the same frames at the same times."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, cast

import av
import numpy as np
from av.codec.codec import Codec, UnknownCodecError
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from vidence.errors import MediaError
from vidence.media.address import place
from vidence.media.encode import Size
from vidence.media.opened import OpenVideoFile, decode, open_video_stream, packets_to_end
from vidence.media.video import FrameProblem, Video
from vidence.media.whole import PRIVATE, whole_file

# What browsers play, by the first name of the container (libavformat's) and the codec.
_PLAYED: Final = {
    "mov": frozenset({"h264", "vp9", "av1"}),
    "matroska": frozenset({"h264", "vp8", "vp9", "av1"}),
}
_PLAYED_PIXELS: Final = frozenset({"yuv420p", "yuvj420p", "yuv420p10le"})
# The first that is there is used; each is quick to seek in, and shows frames in the order they are stored.
_ENCODERS: Final = (
    ("libx264", {"preset": "veryfast", "crf": "20", "bf": "0", "g": "24", "x264-params": "scenecut=0"}),
    ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "7", "crf": "30", "b": "0", "g": "24"}),
)
# Raised whenever the same video would give other copies.
_COPY_VERSION: Final = 1
_MOST_PX: Final = 1280
_BLOCK_BYTES: Final = 1 << 27  # of pictures that are in memory at a time
_MISSING_LUMA: Final = 128
_MICROSECOND: Final = Fraction(1, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class FrameClock:
    """When the frames of a file are presented.

    Shapes: `ticks` (n_frames,), ascending, in units of `time_base` seconds.
    `start_s` is the time of the first frame on the file's own clock, which is not 0 where sound begins
    earlier, or where the file was cut out of another; `pixel_format` is the decoder's, empty for images.
    """

    ticks: NDArray[np.int64]
    time_base: Fraction
    start_s: float
    pixel_format: str


def read_clock(video: Video) -> FrameClock:
    """The times of the frames of a file that was opened before.

    Images and folders of images have one tick of a second for each frame, as `Video` numbers them.

    Raises:
        MediaError: the file cannot be opened any more.
    """
    if video.probe.kind != "video":
        ticks = np.arange(video.n_frames, dtype=np.int64)
        return FrameClock(ticks=ticks, time_base=Fraction(1), start_s=0.0, pixel_format="")
    with open_video_stream(place(video.probe.path)) as opened:
        time_base = opened.stream.time_base or _MICROSECOND
        pixel_format = opened.codec.pix_fmt or ""
        if video.scan.table is not None:
            ticks = video.scan.table.frame_pts
        else:
            ticks, time_base = _ticks_of_times(video, time_base=time_base, first=_first_pts(opened))
    start_s = float(int(ticks[0]) * time_base)
    return FrameClock(ticks=ticks, time_base=time_base, start_s=start_s, pixel_format=pixel_format)


def _first_pts(opened: OpenVideoFile) -> int:
    """The time of the first frame that comes out of the decoder, in ticks."""
    for packet in packets_to_end(opened):
        for frame in decode(opened.codec, packet) or ():
            return frame.pts or 0
    return 0


def _ticks_of_times(video: Video, *, time_base: Fraction, first: int) -> tuple[NDArray[np.int64], Fraction]:
    """Ticks of frames that were counted by decoding; microseconds where they have no times of their own."""
    for unit in (time_base, _MICROSECOND):
        steps = np.rint(video.times_s / float(unit)).astype(np.int64)
        is_exact = float(np.abs(steps * float(unit) - video.times_s).max()) < float(unit) / 4
        if unit == _MICROSECOND or (is_exact and bool(np.all(np.diff(steps) > 0))):
            break
    return steps + round(first * time_base / unit), unit


def plays_as_it_is(video: Video, clock: FrameClock) -> bool:
    """Whether browsers may be able to show each frame of the file itself.

    They cannot where a codec is unknown to them, where frames lie before 0, and where a keyframe is followed
    by frames that are shown before it (an open group of pictures): after a jump there Chromium gives up.
    """
    probe = video.probe
    codecs = _PLAYED.get(probe.container.split(",")[0], frozenset[str]())
    is_known = probe.codec in codecs and clock.pixel_format in _PLAYED_PIXELS
    return is_known and int(clock.ticks[0]) >= 0 and not _has_leading(video)


def _has_leading(video: Video) -> bool:
    table = video.scan.table
    if table is None:
        return False
    after = np.arange(int(table.keys[0]), len(table.packet_pts))
    key = table.keys[np.searchsorted(table.keys, after, side="right") - 1]
    return bool(np.any(table.packet_pts[after] < table.packet_pts[key]))


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """A way to encode a copy; `key` names it and its settings in file names."""

    name: str
    options: dict[str, str]

    @property
    def key(self) -> str:
        """What a copy depends on besides the video."""
        return f"{self.name}-{_MOST_PX}-v{_COPY_VERSION}"


def encoder() -> Encoder:
    """The way in which copies are encoded here.

    Raises:
        MediaError: the installed PyAV can encode neither H.264 nor VP9.
    """
    for name, options in _ENCODERS:
        try:
            Codec(name, "w")
        except UnknownCodecError:
            continue
        return Encoder(name=name, options=dict(options))
    raise MediaError(
        "the installed PyAV encodes neither H.264 nor VP9, so that no copy for browsers can be made; "
        "install the wheel of PyAV from PyPI: pip install --force-reinstall av"
    )


def write_copy(
    video: Video,
    clock: FrameClock,
    target: Path,
    *,
    way: Encoder,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Encode all frames of a video anew, as MP4 without sound; frame i stays frame i, at its time.

    The longer side has at most 1280 pixels, both sides are even. A frame that is damaged is plain grey.
    Times are those of the file, from 0. The file is there whole or not at all.

    Args:
        video: the original.
        clock: the times of its frames.
        target: where to write; its folder exists.
        way: how to encode.
        progress: told after each block how many frames are done.

    Raises:
        MediaError: the original cannot be read, or the copy cannot be written.
    """
    time_base = clock.time_base
    ticks = clock.ticks - clock.ticks[0]
    try:
        with (
            whole_file(target, mode=PRIVATE) as temporary,
            av.open(str(temporary), "w", format="mp4") as made,
        ):
            stream = cast("VideoStream", made.add_stream(way.name, rate=_rate(video), options=way.options))
            stream.width, stream.height = _even_size(video)
            stream.pix_fmt = "yuv420p"
            stream.codec_context.thread_count = 1
            stream.time_base = stream.codec_context.time_base = time_base
            for index, frame in _frames(video, (stream.width, stream.height), progress):
                frame.pts, frame.time_base = int(ticks[index]), time_base
                made.mux(stream.encode(frame))
            made.mux(stream.encode(None))
    except (av.FFmpegError, OSError, ValueError) as error:
        raise MediaError(f"{video.probe.path}: a copy for browsers cannot be made ({error})") from error


def _rate(video: Video) -> Fraction:
    """A rate near that of the video, for the bounds of the encoder alone; times are given frame by frame."""
    fps = video.probe.counted.fps
    return Fraction(fps).limit_denominator(1001) if 1 <= fps <= 240 else Fraction(25)


def _even_size(video: Video) -> tuple[int, int]:
    width_px, height_px = Size(kind="long", pixels=_MOST_PX).fit(video.probe.width_px, video.probe.height_px)
    return max(width_px // 2 * 2, 2), max(height_px // 2 * 2, 2)


def _frames(
    video: Video, size: tuple[int, int], progress: Callable[[int], None]
) -> Iterator[tuple[int, VideoFrame]]:
    """All frames in order, upright, as the encoder takes them; a bounded number of them in memory."""
    width_px, height_px = size
    limit = Size(kind="long", pixels=_MOST_PX)

    def convert(_: int, image: NDArray[np.uint8]) -> VideoFrame:
        return VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24").reformat(
            width=width_px, height=height_px, format="yuv420p"
        )

    block = max(_BLOCK_BYTES // (width_px * height_px * 2), 1)
    for start in range(0, video.n_frames, block):
        indices = range(start, min(start + block, video.n_frames))
        read = video.read(indices, convert, size=limit)
        for index in indices:
            frame = read.pop(index)
            yield index, _grey(width_px, height_px) if isinstance(frame, FrameProblem) else frame
        progress(indices.stop)


def _grey(width_px: int, height_px: int) -> VideoFrame:
    planes = np.full((height_px * 3 // 2, width_px), _MISSING_LUMA, np.uint8)
    return VideoFrame.from_ndarray(planes, format="yuv420p")
