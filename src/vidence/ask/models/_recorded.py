"""Read recorded replies from JSON lines, a JSON list or CSV, each plain or gzipped."""

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from vidence.ask.models._finish import finish_of
from vidence.errors import DataError
from vidence.records import Record, Reply

DecodedT = TypeVar("DecodedT")
Row = tuple[str, Mapping[str, object]]


class Columns(Record, kw_only=True):
    """Which column holds what. `id` and `text` must be in every row; an empty name reads nothing.

    `sample` counts the replies to one question from 0.
    """

    id: str = "item_id"
    text: str = "text"
    sample: str = "sample"
    reasoning: str = "reasoning"
    refusal: str = "refusal"
    finish: str = "finish"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One recorded reply: where it stands, whose it is."""

    place: str
    item_id: str
    sample: int
    reply: Reply


def unpack(path: Path, content: bytes) -> bytes:
    """The content of the file without gzip and byte order mark.

    Raises:
        DataError: a damaged gzip file.
    """
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError(f"{path} is a damaged gzip file ({error}); copy or write it again") from error
    return content.removeprefix(b"\xef\xbb\xbf")


def rows(path: Path, content: bytes) -> Iterator[Row]:
    """The rows of the unpacked content, each with its place (``FILE, line 3``).

    Raises:
        DataError: not UTF-8, not JSON, not CSV, or a row that is not an object.
    """
    suffixes = [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    if suffixes and suffixes[-1] == ".csv":
        return _csv_rows(path, content)
    if content.lstrip()[:1] == b"[":
        return _list_rows(path, content)
    return _line_rows(path, content)


def _decode(place: str, content: bytes, kind: type[DecodedT]) -> DecodedT:
    try:
        return msgspec.json.decode(content, type=kind)
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: not UTF-8 at byte {error.start}; write the file as UTF-8") from error
    except msgspec.DecodeError as error:
        raise DataError(
            f"{place}: not JSON: {error}; expected one JSON object per line, a JSON list of objects, "
            "or CSV in a file that ends in .csv"
        ) from error


def _row(place: str, value: object) -> Row:
    if not isinstance(value, dict):
        raise DataError(f"{place}: expected a JSON object, found {type(value).__name__}")
    return place, value


def _line_rows(path: Path, content: bytes) -> Iterator[Row]:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            place = f"{path}, line {number}"
            yield _row(place, _decode(place, line, object))


def _list_rows(path: Path, content: bytes) -> Iterator[Row]:
    for number, value in enumerate(_decode(str(path), content, list), start=1):
        yield _row(f"{path}, entry {number}", value)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let CSV fields be longer than the 131,072 characters that Python allows by itself."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _csv_rows(path: Path, content: bytes) -> Iterator[Row]:
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError(f"{path}, line {line}: not UTF-8; write the file as UTF-8") from error
    read: list[Row] = []
    with _long_fields():
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        try:
            for values in reader:
                place = f"{path}, line {reader.line_num}"
                if None in values or None in values.values():
                    n_columns = len(reader.fieldnames or ())
                    raise DataError(
                        f"{place}: the row has more or fewer than the header's {n_columns} fields"
                    )
                read.append((place, values))
        except csv.Error as error:
            raise DataError(f"{path}, line {reader.line_num}: not CSV: {error}") from error
    return iter(read)


# ------------------------------------------------------------------------------- one row, one reply


def _required(place: str, row: Mapping[str, object], *, column: str, option: str) -> object:
    if column not in row:
        raise DataError(
            f"{place}: no field {column!r}; found {', '.join(map(repr, row))}. "
            f"Name the right one with {option}=FIELD (--replay-columns {option}=FIELD)"
        )
    return row[column]


def _words(place: str, row: Mapping[str, object], *, column: str, option: str) -> str:
    value = row.get(column) if column else None
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(
            f"{place}, field {column!r}: expected text or null, found {value!r}; name another field "
            f"with {option}=FIELD"
        )
    return value


def _sample(place: str, row: Mapping[str, object], column: str) -> int:
    value = row.get(column, 0) if column else 0
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(f"{place}, field {column!r}: expected a whole number from 0, found {value!r}")
    return value


def recorded(place: str, row: Mapping[str, object], columns: Columns) -> Recorded:
    """The reply that one row holds.

    Raises:
        DataError: a field is missing or not of its kind; the message names file, line and field.
    """
    item_id = _required(place, row, column=columns.id, option="id")
    if isinstance(item_id, bool) or not isinstance(item_id, str | int) or item_id == "":
        raise DataError(
            f"{place}, field {columns.id!r}: expected the id of an item (text or a whole number), "
            f"found {item_id!r}"
        )
    _required(place, row, column=columns.text, option="text")
    refusal = _words(place, row, column=columns.refusal, option="refusal")
    finish = _words(place, row, column=columns.finish, option="finish")
    reply = Reply(
        text=_words(place, row, column=columns.text, option="text"),
        reasoning=_words(place, row, column=columns.reasoning, option="reasoning"),
        refusal=refusal,
        finish="refusal" if refusal else finish_of(finish or "stop"),
    )
    return Recorded(
        place=place,
        item_id=str(item_id),
        sample=_sample(place, row, columns.sample),
        reply=reply,
    )
