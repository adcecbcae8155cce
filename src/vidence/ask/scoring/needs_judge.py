"""Open answers: the reply is stored as the answer, and a judge decides whether it is right."""

from dataclasses import dataclass

from vidence.ask.scoring.letters import with_cut_off
from vidence.records import Answered, Item, Outcome, Reply, Score, Unreadable
from vidence.text import refusal_in, without_thinking


@dataclass(frozen=True, kw_only=True)
class NeedsJudge:
    """A `contracts.Scorer` that returns the whole reply and leaves scoring to a judge.

    Note: reasoning in ``<think>`` tags is removed before the judge sees the answer.
    """

    name: str = "needs-judge"
    version: int = 1
    reads_letters: bool = False

    def read(self, item: Item, reply: Reply) -> Outcome:
        """Return the reply's text without reasoning, or `Unreadable` if it is empty."""
        if refused := refusal_in(reply):
            return refused
        words = without_thinking(reply.text).strip()
        if not words:
            return with_cut_off(Unreadable(reason="the reply has no words beside its reasoning"), reply)
        return Answered(answer=words, rule="whole-reply")

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """Return no value while an answer waits for its judge; 0.0 without an answer."""
        value = None if isinstance(outcome, Answered) else 0.0
        return Score(outcome=outcome, value=value, scorer=self.name, scorer_version=self.version)


def create() -> NeedsJudge:
    """Create the parser ``needs-judge``."""
    return NeedsJudge()
