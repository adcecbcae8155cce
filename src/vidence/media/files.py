"""Files of questions: locate them, cache their facts, and deliver encoded frames."""

import hashlib
import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, MediaError, UsageError, cause
from vidence.media import remote
from vidence.media.address import Address, MediaPath, is_address, place, redacted
from vidence.media.cache import FrameCache, warn_once
from vidence.media.encode import EncodedFrame, Encoding, encode
from vidence.media.probe import MediaKind, Probe
from vidence.media.scan import Scan
from vidence.media.stills import images_in
from vidence.media.video import FrameProblem, Video, open_video
from vidence.media.whole import PRIVATE, write_whole
from vidence.records import Item, Media, Record

# Raised whenever the same file would give other facts; what older versions kept is not read.
_FACTS_VERSION: Final = 3
_SAID: Final = "said-"
_KINDS: Final[dict[str, MediaKind]] = {"video": "video", "image": "image", "frames": "frames"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class MediaFacts:
    """One file, or one folder of images.

    `times_s` are the presentation times of its frames in seconds from the first, shape (n_frames,).
    `content_hash` is the SHA-256 of the file; of the list of its images' hashes for a folder. Of an address
    it begins with ``said-``, and follows from the address and from what its server says of the file (its
    version, its size), unless that tells the SHA-256.
    """

    probe: Probe
    times_s: NDArray[np.float64]
    content_hash: str

    @property
    def is_of_bytes(self) -> bool:
        """Whether the hash is of the file's bytes."""
        return not self.content_hash.startswith(_SAID)


class LookedInto(Record):
    """Cached facts of a file; `state` tells whether the file has changed."""

    version: int = _FACTS_VERSION
    state: str
    content_hash: str
    scan: Scan


def _array_form(value: object) -> tuple[str, bytes]:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{type(value).__name__} has no form in a file of facts")
    return value.dtype.str, value.tobytes()


def _array(_: type, form: tuple[str, bytes]) -> NDArray[np.generic]:
    dtype, data = form
    return np.frombuffer(data, dtype)


_FACTS: Final = msgspec.msgpack.Decoder(LookedInto, dec_hook=_array)


def read_facts(path: MediaPath, *, kind: str, cache_root: Path | None) -> MediaFacts:
    """Probe a file and cache the facts under `cache_root`; valid cached facts are used.

    Args:
        path: a file, or a folder for the kind ``frames``; or the address of one.
        kind: ``video``, ``image`` or ``frames`` (a folder of images, one per second, by name).
        cache_root: where to keep facts; None keeps nothing.

    Raises:
        MediaError: it cannot be read, or holds no frame; the message says which file and why.
        UsageError: an unknown kind, or a driver that is not installed.
    """
    return _facts(*known_video(path, kind=kind, cache_root=cache_root))


def cached_facts(path: MediaPath, *, kind: str, cache_root: Path | None) -> MediaFacts | None:
    """Return cached facts if path, size and modification time are unchanged; never opens the file.

    For an address, its server is queried, which may be slow.

    Raises:
        MediaError: the server does not answer, or refuses.
    """
    if cache_root is None:
        return None
    known = _kept(path, kind=_kind(kind), cache_root=cache_root)
    return None if known is None else _facts(*known)


def known_video(path: MediaPath, *, kind: str, cache_root: Path | None) -> tuple[Video, str]:
    """Return the file as numbered frames, with its content hash, from cached facts if valid.

    Raises:
        MediaError: it cannot be read, or holds no frame.
        UsageError: an unknown kind.
    """
    checked = _kind(kind)
    known = None if cache_root is None else _kept(path, kind=checked, cache_root=cache_root)
    if known is not None:
        return known
    state = _state(path, checked)
    video = open_video(path, kind=checked)
    try:
        content_hash = _hash_of(path, checked)
    except OSError as error:
        raise MediaError(f"{path}: cannot be read ({cause(error)})") from error
    if _state(path, checked) != state:
        raise MediaError(f"{path}: changed while it was being read; start again when it is complete")
    if cache_root is not None:
        _keep(LookedInto(scan=video.scan, content_hash=content_hash, state=state or ""), cache_root)
    return video, content_hash


def look_into(path: Path, *, kind: str) -> LookedInto:
    """Probe a file, for a process that stores the result with `keep_facts`; errors as `read_facts`."""
    state = _state(path, _kind(kind))
    video, content_hash = known_video(path, kind=kind, cache_root=None)
    return LookedInto(scan=video.scan, content_hash=content_hash, state=state or "")


def keep_facts(into: LookedInto, *, cache_root: Path) -> MediaFacts:
    """Store another process's probe result, and return the facts; valid until the file changes."""
    _keep(into, cache_root)
    return _facts(Video(into.scan), into.content_hash)


def _facts(video: Video, content_hash: str) -> MediaFacts:
    return MediaFacts(probe=video.probe, times_s=video.times_s, content_hash=content_hash)


def _kind(kind: str) -> MediaKind:
    if kind not in _KINDS:
        raise UsageError(f"unknown kind of media {kind!r}; expected one of {', '.join(_KINDS)}")
    return _KINDS[kind]


def _state(path: MediaPath, kind: MediaKind) -> str | None:
    """Return size and modification time, or a server's metadata; None if absent. Folders: of all images."""
    if isinstance(path, Address):
        return _state_at(path, kind)
    try:
        if kind != "frames":
            stat = path.stat()
            return f"{stat.st_size} {stat.st_mtime_ns}"
        with os.scandir(path) as entries:
            facts = sorted((e.name, e.stat().st_size, e.stat().st_mtime_ns) for e in entries)
        return hashlib.sha256(repr(facts).encode()).hexdigest()
    except (OSError, ValueError):  # a name that no file can have is a ValueError
        return None


def _state_at(address: Address, kind: MediaKind) -> str | None:
    if kind != "frames":
        facts = remote.look(address)
        return None if facts is None else facts.version
    listed = remote.listing(address)
    return None if listed is None else repr(sorted((name, its.version) for name, its in listed.items()))


def _hash_at(address: Address, kind: MediaKind) -> str:
    """Return a substitute for the hash of the bytes, which would require a download."""
    facts = None if kind == "frames" else remote.look(address)
    if facts is not None and facts.sha256:
        return facts.sha256
    version = _state_at(address, kind) if facts is None else facts.version
    return _SAID + hashlib.sha256(f"{address}\n{version}".encode()).hexdigest()


def _hash_of(path: MediaPath, kind: MediaKind) -> str:
    if isinstance(path, Address):
        return _hash_at(path, kind)
    if kind != "frames":
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    hashes = [_hash_of(image, "image") for image in images_in(path)]
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def _place(path: MediaPath, kind: MediaKind, cache_root: Path) -> Path:
    name = hashlib.sha256(f"{kind} {path.absolute()}".encode()).hexdigest()
    return cache_root / "facts" / name[:2] / name[2:]


def _keep(into: LookedInto, cache_root: Path) -> None:
    kept_at = _place(place(into.scan.probe.path), into.scan.probe.kind, cache_root)
    try:
        write_whole(kept_at, msgspec.msgpack.encode(into, enc_hook=_array_form), mode=PRIVATE)
    except OSError as error:
        warn_once(str(cache_root / "facts"), cause(error))


def _kept(path: MediaPath, *, kind: MediaKind, cache_root: Path) -> tuple[Video, str] | None:
    last = _last_kept(path, kind=kind, cache_root=cache_root)
    if last is None or last.state != _state(path, kind):
        return None
    scan = replace(last.scan, probe=msgspec.structs.replace(last.scan.probe, path=str(path)))
    return Video(scan), last.content_hash


def _last_kept(path: MediaPath, *, kind: MediaKind, cache_root: Path) -> LookedInto | None:
    """Return the last cached facts of the file, whether still valid or not."""
    try:
        last = _FACTS.decode(_place(path, kind, cache_root).read_bytes())
    except (OSError, msgspec.DecodeError):
        return None
    return last if last.version == _FACTS_VERSION else None


class Job(Record):
    """Which frames of which file to deliver, how encoded, and where to cache them (None: nowhere).

    `content_hash` is the hash of the file that is meant; empty for the one that lies there.
    """

    path: str
    kind: str
    frame_indices: tuple[int, ...]
    encoding: Encoding
    cache_root: str | None
    cache_max_bytes: int
    threads: int = 1
    content_hash: str = ""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A job's result by frame index: every requested frame is in `frames` or in `problems`.

    `problems` name file, frame and fault. `n_decoded` frames were decoded, `n_from_cache` came from the
    cache.
    """

    frames: dict[int, EncodedFrame]
    problems: dict[int, str]
    n_decoded: int
    n_from_cache: int


def deliver(job: Job) -> Delivery:
    """Return frames from the cache, decoding missing ones in one pass over the file.

    A damaged file gives its intact frames, and a problem for each other one.

    Raises:
        MediaError: the file cannot be read at all, or has another hash.
    """
    root = None if job.cache_root is None else Path(job.cache_root)
    path, kind = place(job.path), _kind(job.kind)
    state = _state(path, kind)
    video, content_hash = known_video(path, kind=kind, cache_root=root)
    if job.content_hash not in ("", content_hash):
        raise MediaError(f"{path}: changed since its frames were selected; start again when it is complete")
    cache = None if root is None else FrameCache(root, max_bytes=job.cache_max_bytes)
    frames = {} if cache is None else _cached(job, content_hash, cache)
    n_from_cache = len(frames)
    absent = sorted(set(job.frame_indices) - frames.keys())

    def make(_: int, image: NDArray[np.uint8]) -> EncodedFrame:
        return encode(image, job.encoding)

    problems: dict[int, str] = {}
    text = video.read(absent, make, size=job.encoding.size, threads=job.threads) if absent else {}
    if _state(path, kind) != state:
        raise MediaError(f"{path}: changed while it was being read; start again when it is complete")
    for index, frame in text.items():
        if isinstance(frame, FrameProblem):
            problems[index] = frame.message
            continue
        frames[index] = frame
        if cache is not None:
            cache.put(content_hash, index, job.encoding.key, frame=frame)
    _log.debug("%s: %d frames decoded, %d kept before", job.path, len(frames) - n_from_cache, n_from_cache)
    return Delivery(
        frames=dict(sorted(frames.items())),
        problems=dict(sorted(problems.items())),
        n_decoded=len(frames) - n_from_cache,
        n_from_cache=n_from_cache,
    )


def kept_frames(job: Job) -> Delivery:
    """Return the cached frames of a job; nothing is opened, and no server is queried.

    The last cached facts of the file are used. Uncached frames are among the problems.
    """
    frames: dict[int, EncodedFrame] = {}
    root = None if job.cache_root is None else Path(job.cache_root)
    known = None if root is None else _last_kept(place(job.path), kind=_kind(job.kind), cache_root=root)
    if root is not None and known is not None:
        frames = _cached(job, known.content_hash, FrameCache(root, max_bytes=job.cache_max_bytes))
    absent = sorted(set(job.frame_indices) - frames.keys())
    problems = {index: f"{job.path}: frame {index} is not in the cache of this machine" for index in absent}
    return Delivery(frames=frames, problems=problems, n_decoded=0, n_from_cache=len(frames))


def _cached(job: Job, content_hash: str, cache: FrameCache) -> dict[int, EncodedFrame]:
    """Return the cached frames of a job, in order."""
    entries = ((i, cache.get(content_hash, i, job.encoding.key)) for i in sorted(set(job.frame_indices)))
    return {index: frame for index, frame in entries if frame is not None}


def resolve(media_root: Path, media: Media) -> Path:
    """Return the path of a video or image, or of the folder of numbered images.

    An absolute path stands for itself; a relative one starts from `media_root` and may leave it.
    Nothing is downloaded: a medium that has only a URL is expected in `media_root` under the host and
    path of the URL, where ``wget -x`` puts it.

    Raises:
        DataError: the medium has neither path nor URL, or a URL that leads out of `media_root`, or lies at an
            address, which `located` takes.

    >>> resolve(Path("data"), Media(url="https://example.org/clips/a.mp4")).as_posix()
    'data/example.org/clips/a.mp4'
    """
    if media.path and is_address(media.path):
        raise DataError(f"{redacted(media.path)}: expected a file on this machine; download it first")
    if media.path:
        return media_root / media.path
    if not media.url:
        raise DataError("a medium has neither path nor url; expected the path of a file")
    return media_root / place_of_url(media.url)


def located(media_root: MediaPath, media: Media) -> MediaPath:
    """Return a path as `resolve` does, or an address: the root may be one, and a path may.

    Raises:
        DataError: as `resolve`; or a path that leads out of a root that is an address.
        UsageError: an address that cannot be read (`address.place`).

    >>> str(located(Address("s3://lab/videos"), Media(path="day/a.mp4")))
    's3://lab/videos/day/a.mp4'
    """
    if media.path and is_address(media.path):
        return place(media.path)
    if not isinstance(media_root, Address):
        return resolve(media_root, media)
    if media.path and Path(media.path).is_absolute():
        return Path(media.path)
    inner = resolve(Path(), media).as_posix()
    if ".." in inner.split("/"):
        raise DataError(f"the path {media.path!r} leads out of {media_root}; give one without '..'")
    return media_root / inner


def place_of_url(url: str) -> Path:
    """Return a URL's path in the media folder: its host and path.

    Raises:
        DataError: it is no URL, or leads out of the folder.
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise DataError(f"{redacted(url)!r} is not a valid URL ({error})") from error
    query = f"?{parts.query}" if parts.query else ""
    place = Path(parts.netloc, f"{parts.path.lstrip('/')}{query}")
    if place.is_absolute() or ".." in place.parts or "\0" in url:
        raise DataError(f"the url {redacted(url)!r} leads out of the media folder; give one without '..'")
    return place


def files_of(item: Item, *, subtitled: bool) -> tuple[Media, ...]:
    """Return the files of a question: its media, and its subtitles if shown."""
    return (*item.media, *([Media(path=item.subtitles.path)] if subtitled and item.subtitles else ()))


def outside(
    media_root: MediaPath, items: Iterable[Item], *, subtitled: bool = False
) -> tuple[MediaPath, ...]:
    """Return the items' distinct files and folders outside `media_root`, in order.

    They do through an absolute path, ``..`` or a link; of a folder of images, each image counts, and with
    `subtitled` the subtitles. In the cache of the Hugging Face hub, where a file is a link to its content,
    the contents of the same data set are inside.
    """
    # Named by their places, which several media may share.
    media = dict.fromkeys(medium for item in items for medium in files_of(item, subtitled=subtitled))
    named = dict.fromkeys((located(media_root, medium), medium.kind) for medium in media)
    folders, within = dict[Path, Path](), () if isinstance(media_root, Address) else insides(media_root)

    def is_outside(path: Path) -> bool:
        if path.parent not in folders:  # most videos share a folder
            folders[path.parent] = _real(path.parent)
        real = folders[path.parent] / path.name
        if path.name == ".." or os.path.islink(real):
            real = _real(real)
        return not any(map(real.is_relative_to, within))

    def leaves(path: MediaPath, kind: str) -> bool:
        if isinstance(path, Address):
            return not (isinstance(media_root, Address) and path.is_inside(media_root))
        return is_outside(path) or (kind == "frames" and any(map(is_outside, _entries(path))))

    return tuple(dict.fromkeys(path for path, kind in named if leaves(path, kind)))


def _real(path: Path) -> Path:
    """Return the path with links resolved; unchanged if it is not a possible path."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        return path


def insides(media_root: Path) -> tuple[Path, ...]:
    """Return the folders that count as inside `media_root`, resolved: itself and a snapshot's contents."""
    root = Path(os.path.realpath(media_root))
    return (root, *_contents_of_snapshot(root))


def _contents_of_snapshot(root: Path) -> Iterator[Path]:
    """Yield where the contents of a hub snapshot are: ``datasets--OWNER--NAME/blobs``.

    The folder is named as it stands there: where ``blobs`` itself is a link, what it leads to is outside.
    """
    for folder in root.parents:
        if folder.name == "snapshots" and folder.parent.name.startswith("datasets--"):
            yield folder.parent / "blobs"


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (OSError, ValueError):  # it is absent, closed or no name: whoever reads it says so
        return []


def missing(media_root: MediaPath, items: Iterable[Item]) -> tuple[MediaPath, ...]:
    """Return the items' distinct missing files and folders, in order.

    Each is checked once; it also counts as missing if a folder is in place of a file or the reverse, or if it
    cannot be accessed (name too long, unreadable folder). Servers are queried for addresses
    (`remote.look_at_all`).

    Raises:
        MediaError: a server refuses, or does not answer.
    """
    media = dict.fromkeys(medium for item in items for medium in item.media)
    needed = dict.fromkeys((located(media_root, medium), medium.kind) for medium in media)
    elsewhere = [path for path, _ in needed if isinstance(path, Address)]
    there = remote.look_at_all(elsewhere) if elsewhere else {}

    def is_there(path: MediaPath, kind: str) -> bool:
        if not isinstance(path, Address):
            # False, too, for a name that is too long or in a folder that is closed.
            return os.path.isdir(path) if kind == "frames" else os.path.isfile(path)
        facts = there[path]
        return facts is not None and facts.is_folder == (kind == "frames")

    absent = (path for path, kind in needed if not is_there(path, kind))
    return tuple(dict.fromkeys(absent))
