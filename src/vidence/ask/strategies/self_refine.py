"""Ask, have the model review its own answer, and have it answered again, for so many rounds."""

from typing import Annotated, Literal

from msgspec import Meta

from vidence.ask.strategies.candidates import CANDIDATE
from vidence.ask.strategies.once import PLAN, OfPlan
from vidence.ask.strategies.refining import (
    CRITIQUE,
    REWRITE,
    RefineRound,
    is_unchanged,
    review,
    rewrite_prompt,
)
from vidence.contracts import Answer, Flow, Question, Strategy
from vidence.records import Record, Step


class Settings(Record):
    """Options of the strategy."""

    rounds: Annotated[int, Meta(ge=0, le=8, description="of a review and a new answer; 0 asks once")] = 3
    stop: Annotated[
        Literal["never", "unchanged"], Meta(description="whether to end with an answer in the same words")
    ] = "never"


def create(settings: Settings) -> Strategy:
    """The strategy with its options."""
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
