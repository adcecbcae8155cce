"""Whether any file of a release tells a hidden answer."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from vidence.ask.mapping.sheets import arrow_rows
from vidence.errors import DataError
from vidence.make.release.hidden import Hidden, is_telling, right_text
from vidence.records import Item

_WORD: Final = re.compile(r"\w+(?:\.\d+)?")
_SHINGLE: Final = 4
_WINDOW: Final = 3
# Of a row: keys whose values are public, whatever they are.
_PUBLIC: Final = frozenset(
    {"item_id", "id", "key", "question_id", "question", "choices", "candidates", "options", "media", "video"}
    | {"video_id", "video_path", "answer_kind", "question_type", "split", "canary", "source", "source_id"}
    | {"benchmark", "level", "youtube_url", "path", "url", "kind", "start_s", "end_s", "sha256"}
    | {f"answer_choice_{i}" for i in range(26)}
)


@dataclass(frozen=True, kw_only=True)
class Leak:
    """A place in a release that tells of a hidden answer."""

    file: str
    item_id: str
    what: str

    def __str__(self) -> str:
        whose = f" of {self.item_id}" if self.item_id else ""
        return f"{self.file}: {self.what}{whose}"


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What is looked for.

    `open_ones` are the questions whose answers are released: what they say is public. `salts` are those of
    hidden answers, with the items that they are of.
    """

    hidden: Hidden
    open_ones: Sequence[Item]
    salts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def whole(self) -> Mapping[str, Item]:
        """The questions with their answers by their ids."""
        return {item.item_id: item for item in self.hidden.whole}

    @cached_property
    def public(self) -> Mapping[str, Item]:
        """What is public of them."""
        return {item.item_id: item for item in self.hidden.public}

    @cached_property
    def open_ids(self) -> frozenset[str]:
        """The ids of the questions whose answers are released."""
        return frozenset(item.item_id for item in self.open_ones)

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of the questions whose answers are hidden."""
        return frozenset(self.whole)

    @cached_property
    def texts(self) -> Mapping[tuple[str, ...], list[tuple[list[str], str, str]]]:
        """Longer texts that are hidden, by their first words: their words, whose they are, and what."""
        said = f" {' '.join(map(_words_of, (*self.open_ones, *self.hidden.public)))} "
        found: dict[tuple[str, ...], list[tuple[list[str], str, str]]] = {}
        for item in self.hidden.whole:
            for what, text in _hidden_texts(item):
                words = _words(text)
                if len(words) >= _SHINGLE and f" {' '.join(words)} " not in said:
                    found.setdefault(tuple(words[:_SHINGLE]), []).append((words, item.item_id, what))
        return found

    @cached_property
    def spaced(self) -> tuple[str, ...]:
        """The ids that blanks stand in."""
        return tuple(one for one in self.whole if re.search(r"[\s,;:|]", one))


def scan_folder(folder: Path, wanted: Scan) -> tuple[Leak, ...]:
    """Look through every file of a release.

    JSON, CSV and Parquet are read as rows: a row of a hidden question has no field that tells of an answer,
    and nowhere its letter, its place or its words but among the choices. Of other files each line that names
    a hidden question is looked at together with the two behind it. Longer hidden texts (four words and more)
    and salts are looked for everywhere.

    Raises:
        DataError: a file cannot be read; what cannot be looked at is not passed.
    """
    found: dict[Leak, None] = {}
    for path in sorted(one for one in folder.rglob("*") if one.is_file() or one.is_symlink()):
        name = path.relative_to(folder).as_posix()
        if name.startswith("data/videos/"):
            continue
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DataError(f"{path} cannot be read ({error.strerror}), so nobody knows what it tells") from error
        found |= dict.fromkeys(_leaks(path, name, content, wanted))
    return tuple(found)


def refuse_leaks(leaks: Sequence[Leak], folder: Path) -> None:
    """Refuse a release that tells.

    Raises:
        DataError: there are leaks; the first are named.
    """
    if leaks:
        more = f"; and {len(leaks) - 3:,} more" if len(leaks) > 3 else ""
        raise DataError(
            f"{folder.name} would tell hidden answers in {len({one.file for one in leaks}):,} files: "
            f"{'; '.join(map(str, leaks[:3]))}{more}. Nothing was released"
        )


def _leaks(path: Path, name: str, content: bytes, wanted: Scan) -> Iterator[Leak]:
    if name.endswith(".gz"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} cannot be unpacked, so nobody knows what it tells") from error
    rows = _rows(path, name.removesuffix(".gz"), content)
    if rows is None:
        text = content.decode(errors="replace")
        yield from _of_lines(name, text, wanted)
        yield from _of_texts(name, text, wanted)
        return
    for row in rows:
        yield from _of_value(name, row, wanted, "")
        yield from _of_texts(name, "\n".join(_leaves(row)), wanted)


# --------------------------------------------------------------------------- files as rows


def _rows(path: Path, name: str, content: bytes) -> list[object] | None:
    """The values of a file that is made of rows; None for other files, and for damaged ones."""
    try:
        if name.endswith(".parquet"):
            metadata = _schema_texts(path)
            return [*arrow_rows(path, lambda names: names), metadata]
        if name.endswith(".jsonl"):
            return [msgspec.json.decode(line) for line in content.splitlines() if line.strip()]
        if name.endswith(".json"):
            return [msgspec.json.decode(content)]
        if name.endswith(".csv"):
            return list(csv.DictReader(io.StringIO(content.decode())))
    except (msgspec.DecodeError, UnicodeDecodeError, csv.Error):
        return None
    return None


def _schema_texts(path: Path) -> list[str]:
    import pyarrow.parquet as pq

    found = pq.read_schema(path).metadata or {}
    return [part.decode(errors="replace") for pair in found.items() for part in pair]


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield str(key)
            yield from _leaves(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _leaves(one)
    elif value is not None:
        yield str(value)


def _nested(value: object) -> object:
    """What a text holds that is a JSON object or list."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return value


