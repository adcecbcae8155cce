"""Ask once, with the question's hints up to a level."""

from typing import Annotated, ClassVar, Final

from msgspec import Meta

from vidence.ask.strategies.once import PLAN, OfPlan
from vidence.contracts import Answer, Flow, Question, Strategy
from vidence.errors import UsageError
from vidence.records import Aside, Item, Record

TEMPLATE: Final = "hints"
MOST_LEVELS: Final = 3


class Settings(Record):
    """Options of the strategy."""

    positional: ClassVar[str] = "level"

    level: Annotated[
        int, Meta(ge=0, le=MOST_LEVELS, description="how many of the hints are given; 0: none")
    ] = 3


def create(settings: Settings) -> Strategy:
    """Create the strategy for this level."""
    return Hinted(settings.level)


class Hinted(OfPlan):
    """One prompt, one reply. The hints follow the question, including those of lower levels.

    A question that has fewer hints fails: without them it would be another question under the same name.

    Source: HumanPCR, section 4.3 and table 6 (levels are cumulative).
    Departs: the paper prints no prompt; the words around the hints are ours (the template ``hints``).
    """

    version = 1

    def __init__(self, level: int) -> None:
        self.level = level

    def answer(self, question: Question) -> Flow[Answer]:
        """Ask.

        Raises:
            UsageError: the question has fewer hints.
        """
        prompt = question.prompt(PLAN, more=said(hint_words(question.item, self.level)))
        (reply,) = yield (prompt,)
        return Answer(prompt=prompt, reply=reply, view=PLAN)


def hint_words(item: Item, level: int) -> str:
    r"""Return an item's hints up to a level, one per line; empty for level 0.

    Raises:
        UsageError: it has fewer, or one that is empty.

    >>> hint_words(Item(item_id="q", question="?", answer="x", hints=("Look up.", "Wait.")), 2)
    'Look up.\nWait.'
    """
    given = item.hints[:level]
    if len(given) < level:
        raise UsageError(
            f"item {item.item_id!r} has {len(given)} of {level} hints; omit it, or give a lower level"
        )
    for i, hint in enumerate(given, 1):
        if not hint.strip():
            raise UsageError(f"item {item.item_id!r}: hint {i} is empty; expected a text")
    return "\n".join(given)


def said(words: str) -> str | Aside:
    """Return the text to append to a question for these hints; empty without hints."""
    return Aside(name=TEMPLATE, said={"hints": words}) if words else ""
