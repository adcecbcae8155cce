"""The letter rules with which lmms-eval and VLMEvalKit score their logs; each is a file in `peers`."""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from string import punctuation
from typing import Final, Literal, TypeAlias

from vidence.ask.scoring.letters import LetterScorer
from vidence.installation import packaged
from vidence.records import Answered, Item, Record, Unreadable

_FOLDER: Final = Path(__file__).with_suffix("")
_REASONING: Final = (("<think>", "</think>"), ("<analysis>", "</analysis>"))
_PLACES: Final = ("({})", "{}.", "{}:", "{})", "{} ", "{}")  # the surest first
_LABELLED: Final = re.compile(r"([A-E])\.\s*.+", re.IGNORECASE)
_ALONE: Final = re.compile(r"\b[A-E]\b", re.IGNORECASE)
_MARKS: Final = ';/[]"{}()=+\\_->,<@`?!'
_MOST_FULL_STOPS: Final = 32
_CALL_FAILED: Final = "Failed to obtain answer via API"
_STATED: Final = re.compile(r"answer\s+is\s+\**([ABCD])", re.IGNORECASE)
_SPACES: Final = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_LAST_WORDS: Final = 4

_Texts: TypeAlias = Sequence[str]


class PeerFacts(Record):
    """The file of a rule.

    `logs` are the tool's file names for such replies, `texts` phrases known to the rule; `leaves_out_blank`:
    the tool's mean excludes empty replies.
    """

    about: str
    logs: tuple[str, ...]
    rule: Literal["surest-place", "first-capital", "letter-alone", "right-occurs", "first-word"]
    texts: tuple[str, ...] = ()
    has_reasoning_removed: bool = False
    leaves_out_blank: bool = False


@cache
def facts_of(name: str) -> PeerFacts:
    """Return the facts of a rule by name."""
    return packaged("vidence.ask.scoring", f"peers/{name}.toml", PeerFacts)


def rules_of(log: str) -> list[str]:
    """Return the rules of the tool that writes logs of this name, such as ``1_samples_videomme.jsonl``."""
    names = sorted(path.stem for path in _FOLDER.glob("*.toml"))
    return [name for name in names if any(fnmatchcase(log, word) for word in facts_of(name).logs)]


def _without_reasoning(text: str) -> str:
    """Return the text that lmms-eval scores by default."""
    for opening, closing in _REASONING:
        while (start := text.find(opening)) >= 0 and (end := text.find(closing, start)) >= 0:
            text = text[:start] + text[end + len(closing) :]
        if opening not in text:
            text = text.rpartition(closing)[2]
    return text.strip()


def _surest_place(item: Item, text: str, leads: _Texts) -> str:
    """Return a letter A to D at the start or end, after a lead-in, or marked; the last of each kind.

    Prose is parsed too: ``A man runs`` is A, and so is ``the answer is B because A ...``.
    """
    for sign in ",.!?;:'\"":
        text = text.strip(sign)
    bare, padded = text.strip(), f" {text} "
    if bare[:1] in tuple("ABCD") and not bare[1:2].isalpha():
        return bare[0]
    if bare[-1:] in tuple("ABCD") and not bare[-2:-1].isalpha():
        return bare[-1]
    lower = padded.lower()
    ends = [(lower.find(lead), len(lead)) for lead in leads]
    stated = [(padded.find(name, at + n), name) for at, n in ends if at >= 0 for name in "ABCD"]
    placed = ([(padded.rfind(place.format(name)), name) for name in "ABCD"] for place in _PLACES)
    last = (max(places, default=(-1, "")) for places in (stated, *placed))
    return next((letter for at, letter in last if at >= 0), "")


def _first_capital(item: Item, text: str, leads: _Texts) -> str:
    """Return the first A to D after removing lead-ins; in ``Failed ... via API`` the A."""
    text = text.strip()
    for lead in leads:
        text = text.replace(lead, "")
    return next((sign for sign in text if sign in "ABCD"), "")


def _letter_alone(item: Item, text: str, texts: _Texts) -> str:
    """Return a line's leading letter with a full stop, else the first separate letter: ``a man`` is A."""
    if labelled := _LABELLED.fullmatch(text):
        return labelled[1].upper()
    line = text.replace("\n", " ").replace("\t", " ").strip()
    is_dropped = re.search(r"\d,\d", line) is not None
    plain = line
    for mark in _MARKS:
        plain = plain.replace(mark, "" if is_dropped or f"{mark} " in line or f" {mark}" in line else " ")
    return _first_alone(re.sub(r"\.(?!\d)", "", plain, count=_MOST_FULL_STOPS).lower())


def _first_alone(text: str) -> str:
    letter = _ALONE.search(text)
    return letter[0].upper() if letter else ""


def _right_occurs(item: Item, text: str, texts: _Texts) -> str:
    """Return the right letter if its text, or it and a word of its text, occur: also ``not B``."""
    texts_of = dict(zip(item.letters, item.choices, strict=True))
    lower, right = text.lower(), texts_of.get(item.answer, "").strip().lower()
    words = [word for part in right.split() if len(word := part.strip(punctuation)) > 2]
    is_right = (
        re.search(rf"\b{item.answer}\b", text, re.IGNORECASE) is not None
        or right in lower
        or (item.answer in text.upper() and any(word in lower for word in words))
    )
    return item.answer if is_right else _first_alone(text)


def _first_word(item: Item, text: str, refusals: _Texts) -> str:
    """Return the right letter if the first word is part of, or contains, ``(letter)``; else a bare letter.

    So ``)``, or the message of a failed call, is right for every question.
    """
    label, first = f"({item.answer})".lower(), text.lower().strip().split(" ")[0]
    if first.replace(".", "") in label or label in first or _CALL_FAILED in text:
        return item.answer
    words = text.translate(_SPACES).split()
    lone = [letter for letter in item.letters if letter in words]
    if any(refusal in text for refusal in refusals) or (not lone and "Z" in words):
        return ""
    if len(lone) == 1 and words.index(lone[0]) >= len(words) - _LAST_WORDS:
        return lone[0]
    if (stated := _STATED.search(text)) and stated[1].upper() in item.letters:
        return stated[1].upper()
    lower, choices = text.lower(), [choice.lower() for choice in item.choices]
    named = [letter for letter, choice in zip(item.letters, choices, strict=True) if choice in lower]
    return named[0] if len(named) == 1 and len(lower) <= 2 * sum(map(len, choices)) else ""


_RULES: Final[Mapping[str, Callable[[Item, str, _Texts], str]]] = {
    function.__name__.replace("_", "-")[1:]: function
    for function in (_surest_place, _first_capital, _letter_alone, _right_occurs, _first_word)
}


def _read(facts: PeerFacts, item: Item, text: str) -> Answered | Unreadable:
    words = _without_reasoning(text) if facts.has_reasoning_removed else text
    letter = _RULES[facts.rule](item, words, facts.texts)
    if not letter:
        return Unreadable(reason="the rule of the other tool finds no letter in the reply")
    return Answered(answer=letter, rule=facts.rule)


def create(name: str) -> LetterScorer:
    """Create the parser of a file; reports compare it with others on its tool's logs.

    Source: EvolvingLMMs-Lab/lmms-eval at 75571cf (old rule: c7eaef3), open-compass/VLMEvalKit at e8e78f0.
    Departs: empty replies are wrong. VLMEvalKit has a model parse replies to MVBench that no rule reads, and
    counts missing ones
        right.
    """
    return LetterScorer(name=name, version=1, reads_letters=False, read_text=partial(_read, facts_of(name)))
