"""Read a benchmark's question files: find them, check each question, and keep the valid ones."""

import difflib
import hashlib
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from vidence.ask.files import DataFile, FieldError, text_of
from vidence.contracts import Loaded
from vidence.errors import DataError, UnknownNameError
from vidence.media.files import place_of_url
from vidence.records import Evidence, Item, Media, SharedParts
from vidence.text import some

_FORMAT = "the format: vidence help item-format"
_MAX_CHOICES = 26
_LATEST_S = sys.float_info.max
_LISTED = 10
_LETTERED = re.compile(r"\(?[Aa][.):]\s")
_MARKED = re.compile(r"\((?P<letter>[A-Z])\)")
_WORDS = re.compile(r"[a-z0-9]+")
_IGNORED = frozenset({"and"})


def locate(data: Path, names: Sequence[str], *, what: str) -> Path:
    """Return `data` if it is a file, otherwise the first of `names` inside it (or its ``.gz``).

    Raises:
        DataError: `data` does not exist, or the folder contains none of the names; `what` describes the file
            and where to get it.
    """
    if data.is_file():
        return data
    if not data.is_dir():
        raise DataError(f"there is nothing at {data}; expected {what}")
    if path := find(data / name for name in names):
        return path
    raise DataError(
        f"the folder {data} holds none of {', '.join(names)} (or these with .gz); expected {what}"
    )


def find(paths: Iterable[Path]) -> Path | None:
    """Return the first of these files that exists, plain or with ``.gz``."""
    both = (file for path in paths for file in (path, Path(f"{path}.gz")))
    return next((file for file in both if file.is_file()), None)


def with_videos(roots: Iterable[Path], *, default: Path) -> Path:
    """Return the first of these folders that contains the folder ``videos``, or the default."""
    return next((root for root in roots if (root / "videos").is_dir()), default)


def check_split(benchmark: str, split: str, known: Sequence[str]) -> None:
    """Check that a split exists.

    Raises:
        UnknownNameError: it does not.
    """
    if split not in known:
        raise UnknownNameError(f"split of {benchmark}", split, known)


# --------------------------------------------------------------------------- one question


def checked(item: Item) -> Item:
    """Check an item whose answer is a letter or a text.

    Raises:
        FieldError: the first fault.
    """
    _check(item)
    if item.answer_kind == "choice" and item.answer not in ("", *item.letters):
        raise FieldError("answer", f"{item.answer!r} found; expected one of {', '.join(item.letters)}")
    return item


def lettered(item: Item) -> Item:
    """Return the item with its answer as a letter; the answer may be given as a letter or a choice's text.

    A hidden answer stays hidden.

    Raises:
        FieldError: the first fault.
    """
    _check(item)
    if item.answer_kind == "text" or item.is_hidden:
        return item
    letter = letter_of(item, item.answer)
    return item if letter == item.answer else msgspec.structs.replace(item, answer=letter)


def letter_of(item: Item, answer: str) -> str:
    """Return the letter of the choice that an answer gives as a letter or text.

    Raises:
        FieldError: no choice, or more than one.
    """
    answer = answer.strip()
    choices = dict(zip(item.letters, map(str.strip, item.choices), strict=True))
    names = sorted({letter for letter, text in choices.items() if answer == text or answer.upper() == letter})
    if (marked := _MARKED.fullmatch(answer)) and not names and marked["letter"] in choices:
        names = [marked["letter"]]
    if not names:
        result = "; ".join(f"{letter}: {text}" for letter, text in choices.items())
        raise FieldError(
            "answer", f"{answer!r} is not among the choices ({result}); expected a letter or a text"
        )
    if len(names) > 1:
        raise FieldError(
            "answer",
            f"{answer!r} may mean {', '.join(names)}, as letter or text; expected one: reword the choices",
        )
    return names[0]


def said_answer(item: Item) -> str:
    """Return an item's answer in the form that `lettered` reads.

    This is the letter, in brackets if another choice's text is that letter.

    >>> said_answer(Item(item_id="q", question="Which key?", choices=("E", "A"), answer="B"))
    'B'
    >>> said_answer(Item(item_id="q", question="Which key?", choices=("B", "A"), answer="B"))
    '(B)'
    """
    is_text_of_another = any(
        text.strip() == item.answer and letter != item.answer
        for letter, text in zip(item.letters, item.choices, strict=True)
    )
    return f"({item.answer})" if item.answer_kind == "choice" and is_text_of_another else item.answer


def seen_from(folder: Path, item: Item, media_root: Path) -> Item:
    """Return the item with media paths relative to another folder."""
    media = tuple(
        msgspec.structs.replace(medium, path=os.path.relpath(media_root / medium.path, folder.resolve()))
        if medium.path and not Path(medium.path).is_absolute()
        else medium
        for medium in item.media
    )
    return msgspec.structs.replace(item, media=media)