def _of_value(name: str, value: object, wanted: Scan, whose: str) -> Iterator[Leak]:
    """Leaks of a value; `whose` is the hidden question that it is inside of."""
    value = _nested(value)
    if isinstance(value, list | tuple):
        for i, one in enumerate(value):
            yield from _of_value(name, one, wanted, whose)
            if isinstance(one, str) and one in wanted.ids:
                beside = [value[j] for j in (i - 1, i + 1) if 0 <= j < len(value)]
                yield from _of_scalars(name, dict(enumerate(beside)), wanted.whole[one])
        return
    if not isinstance(value, Mapping):
        return
    named = [one for one in value.values() if isinstance(one, str)]
    if any(one in wanted.open_ids for one in named) and not wanted.ids.intersection(named):
        return  # a question with its answer, which is released
    whose = next((one for one in named if one in wanted.ids), whose)
    for key, one in value.items():
        if is_telling(str(key)) and key not in _PUBLIC and key not in _kept(wanted, whose) and _says(one):
            yield Leak(file=name, item_id=whose, what=f"the field {key!r}")
        if key in wanted.ids:
            yield from _of_scalars(name, {"": one}, wanted.whole[str(key)])
    if whose:
        rest = {key: one for key, one in value.items() if key not in _PUBLIC}
        public = wanted.public[whose].tags
        rest = {key: one for key, one in rest.items() if public.get(str(key)) != one}
        yield from _of_scalars(name, rest, wanted.whole[whose])
    for key, one in value.items():
        if key not in ("choices", "candidates", "options"):
            yield from _of_value(name, one, wanted, str(key) if key in wanted.ids else whose)


def _kept(wanted: Scan, whose: str) -> Mapping[str, str]:
    """The tags that are public of a question; of no question, of any."""
    if whose:
        return wanted.public[whose].tags
    return {tag: "" for item in wanted.hidden.public for tag in item.tags}


