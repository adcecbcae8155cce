"""Checks of a question's texts: clues to the answer, and choices that break the question.

Each check yields objections to a question; `text_reasons` runs all checks.
"""

import math
import re
import statistics
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from vidence.explain.audit.reasons import Reason, Severity, note, quoted, warning
from vidence.records import Item
from vidence.text import find_garbled, letter_index, normal_form, scripts

_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_WORD_NUMBER = re.compile(rf"\b({'|'.join(reversed(_WORDS))})\b")
_N = r"([-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+]?\d+(?::\d{2}){1,2}|[-+]?\d*\.?\d+)"
_UNIT = r"\s*((?:[^\W\d]|[%°/²³ ])*?)\s*"
_TO = r"\s*(?:-|\u2013|\u2014|~|to|until)\s*"
_ABOVE = r"(?:or more|or above|and above|and more|or higher|or greater)"
_BELOW = r"(?:or less|or fewer|or below|and below|or lower)"


class Span(NamedTuple):
    """Numbers from `low` to `high`, inclusive; an open end is the adjacent number inside."""

    low: float
    high: float

    @property
    def is_point(self) -> bool:
        """Whether it is a single number."""
        return self.low == self.high

    def covers(self, other: "Span") -> bool:
        """Whether it contains the other span."""
        return self.low <= other.low and other.high <= self.high

    def meets(self, other: "Span") -> bool:
        """Whether the spans have a number in common."""
        return max(self.low, other.low) <= min(self.high, other.high)

    def touches(self, other: "Span") -> bool:
        """Whether the spans share exactly one number, an end of both."""
        is_apart = not (self.is_point or other.is_point)
        return is_apart and max(self.low, other.low) == min(self.high, other.high)


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """The numbers for which a choice is true, and the unit around them (empty for none)."""

    spans: tuple[Span, ...]
    unit: str

    @property
    def is_point(self) -> bool:
        """Whether it is a single number."""
        return len(self.spans) == 1 and self.spans[0].is_point

    def is_like(self, other: "Allowed") -> bool:
        """Whether the units agree, or one is missing."""
        return not (self.unit and other.unit) or self.unit == other.unit

    def covers(self, other: "Allowed") -> bool:
        """Whether this is true whenever the other is."""
        return all(any(ours.covers(theirs) for ours in self.spans) for theirs in other.spans)

    def meets(self, other: "Allowed") -> bool:
        """Whether both can be true."""
        return any(ours.meets(theirs) for ours in self.spans for theirs in other.spans)

    def touches(self, other: "Allowed") -> bool:
        """Whether they share no more than ends."""
        met = [(a, b) for a in self.spans for b in other.spans if a.meets(b)]
        return bool(met) and all(a.touches(b) for a, b in met)


def _value(text: str) -> float:
    """Return a number, or a clock time in seconds."""
    parts = text.replace(",", "").split(":")
    return sum(float(part) * 60.0**i for i, part in enumerate(reversed(parts)))


# How choices are written, and the spans that the numbers in them stand for.
_FORMS: tuple[tuple[re.Pattern[str], Callable[..., tuple[tuple[float, float], ...]]], ...] = tuple(
    (re.compile(pattern), spans)
    for pattern, spans in (
        (rf"(?:between\s+){_N}{_UNIT}\s+and\s+{_N}{_UNIT}", lambda a, b: ((a, b),)),
        (rf"(?:from\s+|between\s+)?{_N}{_UNIT}{_TO}{_N}{_UNIT}", lambda a, b: ((a, b),)),
        (rf"(?:either\s+)?{_N}{_UNIT}\s+or\s+{_N}{_UNIT}", lambda a, b: ((a, a), (b, b))),
        (
            rf"(?:more than|greater than|over|above|>)\s*{_N}{_UNIT}",
            lambda a: ((math.nextafter(a, math.inf), math.inf),),
        ),
        (rf"(?:at least|no less than|no fewer than|≥|>=)\s*{_N}{_UNIT}", lambda a: ((a, math.inf),)),
        (rf"{_N}{_UNIT}(?:\+|{_ABOVE}){_UNIT}", lambda a: ((a, math.inf),)),
        (
            rf"(?:less than|fewer than|under|below|<)\s*{_N}{_UNIT}",
            lambda a: ((-math.inf, math.nextafter(a, -math.inf)),),
        ),
        (rf"(?:at most|up to|no more than|≤|<=)\s*{_N}{_UNIT}", lambda a: ((-math.inf, a),)),
        (rf"{_N}{_UNIT}{_BELOW}{_UNIT}", lambda a: ((-math.inf, a),)),
        (rf"(?:exactly\s+|only\s+)?{_N}{_UNIT}", lambda a: ((a, a),)),
    )
)


