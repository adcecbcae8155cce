"""Ask several times; the most frequent answer counts."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from vidence.ask.judging.equal import says_the_same
from vidence.ask.strategies.once import MOST, PLAN, OfPlan, answered_with, ask_candidates
from vidence.contracts import Answer, Flow, Question, Strategy
from vidence.records import Answered, Outcome, Record


class Settings(Record):
    """Options of the strategy."""

    n: Annotated[int, Meta(ge=1, le=MOST, description="how many replies there are")] = 5


def create(settings: Settings) -> Strategy:
    """Create the strategy."""
    return SelfConsistency(settings)


class SelfConsistency(OfPlan):
    """The first reply with the most frequent answer; of equally frequent answers the first.

    A reply without an answer is no vote; where none has one, the first reply counts. Answers in words are
    the same where the rules for open answers find them equal.

    Source: Wang and others, Self-Consistency (2023), section 2.
    Departs: the paper does not say what becomes of a tie; here the answer that was given first wins.
    """

    version = 1

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @property
    def n_drawn(self) -> int:
        """Return the number of replies."""
        return self.settings.n

    def answer(self, question: Question) -> Flow[Answer]:
        """Ask all at once, then count."""
        prompt = question.prompt(PLAN)
        replies = yield from ask_candidates(prompt, self.settings.n)
        picked = most_given([question.read(reply) for reply in replies], is_text=not question.item.choices)
        return answered_with(prompt, replies, picked, view=PLAN)


def answer_groups(outcomes: Sequence[Outcome], *, is_text: bool) -> tuple[int | None, ...]:
    """Return, for each reply, the index of the first one with the same answer; None without an answer.

    >>> says = [Answered(answer="3 m"), Answered(answer="two"), Answered(answer="3 metres")]
    >>> answer_groups(says, is_text=True)
    (0, 1, 0)
    """
    groups: list[int | None] = []
    firsts: list[tuple[int, str]] = []
    for place, outcome in enumerate(outcomes):
        if not isinstance(outcome, Answered):
            groups.append(None)
            continue
        answer = outcome.answer
        same = (i for i, name in firsts if name == answer or (is_text and says_the_same(answer, name)))
        first = next(same, place)
        if first == place:
            firsts.append((place, answer))
        groups.append(first)
    return tuple(groups)


def most_given(outcomes: Sequence[Outcome], *, is_text: bool) -> int:
    """Return the index of the first reply with the most frequent answer; 0 if none has an answer.

    >>> most_given([Answered(answer=letter) for letter in "ABBA"], is_text=False)
    0
    """
    groups = [group for group in answer_groups(outcomes, is_text=is_text) if group is not None]
    counts = Counter(groups)
    return min(counts, key=lambda place: (-counts[place], place)) if counts else 0
