"""Find a video's frames and their times, without decoding if possible."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import av
import numpy as np
from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from vidence.errors import MediaError
from vidence.media.address import Address, MediaPath
from vidence.media.opened import (
    OpenVideoFile,
    decode,
    first_frame,
    open_video_stream,
    oversize,
    packets_to_end,
)
from vidence.media.pixels import Orientation, turn_of
from vidence.media.probe import Claimed, FrameTable, Probe, count, seconds

# One packet is one frame, and key marks can be trusted. Others are counted by decoding them.
_PACKET_CODECS: Final = frozenset(
    (
        *("h264", "hevc", "vp9", "av1", "mpeg4", "mpeg1video", "mpeg2video"),
        *("mjpeg", "prores", "dnxhd", "ffv1", "rawvideo"),
    )
)
# In these, each field of an interlaced picture may be a packet of its own.
_FIELD_CONTAINERS: Final = frozenset({"mpegts", "mpeg", "h264", "hevc", "mpegvideo"})
_PROGRESSIVE_OR_UNKNOWN: Final = (0, 1)
# An MPEG-4 packet this small says "nothing changed" and gives no frame.
_MPEG4_LEAST_BYTES: Final = 20
# Of an MP4 with one of these the index alone says what libavformat says of its packets: no parser changes it.
_INDEXED_CODECS: Final = frozenset({"h264", "hevc", "av1", "mpeg4", "mjpeg", "prores", "dnxhd"})
_NO_TIME: Final = -(1 << 63)
_CUT_OFF_S: Final = 0.5
_USUAL_RATE: Final = Fraction(25)


@dataclass(frozen=True, kw_only=True)
class Scan:
    """The scan of one file. `times_s` has shape (n_frames,), in seconds from the first frame.

    `table` is None if frames must be counted by decoding from the start.
    """

    probe: Probe
    times_s: NDArray[np.float64]
    turn: Orientation
    table: FrameTable | None


@dataclass(frozen=True, kw_only=True)
class _Packets:
    """All packets in decoding order; `trouble` is the error that ended reading, if any."""

    pts: NDArray[np.int64]
    positions: NDArray[np.int64]
    is_key: NDArray[np.bool_]
    is_shown: NDArray[np.bool_]
    least_bytes: int
    end: int | None
    has_all_times: bool
    has_reordered: bool
    in_fields: bool
    trouble: str


def scan_video(path: MediaPath) -> Scan:
    """Find the frames of a video.

    Reads every packet; for an MP4 at an address, the index and the first pictures.

    Raises:
        MediaError: it cannot be opened, has no video stream or no frame; or its server fails.
    """
    nothing = MediaError(f"{path}: its video stream holds no frame that can be decoded")
    with open_video_stream(path) as opened:
        packets, first, problem = _found(path, opened)
        if first is None:
            raise oversize(path) or nothing
        table = _table_of_packets(opened, packets)
        time_base = _time_base(opened)
        if table is not None:
            ticks = table.frame_pts
        else:
            ticks = _decoded_ticks(path, is_cut_off=bool(problem) and packets.has_reordered)
            if not np.all(np.diff(ticks) > 0):
                time_base = 1 / (opened.stream.guessed_rate or opened.stream.average_rate or _USUAL_RATE)
                ticks = np.arange(len(ticks), dtype=np.int64)
        if not len(ticks):
            raise nothing
        turn = turn_of(first)
        if turn is None:
            angle = "its rotation is not a multiple of 90 degrees and is ignored"
            problem, turn = "; ".join(filter(None, (problem, angle))), Orientation()
        width_px, height_px = turn.size(first.width, first.height)
        probe = Probe(
            path=str(path),
            kind="video",
            container=opened.container.format.name,
            codec=opened.codec_name,
            width_px=width_px,
            height_px=height_px,
            rotation_deg=turn.rotation_deg,
            claimed=_claimed(opened),
            counted=count(ticks, time_base=time_base),
            has_audio=bool(opened.container.streams.audio),
            problem=problem,
        )
    return Scan(probe=probe, times_s=seconds(ticks, time_base=time_base), turn=turn, table=table)


def _time_base(opened: OpenVideoFile) -> Fraction:
    return opened.stream.time_base or Fraction(1, av.time_base)


def _claimed(opened: OpenVideoFile) -> Claimed:
    stream, container = opened.stream, opened.container
    duration_s: float | None = None
    if stream.duration is not None and stream.time_base is not None:
        duration_s = float(stream.duration * stream.time_base)
    elif container.duration is not None:
        duration_s = container.duration / av.time_base
    rate = stream.average_rate or stream.guessed_rate
    return Claimed(n_frames=stream.frames or None, duration_s=duration_s, fps=float(rate) if rate else None)


def _found(path: MediaPath, opened: OpenVideoFile) -> tuple[_Packets, VideoFrame | None, str]:
    """Return all packets, the first frame, and what the header promises but the file lacks."""
    is_indexed = isinstance(path, Address) and "mp4" in opened.container.format.name
    if is_indexed and opened.codec_name in _INDEXED_CODECS:
        with open_video_stream(path, without_samples=True) as hollow:
            packets, _ = _read_packets(hollow, decodes=False)
            keys = _indexed_keys(hollow, packets)
            is_whole = keys is not None and not _shortfall(hollow, packets)
        if keys is not None and is_whole:  # of one that is damaged the index says too little
            packets = replace(
                packets, is_key=keys, has_reordered=_has_reordered(opened), in_fields=_in_fields(opened)
            )
            return packets, first_frame(opened), ""
    packets, first = _read_packets(opened)
    return packets, first, "" if first is None else _shortfall(opened, packets)


def _indexed_keys(opened: OpenVideoFile, packets: _Packets) -> NDArray[np.bool_] | None:
    """Return the keyframes by the index of a completely read MP4; None if the index does not tell.

    If it marks none, all count as keyframes: this is true for some codecs, but unknown for H.264.
    """
    keys = {entry.pos: entry.is_keyframe for entry in opened.stream.index_entries}
    positions: list[int] = packets.positions.tolist()
    if not positions or not all(position in keys for position in positions):
        return None
    values = np.array([keys[position] for position in positions], np.bool_)
    return None if opened.codec_name == "h264" and len(values) > 1 and values.all() else values


def _has_reordered(opened: OpenVideoFile) -> bool:
    return bool(opened.codec.has_b_frames)


def _in_fields(opened: OpenVideoFile) -> bool:
    return int(opened.codec.field_order) not in _PROGRESSIVE_OR_UNKNOWN


def _read_packets(opened: OpenVideoFile, *, decodes: bool = True) -> tuple[_Packets, VideoFrame | None]:
    """Return every packet of the stream, and the first decodable frame (None without decoding)."""
    # Decoding the first frame may change what the codec says.
    has_reordered, in_fields = _has_reordered(opened), _in_fields(opened)
    first: list[VideoFrame] | None = None
    rows: list[tuple[int, int, int, int, bool, bool, bool]] = []
    trouble = ""
    try:
        for packet in opened.container.demux(opened.stream):
            if packet.size:
                pts = _NO_TIME if packet.pts is None else packet.pts
                duration, position = packet.duration or 0, -1 if packet.pos is None else packet.pos
                marks = packet.is_keyframe, not packet.is_discard, not packet.is_corrupt
                rows.append((pts, duration, packet.size, position, *marks))
                if decodes:
                    first = first or _decoded(opened.codec, packet, is_first=len(rows) == 1)
    except av.FFmpegError as error:
        trouble = error.strerror or type(error).__name__
    if decodes:
        first = first or decode(opened.codec, None)
    times, durations, sizes, positions, is_key, is_shown, is_whole = np.array(rows, np.int64).reshape(-1, 7).T
    n_whole = int(np.flatnonzero(is_whole).max(initial=-1)) + 1
    if n_whole < len(rows):
        trouble = trouble or "the last frame is cut off"
    has_all_times = not (times == _NO_TIME).any()
    packets = _Packets(
        pts=np.where(times == _NO_TIME, 0, times)[:n_whole],
        positions=positions[:n_whole],
        is_key=is_key[:n_whole].astype(np.bool_),
        is_shown=is_shown[:n_whole].astype(np.bool_),
        least_bytes=int(sizes.min(initial=1 << 62)),
        end=max(int((times + durations).max(initial=0)), 0) if has_all_times else None,
        has_all_times=has_all_times,
        has_reordered=has_reordered,
        in_fields=in_fields,
        trouble=trouble,
    )
    return packets, first[0] if first and n_whole else None


def _decoded(
    codec: VideoCodecContext, packet: "Packet[VideoStream]", *, is_first: bool
) -> list[VideoFrame] | None:
    """Return the frames of a packet; in an intact file, only the first packet yields one here."""
    frames = decode(codec, packet)
    if is_first:
        frames = frames or decode(codec, None)
        codec.flush_buffers()
    return frames


def _table_of_packets(opened: OpenVideoFile, packets: _Packets) -> FrameTable | None:
    container, codec = opened.container.format.name, opened.codec_name
    is_plain = (
        codec in _PACKET_CODECS
        and packets.has_all_times
        and not (container in _FIELD_CONTAINERS and packets.in_fields)
        # AVI has no presentation times; those that are made up for it are wrong where frames are reordered.
        and not (container == "avi" and packets.has_reordered)
        and not (codec == "mpeg4" and packets.least_bytes < _MPEG4_LEAST_BYTES)
    )
    if not is_plain:
        return None
    return FrameTable.of_packets(packets.pts, is_key=packets.is_key, is_shown=packets.is_shown)


def _shortfall(opened: OpenVideoFile, packets: _Packets) -> str:
    """Describe what the header promises but the file lacks; empty if complete."""
    n_found, n_claimed = len(packets.pts), opened.stream.frames
    n_lost = n_claimed - n_found
    if n_lost > 0 and "mp4" in opened.container.format.name:
        # An edit may leave samples of an MP4 out, so that fewer are read than there are.
        n_lost = sum(entry.pos + entry.size > opened.size_bytes for entry in opened.stream.index_entries)
    if n_lost > 0:
        return f"truncated: the header says {n_claimed} frames, {n_lost} of them are missing"
    if packets.trouble:
        return f"damaged: reading ended after {n_found} frames ({packets.trouble})"
    claimed_s = _stream_duration_s(opened)
    if n_claimed or claimed_s is None or packets.end is None:
        return ""
    found_s = float((packets.end - int(packets.pts.min())) * _time_base(opened))
    if claimed_s - found_s > _CUT_OFF_S:
        return f"truncated: the header says {claimed_s:.2f} s, the frames end after {found_s:.2f} s"
    return ""


def _stream_duration_s(opened: OpenVideoFile) -> float | None:
    """Return the header's duration of this stream (in Matroska from a tag)."""
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


def _decoded_ticks(path: MediaPath, *, is_cut_off: bool) -> NDArray[np.int64]:
    """Return the times of all frames in output order; zeros if they have none.

    If the end is truncated, frames that a decoder holds back for reordering are left out: they cannot be
    counted, because frames between them may be missing.
    """
    with open_video_stream(path) as opened:
        packets = (packet for packet in packets_to_end(opened) if packet is not None or not is_cut_off)
        frames = (frame for packet in packets for frame in decode(opened.codec, packet) or ())
        return np.array([frame.pts or 0 for frame in frames], np.int64)