def allowed(choice: str) -> Allowed | None:
    """Return the numbers that a choice allows; None if it is not a number, range or bound.

    >>> allowed("3 to 8 people").spans[0].high
    8.0
    >>> [span.low for span in allowed("two or three").spans]
    [2.0, 3.0]
    >>> allowed("3, 4, 2, 1") is None
    True
    """
    text = _WORD_NUMBER.sub(lambda m: str(_WORDS.index(m[0])), choice.casefold().strip().rstrip(".;,"))
    text = text.lstrip("$€£").replace("\u2212", "-")
    for pattern, spans_of in _FORMS:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        numbers = [_value(g) for g in match.groups() if g and re.fullmatch(_N, g)]
        around = (g.strip() for g in match.groups() if g and not re.fullmatch(_N, g))
        units = {words.removesuffix("s") if len(words) > 2 else words for words in around if words}
        spans = tuple(Span(*ends) for ends in spans_of(*numbers))
        if len(units) > 1 or any(span.low > span.high for span in spans):
            return None
        return Allowed(spans=spans, unit=units.pop() if units else "")
    return None


def all_allowed(choices: Sequence[str]) -> list[Allowed | None]:
    """Return what each choice allows. If one is "3-2", such pairs are scores rather than ranges.

    >>> [one is None for one in all_allowed(["3-2", "1-2", "4"])]
    [True, True, False]
    """
    pair = re.compile(r"\s*(\d+)\s*[-\u2013:]\s*(\d+)\s*")
    pairs = [pair.fullmatch(choice) for choice in choices]
    has_scores = any(p is not None and int(p[1]) >= int(p[2]) for p in pairs)
    return [None if has_scores and p is not None else allowed(c) for c, p in zip(choices, pairs, strict=True)]


MOST_CHOICES = 10
_ARTICLES = re.compile(r"\b(?:the|an|a)\s+")
_LEAST_CASED = 4  # "Aa" and "AA" are other genes, "Red" and "red" are one colour
_LEAST_WORD = 4
_MUCH = 2.0
_MUCH_CHARACTERS = 20
_OTHERS = re.compile(
    r"\b(?:all|none|both|neither|any)\s+of\s+(?:these|them|those|the\s+(?:above|others?|options|choices|answers|below))\b"
    r"|\b(?:all|none|both)\s+(?:above|below)\b",
    re.IGNORECASE,
)
_BY_LETTER = re.compile(
    r"(?:[Bb]oth |[Nn]either |[Oo]nly )?\(?[A-H]\)?(?:, \(?[A-H]\)?)* (?:and|or|nor|&) \(?[A-H]\)?"
)
_ABSTAIN = re.compile(
    r"(?:cannot|can't|can not|could not) be (?:determined|told|seen|inferred)"
    r"|not (?:enough|mentioned|shown|visible)"
    r"|insufficient information|unknown|no such|did not (?:occur|happen)",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"\b[Oo]ption\s+\(?([A-H])\)?(?![\w'])|\b(?:[Cc]hoice|[Aa]nswer)\s+\(?([B-H])\)?(?![\w'])"
)
_LISTED = re.compile(r"(?:^|[\n;,?:(])\s*\(?A[.):]\s*\S.*?[\n;,?:.(]\s*\(?B[.):]\s*\S", re.DOTALL)
_NAMED = re.compile(r"(?<![\w'.&-])([B-H])(?![\w'&-]|\.\w)")
# Braces of formulas are no placeholders: these follow a letter, a sign or a backslash, or hold short names.
_PLACEHOLDER = re.compile(
    r"(?<![\w\\^$}])\{\{?\s*[A-Za-z][a-z_]{3,}\s*\}?\}"
    r"|<\s*(?:obj(?:ect)?|person|name|answer|action|number|color|colour)\w*\s*>"
    r"|\[(?:object|person|name|action|answer|MASK|insert [^\]]*)\]|\bT(?:ODO|BD)\b|lorem ipsum",
    re.IGNORECASE,
)
_EMPTY = frozenset({"nan", "null", "undefined", "#n/a", "#ref!", "[object object]"})
_HTML = re.compile(
    r"&(?:amp|lt|gt|quot|nbsp|#\d{1,6});|</?(?:br|p|b|i|div|span|sub|sup|li|ul)\s*/?>", re.IGNORECASE
)
# Controls but tab and line ends, soft hyphen, zero-width space and joiners of words, marks that turn text.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ue000-\uf8ff]|(?<=[A-Za-z])[\u200c-\u200f](?=[A-Za-z])"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_GREEK_ALIKE = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο")  # noqa: RUF001 - these look like Latin letters


