"""Rotated choices, against models whose habits are planted."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from subjects import evidenced
from subjects.simulated import Simulated, drive, examined, told, value
from subjects.stated import column, stated
from vidence.contracts import Ask, Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.explain.diagnostics.rotations import OrderAnswer, RotationsFinding
from vidence.records import Item, Media, Reply

Answers = Callable[[Ask], Reply]
N = 400


def diagnostic(**options):
    return evidenced.diagnostic("rotations", options)


def item(number=1, n_choices=5):
    return Item(
        item_id=f"q{number:04d}",
        media=(Media(path=f"v{number // 2}.mp4"),),
        question="Which?",
        choices=tuple(f"choice {number} {i}" for i in range(n_choices)),
        answer="ABCDE"[number % n_choices],
        tags={"kind": "odd" if number % 2 else "even"},
    )


def says(text_of, asked):
    """Always the choice with this text, wherever it is shown."""
    return lambda ask: Reply(text="ABCDE"[ask.prompt.choices.index(text_of(asked))])


def right(asked):
    return asked.choices[ord(asked.answer) - ord("A")]


def test_each_choice_is_shown_once_at_each_place_and_the_own_order_first():
    subject = Simulated(item(), {"plan": (0.0, 1.0)})
    driven = drive(diagnostic().examine(subject), lambda _: Reply(text="A"))
    assert len(driven.rounds) == 1
    shown = [ask.prompt.choices for ask in driven.asks]
    assert shown[0] == item().choices
    assert len(shown) == 5
    for place in range(5):
        assert {one[place] for one in shown} == set(item().choices)
    assert {ask.model for ask in driven.asks} == {""}


@pytest.mark.parametrize("orders", ["1", "0", "all", "-2", ""])
def test_orders_that_rotate_nothing_are_refused(orders):
    with pytest.raises(
        UsageError, match=re.escape(f"rotations: orders={orders}; expected cyclic, or a number")
    ):
        diagnostic(orders=orders)


def test_habits_are_told_apart():
    def all_of(n, answers):
        return told(diagnostic(), [examined(diagnostic(), one, answers(one)) for one in map(item, range(n))])

    knows = all_of(10, lambda one: says(right, one))
    assert value(knows["rotations"], "all", "share") == 1.0
    assert value(knows["follows"], "all", "text") == 1.0
    letter = all_of(10, lambda one: lambda _: Reply(text="B"))
    assert value(letter["rotations"], "all", "share") == 0.0
    assert value(letter["rotations"], "mean", "share") == pytest.approx(0.2)
    assert value(letter["follows"], "all", "letter") == 1.0
    # A guess that keeps its text is right in all orders as often as one guess.
    rng = np.random.default_rng(3)
    liked = {one.item_id: one.choices[int(rng.integers(5))] for one in map(item, range(N))}
    keeps = all_of(N, lambda one: says(lambda i: liked[i.item_id], one))
    share = keeps["rotations"].estimate("all", "share")
    assert share.low <= 0.2 <= share.high
    assert value(keeps["rotations"], "all", "text") == pytest.approx(0.2)
    assert value(keeps["follows"], "wrong", "text") == 1.0


def test_independent_guesses_get_the_power_of_the_chance():
    rng = np.random.default_rng(4)
    three = diagnostic(orders="3")
    found = told(
        three,
        [
            examined(three, one, lambda _: Reply(text="ABCDE"[int(rng.integers(5))]))
            for one in map(item, range(4 * N))
        ],
    )
    assert value(found["rotations"], "all", "independent") == pytest.approx(0.008)
    stated = found["rotations"].estimate("all", "share")
    assert stated.low <= 0.008 <= stated.high
    for followed in ("text", "letter"):
        assert value(found["follows"], "all", followed) == pytest.approx(0.2, abs=0.03)


def test_an_answer_that_was_not_read_follows_nothing():
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
def test_questions_without_two_choices_are_counted_and_not_asked(asked):
    subject = Simulated(asked, {"plan": ()})
    driven = drive(diagnostic().examine(subject), lambda _: Reply(text="A"))
    assert driven.asks == []
    headline = told(diagnostic(), [Examined(item=asked, finding=driven.made)])["rotations"]
    assert "1 have fewer than two choices and were not asked" in headline.note


ORDERS = ((), (1, 2, 0), (2, 0, 1))


def turned(number, own, answers, *, n_choices=3):
    """A question whose right choice is `own`, and the choices that its answers name; ``?`` is none."""
    asked = Item(
        item_id=f"q{number}",
        media=(Media(path=f"v{number}.mp4"),),
        question="Which?",
        choices=tuple(f"choice {i}" for i in range(n_choices)),
        answer=own,
        tags={"kind": "x" if number < 2 else "y"},
    )
    orders = ORDERS if n_choices == 3 else ((), (1, 0))
    marks = [
        ReplyScore(value=0.0, kind="unreadable")
        if answer == "?"
        else ReplyScore(value=float(answer == own), kind="answered", answer=answer)
        for answer in answers
    ]
    turns = [OrderAnswer(order=order, mark=mark) for order, mark in zip(orders, marks, strict=True)]
    return asked, RotationsFinding(turns=tuple(turns))


def test_what_four_questions_say_worked_out_by_hand():
    """Letters that were said: B A A; B B and none; A B; none, B and A."""
    four = (
        turned(0, "B", "BBC"),
        turned(1, "A", "BC?"),
        turned(2, "A", "AA", n_choices=2),
        turned(3, "C", "?CC"),
    )
    found = stated(diagnostic(), four)
    headline = found["rotations"]
    rows = ("all", "mean", "own")
    for key, values in {
        "questions": (4, 4, 4),
        "share": (0.25, round((2 / 3 + 0 + 1 + 2 / 3) / 4, 6), 0.5),
        "independent": (round((3 / 27 + 1 / 4) / 4, 6), 0.375, 0.375),
        "letter": (0.0, 0.375, 0.375),
        "text": (0.375, 0.375, 0.375),
    }.items():
        assert column(headline, key) == dict(zip(rows, values, strict=True)), key
    assert headline.note.startswith("Each question in 2 or 3 orders of its choices.")
    follows = found["follows"]
    sixth = round(1 / 6, 6)
    for key, values in {
        "questions": (3, 2, 1),
        "text": (0.5, 0.75, 0.0),
        "letter": (sixth, 0.0, 0.5),
        "neither": (sixth, 0.25, 0.0),
        "unread": (sixth, 0.0, 0.5),
    }.items():
        assert column(follows, key) == dict(zip(("all", "right", "wrong"), values, strict=True)), key
    assert "1 questions have no first answer that was read." in follows.note


def test_a_question_is_asked_once_with_each_order():
    one = examined(diagnostic(orders="3"), item(), lambda _: Reply(text="A"))
    assert isinstance(one.finding, RotationsFinding)
    assert len(one.finding.turns) == 3
    assert diagnostic().most_asks(item(n_choices=5), n_frames=8) == 5
    assert diagnostic(orders="2").most_asks(item(n_choices=5), n_frames=8) == 2
    assert diagnostic(orders="9").most_asks(item(n_choices=5), n_frames=8) == 5
