"""A question asked with its hints up to a level."""

import pytest

from subjects.simulated import Simulated, drive
from vidence import catalog
from vidence.ask.strategies.hints import hint_words, said
from vidence.ask.strategies.once import PLAN
from vidence.contracts import View
from vidence.errors import UsageError
from vidence.records import Aside, Item, Reply

HINTS = ("Look up.", "Mind the hat.", "Somebody comes in.")
ITEM = Item(item_id="q1", question="Which?", choices=("x", "y"), answer="A", hints=HINTS)
VIEW = View(selector="midpoints", n_frames=4)


def asked(spec: str, item: Item):
    strategy = catalog.create("strategy", spec)
    assert strategy.views(VIEW) == {PLAN: VIEW}
    assert strategy.models() == {}
    return drive(strategy.answer(Simulated(item, {PLAN: (0.0, 1.0)})), lambda ask: Reply(text="A"))


@pytest.mark.parametrize(("spec", "level"), [("hints", 3), ("hints:2", 2), ("hints?level=1", 1)])
def test_the_hints_up_to_a_level_stand_behind_the_question(spec, level):
    (ask,) = asked(spec, ITEM).asks
    assert ask.prompt.text.startswith("Which?")
    for i, hint in enumerate(HINTS):
        assert (hint in ask.prompt.text) == (i < level)


def test_level_0_is_the_plain_question():
    (ask,) = asked("hints:0", ITEM).asks
    assert ask.prompt.text == "Which?"
    assert asked("hints:0", ITEM).made.prompt == ask.prompt
    assert said("") == ""
    assert said("x") == Aside(name="hints", said={"hints": "x"})


def test_a_question_with_fewer_hints_or_another_level_is_refused():
    few = Item(item_id="q2", question="Which?", choices=("x", "y"), answer="A", hints=HINTS[:1])
    with pytest.raises(UsageError, match=r"'q2' has 1 of 3 hints; omit it, or give a lower level"):
        asked("hints", few)
    empty = Item(item_id="q3", question="Which?", choices=("x", "y"), answer="A", hints=("Look.", " "))
    with pytest.raises(UsageError, match=r"'q3': hint 2 is empty; expected a text"):
        hint_words(empty, 2)
    assert hint_words(empty, 1) == "Look."
    with pytest.raises(UsageError, match="level"):
        catalog.create("strategy", "hints:4")
