"""Chunked uploads: stored in a hidden file of the media folder until complete."""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final

from vidence.errors import MediaError, StoreError, UsageError
from vidence.studio.intake import MediumKind, add_medium, kind_of, roots_of
from vidence.studio.records.items import MediumRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.settings import current

_KEPT_FREE_BYTES: Final = 2**30
"""Disk space reserved for the database and other programs, in bytes."""
_MOST_NAME: Final = 120
_KEPT_S: Final = 7 * 24 * 3600
_LOCK: Final = Lock()
_FINISHED: Final[set[Path]] = set()
"""The hidden files of uploads that this process has registered."""


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file being uploaded: its length, its future path, and the hidden partial file."""

    project: ProjectRow
    kind: MediumKind
    size: int
    target: Path
    part: Path

    @property
    def n_bytes(self) -> int:
        """Return the number of bytes received."""
        return self.part.stat().st_size if self.part.exists() else 0

    @property
    def is_finished(self) -> bool:
        """Whether the file was registered before; the sender may have missed the answer that says so."""
        return self.part in _FINISHED and self.target.is_file() and self.target.stat().st_size == self.size


def upload_of(project: ProjectRow, name: str, *, size: int, mark: str, by: str) -> Upload:
    """Check whether a file may be uploaded.

    Args:
        project: whose media folder it goes into.
        name: its name on the machine of the browser, without folders.
        size: its length in bytes.
        mark: what tells it from another file of this name and length, such as the time of its last change.
        by: the pseudonym of the sender; the pieces of two senders are never mixed.

    Raises:
        UsageError: its name or its length cannot be used, the name is taken, or there is no media folder.
        StoreError: the disk would have little space left.
    """
    kind = kind_of(name)
    if not name.isprintable() or Path(name).name != name or name[:1] in ("", ".") or "\\" in name:
        raise UsageError(f"the name {name[:_MOST_NAME]!r}; expected a file name without folders")
    if len(name.encode()) > _MOST_NAME:
        raise UsageError(f"{name[:_MOST_NAME]}…: the name is too long; expected {_MOST_NAME} bytes at most")
    if kind is None:
        raise UsageError(f"{name}: expected a video or a picture, such as .mp4, .webm, .mkv, .jpg or .png")
    if size < 1:
        raise UsageError(f"{name} is empty")
    roots = roots_of(project)
    if not roots:
        raise UsageError("this project has no media folder; start the studio with --media-root DIR")
    digest = hashlib.sha256(repr((name, size, mark, by)).encode()).hexdigest()[:32]
    part = roots[0] / f".{digest}.upload"
    upload = Upload(project=project, kind=kind, size=size, target=roots[0] / name, part=part)
    if upload.is_finished:
        return upload
    if any((root / name).exists() for root in roots):
        raise UsageError(f"the media folder already has a file {name}; rename yours")
    free = max(0, shutil.disk_usage(roots[0]).free - _KEPT_FREE_BYTES)
    if size - upload.n_bytes > free:
        raise StoreError(
            f"{name} has {size / 1e9:.2f} GB; the server has room for {free / 1e9:.2f} GB. Tell its operator"
        )
    return upload


def append(upload: Upload, piece: bytes, *, at: int) -> bool:
    """Append a chunk if the partial file ends where it starts; return whether it was appended.

    Raises:
        StoreError: the media folder cannot be written.
    """
    with _LOCK:
        if at != upload.n_bytes or at + len(piece) > upload.size:
            return False
        if not at:
            _remove_old(upload.part.parent)
        try:
            with upload.part.open("ab") as file:
                file.write(piece)
        except PermissionError as error:
            raise StoreError(f"the server cannot write into {upload.part.parent}") from error
    return True


def finish(upload: Upload) -> MediumRow:
    """Rename a complete file, and register it; one that is not a video or picture is removed.

    Raises:
        UsageError: the name was taken meanwhile, or another request has finished it.
        MediaError: it cannot be read as what its name says.
    """
    with _LOCK:
        if upload.target.exists() or upload.n_bytes != upload.size:
            upload.part.unlink(missing_ok=True)
            raise UsageError(f"the media folder already has a file {upload.target.name}; rename yours")
        upload.part.rename(upload.target)
    try:
        row = add_medium(upload.project, upload.target.name, kind=upload.kind)
    except MediaError:
        upload.target.unlink()
        raise
    _FINISHED.add(upload.part)
    return row


def _remove_old(folder: Path) -> None:
    """Remove uploads abandoned for days."""
    now = current().settings.clock().timestamp()
    for path in folder.glob(".*.upload"):
        if now - path.stat().st_mtime > _KEPT_S:
            path.unlink()
