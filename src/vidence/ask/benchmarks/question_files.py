"""Find question files and read them: plain or gzipped, hashed as they are when unpacked."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from vidence.errors import DataError, UnknownNameError

_BYTE_POSITION = re.compile(r"\(byte (\d+)\)")
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class QuestionFile:
    """A file of questions; `content` are its bytes, unpacked and without a byte order mark."""

    path: Path
    content: bytes

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the content, the same for the plain and the gzipped file."""
        return hashlib.sha256(self.content).hexdigest()


def read(path: Path) -> QuestionFile:
    """Read a file, unpacked when its name ends in ``.gz``.

    Raises:
        DataError: it cannot be read or unpacked, is empty, or is UTF-16.
    """
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path} cannot be unpacked ({error}); expected a complete gzip file: copy or download it again"
        ) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check the path and its rights") from error
    if content.startswith(_UTF_16):
        raise DataError(f"{path} is written in UTF-16; expected UTF-8: save it again with that encoding")
    content = content.removeprefix(_BOM)
    if not content.strip():
        raise DataError(f"{path} is empty; expected questions: check that the file was written completely")
    return QuestionFile(path, content)


def locate(data: Path, names: Sequence[str], *, what: str) -> Path:
    """`data` itself when it is a file, otherwise the first of `names` inside it (or its ``.gz``).

    Raises:
        DataError: there is nothing at `data`, or none of the names in the folder; `what` says which
            file was looked for and where to get it.
    """
    if data.is_file():
        return data
    if not data.is_dir():
        raise DataError(f"there is nothing at {data}; expected {what}")
    for name in names:
        for path in (data / name, data / f"{name}.gz"):
            if path.is_file():
                return path
    raise DataError(
        f"the folder {data} holds none of {', '.join(names)} (or these with .gz); expected {what}"
    )


def check_split(benchmark: str, split: str, known: Sequence[str]) -> None:
    """Accept only a split that exists.

    Raises:
        UnknownNameError: it does not.
    """
    if split not in known:
        raise UnknownNameError(f"split of {benchmark}", split, known)


def elements(file: QuestionFile) -> Iterator[tuple[str, bytes]]:
    """The objects of a JSON list, each undecoded and with the line on which it starts.

    Where the whole list stands on one line, its number is followed by ``(entry N)``, from 1.

    Raises:
        DataError: the file is not one JSON list.
    """
    content = file.content
    try:
        raws = msgspec.json.decode(content, type=list[msgspec.Raw])
    except msgspec.ValidationError as error:
        raise DataError(f"{file.path} is not a list ({error}); expected a JSON list of questions") from error
    except msgspec.DecodeError as error:
        found = _BYTE_POSITION.search(str(error))
        where = len(content) if found is None else int(found[1])
        line = content.count(b"\n", 0, where) + 1
        raise DataError(
            f"{file.path}:{line}: {error}; expected one JSON list: mend that line, or download the file again"
        ) from error
    line, position = 1, 0
    is_one_line = b"\n" not in content.strip()
    for number, raw in enumerate(raws, 1):
        element = bytes(raw)
        start = content.index(element, position)
        line += content.count(b"\n", position, start)
        position = start
        yield f"{line} (entry {number})" if is_one_line else str(line), element
        line += element.count(b"\n")
        position += len(element)


def lines(file: QuestionFile) -> Iterator[tuple[str, bytes]]:
    """The lines of a file that are not blank, with their numbers, from 1."""
    for number, line in enumerate(file.content.splitlines(), 1):
        if line.strip():
            yield str(number), line


def objects(file: QuestionFile) -> Iterator[tuple[str, bytes]]:
    """The objects of a file that is one JSON list, or that has one object on each line.

    Raises:
        DataError: the file begins like a JSON list and is not one.
    """
    return elements(file) if file.content.lstrip()[:1] == b"[" else lines(file)
