"""Find the files of event logs; read tables row by row with line numbers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from vidence.ask.files import DataFile, FieldError
from vidence.ask.files import csv_rows as table_rows
from vidence.errors import DataError, cause
from vidence.media.gzipped import unpacked

Row: TypeAlias = Mapping[str, str]
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_HEADING = re.compile(r"\s*.*")


def text_of(path: Path) -> str:
    """The text of a file, decompressed if named ``.gz``; invalid UTF-8 becomes U+FFFD.

    Raises:
        DataError: it cannot be read or unpacked, or is UTF-16.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({cause(error)}); check the path and its rights") from error
    if path.suffix == ".gz":
        content = unpacked(content, str(path))
    if content.startswith(_UTF_16):
        raise DataError(f"{path} is written in UTF-16; expected UTF-8: save it again with that encoding")
    return content.decode("utf-8-sig", errors="replace")


def log_files(path: Path, *, endings: Sequence[str], but: Sequence[str] = ()) -> tuple[Path, ...]:
    """`path` itself, or the files in the folder `path` with these endings (also ``.gz``), sorted.

    Args:
        path: a file or a folder.
        endings: such as ``.csv``.
        but: words in lower case; a file whose name has one of them is no log (``classes``).

    Raises:
        DataError: nothing is there.
    """
    if path.is_file():
        return (path,)
    if not path.is_dir():
        raise DataError(
            f"there is nothing at {path}; expected an event log ({', '.join(endings)}) or a folder"
        )
    paths = tuple(
        entry
        for entry in sorted(path.iterdir())
        if entry.name.removesuffix(".gz").endswith(tuple(endings))
        and not entry.name.startswith(".")
        and not any(word in entry.name.casefold() for word in but)
    )
    if not paths:
        raise DataError(
            f"the folder {path} holds no event log; expected files that end in {', '.join(endings)}"
        )
    return paths


def beside(path: Path, ending: str) -> Path | None:
    """Return the file next to a log, or in its folder, with this ending; None if missing."""
    folder = path if path.is_dir() else path.parent
    return next((entry for entry in sorted(folder.iterdir()) if entry.name.casefold().endswith(ending)), None)


def csv_rows(path: Path, *, needs: Sequence[str]) -> Iterator[tuple[str, Row | FieldError]]:
    """The rows of a table, or their faults, with ``file:line``; column names in lower case.

    Comma, semicolon and tab are understood: the one that the first line has most of. A header without the
    columns of `needs` is one fault, and no row follows it.
    """
    text = _HEADING.sub(lambda match: match[0].casefold(), text_of(path), count=1)
    try:
        rows = table_rows(DataFile(path, text.encode()), needed=needs, delimiters=",;\t")
    except DataError as error:
        line, _, why = str(error).removeprefix(f"{path}:").partition(": ")
        yield f"{path}:{line}", FieldError("columns", why)
        return
    if not text.strip():
        yield f"{path}:1", FieldError("columns", f"an empty file; expected {', '.join(needs)}")
    yield from ((f"{path}:{line}", row) for line, row in rows)
