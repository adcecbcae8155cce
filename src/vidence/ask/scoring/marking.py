"""What all parsers of choices share: refusals, cut-off replies, and right or wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from vidence.errors import UsageError
from vidence.records import Answered, Item, Outcome, Reply, Score, Unreadable
from vidence.text import refusal_in

# How a parser turns the words of a reply into an outcome.
ReadText: TypeAlias = Callable[[Item, str], Answered | Unreadable]


def with_cut_off(outcome: Answered | Unreadable, reply: Reply) -> Answered | Unreadable:
    """The outcome; an unreadable one says so when the reply was cut off at its length limit."""
    if isinstance(outcome, Unreadable) and reply.finish == "length":
        return Unreadable(reason=f"{outcome.reason}; the reply was cut off at its length limit")
    return outcome


@dataclass(frozen=True, kw_only=True)
class LetterScorer:
    """A `contracts.Scorer` for multiple choice: a rule reads a letter, the letter is right or wrong.

    Only `Reply.text` is read, never `Reply.reasoning`.

    Note: refusals that the server reports are an outcome of their own with every parser; the
        released scripts have no such notion.
    """

    name: str
    version: int
    reads_letters: bool = True
    read_text: ReadText

    def read(self, item: Item, reply: Reply) -> Outcome:
        """The letter that the reply gives, or why there is none.

        Raises:
            UsageError: the item has no choices; letters make no sense for it.
        """
        if item.answer_kind != "choice":
            raise UsageError(
                f"parser {self.name!r} reads letters, but item {item.item_id!r} has an open answer; "
                "use the parser 'needs-judge' for it"
            )
        return refusal_in(reply) or with_cut_off(self.read_text(item, reply.text), reply)

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """1.0 if the letter read is the item's answer; 0.0 otherwise, and where none was read."""
        is_right = isinstance(outcome, Answered) and outcome.answer == item.answer
        return Score(
            outcome=outcome,
            value=1.0 if is_right else 0.0,
            scorer=self.name,
            scorer_version=self.version,
        )
