"""A Python generator as strategy: ``python:FILE.py:NAME``, or ``FILE.py:NAME``.

It receives ``question``, yields requests, is sent the replies, and returns a `contracts.Answer`. It shows the
plan's frames. A `contracts.Strategy` under the name is used directly.
"""

import inspect
from typing import cast

from vidence.ask.functions import Call, FunctionSettings, FunctionSource, Offered, find, has_all
from vidence.ask.strategies.once import OfPlan
from vidence.contracts import Answer, Flow, Question, Strategy
from vidence.errors import UsageError

OFFERED: Offered = {"question": ("a vidence.contracts.Question", lambda question: question)}
RETURNS = "a vidence.contracts.Answer behind what it yields"

WANTED = ("version", "views", "models", "answer")


class Settings(FunctionSettings):
    """Options of the strategy."""


class FunctionStrategy(OfPlan):
    """Sends the requests that a generator function yields."""

    def __init__(self, result: FunctionSource) -> None:
        self._call = Call.of(result, "strategy", offered=OFFERED, returns=RETURNS, attributes=WANTED)
        self.version = result.version

    def answer(self, question: Question) -> Flow[Answer]:
        """Run the generator function.

        Raises:
            UsageError: it is no generator function, or returns no answer.
        """
        flow = self._call(question)
        if not inspect.isgenerator(flow):
            expected = "to yield prompts: reply, = yield [question.prompt('')]"
            raise UsageError(self._call.wrong(flow, expected=expected))
        returned = yield from flow
        if not isinstance(returned, Answer):
            raise UsageError(self._call.wrong(returned, expected=RETURNS))
        return returned


def create(settings: Settings) -> Strategy:
    """Create the strategy of a function, or return the strategy of that name."""
    result = find("strategy", settings.function)
    return cast(Strategy, result.thing) if has_all(result.thing, WANTED) else FunctionStrategy(result)