def text_reasons(item: Item) -> Iterator[Reason]:
    """Yield all objections to a question's texts."""
    for check in (*_OF_ALL, *(_OF_CHOICES if item.choices else ())):
        yield from check(item)


def exact_form(choice: str) -> str:
    """Return a choice without insignificant blanks, quotes and full stops.

    >>> exact_form(' "Two  cats." ')
    'Two cats'
    """
    text = " ".join(unicodedata.normalize("NFC", choice).split())
    return text.strip("\"'\u201c\u201d\u2018\u2019").rstrip(".;,").strip() or text


# --------------------------------------------------------------------------- what the question says


def _given_away(item: Item) -> Iterator[Reason]:
    right = item.answer
    others: list[str] = []
    if item.answer_kind == "choice":
        index = letter_index(item.answer)
        right = item.choices[index]
        others = [normal_form(c) for i, c in enumerate(item.choices) if i != index]
    question, answer = f" {normal_form(item.question)} ", normal_form(right)
    if not answer or f" {answer} " not in question:
        return
    if any(other and f" {other} " in question for other in others):
        return
    says = f"the question holds the right answer {quoted(right)}" + (" and no other choice" if others else "")
    severity: Severity = "note"
    if re.search(rf"\banswer (?:is|was|would be|should be) {re.escape(answer)}\b", question):
        severity, says = "severe", f"{says}, and says that it is the answer"
    elif len(answer) < _LEAST_WORD and " " not in answer:
        return
    elif " " in answer and others and not any(f in question for f in (f" or {answer} ", f" {answer} or ")):
        severity = "warning"
    yield Reason(kind="answer-in-question", severity=severity, says=says)


def _letters_in_question(item: Item) -> Iterator[Reason]:
    if _LISTED.search(item.question):
        yield warning("choices-in-question", "the question lists choices with letters of its own")
        return
    named = {m[1] or m[2] for m in _LETTER.finditer(item.question)} & set(item.letters)
    names = sorted(set(_NAMED.findall(item.question)) & set(item.letters))
    if named:
        is_right = named == {item.answer}
        says = f"the question names {', '.join(sorted(named))}" + (", the right letter" if is_right else "")
        yield (warning if is_right else note)("letter-in-question", says)
    elif names:
        what = "are names" if len(names) > 1 else "is a name"
        yield note("letters-as-names", f"{', '.join(names)} {what} in the question")


# --------------------------------------------------------------------------- how a text is written


def _writing(item: Item) -> Iterator[Reason]:
    yield from _written("the question", item.question)
    if item.answer_kind == "text":
        yield from _written("the answer", item.answer)
    for letter, choice in zip(item.letters, item.choices, strict=True):
        yield from _written(f"choice {letter}", choice)


