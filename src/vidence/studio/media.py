"""Files that pages may show: found only by token, and served in pieces."""

import base64
import hashlib
import hmac
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Final, TypeVar, cast

import anyio
import anyio.to_thread

from vidence.errors import MediaError, UsageError, cause
from vidence.media.browser import read_clock
from vidence.media.encode import EncodedFrame, Encoding, Size, montage, open_image
from vidence.media.files import Job, deliver, insides, known_video
from vidence.media.opened import open_video_stream
from vidence.media.stills import images_in
from vidence.media.video import Video
from vidence.studio.bodies import Application, Message, Receive, Send
from vidence.studio.renditions import CopyState, Original, Renditions
from vidence.studio.rules.frames import PackedTable, pack
from vidence.studio.rules.ranges import ByteRange, Whole
from vidence.studio.settings import current

ResultT = TypeVar("ResultT")
_PROMISED: Final = "vidence.promised"
_CHUNK_BYTES: Final = 1 << 16
_TOKEN_BYTES: Final = 16
_MOST_TABLES: Final = 16
_MOST_TYPES: Final = 4096
_N_DECODERS: Final = 2
_N_READERS: Final = 8
_STRIP: Final = Encoding(size=Size(kind="long", pixels=160))
MOST_ON_A_STRIP: Final = 48
"""Most pictures in a strip."""
# Nothing that a browser would run: what is not named here is a download.
_CONTAINERS: Final = {
    "mov": "video/mp4",
    "matroska": "video/x-matroska",
    "mpegts": "video/mp2t",
    "avi": "video/x-msvideo",
    "ogg": "video/ogg",
}
_IMAGES: Final = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "BMP": "image/bmp",
}
_ANY: Final = "application/octet-stream"


@dataclass(frozen=True, kw_only=True)
class MediumFile:
    """A file, or a folder of images, that an opened item names.

    `path` is without links, `within` are the folders that it must still lie in when it is read. It is shown
    to whoever has a say in `project`; where that is empty, to whoever has signed in.
    """

    token: str
    path: Path
    kind: str
    within: tuple[Path, ...]
    project: str = ""


@dataclass(frozen=True, kw_only=True)
class FileState:
    """A file's state at the time of an answer."""

    path: Path
    size: int
    etag: str
    changed: str
    media_type: str


