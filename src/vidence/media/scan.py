"""What a video holds: its frames and their times, found without decoding where that is possible."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import av
import numpy as np
from numpy.typing import NDArray

from vidence.errors import MediaError
from vidence.media.moov import n_beyond_end, read_moov
from vidence.media.opened import Opened, decode, open_video_stream, packets_to_end
from vidence.media.pixels import Turn, turn_of
from vidence.media.probe import Claimed, Probe, count, seconds
from vidence.media.table import FrameTable

# One packet is one frame, and key marks can be trusted. Others are counted by decoding them.
_PACKET_CODECS: Final = frozenset(
    (
        *("h264", "hevc", "vp9", "av1", "mpeg4", "mpeg1video", "mpeg2video"),
        *("mjpeg", "prores", "dnxhd", "ffv1", "rawvideo"),
    )
)
_MOOV_CODECS: Final = frozenset({"h264", "hevc", "vp9", "av1"})
# Opening these reads the size out of the stream itself; a container alone may be wrong about it.
_SIZED_CODECS: Final = frozenset({"h264", "hevc"})
# In these, each field of an interlaced picture may be a packet of its own.
_FIELD_CONTAINERS: Final = frozenset({"mpegts", "mpeg", "h264", "hevc", "mpegvideo"})
_PROGRESSIVE_OR_UNKNOWN: Final = (0, 1)
# An MPEG-4 packet this small says "nothing changed" and gives no frame.
_MPEG4_LEAST_BYTES: Final = 20
_CUT_OFF_S: Final = 0.5
_USUAL_RATE: Final = Fraction(25)


@dataclass(frozen=True, kw_only=True)
class Scan:
    """One file as it is. `times_s` has shape (n_frames,), in seconds from the first frame.

    `table` is None where frames have to be counted while decoding from the start.
    """

    probe: Probe
    times_s: NDArray[np.float64]
    turn: Turn
    table: FrameTable | None


@dataclass(frozen=True, kw_only=True)
class _Packets:
    """All packets in decoding order; `trouble` is the error that ended the reading, if any."""

    pts: NDArray[np.int64]
    is_key: NDArray[np.bool_]
    is_shown: NDArray[np.bool_]
    least_bytes: int
    end: int | None
    has_all_times: bool
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class _Frames:
    """The times of all frames in ticks of `time_base`, and how they were found."""

    ticks: NDArray[np.int64]
    time_base: Fraction
    table: FrameTable | None
    problem: str


@dataclass(frozen=True, kw_only=True)
class _Look:
    """What frames look like as they are stored; `turn` is None where it is no multiple of 90 degrees."""

    width_px: int
    height_px: int
    turn: Turn | None


def scan_video(path: Path) -> Scan:
    """Find the frames of a video.

    Raises:
        MediaError: it cannot be opened, holds no video stream or no frame.
    """
    with open_video_stream(path) as opened:
        scanned = _scan_index(path, opened) or _scan_packets(path, opened)
        if scanned is None:
            raise MediaError(f"{path}: its video stream holds no frame that can be decoded")
        frames, look = scanned
        problems = [frames.problem]
        if look.turn is None:
            problems.append(
                "asks to be shown at an angle that is no multiple of 90 degrees; it is not turned"
            )
        turn = look.turn or Turn()
        width_px, height_px = turn.size(look.width_px, look.height_px)
        probe = Probe(
            path=str(path),
            kind="video",
            container=opened.container.format.name,
            codec=opened.codec_name,
            width_px=width_px,
            height_px=height_px,
            rotation_deg=turn.rotation_deg,
            claimed=_claimed(opened),
            counted=count(frames.ticks, time_base=frames.time_base),
            has_audio=bool(opened.container.streams.audio),
            problem="; ".join(filter(None, problems)),
        )
    return Scan(
        probe=probe,
        times_s=seconds(frames.ticks, time_base=frames.time_base),
        turn=turn,
        table=frames.table,
    )


def _scan_packets(path: Path, opened: Opened) -> tuple[_Frames, _Look] | None:
    packets = _read_packets(opened)
    look = _look(path)
    if packets is None or look is None:
        return None
    frames = _frames_of_packets(path, opened, packets=packets)
    return (frames, look) if len(frames.ticks) else None


def _frames_of_packets(path: Path, opened: Opened, *, packets: _Packets) -> _Frames:
    stream = opened.stream
    time_base = _time_base(opened)
    table = _table_of_packets(opened, packets)
    problem = _shortfall(path, opened, packets)
    if table is not None:
        return _Frames(ticks=table.frame_pts, time_base=time_base, table=table, problem=problem)
    ticks = _decoded_ticks(path)
    if np.all(np.diff(ticks) > 0):
        return _Frames(ticks=ticks, time_base=time_base, table=None, problem=problem)
    rate = stream.guessed_rate or stream.average_rate or _USUAL_RATE
    even = np.arange(len(ticks), dtype=np.int64)
    return _Frames(ticks=even, time_base=1 / rate, table=None, problem=problem)


def _time_base(opened: Opened) -> Fraction:
    return opened.stream.time_base or Fraction(1, av.time_base)


def _claimed(opened: Opened) -> Claimed:
    stream, container = opened.stream, opened.container
    duration_s: float | None = None
    if stream.duration is not None and stream.time_base is not None:
        duration_s = float(stream.duration * stream.time_base)
    elif container.duration is not None:
        duration_s = container.duration / av.time_base
    rate = stream.average_rate or stream.guessed_rate
    return Claimed(
        n_frames=stream.frames or None,
        duration_s=duration_s,
        fps=float(rate) if rate else None,
    )


# --------------------------------------------------------------------------- by the index


def _scan_index(path: Path, opened: Opened) -> tuple[_Frames, _Look] | None:
    stream = opened.stream
    if "mp4" not in opened.container.format.name or opened.codec_name not in _MOOV_CODECS:
        return None
    found = read_moov(path, track_id=stream.id)
    if found is None or len(found.pts) != stream.frames or found.timescale * _time_base(opened) != 1:
        return None
    table = FrameTable.of_packets(found.pts, is_key=found.is_key, is_shown=np.ones(len(found.pts), np.bool_))
    if table is None:
        return None
    frames = _Frames(ticks=table.frame_pts, time_base=_time_base(opened), table=table, problem="")
    codec = opened.codec
    if opened.codec_name in _SIZED_CODECS and codec.width and codec.height:
        look = _Look(width_px=codec.width, height_px=codec.height, turn=Turn.of_matrix(found.matrix))
        return frames, look
    seen = _look(path)
    return None if seen is None else (frames, seen)


# --------------------------------------------------------------------------- by the packets


def _read_packets(opened: Opened) -> _Packets | None:
    """Every packet of the stream, undecoded; None where there is none."""
    pts: list[int] = []
    is_key: list[bool] = []
    is_shown: list[bool] = []
    is_whole: list[bool] = []
    least_bytes, ends, has_all_times, trouble = 1 << 62, [0], True, ""
    try:
        for packet in opened.container.demux(opened.stream):
            if not packet.size:
                continue
            has_all_times = has_all_times and packet.pts is not None
            pts.append(packet.pts or 0)
            is_key.append(packet.is_keyframe)
            is_shown.append(not packet.is_discard)
            is_whole.append(not packet.is_corrupt)
            least_bytes = min(least_bytes, packet.size)
            ends.append((packet.pts or 0) + (packet.duration or 0))
    except av.FFmpegError as error:
        trouble = error.strerror or type(error).__name__
    while is_whole and not is_whole[-1]:
        trouble = trouble or "the last frame is cut off"
        for column in (pts, is_key, is_shown, is_whole):
            column.pop()
    if not pts:
        return None
    return _Packets(
        pts=np.array(pts, np.int64),
        is_key=np.array(is_key, np.bool_),
        is_shown=np.array(is_shown, np.bool_),
        least_bytes=least_bytes,
        end=max(ends) if has_all_times else None,
        has_all_times=has_all_times,
        trouble=trouble,
    )


def _table_of_packets(opened: Opened, packets: _Packets) -> FrameTable | None:
    container, codec = opened.container.format.name, opened.codec_name
    in_fields = (
        container in _FIELD_CONTAINERS and int(opened.codec.field_order) not in _PROGRESSIVE_OR_UNKNOWN
    )
    is_plain = (
        codec in _PACKET_CODECS
        and packets.has_all_times
        and not in_fields
        # AVI has no presentation times; those that are made up for it are wrong where frames are reordered.
        and not (container == "avi" and opened.codec.has_b_frames)
        and not (codec == "mpeg4" and packets.least_bytes < _MPEG4_LEAST_BYTES)
    )
    if not is_plain:
        return None
    return FrameTable.of_packets(packets.pts, is_key=packets.is_key, is_shown=packets.is_shown)


def _shortfall(path: Path, opened: Opened, packets: _Packets) -> str:
    """What the header promises and the file does not hold; empty where all is there."""
    n_found, n_claimed = len(packets.pts), opened.stream.frames
    is_mp4 = "mp4" in opened.container.format.name
    # An edit may leave samples of an MP4 out, so that fewer are read than there are.
    n_lost = n_beyond_end(path, track_id=opened.stream.id) if is_mp4 else n_claimed - n_found
    if n_lost > 0:
        return f"truncated: the header says {n_claimed} frames, {n_lost} of them are not in the file"
    if packets.trouble:
        return f"damaged: reading ended after {n_found} frames ({packets.trouble})"
    claimed_s = _stream_duration_s(opened)
    if n_claimed or claimed_s is None or packets.end is None:
        return ""
    found_s = float((packets.end - int(packets.pts.min())) * _time_base(opened))
    if claimed_s - found_s > _CUT_OFF_S:
        return f"truncated: the header says {claimed_s:.2f} s, the frames end after {found_s:.2f} s"
    return ""


def _stream_duration_s(opened: Opened) -> float | None:
    """What the header says about this stream alone (Matroska says it in a tag)."""
    tag = opened.stream.metadata.get("DURATION", "")
    try:
        hours, minutes, rest = tag.split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(rest)
    except ValueError:
        container = opened.container
        if len(container.streams) > 1 or container.duration is None:
            return None
        return container.duration / av.time_base


# --------------------------------------------------------------------------- by decoding


def _decoded_ticks(path: Path) -> NDArray[np.int64]:
    """The times of all frames in the order in which they come out; zeros where they have none."""
    with open_video_stream(path) as opened:
        frames = (frame for packet in packets_to_end(opened) for frame in decode(opened.codec, packet) or ())
        return np.array([frame.pts or 0 for frame in frames], np.int64)


def _look(path: Path) -> _Look | None:
    """The first frame that comes out at all; of a sound file, the first packet alone gives it."""
    with open_video_stream(path) as opened:
        packets = packets_to_end(opened)
        first = next(packets)
        frames = decode(opened.codec, first) or (first and decode(opened.codec, None))
        opened.codec.flush_buffers()
        for packet in packets:
            if frames:
                break
            frames = decode(opened.codec, packet)
        if not frames:
            return None
        return _Look(width_px=frames[0].width, height_px=frames[0].height, turn=turn_of(frames[0]))
