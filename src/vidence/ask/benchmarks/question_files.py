"""Question files: found, read (plain or gzipped), their questions checked; the good ones are kept."""

import csv
import difflib
import gzip
import hashlib
import io
import math
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar, get_args, get_type_hints

import msgspec

from vidence.contracts import Loaded
from vidence.errors import DataError, UnknownNameError
from vidence.records import Evidence, Item, Media, Provenance

ValueT = TypeVar("ValueT")

_BYTE_POSITION = re.compile(r"\(byte (\d+)\)")
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NOT_UTF_8 = re.compile("[\udc80-\udcff]")

# What stands inside a question, under the same names in every format of ours.
_RECORDS: Mapping[str, type] = {"media": Media, "evidence": Evidence, "provenance": Provenance}
_PLACE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_REQUIRED = re.compile(r"Object missing required field `(?P<name>.*)`")
_ITEM_DECODER = msgspec.json.Decoder(Item)
# Choices and answers may be written as numbers; they are texts.
_TEXT_FIELD = re.compile(r"choices|options|answer|answer_text|answer_choice(?:_\d)?")
_NUMBER_FOR_TEXT = re.compile(
    r"Expected `str(?: \| null)?`, got `(?:int|float)`"
    rf" - at `\$\.(?:{_TEXT_FIELD.pattern})(?:\[\.\.\.\]|\[\d+\])?`"
)
_JSON_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_FORMAT = "the format is in docs/item-format.md"
_MAX_CHOICES = 26
_LATEST_S = sys.float_info.max
_LISTED = 10
_LETTERED = re.compile(r"\(?[Aa][.):]\s")
_WORDS = re.compile(r"[a-z0-9]+")
_IGNORED = frozenset({"and"})


@dataclass(frozen=True)
class Fault:
    """Why a line is left out: the field, and what is wrong with it and what would be right."""

    field: str
    reason: str


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


