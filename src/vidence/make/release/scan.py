"""Check that no file of a release reveals a hidden answer."""

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
from vidence.errors import DataError, cause
from vidence.make.release.hidden import Hidden, is_telling, right_text
from vidence.records import Item

_WORD: Final = re.compile(r"\w+(?:\.\d+)?")
_SHINGLE: Final = 4
_WINDOW: Final = 3
_NAMES: Final = frozenset({"item_id", "id", "key", "question_id", "qid"})
_DISTINCT: Final = re.compile(r"(?=.*[^\W\d_])(?=.*\d).{4,}|.{8,}")
# Of a row: keys whose values are public, whatever they are.
_PUBLIC: Final = frozenset(
    {"item_id", "id", "key", "question_id", "question", "choices", "candidates", "options", "media", "video"}
    | {"video_id", "video_path", "answer_kind", "question_type", "split", "canary", "source", "source_id"}
    | {"benchmark", "level", "youtube_url", "path", "url", "kind", "start_s", "end_s", "sha256"}
    | {f"answer_choice_{i}" for i in range(26)}
)


@dataclass(frozen=True, kw_only=True)
class Leak:
    """A place in a release that reveals a hidden answer."""

    file: str
    item_id: str
    what: str

    def __str__(self) -> str:
        whose = f" of {self.item_id}" if self.item_id else ""
        return f"{self.file}: {self.what}{whose}"


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What to scan for.

    `open_ids` are those of the questions whose answers are released. `shared` are hidden texts that other
    questions say, too (`shared_texts`). `salts` are those of hidden answers, with the items that they are of.
    `media` are files that were put into the release as they are; nothing in them is read.
    """

    hidden: Hidden
    open_ids: frozenset[str]
    shared: frozenset[str] = frozenset()
    salts: Mapping[str, str] = field(default_factory=dict)
    media: frozenset[str] = frozenset()

    @cached_property
    def whole(self) -> Mapping[str, Item]:
        """The questions with their answers, by id."""
        return {item.item_id: item for item in self.hidden.whole}

    @cached_property
    def public(self) -> Mapping[str, Item]:
        """Their public form, by id."""
        return {item.item_id: item for item in self.hidden.public}

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of questions with hidden answers."""
        return frozenset(self.whole)

    @cached_property
    def texts(self) -> Mapping[tuple[str, ...], list[tuple[list[str], str, str]]]:
        """Longer hidden texts by first words: their words, question, and field."""
        texts: dict[tuple[str, ...], list[tuple[list[str], str, str]]] = {}
        for words, item_id, what in _longer_texts(self.hidden.whole):
            if " ".join(words) not in self.shared:
                texts.setdefault(tuple(words[:_SHINGLE]), []).append((words, item_id, what))
        return texts

    @cached_property
    def any_tags(self) -> Mapping[str, str]:
        """The public tags of any hidden question."""
        return {tag: "" for item in self.hidden.public for tag in item.tags}

    @cached_property
    def spaced(self) -> tuple[str, ...]:
        """The ids that contain blanks."""
        return tuple(name for name in self.whole if re.search(r"[\s,;:|]", name))


def shared_texts(hidden: Hidden, open_ones: Sequence[Item]) -> frozenset[str]:
    """Longer hidden texts that public questions legitimately contain."""
    texts = f" {' '.join(map(_words_of, (*open_ones, *hidden.public)))} "
    plain = {" ".join(words) for words, _, _ in _longer_texts(hidden.whole)}
    return frozenset(text for text in plain if f" {text} " in texts)


def scan_folder(folder: Path, wanted: Scan) -> tuple[Leak, ...]:
    """Scan every file of a release.

    JSON, CSV and Parquet are read as rows: a row of a hidden question has no field that tells of an answer,
    and nowhere its letter, its place or its words but among the choices. Of other files each line that names
    a hidden question is looked at together with the two behind it. Longer hidden texts (four words and more)
    and salts are looked for everywhere.

    Raises:
        DataError: a file cannot be read; what cannot be looked at is not passed.
    """
    values: dict[Leak, None] = {}
    if not wanted.whole:
        return ()
    for path in sorted(entry for entry in folder.rglob("*") if entry.is_file() or entry.is_symlink()):
        name = path.relative_to(folder).as_posix()
        if name.startswith("data/videos/") or name in wanted.media:
            continue
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DataError(
                f"{path} cannot be read ({cause(error)}), so it was not scanned for answers"
            ) from error
        values |= dict.fromkeys(_leaks(path, name, content, wanted=wanted))
    return tuple(values)


