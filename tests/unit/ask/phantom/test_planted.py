"""What each model must score, worked out by hand on two cards."""

import pytest

from vidence.ask.phantom.planted import SimulatedModel, demand, expected, expected_mrfs, in_sight_s, visible
from vidence.errors import DataError
from vidence.records import Evidence, Item

RED = Evidence(kind="oracle", start_s=1.0, end_s=2.0)
BLUE = Evidence(kind="oracle", start_s=4.0, end_s=6.0)


def item(*evidence: Evidence, leak: str = "no", item_id: str = "q") -> Item:
    tags = {"demand": str(len(evidence)), "leak": leak}
    return Item(
        item_id=item_id,
        question="?",
        choices=("1", "2", "3", "4", "5"),
        answer="C",
        evidence=evidence,
        tags=tags,
    )


TWO, ONE, TOLD = item(RED, BLUE), item(BLUE), item(RED, BLUE, leak="yes")


def test_a_span_holds_its_start_and_not_its_end():
    assert visible(TWO, [1.0]) == (True, False)
    assert visible(TWO, [2.0, 3.999]) == (False, False)
    assert visible(TWO, [5.999, 1.5]) == (True, True)
    assert visible(TWO, []) == (False, False)
    assert demand(TWO) == 2


@pytest.mark.parametrize(
    ("model", "when_all_seen", "when_one_seen", "single_card"),
    [
        (SimulatedModel(name="fuser"), True, False, True),
        (SimulatedModel(name="single"), False, False, True),
        (SimulatedModel(name="blind"), False, False, False),
        (SimulatedModel(name="letter-biased", letter="A"), True, False, True),
        (SimulatedModel(name="letter-biased", letter="C"), True, True, True),
        (SimulatedModel(name="forgetful", memory=1), False, False, True),
        (SimulatedModel(name="forgetful", memory=2), True, False, True),
    ],
)
def test_simulated_models(model, when_all_seen, when_one_seen, single_card):
    assert expected(model, TWO, times_s=[1.5, 5.0]) is when_all_seen
    assert expected(model, TWO, times_s=[5.0]) is when_one_seen
    assert expected(model, ONE, times_s=[5.0]) is single_card
    assert expected(model, ONE, times_s=[0.0]) is (model.letter == "C" and model.name == "letter-biased")
    assert expected(model, TOLD, times_s=[]) is True


def test_items_without_planted_evidence_are_refused():
    plain = Item(item_id="q7", question="?", choices=("1", "2"), answer="A")
    open_span = item(Evidence(kind="oracle", start_s=1.0))
    for other in (plain, open_span, item()):
        with pytest.raises(DataError, match="no planted evidence"):
            expected(SimulatedModel(name="fuser"), other, times_s=[])
    assert in_sight_s(TWO) == (1.5, 5.0)
    with pytest.raises(DataError, match="no planted evidence"):
        in_sight_s(Item(item_id="q", question="?", answer="A"))


@pytest.mark.parametrize(
    ("model", "two_cards", "one_card"),
    [
        (SimulatedModel(name="fuser"), 2, 1),
        (SimulatedModel(name="single"), None, 1),
        (SimulatedModel(name="blind"), None, None),
        (SimulatedModel(name="letter-biased", letter="A"), 2, 1),
        (SimulatedModel(name="letter-biased", letter="C"), 0, 0),
        (SimulatedModel(name="forgetful", memory=1), None, 1),
        (SimulatedModel(name="forgetful", memory=2), 2, 1),
    ],
)
def test_demands_of_simulated_models(model: SimulatedModel, *, two_cards: int | None, one_card: int | None):
    assert expected_mrfs(model, TWO) == two_cards
    assert expected_mrfs(model, ONE) == one_card
    assert expected_mrfs(model, TOLD) == 0
