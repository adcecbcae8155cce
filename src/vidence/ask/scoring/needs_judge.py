"""Open answers: the reply is kept as the answer; whether it is right is for a judge to say."""

from dataclasses import dataclass

from vidence.ask.scoring.letters import with_cut_off
from vidence.records import Answered, Item, Outcome, Reply, Score, Unreadable
from vidence.text import refusal_in, without_thinking


@dataclass(frozen=True, kw_only=True)
class NeedsJudge:
    """A `contracts.Scorer` that reads the whole reply and leaves the marking to a judge.

    Note: reasoning in ``<think>`` tags is taken off before the judge sees the answer.
    """

    name: str = "needs-judge"
    version: int = 1
    reads_letters: bool = False

    def read(self, item: Item, reply: Reply) -> Outcome:
        """The words of the reply without its reasoning, or `Unreadable` without words."""
        refused = refusal_in(reply)
        if refused:
            return refused
        words = without_thinking(reply.text).strip()
        if not words:
            return with_cut_off(Unreadable(reason="the reply has no words beside its reasoning"), reply)
        return Answered(answer=words, rule="whole-reply")

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """No value where an answer waits for its judge; 0.0 where there is no answer to judge."""
        value = None if isinstance(outcome, Answered) else 0.0
        return Score(outcome=outcome, value=value, scorer=self.name, scorer_version=self.version)


def create() -> NeedsJudge:
    """The parser ``needs-judge``."""
    return NeedsJudge()
