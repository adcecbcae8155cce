"""Atomic file writes; the only way in which vidence overwrites files."""

import contextlib
import hashlib
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from vidence.errors import StoreError, UsageError, cause

NameT = TypeVar("NameT", str, Path)
PRIVATE: Final = 0o600
"""Permissions of prompts and replies: readable by this user alone."""
SHARED: Final = 0o666
"""Permissions of files for others, subject to the umask."""
_PRIVATE_FOLDER: Final = 0o700
# A new file and no link: whoever may write into the folder cannot have another file written over.
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_TEMPORARY: Final = re.compile(
    r"\..*\.(?P<machine>[0-9a-f]{8})-(?P<process>\d{1,10})-[0-9a-f]{16}(\..*)?", re.DOTALL
)
_OF_SYSTEMS: Final = frozenset((".DS_Store", "Thumbs.db", "desktop.ini", "lost+found"))
"""Files that operating systems create in folders."""
_OF_FILES: Final = re.compile(r".+\.(csv|html|jsonl?|md|mp4|parquet|toml|tsv|txt|zip)", re.IGNORECASE)
_MOST_NAMED: Final = 4
_LONGEST_BYTES: Final = 100  # of the name and of the suffix each, so that both and the number make a name


@contextlib.contextmanager
def whole_file(path: Path, *, mode: int = SHARED, is_durable: bool = False) -> Iterator[Path]:
    """Create a temporary file next to `path` with the same suffix; rename it when the block ends.

    After an error it is removed, and the previous file stays. A device or pipe, such as ``/dev/stdout``, is
    not replaced: the content is written to it when the block ends.

    Args:
        path: the name; a symbolic link is replaced, and its target stays.
        mode: the permissions of the file.
        is_durable: sync to disk, so that a power cut cannot leave it empty.

    Raises:
        OSError: it cannot be written.
    """
    is_device = path.exists() and not (path.is_file() or path.is_dir())
    temporary = temporary_beside(Path(tempfile.gettempdir(), path.name) if is_device else path)
    os.close(os.open(temporary, _NEW, mode))
    try:
        yield temporary
        if is_device:
            with temporary.open("rb") as result, path.open("wb") as device:
                shutil.copyfileobj(result, device)
            temporary.unlink()
            return
        if is_durable:
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def temporary_beside(path: Path) -> Path:
    """Return an unused hidden name in the same folder, which `remove_leftovers` can attribute."""
    stem, suffix = (
        os.fsencode(name)[:_LONGEST_BYTES].decode(errors="ignore") for name in (path.stem, path.suffix)
    )
    return path.with_name(f".{stem}.{_here()}-{os.getpid()}-{os.urandom(8).hex()}{suffix}")


def write_whole(path: Path, data: bytes, *, mode: int = SHARED, is_durable: bool = False) -> None:
    """Write a file as `whole_file` does; create its folder if missing, with matching privacy.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    for attempts_left in (2, 1, 0):
        try:
            if mode == PRIVATE:
                make_private(path.parent)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path, mode=mode, is_durable=is_durable) as temporary:
                temporary.write_bytes(data)
        except FileNotFoundError:  # another process may just have removed the empty folder
            if not attempts_left:
                raise
        else:
            return


def remove_leftovers(folder: Path) -> int:
    """Delete what killed processes of this machine left in a folder and below it.

    These are files of `whole_file`, and folders named by `temporary_beside`. Those of running processes or of
    other machines stay; on Windows, which has no safe way to check a process, all stay.

    Returns:
        The number deleted.
    """
    if os.name == "nt":
        return 0
    n_removed = 0
    for path in list(folder.rglob(".*")):
        named = _TEMPORARY.fullmatch(path.name)
        if named and named["machine"] == _here() and not is_running(int(named["process"])):
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
                n_removed += 1
    return n_removed


def _here() -> str:
    """Return a short id of this machine, because several may write to one folder."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def is_running(process: int) -> bool:
    """Whether a process of this machine runs; True if that cannot be checked safely."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents for this user alone; existing ones are unchanged.

    Raises:
        OSError: it cannot be made.
    """
    absent = [parent for parent in folder.parents if not parent.exists()]
    for path in (*reversed(absent), folder):
        path.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)


