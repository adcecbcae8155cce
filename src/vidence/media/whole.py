"""Files that others see whole or not at all; the one way in which vidence writes over a name."""

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
"""For what is made to be handed on; less what the user's umask takes away."""
_PRIVATE_FOLDER: Final = 0o700
# A new file and no link: whoever may write into the folder cannot have another file written over.
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_TEMPORARY: Final = re.compile(
    r"\..*\.(?P<machine>[0-9a-f]{8})-(?P<process>\d{1,10})-[0-9a-f]{16}(\..*)?", re.DOTALL
)
_OF_SYSTEMS: Final = frozenset((".DS_Store", "Thumbs.db", "desktop.ini", "lost+found"))
"""What file managers and disks put into folders unasked."""
_OF_FILES: Final = re.compile(r".+\.(csv|html|jsonl?|md|mp4|parquet|toml|tsv|txt|zip)", re.IGNORECASE)
_MOST_NAMED: Final = 4
_LONGEST_BYTES: Final = 100  # of the name and of the suffix each, so that both and the number make a name


@contextlib.contextmanager
def whole_file(path: Path, *, mode: int = SHARED, is_durable: bool = False) -> Iterator[Path]:
    """A new, empty file beside `path` with the same suffix; it takes the name when the block has ended.

    After an error nothing is left of it, and what had the name has it still. A device or a pipe, such as
    ``/dev/stdout``, keeps its name: the content is written into it when the block has ended.

    Args:
        path: the name; a link to a file is replaced, and the file stays as it is.
        mode: the rights of the file.
        is_durable: whether a power cut must not leave it empty.

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
    """A hidden name in the same folder that nothing has; `remove_leftovers` knows whose it was."""
    stem, suffix = (
        os.fsencode(name)[:_LONGEST_BYTES].decode(errors="ignore") for name in (path.stem, path.suffix)
    )
    return path.with_name(f".{stem}.{_here()}-{os.getpid()}-{os.urandom(8).hex()}{suffix}")


def write_whole(path: Path, data: bytes, *, mode: int = SHARED, is_durable: bool = False) -> None:
    """Write a file as `whole_file` does; its folder is made where it is absent, private as the file is.

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
    """Remove what processes that were killed on this machine left in a folder and below it.

    These are files of `whole_file`, and folders with the name of `temporary_beside`. Those of processes that
    run, or that ran on another machine, stay; on Windows, which has no harmless way to ask for a process,
    all do.

    Returns:
        How many there were.
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
    """A short name of this machine, for several of them may write into one folder."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def is_running(process: int) -> bool:
    """Whether a process of this machine runs; True where it cannot be told without harm."""
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
    """Make a folder, and those above it that are absent, for this user alone; what is there stays as it is.

    Raises:
        OSError: it cannot be made.
    """
    absent = [parent for parent in folder.parents if not parent.exists()]
    for path in (*reversed(absent), folder):
        path.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)


def own_folder(folder: Path, *marks: str, mode: int = 0o777, among: Collection[str] = ()) -> None:
    """Make the folder that a maker writes into; one that is there must be empty or have one of its marks.

    The first mark is made before anything else, so that the same maker goes on where it was killed.

    Args:
        folder: the folder; those above it are made, too.
        marks: files that this maker alone writes; none where it never writes into a folder twice.
        mode: the rights of the folder; the mark gets those for reading and writing.
        among: the names that are written, where the folder is the user's and may hold others.

    Raises:
        UsageError: it holds what the maker did not write, is a file, or is new and has the ending of one.
        StoreError: it cannot be made.
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
    """Whether a folder has one of these marks; it may also be new or empty. Arguments as for `own_folder`.

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
    """Create an empty file that only this user can read, unless it exists; follow no link.

    Raises:
        OSError: it cannot be made.
    """
    if not path.exists():
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        os.close(os.open(path, flags, PRIVATE))


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; text as UTF-8, and what is no character as its number.

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
    """Write records as JSON lines, whole or not at all, with mode 600; absent folders are made.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, b"".join(msgspec.json.encode(record) + b"\n" for record in records), mode=PRIVATE)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {cause(error)}") from error


def write_into(folder: Path, contents: Mapping[NameT, str | bytes]) -> tuple[Path, ...]:
    """Write files by their names in a folder as `write_file` does, and make absent folders; the paths.

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