def _check(item: Item) -> None:
    for name in ("item_id", "question"):
        if not getattr(item, name).strip():
            raise FieldError(name, "empty; expected a text")
    if item.answer and not item.answer.strip():
        raise FieldError("answer", "blank; expected a text, or nothing at all where the answer is hidden")
    if item.source and not item.source.strip():
        raise FieldError("source_id", "blank; expected the name of the film or recording, or nothing")
    for i, hint in enumerate(item.hints):
        if not hint.strip():
            raise FieldError(f"hints[{i}]", "empty; expected a text, or no hint of that level and above")
    _check_choices(item)
    for i, media in enumerate(item.media):
        _check_media(f"media[{i}]", media)
    _check_reasons(item)


def _check_reasons(item: Item) -> None:
    for i, step in enumerate(item.steps):
        if not step.strip():
            raise FieldError(f"steps[{i}]", "empty; expected a text")
    for i, evidence in enumerate(item.evidence):
        _check_span(f"evidence[{i}]", evidence)
        if (first := min(evidence.frames, default=0)) < 0:
            raise FieldError(f"evidence[{i}].frames", f"{first} found; frames are counted from 0")
        if evidence.step is not None and not 0 <= evidence.step < len(item.steps):
            raise FieldError(
                f"evidence[{i}].step",
                f"{evidence.step} found, and there are {len(item.steps)} steps; expected a place in steps, "
                "counted from 0",
            )


def _check_media(field: str, media: Media) -> None:
    if not (media.path or media.url):
        reason = "neither path nor url; expected the path of a file, relative to the questions"
        raise FieldError(field, reason)
    if "\0" in (media.path or ""):
        raise FieldError(f"{field}.path", f"{media.path!r} holds a zero byte; expected the path of a file")
    if media.url and not media.path:
        try:
            place_of_url(media.url)
        except DataError as error:
            raise FieldError(f"{field}.url", str(error)) from error
    _check_span(field, media)


def _check_choices(item: Item) -> None:
    if item.answer_kind == "choice":
        if not 2 <= len(item.choices) <= _MAX_CHOICES:
            raise FieldError(
                "choices",
                f"{len(item.choices)} found; expected 2 to {_MAX_CHOICES}, or answer_kind 'text' for an "
                "open question",
            )
        for i, choice in enumerate(item.choices):
            if not choice.strip():
                raise FieldError(f"choices[{i}]", "empty; expected a text")
    elif item.choices:
        raise FieldError(
            "answer_kind", "'text' for a question with choices; expected 'choice', or no choices"
        )


def _check_span(field: str, span: Media | Evidence) -> None:
    for name in ("start_s", "end_s"):
        seconds = getattr(span, name)
        if seconds is not None and not 0 <= seconds <= _LATEST_S:
            raise FieldError(
                f"{field}.{name}", f"{seconds} found; expected seconds from the start, 0 or more"
            )
    is_frame = isinstance(span, Media) and span.is_still
    if span.end_s is not None and span.end_s <= (start_s := span.start_s or 0.0) and not is_frame:
        raise FieldError(
            f"{field}.end_s", f"{span.end_s} is not after start_s {start_s}; expected a later time"
        )


# --------------------------------------------------------------------------- all questions


class QuestionReader:
    """Reads the questions of one or more files; with `strict` the first bad row raises an error.

    Args:
        files: the files.
        strict: whether a bad row is an error.
        format_hint: ends the message if nothing usable was found.
        id_field: the field with a row's question id, for messages.
    """

    def __init__(
        self, *files: DataFile, strict: bool, format_hint: str = _FORMAT, id_field: str = ""
    ) -> None:
        self.items: list[Item] = []
        self.notes: list[str] = []
        self._files = files
        self._is_strict = strict
        self._format_hint = format_hint
        self._id_field = id_field
        self._problems: list[str] = []
        self._places: dict[str, str] = {}
        self._sharing = SharedParts()
        self._row = files[0], ""

    @contextmanager
    def row(self, line: str, raw: bytes = b"", *, file: DataFile | None = None) -> Iterator[None]:
        """Read a row in this context; on a `FieldError` the row is left out and listed.

        Args:
            line: the row's line number.
            raw: the row itself, for messages.
            file: the row's file; by default the first.

        Raises:
            DataError: the row is bad and reading is strict.
        """
        file = file or self._files[0]
        self._row = file, line
        try:
            yield
        except FieldError as error:
            item_id = text_of(raw, self._id_field)
            problem = f"{file.path.name}:{line}: {error}" + (f" (question {item_id!r})" if item_id else "")
            if self._is_strict:
                raise DataError(
                    f"{problem} (in {file.path.parent}; reading is strict: fix the line, or read without)"
                ) from error
            self._problems.append(problem)

    def keep(self, item: Item) -> None:
        """Keep the row's checked item.

        Raises:
            FieldError: its id was used before, in this or another file.
        """
        file, line = self._row
        place = f"on line {line}" if len(self._files) == 1 else f"in {file.path.name}:{line}"
        if (earlier := self._places.setdefault(item.item_id, place)) is not place:
            raise FieldError(
                "item_id", f"{item.item_id!r} was used {earlier} before; expected an id of its own"
            )
        self.items.append(self._sharing.item(item))

    def loaded(self, *, media_root: Path, revision: str = "") -> Loaded:
        """Return the kept items, with problems and remarks.

        Raises:
            DataError: there are none.
        """
        if not self.items:
            n = len(self._problems)
            first = f"; the first of {n}: {self._problems[0]}" if n else ": it has no rows"
            where = self._files[0].path if len(self._files) == 1 else self._files[0].path.parent
            raise DataError(f"{where} holds no usable question{first}; {self._format_hint}")
        content_hash = self._files[0].content_hash
        if len(self._files) > 1:
            lines = (f"{file.path.name.removesuffix('.gz')} {file.content_hash}\n" for file in self._files)
            content_hash = hashlib.sha256("".join(lines).encode()).hexdigest()
        return Loaded(
            items=tuple(self.items),
            media_root=media_root,
            content_hash=content_hash,
            revision=revision,
            problems=tuple(self._problems),
            notes=(*self.notes, *remarks(self.items)),
        )


