"""Find the files of event logs, and read tables row by row with the line on which each row starts."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from vidence.errors import DataError
from vidence.media.gzipped import unpacked

Row: TypeAlias = Mapping[str, str]
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is wrong with one row: the column, and what was seen and expected."""

    field: str
    reason: str

    def at(self, where: str) -> str:
        """As it is reported: ``file:line: column: reason``."""
        return f"{where}: {self.field}: {self.reason}"


def text_of(path: Path) -> str:
    """The text of a file, unpacked when its name ends in ``.gz``; bytes that are not UTF-8 as U+FFFD.

    Raises:
        DataError: it cannot be read or unpacked, or is UTF-16.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check the path and its rights") from error
    if path.suffix == ".gz":
        content = unpacked(content, str(path))
    if content.startswith(_UTF_16):
        raise DataError(f"{path} is written in UTF-16; expected UTF-8: save it again with that encoding")
    return content.decode("utf-8-sig", errors="replace")


def log_files(path: Path, *, endings: Sequence[str], but: Sequence[str] = ()) -> tuple[Path, ...]:
    """`path` itself, or the files in the folder `path` by their endings (also with ``.gz``), sorted.

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


def csv_lines(text: str) -> Iterator[tuple[int, list[str] | Fault]]:
    """The cells of each row of a table that is not blank, or what is wrong with it, with its first line.

    Comma, semicolon and tab are understood: the one that the first line has most of.
    """
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            yield line, Fault(field="CSV", reason=f"{error}; expected quotes in pairs")
            continue
        if any(cells):
            yield line, cells


def csv_rows(path: Path, *, needs: Sequence[str]) -> Iterator[tuple[str, Row | Fault]]:
    """The rows of a table, or what is wrong with each, with ``file:line``; columns in lower case.

    A header without the columns of `needs` is one fault, and no row follows it.
    """
    header: list[str] = []
    for line, cells in csv_lines(text_of(path)):
        where = f"{path}:{line}"
        if isinstance(cells, Fault):
            yield where, cells
        elif not header:
            header = [cell.casefold() for cell in cells]
            if (fault := _bad_header(header, needs)) is not None:
                yield where, fault
                return
        elif len(cells) != len(header):
            reason = f"{len(cells)} cells found; expected {len(header)}, one for each column"
            yield where, Fault(field="CSV", reason=reason)
        else:
            yield where, dict(zip(header, cells, strict=True))
    if not header:
        yield (
            f"{path}:1",
            Fault(field="CSV", reason=f"an empty file; expected the columns {', '.join(needs)}"),
        )


def _bad_header(header: Sequence[str], needs: Sequence[str]) -> Fault | None:
    if absent := [name for name in needs if name not in header]:
        reason = f"no such column among {', '.join(header)}; expected at least {', '.join(needs)}"
        return Fault(field=" and ".join(absent), reason=reason)
    if twice := sorted({name for name in header if name and header.count(name) > 1}):
        return Fault(field=twice[0], reason="the column is there twice; expected each column once")
    return None
