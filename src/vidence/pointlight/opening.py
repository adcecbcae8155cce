"""Files of motion as they lie about: plain, gzipped, or inside a zip archive."""

import gzip
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vidence.errors import DataError

# A file of motion is some megabytes; what unpacks to more than this is taken for damage.
MOST_BYTES = 1 << 30


@dataclass(frozen=True, kw_only=True)
class Opened:
    """One file, unpacked.

    `path` is what was asked for, `label` names it in messages, `name` is the file's own name without
    ``.gz`` (in an archive the name of the member).
    """

    path: Path
    label: str
    name: str
    data: bytes

    def text(self) -> str:
        """The file as text: UTF-8, UTF-16 where a mark says so, otherwise Latin-1.

        Raises:
            DataError: it is empty, or not text.
        """
        if not self.data.strip():
            raise DataError(f"{self.label}: the file is empty")
        if self.data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return self.data.decode("utf-16", errors="replace")
        if b"\0" in self.data:
            raise DataError(f"{self.label}: this is no text file (it holds zero bytes)")
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return self.data.decode("latin-1")

    def lines(self) -> list[str]:
        """The lines of `text`."""
        return self.text().splitlines()

    def at(self, line: int, problem: str) -> DataError:
        """An error that names this file and a line, counted from 1."""
        return DataError(f"{self.label}:{line}: {problem}")


def bare_name(name: str) -> str:
    """A file name without ``.gz``.

    >>> bare_name("02_01.amc.gz")
    '02_01.amc'
    """
    return name[:-3] if name.lower().endswith(".gz") else name


def open_file(path: Path) -> Opened:
    """Read a file; unpack it where it is gzipped or lies in a zip archive.

    ``walks.zip`` with one member stands for that member; ``walks.zip/01.amc`` names one of several.

    Raises:
        DataError: no such file, a damaged archive, or an archive of several files.
    """
    archive, member = _split(path)
    if archive is None:
        return _opened(path, label=str(path), name=path.name, read=path.read_bytes)
    try:
        with zipfile.ZipFile(archive) as held:
            names = _members(held)
            if not member and len(names) != 1:
                raise DataError(
                    f"{path} holds {len(names)} files; name one, for example {path}/{(names or ['x.amc'])[0]}"
                )
            chosen = member or names[0]
            if chosen not in names:
                raise DataError(f"{archive} has no member {chosen!r}; it holds {', '.join(names)}")
            name = PurePosixPath(chosen).name
            return _opened(path, label=f"{archive}/{chosen}", name=name, read=lambda: held.read(chosen))
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise DataError(f"{archive} is a damaged zip archive: {error}") from error


def siblings(opened: Opened, suffix: str) -> Iterator[Path]:
    """Files with that suffix in the folder, or the archive, that a file lies in; sorted by name."""
    archive, _ = _split(opened.path)
    if archive is None:
        folder = opened.path.parent
        names = sorted(p.name for p in folder.iterdir() if p.is_file())
        yield from (folder / n for n in names if bare_name(n).lower().endswith(suffix))
        return
    with zipfile.ZipFile(archive) as held:
        yield from (archive / n for n in sorted(_members(held)) if bare_name(n).lower().endswith(suffix))


def _split(path: Path) -> tuple[Path | None, str]:
    """The archive that a path leads into, and the member; no archive for a plain file."""
    if path.is_file():
        return (path, "") if path.name.lower().endswith(".zip") else (None, "")
    for folder in path.parents:
        if folder.is_file() and folder.name.lower().endswith(".zip"):
            return folder, path.relative_to(folder).as_posix()
    return None, ""


def _members(held: zipfile.ZipFile) -> list[str]:
    hidden = ("__MACOSX/", ".")
    infos = [i for i in held.infolist() if not i.is_dir() and not i.filename.startswith(hidden)]
    for info in infos:
        if info.file_size > MOST_BYTES:
            raise DataError(f"{held.filename}: {info.filename} unpacks to {info.file_size} bytes; too many")
    return [i.filename for i in infos]


def _opened(path: Path, *, label: str, name: str, read: Callable[[], bytes]) -> Opened:
    try:
        data = read()
    except FileNotFoundError as error:
        raise DataError(f"{label}: there is no such file") from error
    except OSError as error:
        raise DataError(f"{label} cannot be read: {error.strerror or error}") from error
    if data.startswith(b"\x1f\x8b"):
        data = _unpacked(data, label)
    return Opened(path=path, label=label, name=bare_name(name), data=data)


def _unpacked(data: bytes, label: str) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        plain = unpacker.decompress(data, MOST_BYTES)
        if unpacker.unconsumed_tail:
            raise DataError(f"{label} unpacks to more than {MOST_BYTES} bytes; too many")
        return plain if unpacker.eof and not unpacker.unused_data else gzip.decompress(data)
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise DataError(f"{label}: the gzip file is damaged or cut off: {error}") from error
