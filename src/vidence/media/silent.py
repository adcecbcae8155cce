"""Video files for sending whole: without sound and title, with pictures as stored."""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.video.stream import VideoStream

from vidence.errors import MediaError, cause
from vidence.media import remote
from vidence.media.address import Address, MediaPath
from vidence.media.cache import BoundedFolder, mark_used
from vidence.media.whole import PRIVATE, make_private, whole_file

_FOLDER = "silent"
_PATTERN = "[0-9a-f]*"  # the names of copies, without the account and what is being written
_AT_A_TIME_BYTES = 2**23
_SPARED_S = 3600.0  # a copy is read when it is sent, which may be long after it was asked for


@dataclass(frozen=True, kw_only=True)
class Silent:
    """A file to send in place of another; `digest` is the SHA-256 of its bytes.

    A file without sound is the file itself, or a complete copy of one at an address, and `is_copy` is False.
    """

    path: Path
    digest: str
    is_copy: bool


def as_it_is(path: MediaPath, *, content_hash: str, cache_root: Path, max_bytes: int) -> Silent:
    """Return the file itself; for an address a copy, cached like those of `without_sound`.

    Raises:
        MediaError: the file cannot be downloaded or written.
    """
    if not isinstance(path, Address):
        return Silent(path=path, digest=content_hash, is_copy=False)
    place = copy_place(f"{_named(content_hash)}-whole{path.suffix.lower()}", cache_root)
    try:
        mark_used(place)
        if not place.exists():
            make_private(place.parent)
            with (
                remote.opened(path) as file,
                whole_file(place, mode=PRIVATE) as temporary,
                temporary.open("wb") as into,
            ):
                shutil.copyfileobj(file, into, _AT_A_TIME_BYTES)
            _make_room(place, max_bytes=max_bytes)
        with place.open("rb") as copy:
            digest = hashlib.file_digest(copy, "sha256").hexdigest()
    except OSError as error:
        raise MediaError(f"{path}: cannot write a copy to {place.parent} ({cause(error)})") from error
    return Silent(path=place, digest=digest, is_copy=False)


def copy_place(name: str, cache_root: Path) -> Path:
    """Return the path of a copy with this name."""
    return cache_root / _FOLDER / name


def _named(content_hash: str) -> str:
    return content_hash.rpartition("-")[2]


def without_sound(path: MediaPath, *, content_hash: str, cache_root: Path, max_bytes: int) -> Silent:
    """The file, or a copy of it without its sound, which is kept in the cache folder.

    The stored pictures are copied as they are: nothing is encoded again, and times stay. Subtitles and data
    are left out, too.

    Args:
        path: the file, or its address.
        content_hash: the SHA-256 of its bytes, which names the copy.
        cache_root: our cache folder.
        max_bytes: how much all copies together may have; the least recently used go first, but none that was
            used in the hour before the newest.

    Raises:
        MediaError: the file cannot be read, or its container cannot be written.
    """
    place = copy_place(f"{_named(content_hash)}{path.suffix.lower()}", cache_root)
    try:
        mark_used(place)
        if not place.exists():
            with _source(path) as source:
                if not source.streams.audio:
                    return as_it_is(
                        path, content_hash=content_hash, cache_root=cache_root, max_bytes=max_bytes
                    )
                _write(source, place, source.streams.video[:1])
            _make_room(place, max_bytes=max_bytes)
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except (av.FFmpegError, ValueError, OSError) as error:
        raise MediaError(
            f"cannot remove the sound of {path}: {cause(error)}; --set audio=keep keeps it"
        ) from error
    return Silent(path=place, digest=digest, is_copy=True)


@contextmanager
def _source(path: MediaPath) -> Iterator[InputContainer]:
    if not isinstance(path, Address):
        with av.open(str(path), "r") as source:
            yield source
        return
    with remote.opened(path) as file, av.open(file, "r") as source:
        yield source
        if file.trouble is not None:
            raise file.trouble


def _make_room(place: Path, *, max_bytes: int) -> None:
    """Account for a new copy; delete old ones if the limit is exceeded."""
    copies = BoundedFolder(place.parent, pattern=_PATTERN, max_bytes=max_bytes, spared_s=_SPARED_S)
    try:
        copies.note(place.stat().st_size)
    except OSError as error:
        copies.give_up(error)


def write_untitled(path: Path, place: Path) -> None:
    """Copy a video with its pictures and sound as stored, without any text.

    Title, tags, chapters, subtitles and data are removed; times are kept.

    Raises:
        MediaError: the file cannot be read, or its container cannot be written.
        OSError: the copy cannot be written.
    """
    try:
        with av.open(str(path), "r") as source:
            _write(source, place, (*source.streams.video[:1], *source.streams.audio[:1]))
    except (av.FFmpegError, ValueError) as error:
        raise MediaError(f"cannot remove the tags of {path}: {error}; convert it to MP4 first") from error


def _write(source: InputContainer, place: Path, streams: Sequence[VideoStream | AudioStream]) -> None:
    """Write some streams to a container of the same kind, atomically."""
    place.parent.mkdir(parents=True, exist_ok=True)
    # Without this, containers hold the time of writing and a name drawn at random.
    exact = {"fflags": "+bitexact"}
    with whole_file(place, mode=PRIVATE) as new, av.open(str(new), "w", options=exact) as result:
        copies = {stream.index: result.add_stream_from_template(stream) for stream in streams}
        for packet in source.demux(*streams):
            if packet.dts is not None:
                packet.stream = copies[packet.stream.index]
                result.mux(packet)
