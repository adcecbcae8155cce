"""Convert a row of a foreign file to an `Item`."""

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

import msgspec

from vidence.ask import files
from vidence.ask.files import FieldError
from vidence.ask.mapping.columns import Getter, Row, as_text, getter, listed, seconds_of, span_of, words_of
from vidence.ask.mapping.mapping import MOST_WAYS, ColumnMap, Join, columns_in, n_ways
from vidence.errors import DataError
from vidence.records import Evidence, Item, Media, Provenance, Subtitles

_LABEL = re.compile(
    r"\s*(?:(?:option|caption|sentence|choice|answer)\s+(?P<named>\d{1,2}|[a-z])|\(?(?P<letter>[a-z]))\)?"
    r"\s*[.):]\s*(?P<text>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_LETTER = re.compile(r"\(?(?P<letter>[A-Za-z])(?:[.):].*)?", re.DOTALL)
_ADDRESS = re.compile(r"https?://")
_FEWEST = 2
_TEXTS = (
    *("item_id", "question", "source_id", "benchmark", "rationale", "licence", "subtitles"),
    "subtitles_from_s",
)
_TIMES = ("start_s", "end_s", "spans", "evidence")
_KINDS = {"media_kind": ("video", "image", "frames"), "answer_kind": ("choice", "text")}


def label_of(text: str) -> tuple[int, str] | None:
    """Return a text's choice index (from 0) and the text after its label; None without a label.

    >>> label_of("B. a red car"), label_of("Option 2: a red car"), label_of("a red car")
    ((1, 'a red car'), (1, 'a red car'), None)
    """
    match = _LABEL.fullmatch(text)
    if match is None:
        return None
    label = match["named"] or match["letter"]
    place = int(label) - 1 if label.isdecimal() else ord(label.upper()) - ord("A")
    return place, match["text"].strip()


def bare_choices(choices: Sequence[str]) -> tuple[str, ...]:
    """Remove labels that all choices have in order; otherwise unchanged.

    >>> bare_choices(["A. red", "B. blue"]), bare_choices(["A. red", "blue"])
    (('red', 'blue'), ('A. red', 'blue'))
    """
    bare = []
    for place, choice in enumerate(choices):
        label = label_of(choice)
        if label is None or label[0] != place:
            return tuple(choices)
        bare.append(label[1])
    return tuple(bare)


def split_question(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Split a question from the choices below it, one per line; text after them is dropped.

    >>> split_question("Where?\nA. here\nB. there\nAnswer with a letter.")
    ('Where?', ('here', 'there'))
    """
    lines = text.splitlines()
    places = [label[0] if (label := label_of(line)) else None for line in lines]
    for first in reversed([i for i, place in enumerate(places) if place == 0]):
        n = next((k for k in range(len(lines) - first) if places[first + k] != k), len(lines) - first)
        if n >= _FEWEST:
            return "\n".join(lines[:first]).strip(), bare_choices(lines[first : first + n])
    return text, ()


class ItemReader:
    """Converts rows to questions.

    Args:
        mapping: which column is which field.
        folder: where the files of its joins lie.

    Raises:
        DataError: a file of a join is not there, or is no JSON object.
    """

    def __init__(self, mapping: ColumnMap, *, folder: Path) -> None:
        self.mapping = mapping
        self.joined = tuple(files.read(_beside(folder, join)) for join in mapping.joins.values())
        tables = zip(mapping.joins.items(), self.joined, strict=True)
        self._joins = {name: (self._get(join.of), _values(file)) for (name, join), file in tables}
        self._lookups = {name: (self._get(lookup.of), lookup) for name, lookup in mapping.lookups.items()}
        self._patterns = [(column, re.compile(pattern)) for column, pattern in mapping.patterns.items()]
        self._texts = {
            name: self._get(str(getattr(mapping, name))) for name in _TEXTS if getattr(mapping, name)
        }
        self._said = [name for name in _TEXTS if name in self._texts or name in mapping.constants]
        self._kinds = {
            name: self._get(str(getattr(mapping, name))) for name in _KINDS if getattr(mapping, name)
        }
        self._tags = {name: self._get(source) for name, source in mapping.tags.items()}
        self._choices, self._steps, self._media = (
            [(column, self._get(column)) for column in columns_in(source) if column]
            for source in (mapping.choices, mapping.steps, mapping.media)
        )
        self._answer = self._get(mapping.answer) if mapping.answer else None
        self._times = {name: self._get(getattr(mapping, name)) for name in _TIMES}

    def _get(self, source: str) -> Getter:
        return getter(source, absent=self.mapping.absent)

    def row(self, row: Row) -> Row:
        """Add the columns that the mapping derives.

        Raises:
            FieldError: a column from which others are made does not look as it should.
        """
        if not (self._patterns or self._lookups or self._joins):
            return row
        fields: dict[str, object] = dict(row)
        for column, pattern in self._patterns:
            text = as_text(self._get(column)(fields), column)
            if not text:
                continue
            if n_ways(pattern.pattern, len(text)) > MOST_WAYS:
                raise FieldError(column, f"{len(text):,} characters, too many for {pattern.pattern}")
            match = pattern.search(text)
            if match is None and column.startswith("@"):  # names of files are changed
                continue
            if match is None:
                raise FieldError(column, f"{text[:80]!r} found; expected {pattern.pattern}")
            fields |= match.groupdict()
        for name, (of, lookup) in self._lookups.items():
            value = of(fields)
            if str(value).startswith(("['", '["')):  # a list of texts, or one written as text
                fields[name] = [
                    lookup.values.get(word, lookup.default) for word in _several(value, lookup.of)
                ]
            else:
                fields[name] = lookup.values.get(as_text(value, lookup.of), lookup.default)
        for name, (of, values) in self._joins.items():
            fields[name] = values.get(as_text(of(fields), self.mapping.joins[name].of))
        return fields

    def inner(self, row: Row) -> list[Row]:
        """Return the rows nested in a row, with its columns; without such a column, the row itself.

        Raises:
            FieldError: the column holds something else.
        """
        if not self.mapping.each:
            return [row]
        value = row.get(self.mapping.each)
        if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
            raise FieldError(self.mapping.each, f"{str(value)[:80]!r} found; expected a list of objects")
        return [{**row, **entry, "@each": number} for number, entry in enumerate(value)]

    def wants(self, row: Row) -> bool:
        """Whether the mapping includes a row completed by `row`."""
        only = self.mapping.only
        return all(as_text(self._get(name)(row), name) in values for name, values in only.items())

    def id_of(self, row: Row) -> str:
        """Return the id of a row's question.

        Raises:
            FieldError: it has none.
        """
        return self._text("item_id", row)

    def item(self, row: Row) -> Item:
        """Return the question of a row completed by `row`; its answer is a letter or a text.

        Raises:
            FieldError: what is wrong with it.
        """
        texts = {name: self._text(name, row) for name in self._said}
        licence = texts.get("licence")
        kind = self._kind("answer_kind", row, "choice")
        raw = self._raw_choices(row) if kind == "choice" else ()
        if self.mapping.choices_in_question and not raw and kind == "choice":
            texts["question"], raw = split_question(texts["question"])
        choices, spans = bare_choices(raw), self._spans("evidence", row)
        return Item(
            item_id=texts["item_id"],
            benchmark=texts.get("benchmark", ""),
            media=self._media_of(row),
            source=texts.get("source_id", ""),
            question=texts["question"],
            choices=choices,
            answer=self._answer_of(row, raw, choices),
            answer_kind=cast('Literal["choice", "text"]', kind),
            tags=self._tags_of(row),
            evidence=tuple(Evidence(kind="oracle", start_s=start, end_s=end) for start, end in spans),
            rationale=texts.get("rationale", ""),
            steps=self._steps_of(row),
            provenance=Provenance(licence=licence) if licence else None,
            subtitles=self._subtitles_of(row),
        )

    def _text(self, name: str, row: Row) -> str:
        if (constant := self.mapping.constants.get(name)) is not None:
            return str(constant)
        get = self._texts.get(name)
        if get is None:
            return ""
        value = get(row)
        if isinstance(value, str):
            return value
        if value is None and name in ("item_id", "question"):
            column = str(getattr(self.mapping, name))
            raise FieldError(name, f"nothing in {column!r}; the columns are {listed(row)}")
        return words_of(value, str(getattr(self.mapping, name)))

    def _kind(self, name: str, row: Row, default: str) -> str:
        if name not in self._kinds and name not in self.mapping.constants:
            return default
        text = str(self.mapping.constants.get(name, ""))
        if not text and name in self._kinds:
            text = as_text(self._kinds[name](row), name)
        if text and text not in _KINDS[name]:
            raise FieldError(name, f"{text!r} found; expected {' or '.join(_KINDS[name])}")
        return text or default

    def _tags_of(self, row: Row) -> dict[str, str]:
        """Return the tags; a name that ends in ``*`` gives a tag ``yes`` per value of a list."""
        tags: dict[str, str] = {}
        for name, get in self._tags.items():
            value = get(row)
            if name.endswith("*"):
                tags |= {name[:-1] + word.strip(): "yes" for word in _several(value, name) if word.strip()}
            elif text := as_text(value, name):
                tags[name] = text
        return tags

    def _steps_of(self, row: Row) -> tuple[str, ...]:
        """Return the non-empty steps of the rationale."""
        if len(self._steps) == 1:
            column, get = self._steps[0]
            lines = _lines(get(row), column)
        else:
            lines = tuple(as_text(get(row), column) for column, get in self._steps)
        return tuple(step.strip() for step in lines if step.strip())

    # ------------------------------------------------------------------------- choices and answer

    def _raw_choices(self, row: Row) -> tuple[str, ...]:
        if (constant := self.mapping.constants.get("choices")) is not None:
            return constant if isinstance(constant, tuple) else tuple(constant.split("|"))
        if len(self._choices) == 1:
            column, get = self._choices[0]
            return _several(get(row), column)
        texts = [as_text(get(row), column) for column, get in self._choices]
        while texts and not texts[-1].strip():
            texts.pop()
        if (gap := next((i for i, text in enumerate(texts) if not text.strip()), None)) is not None:
            raise FieldError(self._choices[gap][0], "empty, and a later choice is not; expected no gap")
        return tuple(texts)

    def _answer_of(self, row: Row, raw: Sequence[str], choices: Sequence[str]) -> str:
        if self._answer is None:
            return self._text("answer", row)
        text = words_of(self._answer(row), self.mapping.answer).strip()
        if not text and self.mapping.answer.partition(".")[0] not in row:
            raise FieldError("answer", f"no {self.mapping.answer!r}; expected it, empty where it is hidden")
        if not choices or not text:
            return text
        match self.mapping.answer_is:
            case "number-from-0" | "number-from-1" as form:
                return _numbered(text, form, len(choices))
            case "letter":
                if match := _LETTER.fullmatch(text):
                    return match["letter"].upper()
                raise FieldError("answer", f"{text!r} found; expected a letter")
            case "text":
                return _lettered(text, choices) or _lettered(text, raw) or text
            case _:
                return text if text in choices else _lettered(text, raw) or _labelled(text, choices) or text

    # ------------------------------------------------------------------------- media

    def _subtitles_of(self, row: Row) -> Subtitles | None:
        path = self._text("subtitles", row)
        if not path:
            return None
        start_s = seconds_of(self._text("subtitles_from_s", row), "subtitles_from_s")
        return Subtitles(path=path, from_s=start_s or 0.0)

    def _media_of(self, row: Row) -> tuple[Media, ...]:
        if "media" in self.mapping.constants:
            places = [str(self.mapping.constants["media"])]
        else:
            places = [place for column, get in self._media for place in _places(get(row), column)]
        if not places and self._media and self.mapping.reply is None:  # asked blind without a word
            raise FieldError("media", f"nothing in {self._media[0][0]!r}; the columns are {listed(row)}")
        if not places:
            return ()
        kind = cast('Literal["video", "image", "frames"]', self._kind("media_kind", row, "video"))
        start_s, end_s = (seconds_of(self._times[name](row), name) for name in _TIMES[:2])
        spans: Sequence[tuple[float | None, float | None]] = [(start_s, end_s)]
        if self.mapping.spans and not (spans := self._spans("spans", row)):
            raise FieldError("spans", f"none in {self.mapping.spans!r}; expected what is shown")
        return tuple(_medium(place, kind, span) for place in places for span in spans)

    def _spans(self, name: str, row: Row) -> list[tuple[float, float]]:
        """Return the spans in a field's column."""
        value = self._times[name](row) or []
        entry = _written(value, name) if isinstance(value, str) else value
        return [span_of(other, name) for other in (entry if isinstance(entry, list | tuple) else [entry])]


def _medium(
    place: str, kind: Literal["video", "image", "frames"], span: tuple[float | None, float | None]
) -> Media:
    """Return a file or address, with its own span if it ends in ``#t=START,END``."""
    place, mark, own = place.partition("#t=")
    start_s, end_s = span_of(own, "media") if mark else span
    path, url = (None, place) if _ADDRESS.match(place) else (place, None)
    return Media(path=path, url=url, kind=kind, start_s=start_s, end_s=end_s)


def _beside(folder: Path, join: Join) -> Path:
    for path in (folder / join.file, folder / f"{join.file}.gz"):
        if path.is_file():
            return path
    raise DataError(f"{folder / join.file} is not there; the mapping takes {join.of} from it")


def _values(file: files.DataFile) -> Mapping[str, object]:
    try:
        values = msgspec.json.decode(file.content, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{file.path} is not one JSON object ({error}); expected values by key") from error
    inner = ((key, value) for key, value in values.items() if isinstance(value, Mapping))
    return values | {f"{key}/{name}": value for key, row in inner for name, value in row.items()}


def _several(value: object, column: str) -> tuple[str, ...]:
    """Return the texts in a column: a list, an object by letter, either serialised, or ``a|b``."""
    if isinstance(value, str):
        value = _written(value, column)
    if isinstance(value, Mapping):
        value = [value[key] for key in sorted(value) if value[key] is not None]
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise FieldError(column, f"{type(value).__name__} found; expected a list")
    texts = (", ".join(map(str, group)) if isinstance(group, list) else group for group in value)
    return tuple(as_text(text, column) for text in texts)


def _lines(value: object, column: str) -> tuple[str, ...]:
    """Return the steps in a column: a list, possibly serialised, or a text with one per line."""
    if isinstance(value, str):
        text = value.strip()
        if not (text.startswith("[") and text.endswith("]")):
            return tuple(text.splitlines())
    elif not isinstance(value, list | tuple | None):
        kind = type(value).__name__
        raise FieldError(column, f"{kind} found; expected a list of steps, or a text with one on each line")
    return _several(value, column)


def _written(text: str, column: str) -> object:
    """Parse a list or object serialised in JSON or as Python prints it."""
    if not text.lstrip().startswith(("[", "{", "(")):
        return text.split("|")
    try:
        return msgspec.json.decode(files.numbers_as_texts(text.encode()))
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise FieldError(column, f'{text[:80]!r} found; expected a list, such as ["a", "b"]') from error


def _numbered(text: str, form: str, n: int) -> str:
    first = int(form[-1])
    number = int(text) if text.lstrip("-").isdecimal() else None
    if number is None or not first <= number < first + n:
        raise FieldError("answer", f"{text!r} found; expected a number from {first} to {first + n - 1}")
    return chr(ord("A") + number - first)


def _lettered(text: str, choices: Sequence[str]) -> str:
    """Return the letter of the only choice with this text; empty otherwise."""
    places = [i for i, choice in enumerate(choices) if choice.strip() == text]
    return chr(ord("A") + places[0]) if len(places) == 1 else ""


def _labelled(text: str, choices: Sequence[str]) -> str:
    """Return the letter of an answer such as ``B. a red car`` or ``(B)``; empty otherwise."""
    label = label_of(text)
    if label and label[0] < len(choices) and choices[label[0]].strip() == label[1]:
        return chr(ord("A") + label[0])
    bare = text.strip("(). ")
    return bare.upper() if len(bare) == 1 and bare.isalpha() and bare != text else ""


def _places(value: object, column: str) -> list[str]:
    """Return paths or addresses; for a file embedded in the table, its path."""
    if isinstance(value, Mapping):
        path = value.get("path")
        if not path and value.get("bytes"):
            raise FieldError(column, "a file inside the table; write it beside the table and name its path")
        value = path
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _written(value, column)
    if isinstance(value, list | tuple):
        return [place for entry in value for place in _places(entry, column)]
    text = as_text(value, column)
    return [text] if text else []
