"""Opening a file with libavformat, and saying why it cannot be opened."""

import logging
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import av
from av.container import InputContainer
from av.packet import Packet
from av.stream import Discard, Disposition
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from vidence.errors import MediaError

_log = logging.getLogger(__name__)

# A file may name others (playlists do); nothing but local files is ever read.
_OPTIONS: Final = {"protocol_whitelist": "file"}
# Demuxers that make pictures of things that are none, such as text files.
_NO_VIDEOS: Final = {"tty", "bin", "xbin", "adf", "idf"}
_TEXT_SAMPLE_BYTES: Final = 512
_FIRST_BOXES: Final = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"styp")


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A file that is open for reading its video stream; all other streams are skipped."""

    container: InputContainer
    stream: VideoStream

    @property
    def codec(self) -> VideoCodecContext:
        """The decoder, which works on the calling thread alone."""
        return self.stream.codec_context

    @property
    def codec_name(self) -> str:
        """The name of the format, not of the library that decodes it: ``av1``, not ``libdav1d``."""
        return self.codec.codec.canonical_name


def check_file(path: Path) -> None:
    """Raise where there is no file with something in it.

    Raises:
        MediaError: missing, a folder, empty, or not allowed to be read.
    """
    if path.is_dir():
        raise MediaError(f"{path}: is a folder; a folder of images has the kind 'frames'")
    try:
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise MediaError(f"{path}: there is no such file") from error
    except OSError as error:
        raise MediaError(f"{path}: cannot be read ({error.strerror})") from error
    if size == 0:
        raise MediaError(f"{path}: is empty (0 bytes)")


@contextmanager
def open_video_stream(path: Path) -> Iterator[Opened]:
    """Open the first video stream that is not a cover picture.

    Raises:
        MediaError: the file is missing, empty, no video, or holds sound only.
    """
    check_file(path)
    try:
        container = av.open(str(path.absolute()), metadata_errors="ignore", options=dict(_OPTIONS))
    except av.FFmpegError as error:
        raise MediaError(f"{path}: {_why(path, error)}") from error
    with container:
        yield Opened(container=container, stream=_pick(path, container))


def packets_to_end(opened: Opened) -> "Iterator[Packet[VideoStream] | None]":
    """What is left to read, packet by packet; at the end, or where reading fails, None to drain.

    What the end of a truncated file cuts off is left out: decoders make a picture even of half a frame.
    """
    cut_off: list[Packet[VideoStream]] = []
    try:
        for packet in opened.container.demux(opened.stream):
            if packet.is_corrupt:
                cut_off.append(packet)
            elif packet.size:
                yield from cut_off
                cut_off.clear()
                yield packet
    except av.FFmpegError as error:
        _log.debug("reading ended early: %s", error)
    yield None


def decode(codec: VideoCodecContext, packet: "Packet[VideoStream] | None") -> list[VideoFrame] | None:
    """The frames that come out when this packet goes in; None where the decoder finds it damaged."""
    try:
        return codec.decode(packet)
    except av.FFmpegError:
        return None


def _pick(path: Path, container: InputContainer) -> VideoStream:
    if container.format.name in _NO_VIDEOS:
        raise MediaError(f"{path}: is text, not a video")
    pictures = [s for s in container.streams.video if not s.disposition & Disposition.attached_pic]
    if not pictures:
        kinds = sorted({s.type for s in container.streams if s.type != "video"})
        held = f"only {' and '.join(kinds)}" if kinds else "no stream at all"
        raise MediaError(f"{path}: has no video stream; it holds {held}")
    stream = pictures[0]
    if stream.codec_context is None:
        raise MediaError(
            f"{path}: no decoder is known for its video stream; convert it, for example to H.264"
        )
    for other in container.streams:
        if other is not stream:
            other.discard = Discard.all
    # Waking threads at every seek costs more than they give; groups of pictures run side by side.
    stream.codec_context.thread_count = 1
    stream.codec_context.thread_type = "NONE"
    return stream


def _why(path: Path, error: av.FFmpegError) -> str:
    if isinstance(error, OSError) and not isinstance(error, ValueError):
        return f"cannot be read ({error.strerror})"
    with path.open("rb") as file:
        sample = file.read(_TEXT_SAMPLE_BYTES)
    if sample.isascii() and all(byte >= 32 or byte in b"\t\r\n\f" for byte in sample):
        return "is text, not a video"
    if lacks_moov(path):
        return "its index (moov) is missing: the recording or the download was cut off; get the whole file"
    return f"is no video that can be read, or its beginning is damaged ({error.strerror})"


def lacks_moov(path: Path) -> bool:
    """Whether this is an MP4 or MOV whose index was never written (a recording that was cut off)."""
    names = []
    with path.open("rb") as file:
        position = 0
        while len(head := file.read(16)) >= 8:
            length, name = struct.unpack_from(">I4s", head)
            if length == 1 and len(head) == 16:
                (length,) = struct.unpack_from(">Q", head, 8)
            names.append(name)
            if length < 8:
                break
            position += length
            file.seek(position)
    return bool(names) and names[0] in _FIRST_BOXES and b"moov" not in names