class MediaDesk:
    """Issue tokens for files and serve the files by token; no other file is served.

    Args:
        secret: the server's; tokens of another secret are worth nothing.
        cache_root: our cache folder.
        frames_max_bytes: the bound of the frame cache.
        copies_max_bytes: the bound of the copies for browsers.
    """

    def __init__(
        self, secret: bytes, cache_root: Path, *, frames_max_bytes: int, copies_max_bytes: int
    ) -> None:
        self._secret = secret
        self._cache_root = cache_root
        self._frames_max_bytes = frames_max_bytes
        self._known: dict[str, MediumFile] = {}
        self._tables: OrderedDict[tuple[Path, str], PackedTable] = OrderedDict()
        self._lock = threading.Lock()
        self._openings: dict[tuple[Path, str], threading.Lock] = {}
        self._decoders = anyio.CapacityLimiter(_N_DECODERS)
        self._readers = anyio.CapacityLimiter(_N_READERS)
        self.renditions = Renditions(cache_root, max_bytes=copies_max_bytes)

    # ------------------------------------------------------------------ tokens

    def token_of(self, path: Path, *, kind: str, roots: Iterable[Path], project: str = "") -> str:
        """Return the token of a file, or folder of images (`kind` ``frames``), that an opened item names.

        Args:
            path: where it lies, as `vidence.media.files.resolve` says.
            kind: ``video``, ``image`` or ``frames``.
            roots: the folders of the media that were opened; links inside them may not lead out.
            project: the one whose people may see it; empty: whoever has signed in.

        Raises:
            MediaError: it lies outside all of them, itself or by a link.
        """
        within = tuple(dict.fromkeys(entry for root in roots for entry in insides(root)))
        real = _real(path)
        if not _is_inside(real, within):
            raise MediaError(
                f"{path}: lies outside the folders of the media that were opened; expected it below "
                f"{', '.join(map(str, within)) or 'one'}: name its folder as one, too"
            )
        result = f"{kind}\0{project}\0{real}".encode(errors="surrogateescape")
        token = signed_name(result, self._secret)
        self._known[token] = MediumFile(token=token, path=real, kind=kind, within=within, project=project)
        return token

    def known(self, token: str) -> MediumFile | None:
        """Return the medium of a token; None for a token that was never issued."""
        return self._known.get(token)

    # ------------------------------------------------------------------ the file itself

    def file_state(self, known: MediumFile) -> FileState:
        """Return the current state of a video or image file.

        Raises:
            MediaError: it is gone, no plain file, now a link, or no video or image that is opened.
        """
        if known.kind == "frames":
            raise MediaError(f"{known.path}: is a folder; its images are shown individually")
        return self._state(_checked(known.path, known.within), known.kind)

    def _state(self, path: Path, kind: str) -> FileState:
        try:
            values = path.stat(follow_symlinks=False)
        except OSError as error:
            raise MediaError(f"{path}: cannot be read ({cause(error)})") from error
        if not stat.S_ISREG(values.st_mode):
            raise MediaError(f"{path}: is not a plain file")
        etag = f'"{values.st_size:x}-{values.st_mtime_ns:x}-{values.st_ino:x}"'
        media_type = _media_type(path, kind, etag)
        changed = formatdate(values.st_mtime, usegmt=True)
        return FileState(path=path, size=values.st_size, etag=etag, changed=changed, media_type=media_type)

    def promise(self, scope: Message, state: FileState, wanted: Whole | ByteRange) -> None:
        """Have `with_pieces` send a file's bytes after the headers of the answer.

        Django keeps a thread for each request that it answers, also while nobody reads on: 200 viewers who
        pause would hold 200 of them. So it gives the head, and is done.
        """
        scope[_PROMISED] = pieces(state, wanted, readers=self._readers)

    # ------------------------------------------------------------------ frames

    async def table(self, known: MediumFile) -> PackedTable:
        """Return the presentation times of a medium's frames.

        Raises:
            MediaError: it cannot be read.
        """
        return await self._decode(lambda: self._table(known))

    async def still(self, known: MediumFile, index: int, *, encoding: Encoding) -> EncodedFrame:
        """Return one frame, byte for byte as models receive it with this encoding; cached.

        Raises:
            MediaError: it cannot be read, is damaged, or does not exist.
        """
        stills = await self._decode(lambda: self._stills(known, (index,), encoding))
        return stills[0]

    async def strip(self, known: MediumFile, *, n_pictures: int) -> EncodedFrame:
        """Return evenly spaced thumbnails of a medium in one row.

        Raises:
            MediaError: it cannot be read, or a frame is damaged.
        """
        return await self._decode(lambda: self._strip(known, n_pictures))

    # ------------------------------------------------------------------ copies for browsers

    async def copy_of(self, known: MediumFile, *, is_needed: bool = False) -> CopyState:
        """Return the state of a video's browser copy; start one if it is needed.

        Args:
            known: a video.
            is_needed: a browser says that it does not play the original, whatever is known of it.

        Raises:
            MediaError: it is no video, or cannot be read.
        """
        begin = self.renditions.begin if is_needed else self.renditions.ask
        return await self._decode(lambda: begin(self._original(known)))

    async def copy_file(self, known: MediumFile) -> FileState:
        """Return the browser copy of a video.

        Raises:
            MediaError: there is none, or not yet.
        """
        return await self._decode(lambda: self._state(self._copy(self._original(known)), "video"))

    async def copy_table(self, known: MediumFile) -> PackedTable:
        """Return the copy's frame times; its frame i is frame i of the original.

        Raises:
            MediaError: there is no copy, or it has other frames than its original.
        """
        return await self._decode(lambda: self._copy_table(self._original(known)))

    def _original(self, known: MediumFile) -> Original:
        if known.kind != "video":
            raise MediaError(f"{known.path}: is not a video; only videos are copied for browsers")
        video, digest = self._video(_checked(known.path, known.within), known.kind)
        return Original(video=video, digest=digest)

    def _copy(self, original: Original) -> Path:
        place = self.renditions.ready(original)
        if place is None:
            raise MediaError(f"{original.video.probe.path}: has no copy for browsers yet")
        return place

    async def _decode(self, work: Callable[[], ResultT]) -> ResultT:
        """Run slow work outside the event loop, a few jobs at a time."""
        return await anyio.to_thread.run_sync(work, limiter=self._decoders)

    def _video(self, path: Path, kind: str) -> tuple[Video, str]:
        """Return a medium as numbered frames, and its hash; read once for concurrent requests.

        Raises:
            MediaError: it cannot be read.
        """
        with self._lock:
            opening = self._openings.setdefault((path, kind), threading.Lock())
        with opening:
            return known_video(path, kind=kind, cache_root=self._cache_root)

    def _table(self, known: MediumFile) -> PackedTable:
        path = _checked(known.path, known.within)
        video, digest = self._video(path, known.kind)
        return self._table_of(video, digest)

    def _copy_table(self, original: Original) -> PackedTable:
        copy = self._copy(original)
        video, digest = known_video(copy, kind="video", cache_root=self._cache_root)
        if video.n_frames != original.video.n_frames:
            raise MediaError(
                f"{copy}: has {video.n_frames} frames, its original {original.video.n_frames}; remove it, "
                "so that it is made again"
            )
        return self._table_of(video, digest)

    def _table_of(self, video: Video, digest: str) -> PackedTable:
        key = Path(video.probe.path), digest
        with self._lock:
            table = self._tables.get(key)
            if table is not None:
                self._tables.move_to_end(key)
                return table
        clock = read_clock(video)
        packed_table = pack(clock.ticks.tolist(), time_base=clock.time_base, offset_s=clock.start_s)
        with self._lock:
            self._tables[key] = packed_table
            while len(self._tables) > _MOST_TABLES:
                self._tables.popitem(last=False)
        return packed_table

    def _stills(self, known: MediumFile, indices: tuple[int, ...], encoding: Encoding) -> list[EncodedFrame]:
        path = _checked(known.path, known.within)
        if known.kind == "frames":
            images = images_in(path)
            for index in indices:
                if 0 <= index < len(images):
                    _checked(images[index], known.within)
        if known.kind == "video":
            self._video(path, known.kind)
        job = Job(
            path=str(path),
            kind=known.kind,
            frame_indices=indices,
            encoding=encoding,
            cache_root=str(self._cache_root),
            cache_max_bytes=self._frames_max_bytes,
        )
        delivery = deliver(job)
        for problem in delivery.problems.values():
            raise MediaError(problem)
        return [delivery.frames[index] for index in indices]

    def _strip(self, known: MediumFile, n_pictures: int) -> EncodedFrame:
        if not 1 <= n_pictures <= MOST_ON_A_STRIP:
            raise UsageError(
                f"a strip of {n_pictures} pictures is not possible; expected 1 to {MOST_ON_A_STRIP}"
            )
        n_frames = self._table(known).n_frames
        indices = tuple((2 * i + 1) * n_frames // (2 * n_pictures) for i in range(n_pictures))
        pictures = self._stills(known, indices, _STRIP)
        return montage(pictures, columns=n_pictures, rows=1, encoding=_STRIP)


def desk() -> MediaDesk:
    """Return this process's media desk."""
    studio = current()
    settings = studio.settings
    return _desk(studio.secret, settings.cache_root or settings.data / "cache", settings.cache_max_bytes)


@lru_cache(maxsize=1)
def _desk(secret: bytes, cache_root: Path, max_bytes: int) -> MediaDesk:
    return MediaDesk(secret, cache_root, frames_max_bytes=max_bytes, copies_max_bytes=max_bytes)


def token_of(path: Path, *, kind: str = "video", roots: Iterable[Path] = (), project: str = "") -> str:
    """Return the token of a file that an opened item names; see `MediaDesk.token_of`.

    Args:
        path: where it lies.
        kind: ``video``, ``image`` or ``frames``.
        roots: folders of media beside those that the studio was told.
        project: the one whose people may see it; empty: whoever has signed in.

    Raises:
        MediaError: it lies outside all of them.
    """
    known = (*current().settings.media_roots, *roots)
    return desk().token_of(path, kind=kind, roots=known, project=project)


def with_pieces(application: Application) -> Application:
    """Wrap the ASGI application: after its headers, send the bytes that a view promised."""

    async def wrapped(scope: Message, receive: Receive, send: Send) -> None:
        async def heads(message: Message) -> None:
            if message["type"] != "http.response.body" or _PROMISED not in scope:
                await send(message)

        await application(scope, receive, heads)
        if _PROMISED in scope:
            pieces = cast("AsyncGenerator[bytes, None]", scope.pop(_PROMISED))
            await _send_pieces(pieces, receive, send)

    return wrapped


async def _send_pieces(bytes_of_file: AsyncGenerator[bytes, None], receive: Receive, send: Send) -> None:
    """Send the bytes until they end or the client disconnects."""
    async with anyio.create_task_group() as group:

        async def stop_when_gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(stop_when_gone)
        async with aclosing(bytes_of_file) as each:
            async for piece in each:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        group.cancel_scope.cancel()


async def pieces(
    state: FileState, wanted: Whole | ByteRange, *, readers: anyio.CapacityLimiter | None = None
) -> AsyncGenerator[bytes, None]:
    """Yield the requested bytes of a file piece by piece; the file is open only meanwhile.

    Args:
        state: the file.
        wanted: which bytes.
        readers: bounds how many threads read at a time.

    Raises:
        MediaError: the file cannot be opened any more.
    """
    first, left = (wanted.first, wanted.n_bytes) if isinstance(wanted, ByteRange) else (0, wanted.size)
    file = _open_plain(state.path)
    try:
        file.seek(first)
        while left:
            piece = await anyio.to_thread.run_sync(file.read, min(left, _CHUNK_BYTES), limiter=readers)
            if (
                not piece
            ):  # it was cut short meanwhile: the server ends the connection before the length it said
                return
            left -= len(piece)
            yield piece
    finally:
        file.close()


def _open_plain(path: Path) -> BinaryIO:
    """Open a file for reading without following a symbolic link."""
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise MediaError(f"{path}: cannot be read ({cause(error)})") from error
    return os.fdopen(number, "rb")


def signed_name(words: bytes, secret: bytes) -> str:
    """Return an unguessable name that does not reveal the words and only the studio can create."""
    digest = hmac.new(secret, words, hashlib.sha256).digest()[:_TOKEN_BYTES]
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _real(path: Path) -> Path:
    """Resolve links in a path.

    Raises:
        MediaError: no file can have this name.
    """
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        raise MediaError(f"{path!s:.200}: is not a valid file name ({cause(error)})") from error


def _is_inside(real: Path, within: tuple[Path, ...]) -> bool:
    return any(map(real.is_relative_to, within))


def _checked(path: Path, within: tuple[Path, ...]) -> Path:
    """Return a path after checking, with links resolved, that it is still inside."""
    real = _real(path)
    if not _is_inside(real, within):
        raise MediaError(f"{path}: now leads out of the opened media folders")
    return real


@lru_cache(maxsize=_MOST_TYPES)
def _media_type(path: Path, kind: str, _etag: str) -> str:
    """Return a file's media type by content, cached while the file is unchanged.

    Raises:
        MediaError: it is none, or of a format that is not opened.
    """
    if kind == "image":
        with open_image(path) as picture:
            return _IMAGES.get(picture.format or "", _ANY)
    with open_video_stream(path) as opened:
        name = opened.container.format.name.split(",")[0]
    return "video/webm" if path.suffix.lower() == ".webm" else _CONTAINERS.get(name, _ANY)
