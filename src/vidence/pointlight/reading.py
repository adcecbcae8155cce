"""Read a file of motion, whatever its format."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Protocol

from vidence import catalog
from vidence.errors import DataError, VidenceError
from vidence.pointlight.motion import Motion
from vidence.pointlight.opening import Opened, open_file

_HEAD_BYTES = 4096


class MotionFormat(Protocol):
    """One format: made by ``create(options)``, one file in ``pointlight/formats``.

    `suffixes` are the ends of names that its files have, with the dot, without ``.gz``.
    """

    name: str
    version: int
    suffixes: tuple[str, ...]

    def recognises(self, head: str) -> bool:
        """Whether a file that begins with this text (bytes as Latin-1) may be of this format."""

    def read(self, path: Path) -> Motion:
        """Read a file, mend its known defects, and note both.

        Raises:
            DataError: it is not what it should be; the message names the file and the line.
        """


def open_format(name: str, options: Mapping[str, str] | None = None) -> MotionFormat:
    """The reader of a format by its name.

    Raises:
        UnknownNameError: there is none.
        UsageError: an option that it does not know.
    """
    made: MotionFormat = catalog.create("mocap-format", catalog.Spec(name=name, options=options or {}))
    return made


@cache
def _module(name: str) -> ModuleType:
    """Looking a name up takes a while, and a batch would do it for every file and format."""
    return catalog.find("mocap-format", name)


@cache
def _names() -> tuple[str, ...]:
    return catalog.names("mocap-format")


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
    """The name of the format of a file, by the end of its name and by its first lines.

    Raises:
        DataError: no format fits; where the content looks like that of another, the message says so.
    """
    opened = open_file(path)
    name, head = opened.name.lower(), _head(opened)
    made = {n: open_format(n) for n in _names()}
    by_name = [n for n, f in made.items() if name.endswith(f.suffixes)]
    by_content = [n for n, f in made.items() if f.recognises(head)]
    both = [n for n in by_name if n in by_content]
    if both:
        return both[0]
    if len(by_name) == 1 and not by_content:
        return by_name[0]  # its reader says what is wrong, and where
    looks = (
        f"its first lines look like {' or '.join(by_content)}" if by_content else "its first lines tell none"
    )
    known = ", ".join(sorted({s for f in made.values() for s in f.suffixes}))
    hint = f"; say format={by_content[0]} if it is one" if by_content else f"; known names end in {known}"
    if not opened.data.strip():
        raise DataError(f"{opened.label}: the file is empty")
    raise DataError(f"{opened.label}: its name tells no format that fits, and {looks}{hint}")


def read_motions(
    paths: Sequence[Path],
    *,
    format: str = "",
    options: Mapping[str, str] | None = None,
) -> tuple[tuple[Path, Motion | VidenceError], ...]:
    """Read several files; one that cannot be read gives its error, and the others go on.

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


def _head(opened: Opened) -> str:
    """The first lines as text; for UTF-16 without the zero bytes."""
    data = opened.data[:_HEAD_BYTES]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="ignore")
    return data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