def _written(where: str, text: str) -> Iterator[Reason]:
    if garbled := find_garbled(text):
        says = f"{where} holds {quoted(garbled)}, which was decoded with the wrong table of characters"
        yield warning("garbled", says)
    if hidden := _HIDDEN.findall(text):
        names = ", ".join(sorted({f"U+{ord(c):04X}" for c in hidden}))
        yield warning("invisible", f"{where} holds {names}")
    left = _PLACEHOLDER.search(text)
    if left or text.strip().casefold() in _EMPTY:
        what = quoted(left[0] if left else text)
        yield warning("placeholder", f"{where} holds {what}, which looks like what a program left behind")
    if html := _HTML.search(text):
        yield note("markup", f"{where} holds {quoted(html[0])}")
    if mixed := next((word for word in _WORD.findall(text) if _is_mixed(word)), ""):
        listed = " and ".join(sorted(s.capitalize() for s in scripts(mixed)))
        yield warning("mixed-script", f"{where} holds {quoted(mixed)}, with {listed} letters")


def _is_mixed(word: str) -> bool:
    """Whether a word mixes Latin letters with Cyrillic, or with Greek lookalikes."""
    if word.isascii():
        return False
    names = scripts(word)
    return "LATIN" in names and ("CYRILLIC" in names or bool(_GREEK_ALIKE & set(word)))


# --------------------------------------------------------------------------- two choices


def _pairs(item: Item) -> Iterator[Reason]:
    """Yield a reason per pair of choices that are equal, overlap, or contain each other."""
    right, letters = letter_index(item.answer), item.letters
    numbers = all_allowed(item.choices)
    for first, second in combinations(range(len(item.choices)), 2):
        choice, other = item.choices[first], item.choices[second]
        is_right = (right == first, right == second)
        pair = f"{letters[first]} {quoted(choice)} and {letters[second]} {quoted(other)}"
        ours, theirs = numbers[first], numbers[second]
        if exact_form(choice) == exact_form(other) or _loose_form(choice) == _loose_form(other):
            what = " are the same" if choice == other else " differ in nothing that matters"
            says = f"{pair}{what}{'; one of them is right' if any(is_right) else ''}"
            severity: Severity = "severe" if any(is_right) else "warning"
            yield Reason(kind="identical-choices", severity=severity, says=says)
            continue
        if ours is not None and theirs is not None:
            overlap = _number_overlap(ours, theirs, is_right)
        else:
            overlap = _word_overlap(_alternatives(choice), _alternatives(other), is_right)
        if overlap is not None:
            yield Reason(kind="overlapping-choices", severity=overlap[0], says=f"{pair} {overlap[1]}")
        elif _is_contained(choice, other):
            yield note("contained-choices", f"the words of one of {pair} are part of the other")


def _loose_form(choice: str) -> str:
    """Remove articles, and case unless the choice has no words."""
    text = exact_form(choice)
    if sum(c.isalpha() for c in text) < _LEAST_CASED:
        return text
    return _ARTICLES.sub("", text.casefold()).strip() or text


def _alternatives(choice: str) -> frozenset[str]:
    """Return the parts of "red or blue"; for other choices the whole."""
    text = _loose_form(choice).removeprefix("either ")
    if re.search(r"\b(?:neither|not|no)\b", text):
        return frozenset({text})
    parts = re.split(r"\s*,?\s+or\s+", text)
    return frozenset(parts) if all(0 < len(part.split()) <= 4 for part in parts) else frozenset({text})


_ALSO = "overlap, and where the right one is true the other is, too"


def _number_overlap(
    ours: Allowed, theirs: Allowed, is_right: tuple[bool, bool]
) -> tuple[Severity, str] | None:
    if not ours.is_like(theirs) or not ours.meets(theirs):
        return None
    if ours.is_point and theirs.is_point:
        return ("severe" if any(is_right) else "warning"), "are the same number"
    if ours.touches(theirs):
        return "note", "share an end"
    if (is_right[0] and theirs.covers(ours)) or (is_right[1] and ours.covers(theirs)):
        return "severe", _ALSO
    return ("warning" if any(is_right) else "note"), "overlap"


