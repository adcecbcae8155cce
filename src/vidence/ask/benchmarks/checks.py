"""What makes a question usable; what is odd about it but can stay."""

import difflib
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from vidence.records import Item, Media

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
