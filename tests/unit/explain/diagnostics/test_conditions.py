"""How replies under several conditions become scores."""

import pytest

from subjects.simulated import Simulated, drive
from vidence.explain.diagnostics.conditions import Condition, ReplyScore, ask_together, mean_value
from vidence.records import Answered, Item, Refused, Reply, Score

ITEM = Item(item_id="q1", question="Which?", choices=("one", "two", "three"), answer="B")


class Declining(Simulated):
    """Every reply declines."""

    def mark(self, reply, *, order=()):
        yield from ()
        return Score(outcome=Refused(reason="no"), value=0.0, scorer="simulated", scorer_version=1)


class Open(Simulated):
    """Every reply is an answer in words."""

    def mark(self, reply, *, order=()):
        yield from ()
        outcome = Answered(answer=reply.text)
        return Score(outcome=outcome, value=0.5, scorer="simulated", scorer_version=1)


def test_who_declines_is_wrong_and_counted_apart():
    driven = drive(
        ask_together(Declining(ITEM, {"v": ()}), [Condition(view="v")]), lambda ask: Reply(text="I cannot")
    )
    assert driven.made == [ReplyScore(value=0.0, kind="refused")]


@pytest.mark.parametrize(
    ("shown", "order", "own"),
    [("A", (), "A"), ("A", (2, 0, 1), "C"), ("C", (2, 0, 1), "B"), ("D", (2, 0, 1), "D")],
)
def test_letters_are_those_of_the_item(shown, order, own):
    subject = Simulated(ITEM, {"v": ()})
    (score,) = drive(
        ask_together(subject, [Condition(view="v", order=order)]), lambda ask: Reply(text=shown)
    ).made
    assert score.answer == own
    assert score.value == (own == "B")


def test_words_stay_as_they_are():
    (score,) = drive(
        ask_together(Open(ITEM, {"v": ()}), [Condition(view="v")]), lambda ask: Reply(text="a cat")
    ).made
    assert (score.answer, score.value) == ("a cat", 0.5)


def test_words_are_named_that_stand_behind_the_question():
    subject = Simulated(ITEM, {"v": (1.0,)})
    conditions = [Condition(view="v", more="choose"), Condition(view="v", model="other", sample=3)]
    first, second = drive(ask_together(subject, conditions), lambda ask: Reply(text="B")).asks
    assert first.prompt.text == "Which?\nwords: choose"
    assert (second.prompt.text, second.model, second.sample) == ("Which?", "other", 3)


def test_the_mean_over_repeats_needs_every_mark():
    right, wrong = ReplyScore(value=1.0, kind="answered"), ReplyScore(value=0.0, kind="answered")
    assert mean_value([right, wrong]) == 0.5
    assert mean_value([right, ReplyScore(value=None, kind="failed")]) is None
    assert mean_value([]) is None