def own_folder(folder: Path, *marks: str, mode: int = 0o777, among: Collection[str] = ()) -> None:
    """Create an output folder; an existing one must be empty or have one of the writer's marks.

    The first mark is created before anything else, so that the same writer can continue after being killed.

    Args:
        folder: the folder; missing parents are created.
        marks: files that only this writer creates; none if it never reuses a folder.
        mode: the folder's permissions; the mark gets those for reading and writing.
        among: the names to write, if the folder is the user's and may contain other files.

    Raises:
        UsageError: it contains foreign files, is a file, or is new and has a file extension.
        StoreError: it cannot be created.
    """
    if is_marked(folder, *marks, among=among):
        return
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
        for mark in marks[:1]:
            (folder / mark).touch(mode & 0o666)
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {cause(error)}; choose another place") from error


def is_marked(folder: Path, *marks: str, among: Collection[str] = ()) -> bool:
    """Whether a folder has one of these marks; it may also be new or empty. Arguments as `own_folder`.

    Raises:
        UsageError: it holds other things, is a file, or is new and has the ending of one.
        StoreError: it cannot be looked into.
    """
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError as error:
        if _OF_FILES.fullmatch(folder.name):
            raise UsageError(f"{folder} is a file name; expected a folder name, as {folder.stem}") from error
        return False
    except NotADirectoryError as error:
        raise UsageError(f"{folder}, or one above it, is a file; expected a folder or a new name") from error
    except OSError as error:
        raise StoreError(f"cannot list {folder}: {cause(error)}; choose another folder") from error
    if not set(names).isdisjoint(marks):
        return True
    foreign = [name for name in names if (name in among if among else name not in _OF_SYSTEMS)]
    if not foreign:
        return False
    listed = ", ".join(foreign[:_MOST_NAMED]) + (", ..." if len(foreign) > _MOST_NAMED else "")
    way = f", or create an empty file {folder / marks[0]} if those may be replaced" if marks else ""
    raise UsageError(
        f"{folder} is not empty: it holds {listed}, which this command did not write; choose a new "
        f"or empty folder{way}"
    )


def make_private_file(path: Path) -> None:
    """Create an empty file readable only by this user, unless it exists; does not follow links.

    Raises:
        OSError: it cannot be made.
    """
    if not path.exists():
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        os.close(os.open(path, flags, PRIVATE))


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file atomically; text as UTF-8, with unencodable characters as numbers.

    Raises:
        StoreError: the file cannot be written.
    """
    if path.is_dir():
        raise StoreError(f"cannot write {path}: it is a folder; give the name of a file in it")
    if not path.parent.is_dir():
        raise StoreError(f"cannot write {path}: there is no folder {path.parent}; make it or choose another")
    if isinstance(content, str):
        content = content.encode("utf-8", errors="backslashreplace")
    try:
        write_whole(path, content)
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {cause(error)}; free some space or choose another file"
        ) from error


def write_records(path: Path, records: Iterable[object]) -> None:
    """Write records as JSON lines atomically, with mode 600; missing folders are created.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, b"".join(msgspec.json.encode(record) + b"\n" for record in records), mode=PRIVATE)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {cause(error)}") from error


def write_into(folder: Path, contents: Mapping[NameT, str | bytes]) -> tuple[Path, ...]:
    """Write files by name to a folder as `write_file` does, creating missing folders; return the paths.

    Raises:
        StoreError: a file cannot be written.
    """
    paths = {folder / name: content for name, content in contents.items()}
    for path, content in paths.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make the folder {path.parent}: {cause(error)}") from error
        write_file(path, content)
    return tuple(paths)
