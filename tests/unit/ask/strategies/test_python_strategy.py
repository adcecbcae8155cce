"""A generator function as a strategy: what it must yield and return."""

import pytest

from vidence import catalog
from vidence.ask.functions import give
from vidence.ask.strategies.python import FunctionStrategy
from vidence.errors import UsageError


def strategy_of(thing):
    return catalog.create("strategy", give(thing, chance="1"))


def test_what_is_no_generator_and_what_returns_no_answer_is_refused():
    with pytest.raises(UsageError, match=r"returned str 'A'; expected to yield prompts"):
        next(strategy_of(lambda question: "A").answer(None))

    def silent(question):
        yield ["prompt"]
        return "B"

    flow = strategy_of(silent).answer(None)
    assert next(flow) == ["prompt"]
    with pytest.raises(UsageError, match=r"returned str 'B'; expected a vidence\.contracts\.Answer"):
        flow.send(["reply"])


def test_a_strategy_is_taken_as_it_is():
    once = catalog.create("strategy", "once")
    assert strategy_of(once) is once
    assert isinstance(strategy_of(lambda question: None), FunctionStrategy)
