"""A video's frame times, and copies that every browser plays with the same frames at the same times."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Final, cast

import av
import numpy as np
from av.codec.codec import UnknownCodecError
from av.container.output import OutputContainer
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from vidence.errors import MediaError, cause
from vidence.media.address import place
from vidence.media.encode import Size
from vidence.media.opened import first_frame, open_video_stream, packets_to_end
from vidence.media.pixels import Orientation
from vidence.media.probe import FrameTable
from vidence.media.video import FrameProblem, Video
from vidence.media.whole import PRIVATE, whole_file

# What browsers play, by the first name of the container (libavformat's) and the codec.
_PLAYED: Final = {
    "mov": frozenset({"h264", "vp9", "av1"}),
    "matroska": frozenset({"h264", "vp8", "vp9", "av1"}),
}
_PLAYED_PIXELS: Final = frozenset({"yuv420p", "yuvj420p", "yuv420p10le"})
# Quick to seek in, frames are shown in the order they are stored, and Chromium reads how long each lasts,
# which it does not of VP9.
_ENCODER: Final = "libx264"
_OPTIONS: Final = {"preset": "veryfast", "crf": "20", "bf": "0", "g": "24", "x264-params": "scenecut=0"}
# Raised whenever the same video would give other copies.
_COPY_VERSION: Final = 1
_MOST_PX: Final = 1280
COPY_KEY: Final = f"{_ENCODER}-{_MOST_PX}-v{_COPY_VERSION}"
"""Version of the copies; part of their names."""
_BLOCK_BYTES: Final = 1 << 27  # of pictures that are in memory at a time
_MISSING_LUMA: Final = 128
_MICROSECOND: Final = Fraction(1, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class FrameClock:
    """When the frames of a file are presented.

    Shapes: `ticks` (n_frames,), ascending, in units of `time_base` seconds.
    `start_s` is the time of the first frame on the file's own clock, which is not 0 where sound begins
    earlier, or where the file was cut out of another; `pixel_format` is the decoder's, empty for images.
    `landings` are the times from which on a jump in an MP4 lands on each keyframe: libavformat, and with it
    Chromium, compares times of decoding, all moved by as much as the first frame waits to be presented.
    """

    ticks: NDArray[np.int64]
    time_base: Fraction
    start_s: float
    pixel_format: str
    landings: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


def read_clock(video: Video) -> FrameClock:
    """Return the frame times of a file that was opened before.

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
        # When the keyframes of an MP4 are decoded, as its index says; of other containers, nothing.
        entries = opened.stream.index_entries if "mp4" in opened.container.format.name else ()
        decoded = np.array([entry.timestamp for entry in entries if entry.is_keyframe], np.int64)
        if video.scan.table is not None:
            ticks = video.scan.table.frame_pts
        else:
            first = first_frame(opened)
            begin = 0 if first is None else first.pts or 0
            ticks, time_base = _ticks_of_times(video, time_base=time_base, first=begin)
    start_s = float(int(ticks[0]) * time_base)
    landings = decoded - decoded[:1] + ticks[0]
    return FrameClock(
        ticks=ticks, time_base=time_base, start_s=start_s, pixel_format=pixel_format, landings=landings
    )


def _ticks_of_times(video: Video, *, time_base: Fraction, first: int) -> tuple[NDArray[np.int64], Fraction]:
    """Return ticks of frames counted by decoding, in microseconds if they have no times of their own."""
    for unit in (time_base, _MICROSECOND):
        steps = np.rint(video.times_s / float(unit)).astype(np.int64)
        is_exact = float(np.abs(steps * float(unit) - video.times_s).max()) < float(unit) / 4
        if unit == _MICROSECOND or (is_exact and bool(np.all(np.diff(steps) > 0))):
            break
    return steps + round(first * time_base / unit), unit


def plays_as_it_is(video: Video, clock: FrameClock) -> bool:
    """Whether browsers can probably show every frame of the file itself.

    They cannot if they lack the codec, if frames lie before 0, or if a keyframe is followed by frames shown
    before it (an open group of pictures): Chromium fails after a seek there. Misleading decoding times or
    durations also prevent exact seeks.
    """
    return _is_played(video, clock) and not _misses(video, clock)


def _is_played(video: Video, clock: FrameClock) -> bool:
    probe = video.probe
    codecs = _PLAYED.get(probe.container.split(",")[0], frozenset[str]())
    is_known = probe.codec in codecs and clock.pixel_format in _PLAYED_PIXELS
    return is_known and int(clock.ticks[0]) >= 0 and not _has_leading(video)


