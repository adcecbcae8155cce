"""Files of questions and replies: decompressed, split into rows, each row parsed."""

import csv
import difflib
import hashlib
import io
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar, get_args, get_type_hints

import msgspec

from vidence.errors import DataError, UsageError, cause
from vidence.media.bounded import read_bounded
from vidence.media.gzipped import GZIP, unpacked
from vidence.records import Evidence, Item, Media, Provenance

ValueT = TypeVar("ValueT")

_BYTE_POSITION = re.compile(r"\(byte (\d+)\)")
_LINE = re.compile(rb"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NOT_UTF_8 = re.compile("[\udc80-\udcff]")

# What stands inside a question, under the same names in every format of ours.
_RECORDS: Mapping[str, type] = {"media": Media, "evidence": Evidence, "provenance": Provenance}
_PLACE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_REQUIRED = re.compile(r"Object missing required field `(?P<name>.*)`")
# Ids, choices, answers and the values of tags may be written as numbers; they are texts.
_TEXT_FIELD = re.compile(
    r"choices|options|answer|answer_text|answer_choice(?:_\d)?|item_id|source_id|video_id|question_id|tags"
)
_NUMBER_FOR_TEXT = re.compile(
    r"Expected `str(?: \| null)?`, got `(?:int|float)`"
    rf" - at `\$\.(?:{_TEXT_FIELD.pattern})(?:\[\.\.\.\]|\[\d+\])?`"
)
# Fields that are often given as plain texts.
_WRITTEN = {"media": '[{"path": "clip.mp4"}]', "choices": '["one", "another"]'}
_TOO_DEEP = "brackets are nested in brackets too deeply to be read"
_JSON_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


class FieldError(DataError):
    """An unusable row: the field, what is wrong, and what would be right."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, reason)
        self.field = field
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}"


@dataclass(frozen=True)
class DataFile:
    """A file; `content` is decompressed and without a byte order mark."""

    path: Path
    content: bytes

    @cached_property
    def content_hash(self) -> str:
        """Return the SHA-256 of the content, equal for plain and gzipped files."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def ending(self) -> str:
        """Return the extension without ``.gz``, in lower case: ``.csv``."""
        return ending_of(self.path)


def ending_of(path: Path) -> str:
    """Return a file name's extension without ``.gz``, in lower case."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def read(path: Path, *, what: str = "questions") -> DataFile:
    """Read a file, decompressing gzip.

    Args:
        path: the file.
        what: what should be in it, for messages.

    Raises:
        DataError: it cannot be read or unpacked, unpacks to more than 512 MB, is empty, or is UTF-16.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({cause(error)}); check the path and its rights") from error
    return file_of(path, content, what=what)


def read_json(path: Path, kind: type[ValueT], *, advice: str) -> ValueT:
    """Read a JSON file into a record.

    Args:
        path: the file.
        kind: of the record.
        advice: what to do where it does not.

    Raises:
        DataError: it cannot be read, or holds something else.
    """
    try:
        return msgspec.json.decode(read_bounded(path), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {cause(error)}; {advice}") from error


def file_of(path: Path, content: bytes, *, what: str = "questions") -> DataFile:
    """Return a file of these bytes, decompressed; arguments and errors as for `read`."""
    if path.suffix == ".gz" or content.startswith(GZIP):
        content = unpacked(content, str(path))
    if content.startswith(_UTF_16):
        raise DataError(f"{path} is written in UTF-16; expected UTF-8: save it again with that encoding")
    content = content.removeprefix(_BOM)
    if not content.strip():
        raise DataError(f"{path} is empty; expected {what}: check that the file was written completely")
    return DataFile(path, content)


# --------------------------------------------------------------------------- its rows


def elements(file: DataFile) -> Iterator[tuple[str, bytes]]:
    """Yield the objects of a JSON list, undecoded, each with its starting line.

    Where the whole list stands on one line, its number is followed by ``(entry N)``, from 1.

    Raises:
        DataError: the file is not one JSON list.
    """
    content = file.content
    try:
        raws = msgspec.json.decode(content, type=list[msgspec.Raw])
    except RecursionError as error:
        raise DataError(f"{file.path}: {_TOO_DEEP}; expected a JSON list of questions") from error
    except msgspec.ValidationError as error:
        raise DataError(f"{file.path} is not a list ({error}); expected a JSON list of questions") from error
    except msgspec.DecodeError as error:
        match = _BYTE_POSITION.search(str(error))
        where = len(content) if match is None else int(match[1])
        line = content.count(b"\n", 0, where) + 1
        raise DataError(
            f"{file.path}:{line}: {error}; expected one JSON list: fix that line, or download the file again"
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


def lines(file: DataFile) -> Iterator[tuple[str, bytes]]:
    """Yield the non-blank lines of a file, numbered from 1."""
    for number, match in enumerate(_LINE.finditer(file.content), 1):
        if match[1].strip():
            yield str(number), match[1]


def objects(file: DataFile) -> Iterator[tuple[str, bytes]]:
    """Yield the objects of a file that is a JSON list, or has an object per line.

    Raises:
        DataError: the file begins like a JSON list and is not one.
    """
    return elements(file) if file.content.lstrip()[:1] == b"[" else lines(file)


def csv_rows(
    file: DataFile,
    *,
    needed: Sequence[str] = (),
    known: Sequence[str] | None = None,
    more: re.Pattern[str] | None = None,
    delimiters: str = ",",
    is_verbatim: bool = False,
) -> list[tuple[str, dict[str, str] | FieldError]]:
    """Return the rows of a CSV file by column, each with its starting line, or what is wrong with it.

    Args:
        file: the file; its first line names the columns.
        needed: columns that must be there.
        known: all columns that there may be; None for any.
        more: names that a column may have, too.
        delimiters: the one that the first line has most of splits all lines.
        is_verbatim: whether blanks around a cell belong to it.

    Raises:
        DataError: the header names a column that is not known, or twice, or not the needed ones.
    """
    text = file.content.decode("utf-8", errors="surrogateescape")
    first_line = text.lstrip().partition("\n")[0]
    before = csv.field_size_limit(sys.maxsize)  # Python's own limit is 131,072 characters
    try:
        csv_rows = list(_cells(text, delimiter=max(delimiters, key=first_line.count)))
    finally:
        csv.field_size_limit(before)
    header: list[str] = []
    rows: list[tuple[str, dict[str, str] | FieldError]] = []
    for line, cells in csv_rows:
        if isinstance(cells, FieldError):
            rows.append((line, cells))
            continue
        bare = [cell.strip() for cell in cells]
        read = cells if is_verbatim else bare
        if header and any(read):
            rows.append((line, _row(header, read)))
        elif not header and any(bare):
            header = bare
            _check_header(header, f"{file.path}:{line}", needed=needed, known=known, more=more)
    return rows


def _cells(text: str, *, delimiter: str) -> Iterator[tuple[str, list[str] | FieldError]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = str(reader.line_num + 1)
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, FieldError("CSV", f"{error}; expected quotes in pairs, doubled inside a quoted cell")
        else:
            yield line, cells


def _row(header: Sequence[str], cells: Sequence[str]) -> dict[str, str] | FieldError:
    row = dict(zip(header, cells, strict=False))
    if bad := next((name for name, cell in row.items() if _NOT_UTF_8.search(cell)), None):
        return FieldError(bad, "not UTF-8; save the file as UTF-8")
    if len(cells) != len(header):
        return FieldError("CSV", f"{len(cells)} cells found; expected {len(header)}, one for each column")
    return row


def _check_header(
    header: Sequence[str],
    where: str,
    *,
    needed: Sequence[str],
    known: Sequence[str] | None,
    more: re.Pattern[str] | None,
) -> None:
    for column in header:
        if header.count(column) > 1:
            raise DataError(f"{where}: the column {column!r} is there twice; expected each column once")
        if known is not None and column not in known and not (more and more.fullmatch(column)):
            raise DataError(f"{where}: {column!r}: unknown column;{near(column, known)}")
    if absent := [name for name in needed if name not in header]:
        raise DataError(
            f"{where}: no column {' and '.join(absent)}; expected a first line that names the columns, "
            f"with at least {', '.join(needed)}"
        )


def near(name: str, known: Collection[str]) -> str:
    """The nearest known name to one that is not known, and all of them, for messages."""
    matches = difflib.get_close_matches(name, known, n=1)
    hint = f" did you mean {matches[0]!r}?" if matches else ""
    return f"{hint} known: {', '.join(known)}"


def usable(row: ValueT | FieldError) -> ValueT:
    """The row.

    Raises:
        FieldError: it is none.
    """
    if isinstance(row, FieldError):
        raise row
    return row


# --------------------------------------------------------------------------- one row


def decoded(line: bytes, decoder: msgspec.json.Decoder[ValueT]) -> ValueT:
    """One object with the decoder of its type.

    Raises:
        FieldError: it is none of that type.
    """
    with _reasons(decoder):
        try:
            return decoder.decode(line)
        except msgspec.ValidationError as error:
            if not _NUMBER_FOR_TEXT.fullmatch(str(error)):
                raise
    return _decoded_with_texts(line, decoder)


def _decoded_with_texts(line: bytes, decoder: msgspec.json.Decoder[ValueT]) -> ValueT:
    """Read an object whose texts were written as numbers, each as the text that is written there."""
    with _reasons(decoder):
        fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        for name, raw in fields.items():
            if _TEXT_FIELD.fullmatch(name):
                fields[name] = msgspec.Raw(numbers_as_texts(bytes(raw)))
        return decoder.decode(msgspec.json.encode(fields))


@contextmanager
def _reasons(decoder: msgspec.json.Decoder[ValueT]) -> Iterator[None]:
    """Say what is wrong with an object that cannot be decoded.

    Raises:
        FieldError: instead of what a decoder raises.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise FieldError("encoding", f"not UTF-8 ({error.reason}); save the file as UTF-8") from error
    except msgspec.ValidationError as error:
        raise explained(error, record=decoder.type) from error
    except msgspec.DecodeError as error:
        raise FieldError("JSON", f"{error}; expected one JSON object per line") from error
    except RecursionError as error:
        raise FieldError("JSON", f"{_TOO_DEEP}; expected one JSON object per line") from error


def numbers_as_texts(value: bytes) -> bytes:
    """A JSON value whose numbers (itself, or in a list or object) are texts, written as they were.

    >>> numbers_as_texts(b'["two", 2, 1.50]')
    b'["two","2","1.50"]'
    """
    value = value.strip()
    if _JSON_NUMBER.fullmatch(value):
        return b'"' + value + b'"'
    if value.startswith(b"["):
        parts = msgspec.json.decode(value, type=list[msgspec.Raw])
        return b"[" + b",".join(numbers_as_texts(bytes(part)) for part in parts) + b"]"
    if value.startswith(b"{"):
        members = msgspec.json.decode(value, type=dict[str, msgspec.Raw])
        texts = {name: msgspec.Raw(numbers_as_texts(bytes(part))) for name, part in members.items()}
        return msgspec.json.encode(texts)
    return value


def json_or_none(content: bytes | str, kind: type[ValueT]) -> ValueT | None:
    """A value of JSON; None if it cannot be read, or is of another kind."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def text_of(line: bytes, field: str) -> str:
    """The text of one field of an object that cannot be used otherwise; empty if it cannot be read.

    It tells which question a message is about.
    """
    value = (json_or_none(line, dict[str, object]) or {}).get(field)
    return value if isinstance(value, str) else ""


def why_no_record(error: msgspec.ValidationError, *, record: type) -> str:
    """Why something is no such record: in its own words where it refuses values, else as `explained`."""
    inner = error.__cause__
    return str(inner if isinstance(inner, UsageError) else explained(error, record=record))


def explained(error: msgspec.ValidationError, *, record: type = Item) -> FieldError:
    """Which field is wrong, and how; an unknown field with the nearest known name.

    `record` is what the object should have been.
    """
    place = _PLACE.fullmatch(str(error))
    what, path = (str(error), "") if place is None else (place["what"], place["path"] or "")
    prefix = f"{path}." if path else ""
    owner = _RECORDS.get(path.partition("[")[0].partition(".")[0], record)
    if unknown := _UNKNOWN.fullmatch(what):
        known = [field.encode_name for field in msgspec.structs.fields(owner)]
        return FieldError(prefix + unknown["name"], f"unknown field;{near(unknown['name'], known)}")
    if required := _REQUIRED.fullmatch(what):
        return FieldError(prefix + required["name"], "absent; this field is required")
    if path.startswith("tags"):
        return FieldError("tags", f"{what}; the value of every tag is a text: put it in quotes")
    hint = ""
    if what.startswith("Invalid enum value"):
        allowed = get_args(get_type_hints(owner if "." in path else record).get(path.rpartition(".")[2]))
        hint = f"; expected {' or '.join(allowed)}" if allowed else ""
    elif what.startswith(("Expected `array`", "Expected `object`")):
        hint = f"; write it as {written}" if (written := _WRITTEN.get(path.partition("[")[0])) else ""
    elif path and what.startswith("Expected `str`"):
        hint = "; put it in quotes"
    return FieldError(path or "JSON", what + hint)
