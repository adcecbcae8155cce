"""One question put under several conditions at once, and how each reply was marked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from vidence.contracts import Ask, Flow, Subject
from vidence.records import (
    Answered,
    Failed,
    Outcome,
    Record,
    Refused,
    Reply,
    Score,
    Unreadable,
)

Kind: TypeAlias = Literal["answered", "unreadable", "refused", "failed"]


class Mark(Record, kw_only=True, omit_defaults=True):
    """How one reply was marked.

    `value` is 1.0 for right and 0.0 for wrong, unreadable and refused; None where there is no mark (the
    answer waits for a judge, or the judge or the parser broke), and `why` says why. `answer` is the letter
    in the item's own order of choices, or the text; empty where none was read. `is_cut` tells that the
    reply was cut off at its length limit, `output_tokens` what it was billed for, where the model says so.
    """

    value: float | None
    kind: Kind
    answer: str = ""
    is_cut: bool = False
    output_tokens: int | None = None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """One condition: which frames in which order (None: all), which order of choices, who is asked.

    `more` names a template whose words are put behind the question (see `vidence.contracts.Words`).
    """

    view: str
    positions: Sequence[int] | None = None
    order: tuple[int, ...] = ()
    model: str = ""
    sample: int = 0
    more: str = ""


def sit(subject: Subject, sittings: Sequence[Sitting]) -> Flow[list[Mark]]:
    """Put a question under all conditions together; one mark for each, in their order."""
    replies = yield [
        Ask(
            prompt=subject.prompt(one.view, one.positions, order=one.order, more=one.more),
            model=one.model,
            sample=one.sample,
        )
        for one in sittings
    ]
    marks: list[Mark] = []
    for one, reply in zip(sittings, replies, strict=True):
        score = yield from subject.mark(reply, order=one.order)
        marks.append(_mark(reply, score, order=one.order))
    return marks


def _mark(reply: Reply, score: Score, *, order: tuple[int, ...]) -> Mark:
    outcome, value = score.outcome, score.value
    kind, why = _kind(outcome), ""
    if isinstance(outcome, Failed):
        value, why = None, f"{outcome.error}: {outcome.message}"
    elif value is None:
        why = "the answer waits for a judge; name one with --judge-model"
    return Mark(
        value=value,
        kind=kind,
        answer=_own_letter(outcome.answer, order) if isinstance(outcome, Answered) else "",
        is_cut=reply.finish == "length",
        output_tokens=reply.usage.output_tokens,
        why=why,
    )


def _kind(outcome: Outcome) -> Kind:
    match outcome:
        case Answered():
            return "answered"
        case Unreadable():
            return "unreadable"
        case Refused():
            return "refused"
        case Failed():
            return "failed"
        case _:
            assert_never(outcome)


def _own_letter(answer: str, order: tuple[int, ...]) -> str:
    """The letter that a letter shown in that order has in the item's own order."""
    place = ord(answer) - ord("A") if len(answer) == 1 else -1
    return chr(ord("A") + order[place]) if 0 <= place < len(order) else answer


def mean_value(marks: Iterable[Mark]) -> float | None:
    """The mean over repeats of one condition; None where one of them has no mark."""
    values = [mark.value for mark in marks]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def n_right(marks: Iterable[Mark]) -> int:
    """How many of the marks are right in full."""
    return sum(mark.value == 1.0 for mark in marks)
