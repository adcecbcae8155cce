"""Answers recorded elsewhere: ``replay:FILE?id=COLUMN&text=COLUMN``.

FILE holds JSON lines, a JSON list or CSV, plain or gzipped. No frame is looked at.
"""

import csv
import gzip
import hashlib
import io
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

import msgspec
from msgspec import Meta

from vidence.ask.models.answers import finish_of
from vidence.catalog import FilePath
from vidence.contracts import Request
from vidence.errors import DataError, RejectedRequestError, UsageError
from vidence.records import Record, Reply

DecodedT = TypeVar("DecodedT")
Row = tuple[str, Mapping[str, object]]


class Settings(Record):
    """Options of ``replay:`` models: which column holds what; an empty name reads nothing."""

    positional: ClassVar[str] = "file"

    file: Annotated[FilePath, Meta(description="the recorded replies")]
    id: Annotated[str, Meta(description="column of the item's id; in every row")] = "item_id"
    text: Annotated[str, Meta(description="column of the reply; in every row")] = "text"
    sample: Annotated[str, Meta(description="column that counts a question's replies from 0")] = "sample"
    reasoning: Annotated[str, Meta(description="column of what the model thought")] = "reasoning"
    refusal: Annotated[str, Meta(description="column of the words in which it declined")] = "refusal"
    finish: Annotated[str, Meta(description="column of why the reply ended")] = "finish"

    def __post_init__(self) -> None:
        """Refuse files without ids or replies."""
        if not self.id or not self.text:
            raise UsageError("replay: id= and text= must name a field each")


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


def recorded(place: str, row: Mapping[str, object], columns: Settings) -> Recorded:
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


# -------------------------------------------------------------------------------------- the model


class ReplayModel:
    """Says what a file says about each item."""

    looks = False
    by_item = True
    max_in_flight: int | None = None

    def __init__(self, replies: Mapping[str, Mapping[int, Reply]], *, identity: str, source: str) -> None:
        self.identity = identity
        self._replies = replies
        self._source = source

    def recorded_ids(self) -> frozenset[str]:
        """The ids of the items that the file answers."""
        return frozenset(self._replies)

    async def reply(self, request: Request) -> Reply:
        """The recorded reply to this item and sample.

        Raises:
            RejectedRequestError: none is recorded.
        """
        samples = self._replies.get(request.item_id)
        if samples is None:
            raise RejectedRequestError(
                f"no recorded reply for item {request.item_id!r} in {self._source}; --recorded-only asks "
                "only what has one"
            )
        if request.sample not in samples:
            known = ", ".join(map(str, sorted(samples)))
            raise RejectedRequestError(
                f"no recorded reply for item {request.item_id!r}, sample {request.sample} in "
                f"{self._source}; recorded samples: {known}"
            )
        return samples[request.sample]

    async def close(self) -> None:
        """Nothing to let go of."""


def _keep_one(first: Recorded, second: Recorded) -> None:
    if first.reply != second.reply:
        raise DataError(
            f"{second.place}: a second, different reply for item {second.item_id!r} (the first is at "
            f"{first.place}); keep one, or tell them apart by a field that counts from 0, named "
            "with sample=FIELD"
        )


def _replies(path: Path, content: bytes, columns: Settings) -> dict[str, dict[int, Reply]]:
    found: dict[tuple[str, int], Recorded] = {}
    for place, row in rows(path, unpack(path, content)):
        one = recorded(place, row, columns)
        _keep_one(found.setdefault((one.item_id, one.sample), one), one)
    if not found:
        raise DataError(f"{path} holds no reply; expected at least one row")
    replies: dict[str, dict[int, Reply]] = {}
    for (item_id, sample), one in found.items():
        replies.setdefault(item_id, {})[sample] = one.reply
    return replies


def create(settings: Settings) -> ReplayModel:
    """The model that repeats the replies of a file, which is read now and never again.

    Raises:
        DataError: the file cannot be read, or a row is not what it should be.
    """
    path = Path(settings.file).expanduser()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"the recorded replies {path} cannot be read: {error}") from error
    named = "&".join(f"{f}={getattr(settings, f)}" for f in settings.__struct_fields__ if f != "file")
    return ReplayModel(
        _replies(path, content, settings),
        identity=f"replay:{hashlib.sha256(content).hexdigest()}?{named}",
        source=str(path),
    )