def csv_rows(
    file: QuestionFile,
    *,
    needed: Sequence[str],
    known: Sequence[str],
    more: re.Pattern[str] | None = None,
    delimiters: str = ",",
) -> Iterator[tuple[str, dict[str, str] | Fault]]:
    """The rows of a CSV file by column, each with the line on which it starts, or what is wrong with it.

    Args:
        file: the file; its first line names the columns.
        needed: columns that must be there.
        known: all columns that there may be.
        more: names that a column may have, too.
        delimiters: the one that the first line has most of splits all lines.

    Raises:
        DataError: the header names a column that is not known, or twice, or not the needed ones.
    """
    text = file.content.decode("utf-8", errors="surrogateescape")
    first_line = text.lstrip().partition("\n")[0]
    delimiter = max(delimiters, key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            yield str(line), Fault("CSV", f"{error}; expected quotes in pairs, doubled inside a quoted cell")
            continue
        if not any(cells):
            continue
        if not header:
            header = cells
            _check_header(header, f"{file.path}:{line}", needed=needed, known=known, more=more)
            continue
        row = dict(zip(header, cells, strict=False))
        bad = next((name for name, cell in row.items() if _NOT_UTF_8.search(cell)), None)
        if bad is not None:
            yield str(line), Fault(bad, "not UTF-8; save the file as UTF-8")
        elif len(cells) != len(header):
            reason = f"{len(cells)} cells found; expected {len(header)}, one for each column"
            yield str(line), Fault("CSV", reason)
        else:
            yield str(line), row


def _check_header(
    header: Sequence[str],
    where: str,
    *,
    needed: Sequence[str],
    known: Sequence[str],
    more: re.Pattern[str] | None,
) -> None:
    for column in header:
        if header.count(column) > 1:
            raise DataError(f"{where}: the column {column!r} is there twice; expected each column once")
        if column not in known and not (more and more.fullmatch(column)):
            near = difflib.get_close_matches(column, known, n=1)
            hint = f" did you mean {near[0]!r}?" if near else ""
            raise DataError(f"{where}: {column!r}: unknown column;{hint} known: {', '.join(known)}")
    if absent := [name for name in needed if name not in header]:
        raise DataError(
            f"{where}: no column {' and '.join(absent)}; expected a first line that names the columns, "
            f"with at least {', '.join(needed)}"
        )


# --------------------------------------------------------------------------- one question


def item(line: bytes) -> Item | Fault:
    """Read one object of the item format."""
    return decoded(line, _ITEM_DECODER)


def decoded(line: bytes, decoder: msgspec.json.Decoder[ValueT]) -> ValueT | Fault:
    """Read one object with the decoder of its type."""
    try:
        return decoder.decode(line)
    except UnicodeDecodeError as error:
        return Fault("encoding", f"not UTF-8 ({error.reason}); save the file as UTF-8")
    except msgspec.ValidationError as error:
        if _NUMBER_FOR_TEXT.fullmatch(str(error)):
            return _decoded_with_texts(line, decoder)
        return explained(error, record=decoder.type)
    except msgspec.DecodeError as error:
        return Fault("JSON", f"{error}; expected one JSON object")


def _decoded_with_texts(line: bytes, decoder: msgspec.json.Decoder[ValueT]) -> ValueT | Fault:
    """Read an object whose choices or answer have numbers, each as the text that is written there."""
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    for name, raw in fields.items():
        if _TEXT_FIELD.fullmatch(name):
            fields[name] = msgspec.Raw(numbers_as_texts(bytes(raw)))
    try:
        return decoder.decode(msgspec.json.encode(fields))
    except msgspec.ValidationError as error:
        return explained(error, record=decoder.type)


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


def text_of(line: bytes, field: str) -> str:
    """The text of one field of an object that cannot be used otherwise; empty where it cannot be read.

    It tells which question a message is about.
    """
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    value = found.get(field) if isinstance(found, dict) else None
    return value if isinstance(value, str) else ""


def explained(error: msgspec.ValidationError, *, record: type = Item) -> Fault:
    """Which field is wrong, and how; an unknown field with the nearest known name.

    `record` is what the object should have been.
    """
    place = _PLACE.fullmatch(str(error))
    what, path = (str(error), "") if place is None else (place["what"], place["path"] or "")
    prefix = f"{path}." if path else ""
    if unknown := _UNKNOWN.fullmatch(what):
        return Fault(prefix + unknown["name"], _unknown_field(path, unknown["name"], record=record))
    if required := _REQUIRED.fullmatch(what):
        return Fault(prefix + required["name"], "absent; this field is required")
    if path.startswith("tags"):
        return Fault("tags", f"{what}; the value of every tag is a text: put it in quotes")
    return Fault(path or "JSON", what + _hint(path, what, record=record))


def _hint(path: str, what: str, *, record: type) -> str:
    """What to write instead, where the message of the decoder does not say it."""
    if what.startswith("Invalid enum value"):
        owner = _RECORDS.get(path.partition("[")[0], record) if "." in path else record
        allowed = get_args(get_type_hints(owner).get(path.rpartition(".")[2]))
        return f"; expected {' or '.join(allowed)}" if allowed else ""
    if path and what.startswith("Expected `str`"):
        return "; put it in quotes"
    return ""


def _unknown_field(path: str, name: str, *, record: type) -> str:
    owner = _RECORDS.get(path.partition("[")[0], record)
    known = [field.name for field in msgspec.structs.fields(owner)]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" did you mean {near[0]!r}?" if near else ""
    return f"unknown field;{hint} known: {', '.join(known)}"


# --------------------------------------------------------------------------- all questions


class Gathering:
    """The questions of one or several files as they are read; with `strict` the first bad line ends it.

    `format_hint` ends the message when nothing usable was found.
    """

    def __init__(self, *files: QuestionFile, strict: bool, format_hint: str = _FORMAT) -> None:
        self.items: list[Item] = []
        self.notes: list[str] = []
        self._files = files
        self._is_strict = strict
        self._format_hint = format_hint
        self._problems: list[str] = []
        self._place_of: dict[str, str] = {}

    def add(
        self, line: str, found: Item | Fault, *, file: QuestionFile | None = None, item_id: str = ""
    ) -> None:
        """Take the checked item of a line, unless its id was used before, in this file or another one.

        Args:
            line: where the question stands.
            found: the question, or what is wrong with it.
            file: the file that the line is in; the first one where it is not said.
            item_id: the id of a question that is wrong, where it could be read.

        Raises:
            DataError: the line is bad and reading is strict.
        """
        file = self._files[0] if file is None else file
        if isinstance(found, Item) and found.item_id in self._place_of:
            first = self._place_of[found.item_id]
            found = Fault("item_id", f"{found.item_id!r} was used {first} before; expected an id of its own")
        if isinstance(found, Item):
            place = f"on line {line}" if len(self._files) == 1 else f"in {file.path.name}:{line}"
            self._place_of[found.item_id] = place
            self.items.append(found)
            return
        named = f" (question {item_id!r})" if item_id else ""
        problem = f"{file.path.name}:{line}: {found.field}: {found.reason}{named}"
        if self._is_strict:
            raise DataError(
                f"{problem} (in {file.path.parent}; reading is strict: mend the line, or read without)"
            )
        self._problems.append(problem)

    def loaded(self, *, media_root: Path, revision: str = "") -> Loaded:
        """What was kept, with everything that there is to say about it.

        Raises:
            DataError: nothing was kept.
        """
        if not self.items:
            first = f"; the first of {len(self._problems)}: {self._problems[0]}" if self._problems else ""
            where = self._files[0].path if len(self._files) == 1 else self._files[0].path.parent
            raise DataError(f"{where} holds no usable question{first}; {self._format_hint}")
        return Loaded(
            items=tuple(self.items),
            media_root=media_root,
            content_hash=self._content_hash(),
            revision=revision,
            problems=tuple(self._problems),
            notes=(*self.notes, *remarks(self.items)),
        )

    def _content_hash(self) -> str:
        """The hash of the only file; of several, the hash over their names and hashes in their order."""
        if len(self._files) == 1:
            return self._files[0].content_hash
        lines = (f"{file.path.name.removesuffix('.gz')} {file.content_hash}\n" for file in self._files)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def checked(item: Item) -> Item | Fault:
    """The item, whose answer is a letter already (or a text), or the first thing wrong with it."""
    fault = next(_faults(item), None)
    if fault is not None:
        return fault
    if item.answer_kind == "choice" and item.answer not in item.letters:
        return Fault("answer", f"{item.answer!r} found; expected one of {', '.join(item.letters)}")
    return item


def lettered(item: Item) -> Item | Fault:
    """The item with the letter of the right choice for its answer, or the first thing wrong with it.

    The answer may be given as a letter or as the text of a choice.
    """
    fault = next(_faults(item), None)
    if fault is not None:
        return fault
    return item if item.answer_kind == "text" else _with_letter(item)


def _faults(item: Item) -> Iterator[Fault]:
    if not (item.item_id.strip() and item.question.strip() and item.answer.strip()):
        empty = next(name for name in ("item_id", "question", "answer") if not getattr(item, name).strip())
        yield Fault(empty, "empty; expected a text")
    if item.answer_kind == "choice":
        yield from _choice_faults(item.choices)
    elif item.choices:
        yield Fault("answer_kind", "'text' for a question with choices; expected 'choice', or no choices")
    for i, media in enumerate(item.media):
        yield from _media_faults(f"media[{i}]", media)
    for i, evidence in enumerate(item.evidence):
        if not _is_span(evidence.start_s, evidence.end_s):
            yield _span_fault(f"evidence[{i}]", evidence.start_s, evidence.end_s)
        if evidence.frames and min(evidence.frames) < 0:
            yield Fault(f"evidence[{i}].frames", f"{min(evidence.frames)} found; frames are counted from 0")


def _media_faults(field: str, media: Media) -> Iterator[Fault]:
    if not (media.path or media.url):
        yield Fault(field, "neither path nor url; expected the path of a file, relative to the questions")
    if media.path and "\0" in media.path:
        yield Fault(f"{field}.path", f"{media.path!r} holds a zero byte; expected the path of a file")
    if not _is_span(media.start_s, media.end_s):
        yield _span_fault(field, media.start_s, media.end_s)


def _choice_faults(choices: Sequence[str]) -> Iterator[Fault]:
    if not 2 <= len(choices) <= _MAX_CHOICES:
        yield Fault(
            "choices",
            f"{len(choices)} found; expected 2 to {_MAX_CHOICES}, or answer_kind 'text' for an open question",
        )
    if not all(map(str.strip, choices)):
        empty = next(i for i, choice in enumerate(choices) if not choice.strip())
        yield Fault(f"choices[{empty}]", "empty; expected a text")


def _is_span(start_s: float | None, end_s: float | None) -> bool:
    return 0 <= (start_s or 0.0) < (_LATEST_S if end_s is None else end_s) <= _LATEST_S


def _span_fault(field: str, start_s: float | None, end_s: float | None) -> Fault:
    for name, value in (("start_s", start_s), ("end_s", end_s)):
        if value is not None and not 0 <= value <= _LATEST_S:
            return Fault(f"{field}.{name}", f"{value} found; expected seconds from the start, 0 or more")
    return Fault(f"{field}.end_s", f"{end_s} is not after start_s {start_s or 0.0}; expected a later time")


def _with_letter(item: Item) -> Item | Fault:
    answer = item.answer.strip()
    choices = dict(zip(item.letters, map(str.strip, item.choices), strict=True))
    found = {letter for letter, text in choices.items() if text == answer}
    if answer.upper() in choices:
        found.add(answer.upper())
    if not found:
        listed_choices = "; ".join(f"{letter}: {text}" for letter, text in choices.items())
        return Fault(
            "answer",
            f"{answer!r} is not among the choices ({listed_choices}); expected a letter or a text",
        )
    if len(found) > 1:
        places = ", ".join(sorted(found))
        return Fault(
            "answer",
            f"{answer!r} may mean {places}, as letter or text; expected one: reword the choices",
        )
    letter = found.pop()
    return item if letter == item.answer else msgspec.structs.replace(item, answer=letter)


def twins(items: Iterable[Item]) -> dict[str, str]:
    """Which items repeat an earlier one (same media, question and choices), and which one that is."""
    first: dict[tuple[tuple[Media, ...], str, tuple[str, ...]], str] = {}
    repeated: dict[str, str] = {}
    for item in items:
        original = first.setdefault((item.media, item.question, item.choices), item.item_id)
        if original != item.item_id:
            repeated[item.item_id] = original
    return repeated


def remarks(items: Sequence[Item]) -> tuple[str, ...]:
    """What is odd about the items and was kept, one line for each kind."""
    kinds = {
        "have choices with the same text": [i.item_id for i in items if len(set(i.choices)) < len(i.choices)],
        "have choices that carry letters of their own; letters are added when a question is asked": [
            i.item_id for i in items if i.choices and _LETTERED.match(i.choices[0])
        ],
        "name no media": [i.item_id for i in items if not i.media],
        "have evidence outside the span of the video that is shown": [
            i.item_id for i in items if is_evidence_outside(i)
        ],
        "repeat the media, question and choices of an earlier one": list(twins(items)),
    }
    return tuple(f"{len(ids)} question(s) {what}: {listed(ids)}" for what, ids in kinds.items() if ids)


def is_evidence_outside(item: Item) -> bool:
    """Some evidence lies outside the span that is shown of the only medium."""
    if len(item.media) != 1:
        return False
    shown = item.media[0]
    start_s = shown.start_s or 0.0
    end_s = math.inf if shown.end_s is None else shown.end_s
    return any(
        (e.start_s is not None and not start_s <= e.start_s < end_s)
        or (e.end_s is not None and not start_s < e.end_s <= end_s)
        for e in item.evidence
    )


def listed(ids: Sequence[str]) -> str:
    """The first few ids as words, and how many more there are."""
    more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    return ", ".join(ids[:_LISTED]) + more


# --------------------------------------------------------------------------- names of a benchmark


def spelling(text: str) -> str:
    """What the spellings of one name have in common: its words without case, blanks, marks and ``and``.

    >>> spelling("Electric & Crafting") == spelling("electric_and_crafting")
    True
    """
    return "".join(word for word in _WORDS.findall(text.lower()) if word not in _IGNORED)


class KnownNames:
    """The names that a field may have.

    Args:
        spellings: each name as it is kept, and what else stands for it; case, blanks and marks never matter.
    """

    def __init__(self, spellings: Mapping[str, Sequence[str]]) -> None:
        self._names = tuple(spellings)
        texts = [(name, text) for name, others in spellings.items() for text in (name, *others)]
        self._by_spelling = {spelling(text): name for name, text in texts}
        self._text_of = {spelling(text): text if text == name else f"{text} ({name})" for name, text in texts}

    def find(self, text: str) -> str | None:
        """The name as it is kept, or None where there is none like it."""
        return self._by_spelling.get(spelling(text))

    def read(self, field: str, text: str) -> str | Fault:
        """The name as it is kept, or what is wrong: the nearest known name, and all of them."""
        return self.find(text) or Fault(field, f"{text!r} found; {self.expected(text)}")

    def expected(self, text: str) -> str:
        """The nearest known name and all of them, as words for a message about `text`."""
        near = difflib.get_close_matches(spelling(text), self._text_of, n=1)
        hint = f"did you mean {self._text_of[near[0]]}? " if near else ""
        return f"{hint}expected one of {', '.join(self._names)}"