def _says(value: object) -> bool:
    return value is not None and value not in ("", [], {})


def _of_scalars(name: str, values: Mapping[object, object], item: Item) -> Iterator[Leak]:
    """Leaks in single values that stand beside the name of a hidden question."""
    for key, one in values.items():
        if isinstance(one, str) and _tells(one, item):
            yield Leak(file=name, item_id=item.item_id, what="the answer" + (f" under {key!r}" if key else ""))


def _tells(text: str, item: Item) -> bool:
    plain = text.strip().casefold()
    if plain == right_text(item).strip().casefold():
        return True
    return bool(item.choices) and plain.strip("().: ") == item.answer.casefold()


# --------------------------------------------------------------------------- files as lines


def _of_lines(name: str, text: str, wanted: Scan) -> Iterator[Leak]:
    """Leaks in lines that name a hidden question, and in the two lines behind."""
    lines = text.splitlines()
    names = [_named(line, wanted) for line in lines]
    for i, mine in enumerate(names):
        for item_id in mine:
            end = next((j for j in range(i + 1, min(i + _WINDOW, len(lines))) if names[j]), i + _WINDOW)
            near = "\n".join(lines[i:end])
            if _told(near, wanted.whole[item_id], wanted.public[item_id]):
                yield Leak(file=name, item_id=item_id, what="the answer, beside the name")


def _named(line: str, wanted: Scan) -> list[str]:
    tokens = re.findall(r"[^\s,;:|\"'`()\[\]{}<>*=]+", line)
    found = [token for one in tokens for token in (one, one.rstrip(".")) if token in wanted.ids]
    return list(dict.fromkeys([*found, *(one for one in wanted.spaced if one in line)]))


def _told(text: str, item: Item, public: Item) -> bool:
    """Whether words beside a question's name are its answer, when all that is public of it is taken out."""
    rest = f" {' '.join(_words(text))} "
    known = [item.item_id, item.question, *(one.path or one.url or "" for one in item.media), item.source]
    shown = [f" {' '.join(_words(one))} " for one in item.choices]
    if item.choices and all(one in rest for one in shown):
        known += item.choices  # all choices are listed, which tells nothing
        known += item.letters if all(f" {one.casefold()} " in rest for one in item.letters) else ()
    known += public.tags.values()
    for one in sorted(filter(None, known), key=len, reverse=True):
        if plain := " ".join(_words(one)):
            rest = rest.replace(f" {plain} ", " ", 1)
    right = " ".join(_words(right_text(item)))
    letter = f" {item.answer.casefold()} " if item.choices else ""
    has_span = any(
        one.start_s is not None and one.end_s is not None and f" {one.start_s:g} {one.end_s:g} " in rest
        for one in item.evidence
    )
    return has_span or bool(right and f" {right} " in rest) or bool(letter and letter in rest)


# --------------------------------------------------------------------------- longer texts


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _words_of(item: Item) -> str:
    return " ".join(_words("\n".join(_leaves(msgspec.to_builtins(item)))))


def _hidden_texts(item: Item) -> Iterator[tuple[str, str]]:
    yield "the rationale", item.rationale
    for what, texts in (("a step", item.steps), ("knowledge", item.knowledge), ("a hint", item.hints)):
        for text in texts:
            yield what, text
    for one in item.evidence:
        yield "a note of the evidence", one.note
    if not item.choices:
        yield "the answer", item.answer


def _of_texts(name: str, text: str, wanted: Scan) -> Iterator[Leak]:
    """Hidden texts that stand in a file word by word, whatever signs are between the words; and salts."""
    words = _words(text)
    for i, word in enumerate(words):
        if word in wanted.salts:
            yield Leak(file=name, item_id=wanted.salts[word], what="the salt of the answer")
        for parts, item_id, what in wanted.texts.get(tuple(words[i : i + _SHINGLE]), ()):
            if words[i : i + len(parts)] == parts:
                yield Leak(file=name, item_id=item_id, what=what)
