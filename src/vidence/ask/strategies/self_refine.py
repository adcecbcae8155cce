"""Ask, have the model review its own answer and answer again, for a number of rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from msgspec import Meta

from vidence.ask.strategies.once import CANDIDATE, PLAN, OfPlan
from vidence.contracts import Answer, Ask, Flow, Question, Strategy, Subject
from vidence.records import Aside, Prompt, Record, Reply, Step

CRITIQUE: Final = "critique"
REWRITE: Final = "rewrite"


@dataclass(frozen=True)
class RefineRound:
    """An answer and its review; None before the review."""

    answer: Reply
    review: str | None = None


def trail_of(rounds: Sequence[RefineRound]) -> str:
    """Return the answers and reviews so far, numbered.

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
    entries = []
    for number, refine_round in enumerate(rounds, 1):
        entries.append(f"[Answer {number}]\n{refine_round.answer.text.strip()}")
        if refine_round.review is not None:
            entries.append(f"[Review {number}]\n{refine_round.review.strip()}")
    return "\n\n".join(entries)


def rewrite_prompt(subject: Subject, view: str, rounds: Sequence[RefineRound]) -> Prompt:
    """Return the prompt for the next answer: the question's prompt, followed by the trail."""
    values = {"trail": trail_of(rounds), "has_review": "yes" if rounds[-1].review is not None else ""}
    return subject.prompt(view, more=Aside(name=REWRITE, said=values))


def is_unchanged(before: Reply, after: Reply) -> bool:
    """Whether a rewritten answer equals the previous one, ignoring space."""
    return before.text.split() == after.text.split()


def review(subject: Subject, view: str, rounds: Sequence[RefineRound]) -> Flow[Reply]:
    """Ask for a review of the last answer, with the same frames and question, without the right answer."""
    critique = Aside(name=CRITIQUE, said={"trail": trail_of(rounds)}, is_alone=True)
    (reply,) = yield [Ask(prompt=subject.prompt(view, more=critique))]
    return reply


class Settings(Record):
    """Options of the strategy."""

    rounds: Annotated[int, Meta(ge=0, le=8, description="of a review and a new answer; 0 asks once")] = 3
    stop: Annotated[
        Literal["never", "unchanged"], Meta(description="whether to end with an answer in the same words")
    ] = "never"


def create(settings: Settings) -> Strategy:
    """Create the strategy."""
    return SelfRefine(settings)


class SelfRefine(OfPlan):
    """The answer of the last round. Each round sees all answers and reviews before it.

    A review without a word is none: the answer is then written again without it. A new answer that cannot be
    read is kept as it is: no earlier one takes its place.

    Source: HumanPCR, section 4.3 and tables 4 and 12 (M rounds of self-refinement).
    Departs: the paper does not say its words, nor when it stops; one round is a review and a new answer here.
    """

    version = 1

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def answer(self, question: Question) -> Flow[Answer]:
        """Ask, then review and answer again."""
        prompt = question.prompt(PLAN)
        (reply,) = yield (prompt,)
        rounds, steps = [RefineRound(reply)], [Step(role=CANDIDATE, reply=reply)]
        for _ in range(self.settings.rounds):
            critique = yield from review(question, PLAN, rounds)
            rounds[-1] = RefineRound(reply, critique.text.strip() or None)
            prompt = rewrite_prompt(question, PLAN, rounds)
            before = reply
            (reply,) = yield (prompt,)
            steps += [
                Step(role=CRITIQUE, reply=critique, about=len(steps) - 1),
                Step(role=REWRITE, reply=reply),
            ]
            rounds.append(RefineRound(reply))
            if self.settings.stop == "unchanged" and is_unchanged(before, reply):
                break
        return Answer(prompt=prompt, reply=reply, view=PLAN, steps=tuple(steps) if len(steps) > 1 else ())
