"""Open files with libavformat, and explain failures."""

import errno
import logging
import os
import re
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

import av
from av.container import InputContainer
from av.packet import Packet
from av.stream import Discard, Disposition
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from vidence.errors import MediaError, cause
from vidence.media import remote
from vidence.media.address import Address, MediaPath
from vidence.media.encode import MOST_PIXELS, too_large

_log = logging.getLogger(__name__)

# An edit list may show the same frames again and again; those of real recordings have some dozen entries.
MOST_EDITS: Final = 1_000
# Demuxers of libavformat, by the first of their names; those that name other files (playlists) are not there.
VIDEO_FORMATS: Final = (
    *("mov", "matroska", "avi", "mpegts", "mpeg", "flv", "asf", "ogg", "gif", "mxf", "dv", "ivf"),
    *("yuv4mpegpipe", "h264", "hevc", "av1", "obu", "vc1", "mpegvideo", "m4v", "mjpeg"),
)
_PIXELS: Final = {"max_pixels": str(MOST_PIXELS)}
# What is read is the file that is named, and what its hash is of: no format that names other files is known.
_OPTIONS: Final = {"protocol_whitelist": "file", "format_whitelist": ",".join(VIDEO_FORMATS), **_PIXELS}
_NOT_ACCEPTED: Final = "Format not on whitelist"
_TOO_LARGE: Final = re.compile(r"Picture size (\d+x\d+) (?:exceeds|is invalid)")
# Demuxers that read a file which names others.
_LISTS: Final = {
    "hls": "an HLS playlist",
    "dash": "a DASH manifest",
    "concat": "a list of files (ffconcat)",
    "sdp": "a description of a stream (SDP)",
    "ffmetadata": "a list of metadata",
    "imf": "an IMF playlist",
    "webm_dash_manifest": "a DASH manifest",
}
_SAMPLES: Final = b"mdat"
_WAY_TO_EDITS: Final = (b"moov", b"trak", b"edts", b"elst")
_TEXT_SAMPLE_BYTES: Final = 512
_FIRST_BOXES: Final = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"styp")


@dataclass(frozen=True, kw_only=True)
class OpenVideoFile:
    """A file open for reading its video stream; all other streams are skipped."""

    container: InputContainer
    stream: VideoStream
    size_bytes: int

    @property
    def codec(self) -> VideoCodecContext:
        """Return the decoder, which uses only the calling thread."""
        return self.stream.codec_context

    @property
    def codec_name(self) -> str:
        """Return the name of the format rather than the decoder library: ``av1``, not ``libdav1d``."""
        return self.codec.codec.canonical_name


def check_file(path: Path) -> None:
    """Check that a file exists and is not empty.

    Raises:
        MediaError: missing, a folder, empty, or not readable.
    """
    try:
        values = path.stat()
    except FileNotFoundError as error:
        raise MediaError(f"{path}: there is no such file") from error
    except OSError as error:
        raise MediaError(f"{path}: cannot be read ({cause(error)})") from error
    except ValueError as error:
        raise MediaError(f"{path!s:.200}: is not a valid file name ({error})") from error
    if stat.S_ISDIR(values.st_mode):
        raise MediaError(f"{path}: is a folder; a folder of images has the kind 'frames'")
    if not stat.S_ISREG(values.st_mode):
        raise MediaError(f"{path}: is a device or a pipe; expected a file")
    if values.st_size == 0:
        raise MediaError(f"{path}: is empty (0 bytes)")