def _word_overlap(
    ours: frozenset[str], theirs: frozenset[str], is_right: tuple[bool, bool]
) -> tuple[Severity, str] | None:
    if len(ours) == len(theirs) == 1 or not ours & theirs:
        return None
    if (is_right[0] and ours <= theirs) or (is_right[1] and theirs <= ours):
        return "severe", _ALSO
    return ("warning" if any(is_right) else "note"), "have an alternative in common"


def _is_contained(name: str, other: str) -> bool:
    # "Clockwise" is no part of "counter-clockwise".
    ours, theirs = (f" {normal_form(choice.replace('-', ''))} " for choice in (name, other))
    return bool(ours != theirs and ours.strip() and theirs.strip() and (ours in theirs or theirs in ours))


# --------------------------------------------------------------------------- all choices


def _about_others(item: Item) -> Iterator[Reason]:
    last = len(item.choices) - 1
    for i, choice in enumerate(item.choices):
        what, exact = f"{item.letters[i]} {quoted(choice)}", exact_form(choice)
        if _BY_LETTER.fullmatch(exact):
            if any(re.search(rf"\b{name}\b", item.question) for name in re.findall(r"\b[A-H]\b", exact)):
                says = f"{what} names letters that are names in the question, too"
                yield note("letters-as-names", says)
            else:
                says = f"{what} names letters, which move when the choices are shuffled"
                yield warning("refers-to-choices", says)
        elif _OTHERS.search(choice):
            is_misplaced = i < last and "above" in choice.casefold()
            more = ", and not all of them are above it" if is_misplaced else ""
            says = f"{what} is about the other choices{more}"
            yield (warning if is_misplaced else note)("refers-to-choices", says)


def _odd_kind(item: Item) -> Iterator[Reason]:
    """Yield a reason if one choice differs in kind from all others; serious if it is right."""
    if len(item.choices) < 3:
        return
    numbers = all_allowed(item.choices)
    kinds = [_kind(choice, number) for choice, number in zip(item.choices, numbers, strict=True)]
    for i, (choice, kind) in enumerate(zip(item.choices, kinds, strict=True)):
        others = set(kinds) - {kind}
        # Choices about the others, or that decline, are of another kind by design.
        is_by_design = _OTHERS.search(choice) or _ABSTAIN.search(choice)
        if kinds.count(kind) == 1 and len(others) == 1 and not is_by_design:
            is_right = i == letter_index(item.answer)
            says = f"{item.letters[i]} {quoted(choice)} is {kind}, all others {others.pop()}"
            yield (
                warning("odd-kind", f"{says}; it is the right one") if is_right else note("odd-kind", says)
            )


def _kind(choice: str, number: Allowed | None) -> str:
    is_number = number is not None and (not number.unit or any(c.isdigit() for c in choice))
    return "a number" if is_number else "words" if any(c.isalpha() for c in choice) else "signs"


def _odd_length(item: Item) -> Iterator[Reason]:
    if len(item.choices) < 3:
        return
    lengths = [len(choice.strip()) for choice in item.choices]
    ours = lengths.pop(letter_index(item.answer))
    least, most = min(lengths), max(lengths)
    is_long = ours >= _MUCH * most and ours - most >= _MUCH_CHARACTERS
    is_short = _MUCH * ours <= least and least - ours >= _MUCH_CHARACTERS
    if is_long or is_short:
        typical = f" ({statistics.median(lengths):g} in the middle)" if least < most else ""
        says = f"the right choice has {ours} characters, the others {least} to {most}{typical}"
        yield warning("odd-length", says)


def _many(item: Item) -> Iterator[Reason]:
    if len(item.choices) > MOST_CHOICES:
        yield note("many-choices", f"{len(item.choices)} choices")


Check = Callable[[Item], Iterator[Reason]]
_OF_ALL: tuple[Check, ...] = (_given_away, _writing)
_OF_CHOICES: tuple[Check, ...] = (_letters_in_question, _pairs, _about_others, _odd_kind, _odd_length, _many)
