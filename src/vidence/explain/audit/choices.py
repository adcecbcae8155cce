"""Choices that break their question: the same twice, one within another, one that stands out."""

import re
import statistics
import unicodedata
from collections.abc import Iterator
from itertools import combinations

from vidence.explain.audit.numbers import Allowed, all_allowed
from vidence.explain.audit.reasons import Reason, Severity, quoted
from vidence.records import Item
from vidence.text import letter_index, normal_form

MOST_CHOICES = 10
_ARTICLES = re.compile(r"\b(?:the|an|a)\s+")
_LEAST_CASED = 4  # "Aa" and "AA" are other genes, "Red" and "red" are one colour
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


def choice_reasons(item: Item) -> Iterator[Reason]:
    """What is wrong with the choices of a question that has some."""
    seen: set[tuple[int, int]] = set()
    for pair, reason in _same(item):
        seen.add(pair)
        yield reason
    for pair, reason in _overlapping(item):
        if pair not in seen:
            seen.add(pair)
            yield reason
    yield from _contained(item, seen)
    yield from _about_others(item)
    yield from _standing_out(item)
    if len(item.choices) > MOST_CHOICES:
        yield Reason(kind="many-choices", severity="note", says=f"{len(item.choices)} choices")


def _pair_words(item: Item, first: int, second: int) -> str:
    letters = item.letters
    return (
        f"{letters[first]} {quoted(item.choices[first])} and {letters[second]} {quoted(item.choices[second])}"
    )


def exact_form(choice: str) -> str:
    """A choice without what never matters: blanks, quotes and dots at its ends.

    >>> exact_form(' "Two  cats." ')
    'Two cats'
    """
    text = " ".join(unicodedata.normalize("NFC", choice).split())
    return text.strip("\"'\u201c\u201d\u2018\u2019").rstrip(".;,").strip() or text


def _loose_form(choice: str) -> str:
    """Without articles, and without case where there are words."""
    text = exact_form(choice)
    if sum(c.isalpha() for c in text) < _LEAST_CASED:
        return text
    return _ARTICLES.sub("", text.casefold()).strip() or text


def _same(item: Item) -> Iterator[tuple[tuple[int, int], Reason]]:
    right = letter_index(item.answer)
    for first, second in combinations(range(len(item.choices)), 2):
        one, other = item.choices[first], item.choices[second]
        is_exact = exact_form(one) == exact_form(other)
        if not is_exact and _loose_form(one) != _loose_form(other):
            continue
        severity: Severity = "severe" if right in (first, second) else "warning"
        difference = "" if one == other else " differ in nothing that matters"
        said = f"{_pair_words(item, first, second)}{difference or ' are the same'}"
        if right in (first, second):
            said += "; one of them is right"
        yield (first, second), Reason(kind="identical-choices", severity=severity, says=said)


def _alternatives(choice: str) -> frozenset[str]:
    """The parts of "red or blue", of other choices the whole."""
    text = _loose_form(choice).removeprefix("either ")
    if re.search(r"\b(?:neither|not|no)\b", text):
        return frozenset({text})
    parts = re.split(r"\s*,?\s+or\s+", text)
    return frozenset(parts) if all(0 < len(part.split()) <= 4 for part in parts) else frozenset({text})


def _overlapping(item: Item) -> Iterator[tuple[tuple[int, int], Reason]]:
    right = letter_index(item.answer)
    numbers = all_allowed(item.choices)
    words = [_alternatives(choice) for choice in item.choices]
    for first, second in combinations(range(len(item.choices)), 2):
        ours, theirs = numbers[first], numbers[second]
        if ours is not None and theirs is not None:
            found = _number_overlap(ours, theirs, right=(right == first, right == second))
        else:
            found = _word_overlap(words[first], words[second], right=(right == first, right == second))
        if found is not None:
            severity, what = found
            said = f"{_pair_words(item, first, second)} {what}"
            yield (first, second), Reason(kind="overlapping-choices", severity=severity, says=said)


_ALSO = "overlap, and where the right one is true the other is, too"


def _number_overlap(
    ours: Allowed, theirs: Allowed, *, right: tuple[bool, bool]
) -> tuple[Severity, str] | None:
    if not ours.is_like(theirs) or not ours.meets(theirs):
        return None
    if ours.is_point and theirs.is_point:
        return ("severe" if any(right) else "warning"), "are the same number"
    if ours.touches(theirs):
        return "note", "share an end"
    if (right[0] and theirs.covers(ours)) or (right[1] and ours.covers(theirs)):
        return "severe", _ALSO
    return ("warning" if any(right) else "note"), "overlap"