def twins(items: Iterable[Item]) -> dict[str, str]:
    """Return the items that repeat an earlier one (same media, question and choices), with that one."""
    first: dict[tuple[tuple[Media, ...], str, tuple[str, ...]], str] = {}
    repeated: dict[str, str] = {}
    for item in items:
        original = first.setdefault((item.media, item.question, item.choices), item.item_id)
        if original != item.item_id:
            repeated[item.item_id] = original
    return repeated


def remarks(items: Sequence[Item]) -> tuple[str, ...]:
    """Return irregularities of kept items, one line per kind."""
    repeated, source = twins(items), dict[str, str]()
    kinds: dict[str, Callable[[Item], bool]] = {
        "have choices with the same text": lambda i: len(set(i.choices)) < len(i.choices),
        "have choices that carry letters of their own; letters are added when a question is asked": (
            lambda i: bool(i.choices) and _LETTERED.match(i.choices[0]) is not None
        ),
        "have a hidden answer: they can be asked, and not scored": lambda i: i.is_hidden,
        "name no media": lambda i: not i.media,
        "are about media that other questions give to another source_id": (
            lambda i: bool(i.media) and source.setdefault(i.video_id, i.source_id) != i.source_id
        ),
        "have evidence outside the span of the video that is shown": is_evidence_outside,
        "repeat the media, question and choices of an earlier one": lambda i: i.item_id in repeated,
    }
    return tuple(
        line
        for what, is_odd in kinds.items()
        for line in several([item.item_id for item in items if is_odd(item)], what)
    )


def is_evidence_outside(item: Item) -> bool:
    """Whether evidence lies outside the shown span of the only medium."""
    if len(item.media) != 1:
        return False
    media = item.media[0]
    start_s = media.start_s or 0.0
    end_s = math.inf if media.end_s is None else media.end_s
    return any(
        (e.start_s is not None and not start_s <= e.start_s < end_s)
        or (e.end_s is not None and not start_s < e.end_s <= end_s)
        for e in item.evidence
    )


def several(ids: Sequence[str], what: str) -> tuple[str, ...]:
    """Describe an irregularity of some questions in one line; empty if there are none."""
    return (f"{len(ids)} question(s) {what}: {listed(ids)}",) if ids else ()


def listed(ids: Sequence[str]) -> str:
    """List the first few ids, and how many more there are."""
    return some(ids, most=_LISTED)


# --------------------------------------------------------------------------- names of a benchmark


def spelling(text: str) -> str:
    """Normalise a name: its words without case, blanks, punctuation and ``and``.

    >>> spelling("Electric & Crafting") == spelling("electric_and_crafting")
    True
    """
    return "".join(word for word in _WORDS.findall(text.lower()) if word not in _IGNORED)


class KnownNames:
    """The names that a field may have.

    Args:
        spellings: each name as stored, with alternatives; case, blanks and punctuation are ignored.
    """

    def __init__(self, spellings: Mapping[str, Sequence[str]]) -> None:
        self._names = tuple(spellings)
        texts = [(name, text) for name, others in spellings.items() for text in (name, *others)]
        self._by_spelling = {spelling(text): name for name, text in texts}
        self._text_of = {spelling(text): text if text == name else f"{text} ({name})" for name, text in texts}

    def find(self, text: str) -> str | None:
        """Return the stored spelling of a name, or None."""
        return self._by_spelling.get(spelling(text))

    def read(self, field: str, text: str) -> str:
        """Return the stored spelling of a name.

        Raises:
            FieldError: it is unknown; the message has the closest name, and all names.
        """
        if result := self.find(text):
            return result
        raise FieldError(field, f"{text!r} found; {self.expected(text)}")

    def expected(self, text: str) -> str:
        """Return the closest name and all names, for a message about `text`."""
        near = difflib.get_close_matches(spelling(text), self._text_of, n=1)
        hint = f"did you mean {self._text_of[near[0]]}? " if near else ""
        return f"{hint}expected one of {', '.join(self._names)}"
