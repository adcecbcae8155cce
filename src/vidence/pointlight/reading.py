"""Read motion-capture files of any format: plain, gzip, or a member of a zip archive."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vidence import catalog
from vidence.errors import DataError, VidenceError, cause
from vidence.media.gzipped import GZIP, unpacked
from vidence.pointlight.motion import Motion

# A file of motion is some megabytes; what unpacks to more than this is taken for damage.
MOST_BYTES = 1 << 28


@dataclass(frozen=True, kw_only=True)
class UnpackedFile:
    """One uncompressed file.

    `path` is what was asked for, `label` names it in messages, `name` is the file's own name without
    ``.gz`` (in an archive the name of the member).
    """

    path: Path
    label: str
    name: str
    data: bytes

    def text(self) -> str:
        """The file as text: UTF-8, UTF-16 with a byte order mark, otherwise Latin-1.

        Raises:
            DataError: it is empty, or not text.
        """
        if not self.data.strip():
            raise DataError(f"{self.label}: the file is empty")
        if self.data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return self.data.decode("utf-16", errors="replace")
        if b"\0" in self.data:
            raise DataError(f"{self.label}: this is not a text file (it contains null bytes)")
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return self.data.decode("latin-1")

    def lines(self) -> list[str]:
        """The lines of `text`."""
        return self.text().splitlines()

    def rows(
        self, n_columns: int, *, expected: str, first: int = 1, commas: bool = False, is_finite: bool = False
    ) -> tuple[list[int], NDArray[np.float64]]:
        """The lines from `first` on as rows of numbers; empty lines are skipped.

        Args:
            n_columns: how many numbers a line has.
            expected: what is expected, for the message about a line with another number of them.
            first: the first line, counted from 1.
            commas: commas part numbers, too.
            is_finite: refuse numbers that are not finite.

        Returns:
            The number of each line, and the numbers, shape (n_rows, n_columns).

        Raises:
            DataError: a line with other than `n_columns` numbers, or one that cannot be read.
        """
        numbers: list[int] = []
        rows: list[list[float]] = []
        for number, line in enumerate(self.lines()[first - 1 :], start=first):
            words = (line.replace(",", " ") if commas else line).split()
            if not words:
                continue
            if len(words) != n_columns:
                raise self.at(number, f"{len(words)} numbers, {expected}")
            try:
                rows.append([float(word) for word in words])
            except ValueError as error:
                raise self.at(number, f"cannot read a number: {error}") from error
            numbers.append(number)
        values = np.array(rows).reshape(-1, n_columns)
        bad = ~np.isfinite(values).all(axis=1)
        if is_finite and bad.any():
            raise self.at(numbers[int(bad.argmax())], "a number of this frame is not finite")
        return numbers, values

    def at(self, line: int, problem: str) -> DataError:
        """An error that names this file and a line, counted from 1."""
        return DataError(f"{self.label}:{line}: {problem}")


def bare_name(name: str) -> str:
    """A file name without ``.gz``.

    >>> bare_name("02_01.amc.gz")
    '02_01.amc'
    """
    return name[:-3] if name.lower().endswith(".gz") else name


def open_file(path: Path) -> UnpackedFile:
    """Read a file, unpacking gzip or a member of a zip archive.

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


def siblings(opened: UnpackedFile, suffix: str) -> Iterator[Path]:
    """Return the files with a suffix in the same folder or archive, sorted by name."""
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


def _opened(path: Path, *, label: str, name: str, read: Callable[[], bytes]) -> UnpackedFile:
    try:
        data = read()
    except FileNotFoundError as error:
        raise DataError(f"{label}: there is no such file") from error
    except OSError as error:
        raise DataError(f"{label} cannot be read: {cause(error)}") from error
    if data.startswith(GZIP):
        data = unpacked(data, label, most_bytes=MOST_BYTES)
    return UnpackedFile(path=path, label=label, name=bare_name(name), data=data)


_HEAD_BYTES = 4096


class MotionFormat(Protocol):
    """One format; one file in ``pointlight/formats``.

    `suffixes` are the ends of names that its files have, with the dot, without ``.gz``.
    """

    name: str
    version: int
    suffixes: tuple[str, ...]

    def recognises(self, head: str) -> bool:
        """Whether a file that starts with this text (bytes as Latin-1) may be of this format."""

    def read(self, path: Path) -> Motion:
        """Read a file, correct its known defects, and note both.

        Raises:
            DataError: it is not what it should be; the message names the file and the line.
        """


def open_format(name: str, options: Mapping[str, str] | None = None) -> MotionFormat:
    """The reader of a format by its name.

    Raises:
        UnknownNameError: there is none.
        UsageError: an option that it does not know.
    """
    motion_format: MotionFormat = catalog.create(
        "mocap-format", catalog.Spec(name=name, options=options or {})
    )
    return motion_format


def read_motion(path: Path, *, format: str = "", options: Mapping[str, str] | None = None) -> Motion:
    """Read a file of motion capture.

    Args:
        path: the file; it may be gzipped or lie in a zip archive (``walks.zip/01.amc``).
        format: the name of a format; empty to go by the end of the name and the first lines.
        options: those of the format, such as ``fps``, ``units``, ``skeleton``.

    Returns:
        Points in metres with y up, with the true rate; ``source.notes`` tells what was mended.

    Raises:
        DataError: no such file, no known format, or one that cannot be read.
        UsageError: an option that the format does not know.
    """
    return open_format(format or format_of(path), options).read(path)


def format_of(path: Path) -> str:
    """The name of a file's format, from its name and first lines.

    Raises:
        DataError: no format fits; where the content looks like that of another, the message says so.
    """
    if path.is_dir():
        raise DataError(f"{path} cannot be read: it is a folder; name a file")
    opened = open_file(path)
    name, head = opened.name.lower(), _head(opened)
    values = {n: open_format(n) for n in catalog.names("mocap-format")}
    by_name = [n for n, f in values.items() if name.endswith(f.suffixes)]
    by_content = [n for n, f in values.items() if f.recognises(head)]
    if both := [n for n in by_name if n in by_content]:
        return both[0]
    if len(by_name) == 1 and not by_content:
        return by_name[0]  # its reader says what is wrong, and where
    looks = (
        f"its first lines look like {' or '.join(by_content)}" if by_content else "its first lines tell none"
    )
    known = ", ".join(sorted({s for f in values.values() for s in f.suffixes}))
    hint = f"; say format={by_content[0]} if it is one" if by_content else f"; known names end in {known}"
    if not opened.data.strip():
        raise DataError(f"{opened.label}: the file is empty")
    if name.endswith(".asf"):
        raise DataError(
            f"{opened.label} is a skeleton, not a motion; name the .amc, with skeleton={opened.label}"
        )
    raise DataError(f"{opened.label}: its name matches no format, and {looks}{hint}")


def read_motions(
    paths: Sequence[Path], *, format: str = "", options: Mapping[str, str] | None = None
) -> tuple[tuple[Path, Motion | VidenceError], ...]:
    """Read several files; an unreadable one gives its error, and the others continue.

    Args:
        paths: the files.
        format: as for `read_motion`.
        options: as for `read_motion`.
    """
    done: list[tuple[Path, Motion | VidenceError]] = []
    for path in paths:
        try:
            done.append((path, read_motion(path, format=format, options=options)))
        except VidenceError as error:
            done.append((path, error))
    return tuple(done)


def _head(opened: UnpackedFile) -> str:
    """The first lines as text; for UTF-16 without the zero bytes."""
    data = opened.data[:_HEAD_BYTES]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="ignore")
    return data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
