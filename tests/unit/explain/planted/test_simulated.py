"""Flows driven by hand: rounds, flows together, and what is rejected."""

import pytest

from subjects.simulated import taken_elsewhere
from vidence.contracts import Ask, together
from vidence.errors import RejectedRequestError
from vidence.explain.planted.simulated import Simulated, drive, times_shown
from vidence.records import Item, Prompt, Reply, TextPart

ITEM = Item(item_id="q", question="Which?", choices=("x", "y"), answer="B")
SUBJECT = Simulated(ITEM, {"plan": (0.5, 1.5), "other": (0.5, 1.5)})


def prompt(text):
    return Prompt(parts=(TextPart(text=text),))


def test_rounds_are_kept_and_the_flow_returns_what_it_made():
    def flow():
        (first,) = yield [prompt("one")]
        second, third = yield [Ask(prompt=prompt("two")), prompt("three")]
        return [first.text, second.text, third.text]

    driven = drive(flow(), lambda ask: Reply(text=ask.prompt.text.upper()))
    assert driven.made == ["ONE", "TWO", "THREE"]
    assert [len(one) for one in driven.rounds] == [1, 2]
    assert [ask.prompt.text for ask in driven.asks] == ["one", "two", "three"]


def test_flows_together_are_driven_each():
    def one(text):
        (reply,) = yield [prompt(text)]
        return reply.text

    driven = drive(together([one("a"), one("b")]), lambda ask: Reply(text=ask.prompt.text * 2))
    assert driven.made == ("aa", "bb")
    assert [ask.prompt.text for ask in driven.asks] == ["a", "b"]


def test_what_is_rejected_comes_out_after_the_round():
    heard = []

    def answers(ask):
        heard.append(ask.prompt.text)
        if ask.prompt.text == "a":
            raise RejectedRequestError("no")
        return Reply(text="yes")

    def flow():
        try:
            yield [prompt("a"), prompt("b")]
        except RejectedRequestError:
            return "rejected"

    assert drive(flow(), answers).made == "rejected"
    assert heard == ["a", "b"]

    def one():
        yield [prompt("a")]

    with pytest.raises(RejectedRequestError):
        drive(together([one()]), answers)


def test_frames_are_their_times_and_marks_are_letters():
    ask = Ask(prompt=SUBJECT.prompt("plan", [1, 0], instead={0: "other"}))
    assert times_shown(ask) == (1.5, 0.5)
    assert taken_elsewhere(ask) == (0.5,)

    def value(text):
        return drive(SUBJECT.mark(Reply(text=text)), lambda ask: Reply(text="")).made.value

    assert [value(one) for one in ("B", "A", "?", "judge", "broken")] == [1.0, 0.0, 0.0, None, 0.0]
    with pytest.raises(RejectedRequestError):
        value("rejected")
