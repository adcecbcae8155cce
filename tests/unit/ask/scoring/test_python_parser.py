"""A function as a parser: what it may return, and what stands in the scores."""

import pytest

from vidence import catalog
from vidence.ask.functions import give
from vidence.ask.scoring.python import FunctionParser
from vidence.errors import UsageError
from vidence.records import Answered, Item, Reply, Unreadable

ITEM = Item(item_id="q", question="Which?", choices=("x", "y"), answer="B")


def parser_of(thing):
    return catalog.create("parser", give(thing, chance="1"))


def read(thing, text: str = "b"):
    return parser_of(thing).read(ITEM, Reply(text=text))


def test_a_letter_is_an_answer_and_none_is_not():
    assert read(lambda text: text.upper()).answer == "B"
    assert read(lambda letters, choices, item, reply: letters[choices.index("y")]).answer == "B"
    assert "finds no answer" in read(lambda text: None).reason
    assert "returned 'b', no letter of A, B" in read(lambda text: text).reason
    own = Unreadable(reason="mine")
    assert read(lambda text: own) is own
    with pytest.raises(UsageError, match="returned int 2; expected a letter"):
        read(lambda text: 2)
    robust = catalog.create("parser", "robust")
    assert parser_of(robust) is robust
    assert isinstance(parser_of(lambda text: "A"), FunctionParser)


def test_a_score_names_the_function():
    parser = parser_of(lambda text: "B")
    score = parser.mark(ITEM, Answered(answer="B", rule=parser.name))
    assert (score.value, score.scorer) == (1.0, parser.name)
    assert parser.name.startswith("python:lambda@")