def _word_overlap(
    ours: frozenset[str], theirs: frozenset[str], *, right: tuple[bool, bool]
) -> tuple[Severity, str] | None:
    if len(ours) == len(theirs) == 1 or not ours & theirs:
        return None
    if (right[0] and ours <= theirs) or (right[1] and theirs <= ours):
        return "severe", _ALSO
    return ("warning" if any(right) else "note"), "have an alternative in common"


def _contained(item: Item, seen: set[tuple[int, int]]) -> Iterator[Reason]:
    # "Clockwise" is no part of "counter-clockwise".
    padded = [f" {normal_form(choice.replace('-', ''))} " for choice in item.choices]
    for first, second in combinations(range(len(padded)), 2):
        one, other = padded[first], padded[second]
        if (first, second) in seen or one == other or not (one.strip() and other.strip()):
            continue
        if one in other or other in one:
            said = f"the words of one of {_pair_words(item, first, second)} are part of the other"
            yield Reason(kind="contained-choices", severity="note", says=said)


def _about_others(item: Item) -> Iterator[Reason]:
    last = len(item.choices) - 1
    for i, choice in enumerate(item.choices):
        letter = item.letters[i]
        if _BY_LETTER.fullmatch(exact_form(choice)):
            said = f"{letter} {quoted(choice)} names letters, which move when the choices are shuffled"
            names = re.findall(r"\b[A-H]\b", exact_form(choice))
            if any(re.search(rf"\b{name}\b", item.question) for name in names):
                said = f"{letter} {quoted(choice)} names letters that are names in the question, too"
                yield Reason(kind="letters-as-names", severity="note", says=said)
                continue
            yield Reason(kind="refers-to-choices", severity="warning", says=said)
        elif _OTHERS.search(choice):
            is_misplaced = i < last and "above" in choice.casefold()
            said = f"{letter} {quoted(choice)} is about the other choices"
            said += ", and not all of them are above it" if is_misplaced else ""
            yield Reason(kind="refers-to-choices", severity="warning" if is_misplaced else "note", says=said)


def _kind(choice: str, number: Allowed | None) -> str:
    is_number = number is not None and (not number.unit or any(c.isdigit() for c in choice))
    return "a number" if is_number else "words" if any(c.isalpha() for c in choice) else "signs"


def _standing_out(item: Item) -> Iterator[Reason]:
    """One choice is of another kind, length or form than all others; it matters where it is right."""
    right = letter_index(item.answer)
    if len(item.choices) < 3:
        return
    numbers = all_allowed(item.choices)
    kinds = [_kind(choice, number) for choice, number in zip(item.choices, numbers, strict=True)]
    for kind in set(kinds):
        where = [i for i, one in enumerate(kinds) if one == kind]
        others = {one for one in kinds if one != kind}
        if len(where) == 1 and len(others) == 1 and not _is_apart(item.choices[where[0]]):
            is_right = where[0] == right
            odd = f"{item.letters[where[0]]} {quoted(item.choices[where[0]])}"
            said = f"{odd} is {kind}, all others {others.pop()}"
            said += "; it is the right one" if is_right else ""
            yield Reason(kind="odd-kind", severity="warning" if is_right else "note", says=said)
    yield from _odd_length(item, right)


def _is_apart(choice: str) -> bool:
    """Choices about the others, or that decline, are of another kind by design."""
    return bool(_OTHERS.search(choice) or _ABSTAIN.search(choice))


def _odd_length(item: Item, right: int) -> Iterator[Reason]:
    lengths = [len(choice.strip()) for choice in item.choices]
    others = lengths[:right] + lengths[right + 1 :]
    ours = lengths[right]
    typical = statistics.median(others)
    is_long = ours >= _MUCH * max(others) and ours - max(others) >= _MUCH_CHARACTERS
    is_short = _MUCH * ours <= min(others) and min(others) - ours >= _MUCH_CHARACTERS
    if is_long or is_short:
        said = f"the right choice has {ours} characters, the others {min(others)} to {max(others)}"
        said += f" ({typical:g} in the middle)" if min(others) < max(others) else ""
        yield Reason(kind="odd-length", severity="warning", says=said)
