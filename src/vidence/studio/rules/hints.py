"""Trials of hints without the video: what is shown, and what the answer shows."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.records import Item, Record
from vidence.text import normal_form

Finding: TypeAlias = Literal["too-strong", "guessed", "not-enough", "to-judge"]
FINDINGS: Final[Mapping[Finding, str]] = {
    "too-strong": "too strong: the question and the hints were enough",
    "guessed": "right, but a guess",
    "not-enough": "not enough without the video",
    "to-judge": "the person has not yet compared the answer with the reference",
}


class HintedQuestion(Record):
    """What a trial of hints shows: the question, its options, the hints from level 1."""

    question: str
    choices: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    def is_same(self, other: "HintedQuestion") -> bool:
        """Whether a try of the one says something of the other: the order of options does not matter."""
        return (self.question, sorted(self.choices), self.hints) == (
            *(other.question, sorted(other.choices)),
            other.hints,
        )


def asked_of(content: Mapping[str, object]) -> HintedQuestion | None:
    """What of a wording can be tried; None if it has no hints, or is no question."""
    fields = {name: content.get(name, default) for name, default in (("question", ""), ("choices", ()))}
    hints = content.get("hints")
    try:
        question = msgspec.convert({**fields, "hints": hints or ()}, HintedQuestion)
    except msgspec.ValidationError:
        return None
    return question if any(question.hints) and question.question else None


def asked_in(item: Item) -> HintedQuestion:
    """The same of an item that is being written."""
    return HintedQuestion(question=item.question, choices=item.choices, hints=item.hints)


def finding_of(content: Mapping[str, object], answer: str, *, is_sure: bool) -> Finding:
    """What an answer says of the hints.

    An option is right or wrong. A free answer in the very words of the reference is right; of another one
    whoever gave it says, once they have seen the reference, whether it is the same.

    Args:
        content: the wording that was tried.
        answer: the letter of an option, or a free answer; empty: it cannot be told.
        is_sure: whether the text is enough, as whoever answered says; otherwise it is a guess.
    """
    reference = str(content.get("answer", ""))
    if not answer.strip():
        return "not-enough"
    is_right = normal_form(answer) == normal_form(reference)
    if is_right:
        return "too-strong" if is_sure else "guessed"
    return "not-enough" if content.get("choices") else "to-judge"


def judged(*, is_same: bool, is_sure: bool) -> Finding:
    """Return what a free answer shows about the hints, after comparison with the reference."""
    if not is_same:
        return "not-enough"
    return "too-strong" if is_sure else "guessed"


def letters_of(choices: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Each option with its letter."""
    return tuple((chr(ord("A") + place), text) for place, text in enumerate(choices))