@contextmanager
def open_video_stream(path: MediaPath, *, without_samples: bool = False) -> Iterator[OpenVideoFile]:
    """Open the first video stream that is not a cover picture.

    Args:
        path: the file, or its address, where it is read by ranges.
        without_samples: of an MP4 at an address, fetch the index and what stands around the pictures, sound
            and so on, which are zeros then: packets have their times and sizes, and cannot be decoded.

    Raises:
        MediaError: the file is missing, empty, no video, of a format that is not in `VIDEO_FORMATS`, has more
            than `MOST_EDITS` edits, or holds sound only; or its server fails.
    """
    with _bytes_of(path) as file:
        size = file.seek(0, os.SEEK_END)
        _check_edits(path, file, size)
        source = file if isinstance(file, remote.RemoteFile) else str(cast("Path", path).absolute())
        if without_samples and isinstance(file, remote.RemoteFile):
            file.hollow = tuple(
                (start, end) for name, start, end in _boxes(file, 0, size) if name == _SAMPLES
            )
        try:
            container = _container(source)
        except av.FFmpegError as error:
            _raise_trouble(file)
            raise MediaError(f"{path}: {_why(file, error, source)}") from error
        with container:
            try:
                yield OpenVideoFile(container=container, stream=_pick(path, container), size_bytes=size)
            finally:
                _raise_trouble(file)


def _raise_trouble(file: BinaryIO) -> None:
    """Raise a server's error, which is neither damage nor the end of the file."""
    if isinstance(file, remote.RemoteFile) and file.trouble is not None:
        raise file.trouble


@contextmanager
def _bytes_of(path: MediaPath) -> Iterator[BinaryIO]:
    """Open a file or address, checked as `check_file` does."""
    if isinstance(path, Address):
        with remote.opened(path) as file:
            yield cast("BinaryIO", file)
    else:
        check_file(path)
        with path.open("rb") as local:
            yield local


