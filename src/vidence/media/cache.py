"""A disk cache of encoded frames by content, frame and encoding; bounded, and shared by processes."""

import contextlib
import functools
import hashlib
import logging
import os
import struct
from pathlib import Path
from typing import Final

import numpy as np

from vidence.media.encode import EncodedFrame
from vidence.media.whole import PRIVATE, write_whole

_log = logging.getLogger(__name__)

# Behind the image data, where viewers do not look: SHA-256 of the data, width, height, mark.
_TRAILER: Final = struct.Struct(">32sII8s")
_MARK: Final = b"vidence1"
_TRIM_TO: Final = 0.9
_LONG_ACCOUNT_BYTES: Final = 1 << 15


@functools.cache
def warn_once(folder: str, reason: str) -> None:
    """Log that a folder cannot be used for caching; once per folder and reason in each process."""
    _log.warning("cannot write to the cache %s (%s); frames are decoded again each time", folder, reason)


class BoundedFolder:
    """Files in a folder with at most `max_bytes` in total; the least recently used are deleted first.

    Many processes may share it; concurrent writes can exceed the limit temporarily. With `max_bytes` 0, or
    after a failed write, nothing is stored.

    Args:
        folder: where the files are.
        pattern: the files below it, for `Path.glob`.
        max_bytes: the limit.
        spared_s: files used less than this before the newest one stay, even above the limit: other processes
            may be about to read them.
    """

    def __init__(self, folder: Path, *, pattern: str, max_bytes: int, spared_s: float = 0.0) -> None:
        self.folder = folder
        self.can_write = max_bytes > 0
        self.max_bytes = max_bytes
        self._pattern = pattern
        self._spared_ns = spared_s * 1e9
        self._written = folder / "written"

    def note(self, n_bytes: int) -> None:
        """Record a written file; delete old files if the limit is exceeded.

        Raises:
            OSError: the folder cannot be written.
        """
        # One number per file: appending is atomic, and the folder need not be counted each time.
        with self._written.open("ab", buffering=0) as account:
            account.write(np.int64(n_bytes).tobytes())
        stored = self._written.read_bytes()
        total = int(np.frombuffer(stored, np.int64, len(stored) // 8).sum())
        if len(stored) > _LONG_ACCOUNT_BYTES:
            write_whole(self._written, np.int64(total).tobytes(), mode=PRIVATE)
        if total > self.max_bytes:
            self.trim()

    def give_up(self, error: OSError) -> None:
        """Stop storing, and log it once."""
        self.can_write = False
        warn_once(str(self.folder), error.strerror or str(error))

    def trim(self) -> None:
        """Delete the least recently used files until 90 % of the limit remains.

        Raises:
            OSError: the folder cannot be written.
        """
        entries: list[tuple[int, int, Path]] = []
        for path in self.folder.glob(self._pattern):
            with contextlib.suppress(FileNotFoundError):
                facts = path.stat()
                entries.append((facts.st_mtime_ns, facts.st_size, path))
        total = sum(size for _, size, _ in entries)
        newest_ns = max((used_ns for used_ns, _, _ in entries), default=0)
        for used_ns, size, path in sorted(entries):
            if total <= self.max_bytes * _TRIM_TO or newest_ns - used_ns < self._spared_ns:
                break
            path.unlink(missing_ok=True)
            for folder in (path.parent, path.parent.parent):
                with contextlib.suppress(OSError):
                    folder.rmdir()
            total -= size
        write_whole(self._written, np.int64(total).tobytes(), mode=PRIVATE)


def mark_used(path: Path) -> None:
    """Mark a file as the most recently used."""
    with contextlib.suppress(OSError):
        os.utime(path)


class FrameCache:
    """One file per frame under `root`, at most `max_bytes` in total; least recently used first out.

    Every file contains its image's digest, so that a damaged one is never delivered. An unwritable folder
    causes one logged warning. For the limit and other processes see `BoundedFolder`.
    """

    def __init__(self, root: Path, *, max_bytes: int) -> None:
        self._files = BoundedFolder(root / "frames", pattern="*/*/*", max_bytes=max_bytes)

    def get(self, content_hash: str, frame_index: int, encoding_key: str) -> EncodedFrame | None:
        """Return the frame if it is cached, and mark it as used."""
        path = self._path(content_hash, frame_index, encoding_key)
        try:
            stored = path.read_bytes()
        except OSError:
            return None
        frame = _unpack(stored)
        if frame is not None:
            mark_used(path)
        return frame

    def put(self, content_hash: str, frame_index: int, encoding_key: str, *, frame: EncodedFrame) -> None:
        """Store a frame. Never raises for a full disk."""
        if not self._files.can_write:
            return
        digest = bytes.fromhex(frame.digest)
        stored = frame.data + _TRAILER.pack(digest, frame.width_px, frame.height_px, _MARK)
        try:
            write_whole(self._path(content_hash, frame_index, encoding_key), stored, mode=PRIVATE)
            self._files.note(len(stored))
        except OSError as error:
            self._files.give_up(error)

    def rename(self, content_hash: str, frame_index: int, *, before: str, after: str) -> None:
        """Change the key of a stored frame; no effect if it is gone."""
        path = self._path(content_hash, frame_index, after)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._path(content_hash, frame_index, before).replace(path)

    def _path(self, content_hash: str, frame_index: int, encoding_key: str) -> Path:
        return self._files.folder / content_hash / encoding_key / f"{frame_index}"


def _unpack(stored: bytes) -> EncodedFrame | None:
    """Return the frame in a file; None if the file is not intact."""
    if len(stored) < _TRAILER.size:
        return None
    data = stored[: -_TRAILER.size]
    digest, width_px, height_px, mark = _TRAILER.unpack(stored[-_TRAILER.size :])
    if mark != _MARK or hashlib.sha256(data).digest() != digest:
        return None
    return EncodedFrame(data=data, width_px=width_px, height_px=height_px, digest=digest.hex())
