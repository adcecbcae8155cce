"""Rotated choices, against models whose habits are planted."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from subjects.simulated import Simulated, drive, examined, told, value
from vidence import catalog
from vidence.contracts import Ask, Diagnostic, Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.rotations import RotationsFinding
from vidence.records import Item, Media, Reply

Answers = Callable[[Ask], Reply]
N = 400


def diagnostic(**options: str) -> Diagnostic:
    made: Diagnostic = catalog.create("diagnostic", catalog.Spec(name="rotations", options=options))
    return made


def item(number: int = 1, n_choices: int = 5) -> Item:
    return Item(
        item_id=f"q{number:04d}",
        media=(Media(path=f"v{number // 2}.mp4"),),
        question="Which?",
        choices=tuple(f"choice {number} {i}" for i in range(n_choices)),
        answer="ABCDE"[number % n_choices],
        tags={"kind": "odd" if number % 2 else "even"},
    )


def says(text_of: Callable[[Item], str], asked: Item) -> Answers:
    """Always the choice with this text, wherever it is shown."""
    return lambda ask: Reply(text="ABCDE"[ask.prompt.choices.index(text_of(asked))])


def right(asked: Item) -> str:
    return asked.choices[ord(asked.answer) - ord("A")]


def test_each_choice_is_shown_once_at_each_place_and_the_own_order_first() -> None:
    subject = Simulated(item(), {"plan": (0.0, 1.0)})
    driven = drive(diagnostic().examine(subject), lambda _: Reply(text="A"))
    assert len(driven.rounds) == 1
    shown = [ask.prompt.choices for ask in driven.asks]
    assert shown[0] == item().choices
    assert len(shown) == 5
    for place in range(5):
        assert {one[place] for one in shown} == set(item().choices)
    assert {ask.model for ask in driven.asks} == {""}


def test_fewer_orders_where_that_is_asked_for() -> None:
    one = examined(diagnostic(orders="3"), item(), lambda _: Reply(text="A"))
    assert isinstance(one.finding, RotationsFinding)
    assert len(one.finding.turns) == 3


@pytest.mark.parametrize("orders", ["1", "0", "all", "-2", ""])
def test_orders_that_rotate_nothing_are_refused(orders: str) -> None:
    with pytest.raises(
        UsageError, match=re.escape(f"rotations: orders={orders}; expected cyclic, or a number")
    ):
        diagnostic(orders=orders)


def test_who_knows_is_right_in_all_orders_and_follows_the_text() -> None:
    found = told(
        diagnostic(), [examined(diagnostic(), one, says(right, one)) for one in map(item, range(10))]
    )
    assert value(found["rotations"], "all", "share") == 1.0
    assert value(found["follows"], "all", "text") == 1.0
    assert value(found["places"], "C", "right") == 1.0


def test_a_letter_throughout_is_never_right_in_all_orders_and_is_named() -> None:
    found = told(
        diagnostic(), [examined(diagnostic(), one, lambda _: Reply(text="B")) for one in map(item, range(10))]
    )
    assert value(found["rotations"], "all", "share") == 0.0
    assert value(found["rotations"], "mean", "share") == pytest.approx(0.2)
    assert value(found["follows"], "all", "letter") == 1.0
    assert value(found["places"], "B", "named") == 1.0
    assert value(found["places"], "A", "right") == 0.0
    assert value(found["places"], "B", "right") == 1.0
    assert value(found["places"], "D", "stands") == pytest.approx(0.2)


def test_a_guess_that_keeps_its_text_is_right_in_all_orders_as_often_as_one_guess() -> None:
    rng = np.random.default_rng(3)
    liked = {one.item_id: one.choices[int(rng.integers(5))] for one in map(item, range(N))}
    found = told(
        diagnostic(),
        [examined(diagnostic(), one, says(lambda i: liked[i.item_id], one)) for one in map(item, range(N))],
    )
    stated = found["rotations"].estimate("all", "share")
    assert stated is not None
    assert stated.low <= 0.2 <= stated.high
    assert value(found["rotations"], "all", "text") == pytest.approx(0.2)
    assert value(found["follows"], "wrong", "text") == 1.0


def test_independent_guesses_get_the_power_of_the_chance() -> None:
    rng = np.random.default_rng(4)
    three = diagnostic(orders="3")
    found = told(
        three,
        [
            examined(three, one, lambda _: Reply(text="ABCDE"[int(rng.integers(5))]))
            for one in map(item, range(4 * N))
        ],
    )
    assert value(found["rotations"], "all", "anew") == pytest.approx(0.008)
    stated = found["rotations"].estimate("all", "share")
    assert stated is not None
    assert stated.low <= 0.008 <= stated.high
    for followed in ("text", "letter"):
        assert value(found["follows"], "all", followed) == pytest.approx(0.2, abs=0.03)


def test_an_answer_that_was_not_read_follows_nothing() -> None:
    replies = iter("C???C")
    one = examined(diagnostic(), item(2), lambda _: Reply(text=next(replies)))
    assert isinstance(one.finding, RotationsFinding)
    assert one.finding.followed() == ["unread", "unread", "unread", "letter"]
    none = examined(diagnostic(), item(2), lambda _: Reply(text="?"))
    assert isinstance(none.finding, RotationsFinding)
    assert none.finding.followed() == []
    assert "1 questions have no first answer" in told(diagnostic(), [none])["follows"].note


@pytest.mark.parametrize(
    "asked",
    [
        Item(item_id="q", question="?", answer="x", answer_kind="text"),
        Item(item_id="q", question="?", choices=("only",), answer="A"),
    ],
)
def test_questions_without_two_choices_are_counted_and_not_asked(asked: Item) -> None:
    subject = Simulated(asked, {"plan": ()})
    driven = drive(diagnostic().examine(subject), lambda _: Reply(text="A"))
    assert driven.asks == []
    headline = told(diagnostic(), [Examined(item=asked, finding=driven.made)])["rotations"]
    assert "1 have fewer than two choices and were not asked" in headline.note
