"""A Python function as parser: ``python:FILE.py:NAME``, or ``FILE.py:NAME``.

It receives what its parameters name (``text``, ``letters``, ``choices``, ...) and returns the letter of the
answer, None if there is none, or an outcome. A `contracts.Scorer` is used directly.
"""

from typing import cast

from vidence.ask.functions import Call, FunctionSettings, FunctionSource, Offered, find, has_all
from vidence.contracts import Scorer
from vidence.errors import UsageError
from vidence.records import Answered, Item, Outcome, Refused, Reply, Score, Unreadable

OFFERED: Offered = {
    "text": ("the words of the reply", lambda _, reply: reply.text),
    "choices": ("the texts of the choices", lambda item, _: item.choices),
    "letters": ("their letters", lambda item, _: item.letters),
    "reply": ("a vidence.Reply", lambda _, reply: reply),
    "item": ("the question as a vidence.Item", lambda item, _: item),
}
RETURNS = "a letter, None where none can be read, or an outcome of vidence.records"

WANTED = ("name", "version", "reads_letters", "read", "mark")


class Settings(FunctionSettings):
    """Options of the parser."""


class FunctionParser:
    """The letter that a function returns; a reply that the model marks as refusal is one."""

    reads_letters = True
    version = 1

    def __init__(self, result: FunctionSource) -> None:
        self._call = Call.of(result, "parser", offered=OFFERED, returns=RETURNS, attributes=WANTED)
        self.name = result.identity

    def read(self, item: Item, reply: Reply) -> Outcome:
        """Return the letter, or why the function returned none.

        Raises:
            UsageError: the function returns something else.
        """
        if reply.finish == "refusal" or reply.refusal:
            return Refused(reason=reply.refusal or "the model declined")
        returned = self._call(item, reply)
        if isinstance(returned, Answered | Unreadable | Refused):
            return returned
        if returned is None:
            return Unreadable(reason=f"{self._call.owner} finds no answer")
        if not isinstance(returned, str):
            raise UsageError(self._call.wrong(returned, expected=RETURNS))
        if returned not in item.letters:
            message = f"{self._call.owner} returned {returned[:80]!r}"
            return Unreadable(reason=f"{message}, no letter of {', '.join(item.letters)}")
        return Answered(answer=returned, rule=self.name)

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """Return 1.0 for the right letter, 0.0 for everything else."""
        is_right = isinstance(outcome, Answered) and outcome.answer == item.answer
        return Score(outcome=outcome, value=float(is_right), scorer=self.name, scorer_version=self.version)


def create(settings: Settings) -> Scorer:
    """Create the parser of a function, or return the parser of that name."""
    result = find("parser", settings.function)
    return cast(Scorer, result.thing) if has_all(result.thing, WANTED) else FunctionParser(result)