def refuse_leaks(leaks: Sequence[Leak], folder: Path) -> None:
    """Reject a release that reveals answers.

    Raises:
        DataError: there are leaks; the first are named.
    """
    if leaks:
        more = f"; and {len(leaks) - 3:,} more" if len(leaks) > 3 else ""
        raise DataError(
            f"{folder.name} would reveal hidden answers in {len({leak.file for leak in leaks}):,} files: "
            f"{'; '.join(map(str, leaks[:3]))}{more}. Nothing was released"
        )


def _leaks(path: Path, name: str, content: bytes, *, wanted: Scan) -> Iterator[Leak]:
    if name.endswith(".gz"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} cannot be unpacked, so it was not scanned for answers") from error
    look = _FileScan(name=name, wanted=wanted)
    rows = _rows(path, name.removesuffix(".gz"), content)
    if rows is None:
        text = content.decode(errors="replace")
        yield from look.at_lines(text)
        yield from look.at_texts(text)
        return
    for row in rows:
        yield from look.at_value(row)
        yield from look.at_texts("\n".join(_leaves(row)))


# --------------------------------------------------------------------------- files as rows


def _rows(path: Path, name: str, content: bytes) -> list[object] | None:
    """The values of a file of rows; None for other or damaged files."""
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

    metadata = pq.read_schema(path).metadata or {}
    return [part.decode(errors="replace") for pair in metadata.items() for part in pair]


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield str(key)
            yield from _leaves(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _leaves(entry)
    elif value is not None:
        yield str(value)


def _nested(value: object) -> object:
    """The JSON object or list inside a text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return value


def _names_in(row: Mapping[object, object], *, is_inside: bool) -> list[str]:
    """The possible names of a row: values under identifying keys.

    Without such a key, and outside of a question, it is any text that looks like a name, but no choice.
    """
    known = [str(value) for key, value in row.items() if key in _NAMES and isinstance(value, str | int)]
    if known or is_inside:
        return known
    others = [value for key, value in row.items() if key not in _PUBLIC and isinstance(value, str)]
    return [other for other in others if _DISTINCT.fullmatch(other)]


def _says(value: object) -> bool:
    return value is not None and value not in ("", [], {})


def _tells(text: str, item: Item) -> bool:
    plain = text.strip().casefold()
    if plain == right_text(item).strip().casefold():
        return True
    return bool(item.choices) and plain.strip("().: ") == item.answer.casefold()


@dataclass(frozen=True, kw_only=True)
class _FileScan:
    """A scan of one file, called `name`."""

    name: str
    wanted: Scan

    def leak(self, item_id: str, what: str) -> Leak:
        """A leak in this file."""
        return Leak(file=self.name, item_id=item_id, what=what)

    def at_value(self, value: object, whose: str = "") -> Iterator[Leak]:
        """Yield leaks in a value of rows; `whose` is the enclosing hidden question."""
        value = _nested(value)
        if isinstance(value, list | tuple):
            yield from self._at_list(value, whose)
        elif isinstance(value, Mapping):
            named = _names_in(value, is_inside=bool(whose))
            mine = next((name for name in named if name in self.wanted.ids), "")
            if mine or not any(name in self.wanted.open_ids for name in named):
                yield from self._at_row(value, mine or whose)

    def _at_list(self, values: Sequence[object], whose: str) -> Iterator[Leak]:
        for i, value in enumerate(values):
            yield from self.at_value(value, whose)
            if isinstance(value, str) and value in self.wanted.ids:
                entries: dict[object, object] = {j: values[j] for j in (i - 1, i + 1) if 0 <= j < len(values)}
                yield from self._at_scalars(entries, self.wanted.whole[value])

    def _at_row(self, row: Mapping[object, object], whose: str) -> Iterator[Leak]:
        """Leaks in an object that is not a question with a released answer."""
        public = self.wanted.public[whose].tags if whose else self.wanted.any_tags
        for key, value in row.items():
            if is_telling(str(key)) and key not in _PUBLIC and key not in public and _says(value):
                yield self.leak(whose, f"the field {key!r}")
            inside = str(key) if key in self.wanted.ids else whose
            if inside != whose:
                yield from self._at_scalars({"": value}, self.wanted.whole[inside])
            if key not in ("choices", "candidates", "options"):
                yield from self.at_value(value, inside)
        if whose:
            rest = {
                key: entry
                for key, entry in row.items()
                if key not in _PUBLIC and public.get(str(key)) != entry
            }
            yield from self._at_scalars(rest, self.wanted.whole[whose])

    def _at_scalars(self, values: Mapping[object, object], item: Item) -> Iterator[Leak]:
        """Yield leaks in scalars next to the name of a hidden question."""
        for key, value in values.items():
            if isinstance(value, str) and _tells(value, item):
                yield self.leak(item.item_id, f"the answer under {key!r}" if key else "the answer")

    def at_lines(self, text: str) -> Iterator[Leak]:
        """Leaks in lines that name a hidden question, and in the two lines after each."""
        lines = text.splitlines()
        names = [_named(line, self.wanted) for line in lines]
        for i, mine in enumerate(names):
            for item_id in mine:
                last = min(i + _WINDOW, len(lines))
                end = next((j for j in range(i + 1, last) if names[j]), last)
                item, public = self.wanted.whole[item_id], self.wanted.public[item_id]
                if _is_pair(lines[i], item) or (
                    _DISTINCT.fullmatch(item_id) and _told("\n".join(lines[i:end]), item, public)
                ):
                    yield self.leak(item_id, "the answer, beside the name")

    def at_texts(self, text: str) -> Iterator[Leak]:
        """Hidden texts that appear word by word, whatever the punctuation, and salts."""
        words = _words(text)
        for i, word in enumerate(words):
            if word in self.wanted.salts:
                yield self.leak(self.wanted.salts[word], "the salt of the answer")
            for parts, item_id, what in self.wanted.texts.get(tuple(words[i : i + _SHINGLE]), ()):
                if words[i : i + len(parts)] == parts:
                    yield self.leak(item_id, what)


def _named(line: str, wanted: Scan) -> list[str]:
    tokens = re.findall(r"[^\s,;:|\"'`()\[\]{}<>*=]+", line)
    entries = [token for entry in tokens for token in (entry, entry.rstrip(".")) if token in wanted.ids]
    return list(dict.fromkeys([*entries, *(name for name in wanted.spaced if name in line)]))


def _is_pair(line: str, item: Item) -> bool:
    """Whether a line holds only the name of a question and its answer."""
    rest = _words(line)
    name = _words(item.item_id)
    if rest[: len(name)] == name:
        rest = rest[len(name) :]
    return bool(rest) and rest in ([item.answer.casefold()], _words(right_text(item)))


def _told(text: str, item: Item, public: Item) -> bool:
    """Return whether words next to a question's name are its answer, ignoring public content."""
    rest = f" {' '.join(_words(text))} "
    known = [
        item.item_id,
        item.question,
        *(medium.path or medium.url or "" for medium in item.media),
        item.source,
    ]
    names = [f" {' '.join(_words(choice))} " for choice in item.choices]
    if item.choices and all(word in rest for word in names):
        known += item.choices  # all choices are listed, which tells nothing
    known += public.tags.values()
    for name in sorted(filter(None, known), key=len, reverse=True):
        if plain := " ".join(_words(name)):
            rest = rest.replace(f" {plain} ", " ", 1)
    right = " ".join(_words(right_text(item)))
    has_span = any(
        e.start_s is not None and e.end_s is not None and f" {e.start_s:g} {e.end_s:g} " in rest
        for e in item.evidence
    )
    is_letter = bool(item.choices) and item.answer in re.findall(r"\b[A-Z]\b", text)
    is_listed = all(re.search(rf"\b{letter}\b", text) for letter in item.letters)
    return has_span or bool(right and f" {right} " in rest) or (is_letter and not is_listed)


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
    for evidence in item.evidence:
        yield "a note of the evidence", evidence.note
    if not item.choices:
        yield "the answer", item.answer


def _longer_texts(items: Sequence[Item]) -> Iterator[tuple[list[str], str, str]]:
    for item in items:
        for what, text in _hidden_texts(item):
            if len(words := _words(text)) >= _SHINGLE:
                yield words, item.item_id, what