def packets_to_end(opened: OpenVideoFile) -> "Iterator[Packet[VideoStream] | None]":
    """Yield the remaining packets; at the end, or if reading fails, None to drain the decoder.

    A packet truncated at the end of the file is left out: decoders return a picture even for half a frame.
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


def first_frame(opened: OpenVideoFile) -> VideoFrame | None:
    """Return the first decodable frame, skipping damaged ones."""
    decoded = (decode(opened.codec, packet) for packet in packets_to_end(opened))
    return next((frames[0] for frames in decoded if frames), None)


def decode(codec: VideoCodecContext, packet: "Packet[VideoStream] | None") -> list[VideoFrame] | None:
    """Return the frames that a packet completes; None if the decoder finds it damaged.

    Raises:
        MemoryError: there is too little memory, which is not damage.
    """
    try:
        return codec.decode(packet)
    except MemoryError:
        raise
    except av.FFmpegError:
        return None


def _pick(path: MediaPath, container: InputContainer) -> VideoStream:
    pictures = [s for s in container.streams.video if not s.disposition & Disposition.attached_pic]
    if not pictures:
        kinds = sorted({s.type for s in container.streams if s.type != "video"})
        held = f"only {' and '.join(kinds)}" if kinds else "no stream at all"
        raise MediaError(f"{path}: has no video stream; it holds {held}")
    stream = pictures[0]
    if stream.codec_context is None:
        raise MediaError(f"{path}: no decoder for its video stream; convert it, for example to H.264")
    for other in container.streams:
        if other is not stream:
            other.discard = Discard.all
    # Waking threads at every seek costs more than they give; groups of pictures run side by side.
    stream.codec_context.thread_count = 1
    stream.codec_context.thread_type = "NONE"
    stream.codec_context.options = dict(_PIXELS)
    return stream


def _container(source: str | BinaryIO) -> InputContainer:
    if not isinstance(source, str):
        source.seek(0)
    return av.open(source, "r", metadata_errors="ignore", options=dict(_OPTIONS))


def _why(file: BinaryIO, error: av.FFmpegError, source: str | BinaryIO) -> str:
    if isinstance(error, OSError) and not isinstance(error, ValueError):
        return f"cannot be read ({error.strerror})"
    if isinstance(error, MemoryError):
        return "opening it needs more memory than there is, or its header is damaged"
    # libavformat says that it knows no such option, file, format... with the same number.
    refused = _complaints(source) if error.errno == errno.EINVAL else ()
    name = next((name for name, message in refused if message.startswith(_NOT_ACCEPTED)), "")
    if name in _LISTS:
        return f"is {_LISTS[name]}, which names other files; expected the video itself"
    if name == "image2" or name.endswith("_pipe"):
        return f"is an image ({name.removesuffix('_pipe')}), not a video; an image has the kind 'image'"
    file.seek(0)
    sample = file.read(_TEXT_SAMPLE_BYTES)
    if sample.isascii() and all(byte >= 32 or byte in b"\t\r\n\f" for byte in sample):
        return "is text, not a video"
    if name:
        return (
            f"its format ({name}) is not supported; expected one of {', '.join(VIDEO_FORMATS)}: convert it, "
            "for example to MP4"
        )
    if lacks_moov(file):
        return "its index (moov) is missing: the recording or the download was cut off; get the whole file"
    return f"is not a readable video, or its beginning is damaged ({error.strerror})"


def oversize(path: MediaPath) -> MediaError | None:
    """Return the error for a video with too large pictures, after its first frame failed."""
    with _bytes_of(path) as file:
        for _, message in _complaints(file if isinstance(path, Address) else str(path.absolute())):
            if match := _TOO_LARGE.match(message):
                return MediaError(f"{path}: {too_large(match[1])}")
    return None


def _complaints(source: str | BinaryIO) -> list[tuple[str, str]]:
    """Return libavformat's error messages when opening a file, each with its component.

    Its exceptions carry only a number. Logging is enabled for this call and thread.
    """
    level, skips = av.logging.get_level(), av.logging.get_skip_repeated()
    av.logging.set_level(av.logging.ERROR)
    av.logging.set_skip_repeated(False)
    try:
        with av.logging.Capture() as logs, suppress(av.FFmpegError), _container(source):
            pass
    finally:
        av.logging.set_skip_repeated(skips)
        av.logging.set_level(level)
    return [(name, message) for _, name, message in logs]


def _check_edits(path: MediaPath, file: BinaryIO, size: int) -> None:
    """Reject an MP4 whose edit list would exhaust memory on opening."""
    n_edits = _n_edits(file, 0, size, inside=_WAY_TO_EDITS)
    if n_edits > MOST_EDITS:
        raise MediaError(f"{path}: {n_edits:,} edits, more than {MOST_EDITS:,}; re-encode it without edits")


def _n_edits(file: BinaryIO, start: int, end: int, *, inside: tuple[bytes, ...]) -> int:
    """Return how many edits the boxes in a range of an MP4 have; `inside` is the path of boxes."""
    n_edits = 0
    for name, first, after in _boxes(file, start, end):
        if name != inside[0]:
            continue
        if len(inside) > 1:
            n_edits += _n_edits(file, first, after, inside=inside[1:])
        else:
            file.seek(first + 4)
            n_edits += int.from_bytes(file.read(4), "big")
        if name == _WAY_TO_EDITS[0]:
            break  # the first index counts
    return n_edits


def _boxes(file: BinaryIO, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the boxes in a range of an MP4 or MOV: name, and content range."""
    while start + 8 <= end:
        file.seek(start)
        head = file.read(16)
        if len(head) < 8:
            return
        length, name = struct.unpack_from(">I4s", head)
        header = 8
        if length == 1 and len(head) == 16:
            (length,) = struct.unpack_from(">Q", head, 8)
            header = 16
        yield name, start + header, min(start + length, end) if length else end
        if length < header:  # 0: it reaches to the end
            return
        start += length


def lacks_moov(file: BinaryIO) -> bool:
    """Whether this is an MP4 or MOV without an index (an interrupted recording)."""
    names = [name for name, _, _ in _boxes(file, 0, file.seek(0, os.SEEK_END))]
    return bool(names) and names[0] in _FIRST_BOXES and b"moov" not in names
