"""What is odd about the words of a question, its evidence and its media, taken by itself."""

import re
from collections.abc import Iterator

from vidence.ask.benchmarks.checks import is_evidence_outside
from vidence.explain.audit.reasons import Reason, quoted
from vidence.records import Item
from vidence.text import find_garbled, letter_index, normal_form, scripts

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
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ue000-\uf8ff]"
)
_JOINER = re.compile("(?<=[A-Za-z])[\u200c-\u200f](?=[A-Za-z])")
_LEAST_WORD = 4
_WORD = re.compile(r"[^\W\d_]{2,}")
_GREEK_ALIKE = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο")  # noqa: RUF001 - these look like Latin letters


def word_reasons(item: Item) -> Iterator[Reason]:
    """What is odd about the words of a question and its choices."""
    yield from _given_away(item)
    yield from _letters(item)
    for where, text in _texts(item):
        yield from _text_reasons(where, text)


def media_reasons(item: Item) -> Iterator[Reason]:
    """What is odd about the media and the evidence of a question."""
    if not item.media:
        yield Reason(kind="no-media", severity="warning", says="names no video or image")
    if is_evidence_outside(item):
        spans = ", ".join(f"{e.start_s} to {e.end_s} s" for e in item.evidence)
        shown = item.media[0]
        said = f"evidence at {spans}; shown is {shown.start_s or 0} to {shown.end_s or 'the end'} s"
        yield Reason(kind="evidence-outside", severity="severe", says=said)


def _texts(item: Item) -> Iterator[tuple[str, str]]:
    yield "the question", item.question
    if item.answer_kind == "text":
        yield "the answer", item.answer
    for letter, choice in zip(item.letters, item.choices, strict=True):
        yield f"choice {letter}", choice


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
    said = f"the question holds the right answer {quoted(right)}" + (" and no other choice" if others else "")
    if re.search(rf"\banswer (?:is|was|would be|should be) {re.escape(answer)}\b", question):
        said += ", and says that it is the answer"
        yield Reason(kind="answer-in-question", severity="severe", says=said)
    elif len(answer) >= _LEAST_WORD or " " in answer:
        is_one_of = f" or {answer} " in question or f" {answer} or " in question
        is_telling = " " in answer and bool(others) and not is_one_of
        yield Reason(kind="answer-in-question", severity="warning" if is_telling else "note", says=said)


def _letters(item: Item) -> Iterator[Reason]:
    if not item.choices:
        return
    if _LISTED.search(item.question):
        said = "the question lists choices with letters of its own"
        yield Reason(kind="choices-in-question", severity="warning", says=said)
        return
    named = {m[1] or m[2] for m in _LETTER.finditer(item.question)} & set(item.letters)
    if named:
        is_right = named == {item.answer}
        said = f"the question names {', '.join(sorted(named))}" + (", the right letter" if is_right else "")
        yield Reason(kind="letter-in-question", severity="warning" if is_right else "note", says=said)
        return
    names = set(_NAMED.findall(item.question)) & set(item.letters)
    if names:
        said = (
            f"{', '.join(sorted(names))} are names in the question"
            if len(names) > 1
            else (f"{names.pop()} is a name in the question")
        )
        yield Reason(kind="letters-as-names", severity="note", says=said)


# --------------------------------------------------------------------------- how a text is written


def _text_reasons(where: str, text: str) -> Iterator[Reason]:
    garbled = find_garbled(text)
    if garbled:
        said = f"{where} holds {quoted(garbled)}, which was decoded with the wrong table of characters"
        yield Reason(kind="garbled", severity="warning", says=said)
    hidden = _HIDDEN.findall(text) + _JOINER.findall(text)
    if hidden:
        names = ", ".join(sorted({f"U+{ord(c):04X}" for c in hidden}))
        yield Reason(kind="invisible", severity="warning", says=f"{where} holds {names}")
    left = _PLACEHOLDER.search(text)
    if left or text.strip().casefold() in _EMPTY:
        said = (
            f"{where} holds {quoted(left[0] if left else text)}, which looks like what a program left behind"
        )
        yield Reason(kind="placeholder", severity="warning", says=said)
    html = _HTML.search(text)
    if html:
        yield Reason(kind="markup", severity="note", says=f"{where} holds {quoted(html[0])}")
    mixed = next((word for word in _WORD.findall(text) if _is_mixed(word)), "")
    if mixed:
        listed = " and ".join(sorted(s.capitalize() for s in scripts(mixed)))
        said = f"{where} holds {quoted(mixed)}, with {listed} letters"
        yield Reason(kind="mixed-script", severity="warning", says=said)


def _is_mixed(word: str) -> bool:
    """Latin letters beside Cyrillic ones, or beside Greek ones that look like Latin."""
    if word.isascii():
        return False
    found = scripts(word)
    return "LATIN" in found and ("CYRILLIC" in found or bool(_GREEK_ALIKE & set(word)))
