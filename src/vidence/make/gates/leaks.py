"""What a hint may not hold: the answer, or a step of the reasoning that leads to it."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from vidence.make.gates.checks import right_answer
from vidence.make.pipeline.english import content_words
from vidence.make.pipeline.writer import Objection
from vidence.records import Item

N_GRAM: Final = 5
STEP_SHARE: Final = 0.5
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ARTICLES: Final = frozenset({"a", "an", "the"})
_SHORT_PLURAL: Final = 3  # "gas", "his": in a word of so many letters an s is no ending
_BARE_WORDS: Final = frozenset(
    {"yes", "no"}
)  # said of anything; they tell the answer where they are named as it
_NUMBERS: Final = {
    word: str(number)
    for number, word in enumerate(
        (
            *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
            *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
            *("nineteen", "twenty"),
        )
    )
}
_STEP: Final = re.compile(r"(?<=[.!?;])\s+|\n+")


def leak_in(hints: Sequence[str], item: Item) -> Objection | None:
    """Why these hints give a question away; None where their words do not.

    A hint may hold neither the answer (the right choice, the free answer, or the letter of the right choice
    named as one), nor `N_GRAM` words in a row of a step of the rationale, nor `STEP_SHARE` of the words of
    a step that tell something.

    Args:
        hints: one for each level.
        item: the question, with its answer and its rationale.
    """
    answer = right_answer(item)
    told, steps = _bare(_forms(_words(answer))), [one for one in _STEP.split(item.rationale) if one.strip()]
    for level, hint in enumerate(hints, 1):
        words = _words(hint)
        if told and _tells(_forms(words), told):
            return Objection(reason="answer", detail=f"hint {level} holds the answer {answer!r}: {hint!r}")
        if item.answer_kind == "choice" and _names_letter(hint, item.answer):
            return Objection(reason="answer", detail=f"hint {level} names the letter {item.answer}: {hint!r}")
        for step in steps:
            of_step = _words(step)
            grams = [of_step[i : i + N_GRAM] for i in range(len(of_step) - N_GRAM + 1)]
            if gram := next((one for one in grams if _holds(words, one)), None):
                detail = f"hint {level} has {' '.join(gram)!r} of the rationale: {hint!r}"
                return Objection(reason="step", detail=detail)
            telling = content_words(step)
            common = telling & content_words(hint)
            if telling and len(common) >= STEP_SHARE * len(telling):
                detail = (
                    f"hint {level} has {len(common)} of the {len(telling)} telling words of the step "
                    f"{step.strip()!r}: {hint!r}"
                )
                return Objection(reason="step", detail=detail)
    return None


def _words(text: str) -> tuple[str, ...]:
    """The words in small letters, full-width ones and ones with invisible signs as they look."""
    plain = unicodedata.normalize("NFKC", text)
    seen = "".join(one for one in plain if unicodedata.category(one) != "Cf")  # no joiners, no marks of order
    return tuple(_WORD.findall(seen.replace("\u2019", "'").casefold()))


def _forms(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words in one form: numbers as digits, "hat" and "hats" alike."""
    digits = (_NUMBERS.get(one, one) for one in words)
    return tuple(one[:-1] if one.endswith("s") and len(one) > _SHORT_PLURAL else one for one in digits)


def _bare(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of an answer without its article: a hint has the thing in whatever number."""
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


def _tells(words: tuple[str, ...], told: tuple[str, ...]) -> bool:
    """Whether these words hold the answer; a bare yes or no only where it is named as the answer."""
    if len(told) == 1 and told[0] in _BARE_WORDS:
        return any(_holds(words, (*("answer", *link), *told)) for link in ((), ("is",)))
    return _holds(words, told)


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(words[i : i + len(part)] == part for i in range(len(words) - len(part) + 1))


def _names_letter(hint: str, letter: str) -> bool:
    """Whether a hint names a letter as a choice: "answer B", "choice (B)", "option B"."""
    return re.search(rf"(?i:\b(?:answer|choice|option)\b)(?i:\s+is)?\W{{1,3}}{letter}\b", hint) is not None
