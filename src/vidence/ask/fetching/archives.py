"""Extract videos from archives (zip, tar, Parquet) without trusting names or sizes in them."""

import io
import os
import tarfile
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, takewhile
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from vidence.errors import DataError, UsageError, cause
from vidence.installation import adding

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".parquet")
_BLOCK = 1 << 20
FREE_BYTES = 1 << 30
"""Bytes that all archives of a command may contain in excess of four times their size."""
_RATIO = 4


@dataclass(frozen=True, kw_only=True)
class Unpacked:
    """The result of an extraction: the wanted paths that exist now, and refused members.

    `free_bytes` is what is left of the bound for the archives that follow.
    """

    paths: tuple[str, ...]
    refused: tuple[str, ...]
    free_bytes: int


def is_archive(name: str) -> bool:
    """Whether a file can be extracted, by its name."""
    return name.lower().endswith(ENDINGS)


def matched(available: Sequence[str], needed: Sequence[str]) -> dict[str, str]:
    """Match needed paths to available ones by the longest common ending.

    Paths must agree in their last name; one that two available paths fit equally well is left out.

    >>> matched(["data/a/1.mp4", "data/b/1.mp4", "x/2.mp4"], ["videos/b/1.mp4", "2.mp4", "3.mp4"])
    {'videos/b/1.mp4': 'data/b/1.mp4', '2.mp4': 'x/2.mp4'}
    """
    by_name: dict[str, list[str]] = {}
    for path in available:
        by_name.setdefault(PurePosixPath(path).name, []).append(path)
    result = {}
    for path in needed:
        fits = by_name.get(PurePosixPath(path).name, [])
        lengths = [_n_common(path, fit) for fit in fits]
        if fits and lengths.count(max(lengths)) == 1:
            result[path] = fits[lengths.index(max(lengths))]
    return result