def _misses(video: Video, clock: FrameClock) -> bool:
    """Whether a seek to the middle of a frame's time shows another frame.

    Outside H.264 in MP4, Chromium expects each frame to last as long as others do: in Matroska a rate is
    claimed, and other decoders say no durations.
    """
    probe, table = video.probe, video.scan.table
    if probe.codec != "h264" or not len(clock.landings):
        return probe.counted.is_variable
    if table is None or len(clock.landings) != len(table.keys):
        return False
    key = np.searchsorted(clock.ticks, table.packet_pts[table.keys])
    is_after = (key > 0) & (key < len(clock.ticks))
    middles = (clock.ticks[:-1] + clock.ticks[1:]) / 2
    return bool(np.any(clock.landings[is_after] <= middles[key[is_after] - 1]))


def _has_leading(video: Video) -> bool:
    table = video.scan.table
    if table is None:
        return False
    after = np.arange(int(table.keys[0]), len(table.packet_pts))
    key = table.keys[np.searchsorted(table.keys, after, side="right") - 1]
    return bool(np.any(table.packet_pts[after] < table.packet_pts[key]))


def write_copy(
    video: Video, clock: FrameClock, target: Path, *, progress: Callable[[int], None] = lambda _: None
) -> None:
    """Write all frames of a video as MP4 without sound; frame i stays frame i, at its time.

    Where only times of decoding are in the way, packets are copied with others. Otherwise frames are encoded:
    the longer side has at most 1280 pixels, both sides are even, and a frame that is damaged is plain grey.
    Times are those of the file, from 0. The file is there whole or not at all.

    Args:
        video: the original.
        clock: the times of its frames.
        target: where to write; its folder exists.
        progress: told after each block how many frames are done.

    Raises:
        MediaError: the original cannot be read, or the copy cannot be written.
    """
    try:
        with (
            whole_file(target, mode=PRIVATE) as temporary,
            av.open(str(temporary), "w", format="mp4") as result,
        ):
            if _needs_times_alone(video, clock):
                _copy_packets(video, result)
                progress(video.n_frames)
            else:
                _encode_frames(video, clock, made=result, progress=progress)
    except UnknownCodecError as error:
        raise MediaError(
            "the installed PyAV cannot encode H.264, which copies for browsers need; "
            "install the wheel of PyAV from PyPI: pip install --force-reinstall av"
        ) from error
    except (av.FFmpegError, OSError, ValueError) as error:
        raise MediaError(f"{video.probe.path}: cannot make a copy for browsers ({cause(error)})") from error


def _needs_times_alone(video: Video, clock: FrameClock) -> bool:
    scan = video.scan
    is_plain = video.probe.codec == "h264" and scan.turn == Orientation() and not video.probe.problem
    is_whole = scan.table is not None and scan.table.n_frames == len(scan.table.packet_pts)
    return is_plain and is_whole and _is_played(video, clock) and _misses(video, clock)


def _copy_packets(video: Video, result: OutputContainer) -> None:
    """Copy the packets; each is decoded a constant time before its frame is presented."""
    with open_video_stream(place(video.probe.path)) as opened:
        stream = result.add_stream_from_template(opened.stream)
        pts = cast("FrameTable", video.scan.table).packet_pts
        presented = np.sort(pts)
        decoded = presented - (presented - pts).max()
        for n, packet in enumerate(filter(None, packets_to_end(opened))):
            packet.pts, packet.dts = int(pts[n] - presented[0]), int(decoded[n] - presented[0])
            packet.stream = stream
            result.mux(packet)


def _encode_frames(
    video: Video, clock: FrameClock, *, made: OutputContainer, progress: Callable[[int], None]
) -> None:
    stream = made.add_stream(_ENCODER, rate=_rate(video), options=dict(_OPTIONS))
    sides = Size(kind="long", pixels=_MOST_PX).fit(video.probe.width_px, video.probe.height_px)
    stream.width, stream.height = (max(side // 2 * 2, 2) for side in sides)
    stream.pix_fmt = "yuv420p"
    stream.codec_context.thread_count = 1
    stream.time_base = stream.codec_context.time_base = clock.time_base
    for index, frame in _frames(video, (stream.width, stream.height), progress):
        frame.pts, frame.time_base = int(clock.ticks[index] - clock.ticks[0]), clock.time_base
        made.mux(stream.encode(frame))
    made.mux(stream.encode(None))


def _rate(video: Video) -> Fraction:
    """Return an approximate frame rate for the encoder; times are set per frame."""
    fps = video.probe.counted.fps
    return Fraction(fps).limit_denominator(1001) if 1 <= fps <= 240 else Fraction(25)


def _frames(
    video: Video, size: tuple[int, int], progress: Callable[[int], None]
) -> Iterator[tuple[int, VideoFrame]]:
    """Yield all frames in order, upright, in the encoder's format; few are in memory at a time."""
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
            if isinstance(frame, FrameProblem):
                planes = np.full((height_px * 3 // 2, width_px), _MISSING_LUMA, np.uint8)
                frame = VideoFrame.from_ndarray(planes, format="yuv420p")
            yield index, frame
        progress(indices.stop)
