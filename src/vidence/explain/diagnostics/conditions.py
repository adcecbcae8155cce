"""Conditions under which diagnostics ask questions, and the scores of replies."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Generic, TypeAlias, TypeVar

import numpy as np
from msgspec import Meta

from vidence.contracts import Ask, Flow, Subject, View
from vidence.errors import UsageError
from vidence.records import (
    Answered,
    Aside,
    Failed,
    Item,
    Outcome,
    OutcomeName,
    Record,
    Reply,
    Sampling,
    Score,
    outcome_name,
)

Count: TypeAlias = Annotated[int, Meta(ge=1)]
"""Type of a positive integer setting."""


PLAN: Final = "plan"
"""Name of the view with the plan's frames."""
SettingsT = TypeVar("SettingsT", bound=Record)


class Examination(Generic[SettingsT]):
    """Base of diagnostics; by default it shows the plan's frames to the model under test."""

    def __init__(self, settings: SettingsT) -> None:
        self.settings = settings

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """Return the plan's frames."""
        return {PLAN: View(selector=selector, n_frames=n_frames)}

    def models(self) -> Mapping[str, str]:
        """Return no further models."""
        return {}


class ReplyScore(Record, omit_defaults=True):
    """The score of a reply."""

    value: float | None
    """1.0 for right, 0.0 for wrong, unreadable and refused; None without a score (see `why`)."""
    kind: OutcomeName
    answer: str = ""
    """The letter in the item's own order, or the text; empty if none was parsed."""
    is_cut: bool = False
    """Whether the reply was truncated at its length limit."""
    output_tokens: int | None = None
    """Billed tokens of the reply, if reported."""
    why: str = ""
    """Why there is no score: the answer waits for a judge, or the judge or parser failed."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One way to ask a question: frames and their order (None: all), the order of choices, the model.

    `more` names a template whose words are put behind the question, or is an `Aside`. `sampling` says how the
    reply is drawn; None: as the plan says.
    """

    view: str
    positions: Sequence[int] | None = None
    order: tuple[int, ...] = ()
    model: str = ""
    sample: int = 0
    more: str | Aside = ""
    sampling: Sampling | None = None


def ask_together(subject: Subject, conditions: Sequence[Condition]) -> Flow[list[ReplyScore]]:
    """Ask a question under all conditions at once; return a score per condition, in order."""
    replies = yield [
        Ask(
            prompt=subject.prompt(entry.view, entry.positions, order=entry.order, more=entry.more),
            model=entry.model,
            sample=entry.sample,
            sampling=entry.sampling,
        )
        for entry in conditions
    ]
    scores: list[ReplyScore] = []
    for condition, reply in zip(conditions, replies, strict=True):
        score = yield from subject.mark(reply, order=condition.order)
        scores.append(reply_score(reply, score, order=condition.order))
    return scores


def mark_all(
    subject: Subject, replies: Sequence[Reply]
) -> Flow[tuple[tuple[ReplyScore, ...], list[Outcome]]]:
    """Return the score of each reply to a question, and the parsed outcomes."""
    marks, outcomes = list[ReplyScore](), list[Outcome]()
    for reply in replies:
        score = yield from subject.mark(reply)
        marks.append(reply_score(reply, score))
        outcomes.append(score.outcome)
    return tuple(marks), outcomes


def reply_score(reply: Reply, score: Score, *, order: tuple[int, ...] = ()) -> ReplyScore:
    """Return a reply's score, with its letter in the item's own order.

    Args:
        reply: the reply.
        score: the subject's score of it.
        order: of the choices as shown; empty for the item's own.
    """
    outcome, value, why = score.outcome, score.value, ""
    if isinstance(outcome, Failed):
        value, why = None, f"{outcome.error}: {outcome.message}"
    elif value is None:
        why = "the answer waits for a judge; name one with --judge-model"
    return ReplyScore(
        value=value,
        kind=outcome_name(outcome),
        answer=own_letter(outcome.answer, order) if isinstance(outcome, Answered) else "",
        is_cut=reply.finish == "length",
        output_tokens=reply.usage.output_tokens,
        why=why,
    )


def own_letter(answer: str, order: tuple[int, ...]) -> str:
    """Convert a letter shown in this order to the item's own order."""
    place = ord(answer) - ord("A") if len(answer) == 1 else -1
    return chr(ord("A") + order[place]) if 0 <= place < len(order) else answer


def mean_value(scores: Iterable[ReplyScore]) -> float | None:
    """Return the mean over a condition's repeats; None if one has no score."""
    values = [score.value for score in scores]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def n_right(scores: Iterable[ReplyScore]) -> int:
    """Return how many scores are fully right."""
    return sum(score.value == 1.0 for score in scores)


def rng_of(*parts: object) -> np.random.Generator:
    """Return a generator determined by these parts, such as a seed and a question id."""
    key = hashlib.sha256("\n".join(map(str, parts)).encode()).digest()
    return np.random.default_rng(int.from_bytes(key))


def check_at_least(at_least: int, of: int, *, owner: str) -> None:
    """Reject a threshold above the number of answers.

    Raises:
        UsageError: it is above.
    """
    if at_least > of:
        raise UsageError(f"{owner}: at_least={at_least} of {of} answers is impossible; expected 1 to {of}")


def rotations(item: Item, n: int) -> tuple[tuple[int, ...], ...]:
    """Return evenly spread rotations of the choices; fewer if there are fewer choices.

    The first is the item's own order, which is empty.

    >>> rotations(Item(item_id="q", question="?", choices=("a", "b", "c"), answer="A"), 2)
    ((), (1, 2, 0))
    """
    n_choices = len(item.choices)
    n_rotations = max(1, min(n, n_choices))
    shifts = [j * n_choices // n_rotations for j in range(1, n_rotations)]
    return ((), *(tuple((i + shift) % n_choices for i in range(n_choices)) for shift in shifts))