def _n_common(name: str, other: str) -> int:
    """Return how many trailing names two paths share."""
    pairs = zip(reversed(PurePosixPath(name).parts), reversed(PurePosixPath(other).parts), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def unpack(
    pieces: Sequence[Path], name: str, into: Path, *, free_bytes: int, needed: Sequence[str] | None = None
) -> Unpacked:
    """Extract the needed files from an archive, or all.

    Members that are no plain files (links, devices), or whose names leave the folder, are refused. What comes
    out is counted, and may be four times the archive and `free_bytes` more: videos are compressed already.

    Args:
        pieces: the file, or the pieces into which it was cut, in order.
        name: its path in the data set; members are taken for files below it.
        into: the folder to write to, at the needed paths.
        free_bytes: `FREE_BYTES`, less what earlier archives of the command took of it.
        needed: the paths that are wanted; others stay in the archive. None takes all members, to the places
            that they have in the folder of the archive.

    Raises:
        DataError: it cannot be read, or holds more than may come out.
        UsageError: a Parquet file, and pyarrow is not installed.
    """
    stem = next((name[: -len(end)] for end in ENDINGS if name.lower().endswith(end)), name)
    with _opened(pieces, name) as members:
        fine = [member for member in members if is_inside(member.name) and member.is_plain]
        refused = tuple(member.name for member in members if not (is_inside(member.name) and member.is_plain))
        left = _RATIO * sum(piece.stat().st_size for piece in pieces) + free_bytes
        if needed is None:
            places = {str(PurePosixPath(name).parent / member.name): member for member in fine}
            pairs = {place: place for place in places}
        else:
            places = {f"{stem}/{member.name}": member for member in fine}
            pairs = matched(list(places), needed)
        order = {id(member): k for k, member in enumerate(fine)}
        for path, place in sorted(pairs.items(), key=lambda pair: order[id(places[pair[1]])]):
            left -= _write(places[place].open(), into / path, most=left, archive=name)
    return Unpacked(paths=tuple(pairs), refused=refused, free_bytes=min(left, free_bytes))


def is_inside(name: str) -> bool:
    r"""Whether a member's name stays below the target folder, on every system.

    >>> is_inside("a/b.mp4"), is_inside("../b.mp4"), is_inside("/b.mp4"), is_inside("C:b"), is_inside("a\\..")
    (True, False, False, False, False)
    """
    parts = name.split("/")
    return bool(name) and not any(part in ("", ".", "..") for part in parts) and not set(name) & set("\\:\0")


# --------------------------------------------------------------------------- members


@dataclass(frozen=True)
class _Member:
    """A member of an archive, and how to read it."""

    name: str
    is_plain: bool
    open: Callable[[], IO[bytes]]


class _Joined(io.RawIOBase):
    """A split file, read as if it were whole."""

    def __init__(self, pieces: Sequence[Path]) -> None:
        self._files = [piece.open("rb") for piece in pieces]
        self._ends = list(accumulate(piece.stat().st_size for piece in pieces))
        self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """See `io.RawIOBase.seek`."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._ends[-1]}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: "Buffer") -> int:
        """Read up to the end of a piece."""
        place = bisect_right(self._ends, self._at)
        if place == len(self._files):
            return 0
        file = self._files[place]
        file.seek(self._at - (self._ends[place - 1] if place else 0))
        content = file.read(len(view := memoryview(buffer).cast("B")))
        view[: len(content)] = content
        self._at += len(content)
        return len(content)

    def close(self) -> None:
        """Close the pieces."""
        for file in self._files:
            file.close()
        super().close()


@contextmanager
def _opened(pieces: Sequence[Path], name: str) -> Iterator[list[_Member]]:
    """Yield the members of an archive, readable inside the context."""
    archive = pieces[0]
    try:
        if name.lower().endswith(".parquet"):
            yield _parquet_members(archive)
            return
        with io.BufferedReader(_Joined(pieces), _BLOCK) as file:
            if name.lower().endswith(".zip"):
                with zipfile.ZipFile(file) as packed:
                    yield [_zip_member(packed, info) for info in packed.infolist() if not info.is_dir()]
                return
            with tarfile.open(fileobj=file) as tar:
                yield [_tar_member(tar, info) for info in tar if not info.isdir()]
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        raise DataError(f"{archive.name} cannot be unpacked ({error}); fetch it again") from error


def _zip_member(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Member:
    kind = info.external_attr >> 28  # the upper bits of the mode on Unix: 8 is a file, 10 a link
    return _Member(info.filename.removeprefix("./"), kind in (0, 8), lambda: packed.open(info))


def _tar_member(tar: tarfile.TarFile, info: tarfile.TarInfo) -> _Member:
    def opened() -> IO[bytes]:
        file = tar.extractfile(info)
        if file is None:
            raise DataError(f"{info.name} holds no bytes")
        return file

    return _Member(info.name.removeprefix("./"), info.isreg(), opened)


def _parquet_members(archive: Path) -> list[_Member]:
    """Return the files in a Parquet table's columns of bytes with a path."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise UsageError(f"{archive.name} is a Parquet file; run: {adding('parquet')}") from error
    try:
        table = pq.ParquetFile(archive, memory_map=True)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{archive.name} cannot be unpacked ({cause(error)}); fetch it again") from error
    columns = [
        field.name
        for field in table.schema_arrow
        if pa.types.is_struct(field.type) and {"bytes", "path"} <= {entry.name for entry in field.type}
    ]

    def opened(column: str, group: int, row: int) -> Callable[[], IO[bytes]]:
        def read() -> IO[bytes]:  # only its row group
            cell = table.read_row_group(group, columns=[column]).column(column)[row].as_py()
            return io.BytesIO(cell["bytes"] or b"")

        return read

    paths = [f"{name}.path" for name in columns]
    members = []
    for group in range(table.num_row_groups if columns else 0):
        for row, values in enumerate(table.read_row_group(group, columns=paths).to_pylist()):
            members += [
                _Member(str(cell["path"]), is_plain=True, open=opened(column, group, row))
                for column, cell in values.items()
                if cell and cell["path"]
            ]
    return members


def _write(source: IO[bytes], target: Path, *, most: int, archive: str) -> int:
    """Write a member atomically; return its size in bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    n_bytes = 0
    try:
        with source, os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644), "wb") as file:
            while block := source.read(_BLOCK):
                n_bytes += len(block)
                if n_bytes > most:
                    raise DataError(
                        f"{archive} holds more than {_RATIO} times its size and, with those before it, 1 GB, "
                        "which videos never do; unpacking has stopped"
                    )
                file.write(block)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return n_bytes
