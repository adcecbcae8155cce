"""One round of self-refinement: a review of the last answer, and the answer written again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from vidence.contracts import Ask, Flow, Subject
from vidence.records import Aside, Prompt, Reply

CRITIQUE: Final = "critique"
REWRITE: Final = "rewrite"


@dataclass(frozen=True)
class RefineRound:
    """An answer, and the review that it led to; None where there is none (yet)."""

    answer: Reply
    review: str | None = None


def trail_of(rounds: Sequence[RefineRound]) -> str:
    """The answers and reviews so far, each under its number.

    >>> print(trail_of([RefineRound(Reply(text="A"), "Look again."), RefineRound(Reply(text="B"))]))
    [Answer 1]
    A
    <BLANKLINE>
    [Review 1]
    Look again.
    <BLANKLINE>
    [Answer 2]
    B
    """
    said = []
    for number, one in enumerate(rounds, 1):
        said.append(f"[Answer {number}]\n{one.answer.text.strip()}")
        if one.review is not None:
            said.append(f"[Review {number}]\n{one.review.strip()}")
    return "\n\n".join(said)


def critique_prompt(subject: Subject, view: str, rounds: Sequence[RefineRound]) -> Prompt:
    """What asks for a review of the last answer: the same frames and the question, no right answer."""
    return subject.prompt(view, more=Aside(name=CRITIQUE, said={"trail": trail_of(rounds)}, is_alone=True))


def rewrite_prompt(subject: Subject, view: str, rounds: Sequence[RefineRound]) -> Prompt:
    """What asks for the answer again: the prompt of the question, with the trail behind it."""
    has_review = "yes" if rounds[-1].review is not None else ""
    said = {"trail": trail_of(rounds), "has_review": has_review}
    return subject.prompt(view, more=Aside(name=REWRITE, said=said))


def is_unchanged(before: Reply, after: Reply) -> bool:
    """Whether a rewritten answer has the very words of the one before, apart from space."""
    return before.text.split() == after.text.split()


def review(subject: Subject, view: str, rounds: Sequence[RefineRound]) -> Flow[Reply]:
    """Ask for a review of the last answer."""
    (reply,) = yield [Ask(prompt=critique_prompt(subject, view, rounds))]
    return reply
