"""Picking one of several replies by what a model makes of them."""

import json
import re

import pytest

from subjects.simulated import Simulated, drive
from vidence import catalog
from vidence.ask.strategies.best_of_n import BestOfN, Settings
from vidence.errors import UsageError
from vidence.records import Item, Reply

ITEM = Item(item_id="q1", question="Which?", choices=("one", "two", "three"), answer="B")
POINTS = {"A": 1, "B": 4, "C": 0}


def answered(says, **options):
    flow = BestOfN(Settings(**options)).answer(Simulated(ITEM, {"": (0.0,)}))
    return drive(flow, says)


def says(candidates, *, points=POINTS):
    def reply(ask):
        if "reward-score" not in ask.prompt.text:
            return Reply(text=candidates[ask.sample])
        marked = re.search(r'id="([0-9a-f]{16})"', ask.prompt.text)[1]
        about = re.search(r'>\n"(\w)', ask.prompt.text)[1]
        return Reply(text=json.dumps({"id": marked, "score": points[about]}))

    return reply


def test_the_one_with_most_points_is_picked_and_all_steps_are_kept():
    found = answered(says("ACBA"), m=2)
    assert found.made.reply.text == "B"
    assert [(s.role, s.sample, s.about) for s in found.made.steps] == [
        ("candidate", 0, None), ("candidate", 1, None), ("candidate", 2, None), ("candidate", 3, None),
        ("reward", 0, 0), ("reward", 0, 1), ("reward", 0, 2),
    ]  # fmt: skip
    assert [ask.sample for ask in found.rounds[0]] == [0, 1, 2, 3]


def test_the_earliest_of_equals_or_of_nothing_readable_is_picked():
    replies = says("CAB", points=dict.fromkeys("ABC", 2))
    assert (
        answered(lambda ask: replies(ask) if ask.sample < 3 else Reply(text="A"), m=2).made.reply.text == "C"
    )
    found = answered(lambda ask: Reply(text="C" if ask.sample else "A"), m=1)
    assert found.made.reply.text == "A"
    assert len(found.asks) == 2 + 2 + 2
    found = answered(lambda ask: Reply(text="B"), m=0)
    assert (len(found.asks), found.asks[0].sample, found.made.steps) == (1, 0, ())
    assert BestOfN(Settings(m=0)).n_drawn == 1


def test_another_model_is_asked_by_its_name():
    strategy = catalog.create("strategy", "best-of-n?m=1&reward=openai:o4-mini%3Ftemperature=1")
    assert strategy.models() == {"reward": "openai:o4-mini?temperature=1"}
    found = drive(strategy.answer(Simulated(ITEM, {"": (0.0,)})), says("AB"))
    assert [ask.model for ask in found.asks] == ["", "", "reward", "reward"]
    assert [step.model for step in found.made.steps] == ["", "", "reward", "reward"]


def test_a_list_takes_the_one_that_is_chosen_most():
    def reply(ask):
        if "reward-list" not in ask.prompt.text:
            return Reply(text="ACBA"[ask.sample])
        marked = re.search(r'id="([0-9a-f]{16})"', ask.prompt.text)[1]
        shown = re.findall(r'>\n"(\w)', ask.prompt.text)
        return Reply(text=json.dumps({"id": marked, "best": str(shown.index("B") + 1)}))

    found = answered(reply, m=2, form="list", orders=3)
    assert found.made.reply.text == "B"
    assert [step.about for step in found.made.steps if step.role == "reward"] == [None] * 3


@pytest.mark.parametrize("options", ["m=-1", "m=6", "form=maybe", "orders=0", "frames=all"])
def test_other_options_are_refused(options):
    with pytest.raises(UsageError, match="best-of-n"):
        catalog.create("strategy", f"best-of-n?{options}")
