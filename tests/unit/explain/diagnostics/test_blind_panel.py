"""A panel without video, against members whose knowledge and guessing are planted."""

import itertools
from collections.abc import Callable
from math import comb

import numpy as np
import pytest

from subjects import evidenced
from subjects.evidenced import estimate, said_by, sheet, value
from subjects.simulated import Simulated, drive, times_shown
from vidence.contracts import Ask, Examined
from vidence.explain.diagnostics.blind_panel import orders
from vidence.records import Failed, Item, Reply

FOUR = "a:1|b:2|c:3|d:4"
Answers = Callable[[Ask], Reply]


def diagnostic(**options):
    return evidenced.diagnostic("blind-panel", options)


def item(number=1, n_choices=4):
    return evidenced.item(number, n_choices=n_choices)


def subject(asked):
    return Simulated(asked, {"blind": ()})


def names(text):
    """A member that always names the choice with this text, wherever it is shown."""
    return lambda ask: Reply(text=chr(ord("A") + ask.prompt.choices.index(text)))


def by_member(members):
    return lambda ask: members[ask.model](ask)


def right(asked):
    return asked.choices[ord(asked.answer) - ord("A")]


def wrong(asked):
    return next(choice for choice in asked.choices if choice != right(asked))


def said(found, **options):
    return said_by(diagnostic(**options), found)


def test_herbench_asks_four_models_once_and_together_in_the_order_of_the_item():
    asked = item()
    driven = drive(diagnostic(models=FOUR).examine(subject(asked)), names(right(asked)))
    assert len(driven.rounds) == 1
    assert [ask.model for ask in driven.asks] == FOUR.split("|")
    assert {ask.prompt.choices for ask in driven.asks} == {asked.choices}
    assert {times_shown(ask) for ask in driven.asks} == {()}
    assert driven.asks[0].prompt.text == "Which?"


@pytest.mark.parametrize(("n_right", "flagged"), [(0, False), (1, False), (2, False), (3, True), (4, True)])
def test_herbench_flags_at_three_of_four(n_right, flagged):
    asked = item()
    members = {
        spec: names(right(asked) if i < n_right else wrong(asked)) for i, spec in enumerate(FOUR.split("|"))
    }
    made = drive(diagnostic(models=FOUR).examine(subject(asked)), by_member(members)).made
    assert (made.n_right, made.is_flagged) == (n_right, flagged)
    assert [vote.mark.value for vote in made.votes] == [1.0] * n_right + [0.0] * (4 - n_right)


def test_humanpcr_asks_the_model_under_test_three_times_in_other_orders():
    asked = item(n_choices=5)
    driven = drive(diagnostic().examine(subject(asked)), names(right(asked)))
    assert [(ask.model, ask.sample) for ask in driven.asks] == [("", 0), ("", 1), ("", 2)]
    shown = [ask.prompt.choices for ask in driven.asks]
    assert len(set(shown)) == 3
    assert all(sorted(one) == sorted(asked.choices) for one in shown)
    assert driven.made.is_flagged
    assert {ask.prompt.text for ask in driven.asks} == {"Which?\nwords: forced"}
    # Whatever letter it was shown under, the vote is for the right choice.
    assert {vote.mark.answer for vote in driven.made.votes} == {asked.answer}


def test_a_letter_out_of_habit_is_not_right_in_every_order():
    asked = item(n_choices=4)
    made = drive(diagnostic().examine(subject(asked)), lambda ask: Reply(text="A")).made
    assert len({vote.mark.answer for vote in made.votes}) > 1
    assert not made.is_flagged

    def twice(ask):
        return names(right(asked) if ask.sample < 2 else wrong(asked))(ask)

    made = drive(diagnostic().examine(subject(asked)), twice).made
    assert (made.n_right, made.is_flagged) == (2, False)


def test_options_stand_above_the_protocol():
    asked = item()
    one = diagnostic(models="a:1|b:2", runs="2", permute="false", forced="false", at_least="3")
    driven = drive(one.examine(subject(asked)), names(right(asked)))
    asks = [(ask.model, ask.sample) for ask in driven.asks]
    assert asks == [("a:1", 0), ("a:1", 1), ("b:2", 0), ("b:2", 1)]
    assert {ask.prompt.choices for ask in driven.asks} == {asked.choices}
    assert one.models() == {"a:1": "a:1", "b:2": "b:2"}
    members = {"a:1": names(right(asked)), "b:2": names(wrong(asked))}
    assert not drive(one.examine(subject(asked)), by_member(members)).made.is_flagged


def test_orders_are_drawn_from_the_seed_and_the_question():
    assert orders(item(1), 3, seed=0) == orders(item(1), 3, seed=0)
    drawn = {orders(item(n), 3, seed=seed) for n in range(5) for seed in range(5)}
    assert len(drawn) > 20


@pytest.mark.parametrize("n_choices", [2, 3])
def test_every_order_comes_once_before_one_comes_again(n_choices):
    every = list(itertools.permutations(range(n_choices)))
    drawn = orders(item(1, n_choices), 2 * len(every), seed=1)
    assert sorted(drawn[: len(every)]) == every
    assert sorted(drawn[len(every) :]) == every


def test_open_questions_have_no_order_and_are_not_forced():
    asked = Item(item_id="q", question="Why?", answer="because", answer_kind="text")
    assert orders(asked, 3, seed=0) == ((), (), ())
    assert orders(item(0, 1), 2, seed=0) == ((), ())
    driven = drive(diagnostic().examine(subject(asked)), lambda ask: Reply(text="because"))
    assert driven.made.is_flagged
    assert {ask.prompt.text for ask in driven.asks} == {"Why?"}


def panel(n_items, *, known, seed=0, **options):
    """Every member knows the same share of the questions, and guesses at the others on its own."""
    rng, one, found = np.random.default_rng(seed), diagnostic(**options), []
    for number in range(n_items):
        asked = item(number)
        knows = number % 100 < 100 * known

        def answers(ask, asked=asked, knows=knows):
            return names(right(asked))(ask) if knows else Reply(text="ABCD"[int(rng.integers(4))])

        found.append(Examined(item=asked, finding=drive(one.examine(subject(asked)), answers).made))
    return found


def test_guessing_alone_flags_as_many_as_the_binomial_says():
    found = said(panel(2000, known=0.0, models=FOUR), models=FOUR)
    three_of_four = sum(comb(4, k) * 0.25**k * 0.75 ** (4 - k) for k in (3, 4))
    assert value(found, "blind-panel", "flagged", "chance") == pytest.approx(three_of_four)
    share = estimate(found, "blind-panel", "flagged", "share")
    assert share.low < three_of_four < share.high
    above = estimate(found, "blind-panel", "flagged", "above")
    assert above.low < 0 < above.high
    # Every other count of right answers is there too.
    keys = [e.key for e in sheet(found, "blind-panel").rows]
    assert keys == ["flagged", "at-least-1", "at-least-2", "at-least-4"]
    assert value(found, "blind-panel", "at-least-4", "chance") == pytest.approx(0.25**4)
    # What the panel knows is flagged, too.
    found = said(panel(1000, known=0.1, models=FOUR), models=FOUR)
    share = estimate(found, "blind-panel", "flagged", "share")
    assert share.low < 0.1 + 0.9 * three_of_four < share.high
    assert value(found, "blind-panel", "flagged", "questions") == round(1000 * share.value)
    assert value(found, "members", "a:1", "accuracy") == pytest.approx(0.1 + 0.9 * 0.25, abs=0.05)
    assert value(found, "members", "a:1", "chance") == pytest.approx(0.25)


def test_who_declines_is_seen():
    asked = item()
    members = {spec: names(right(asked)) for spec in FOUR.split("|")}
    members["d:4"] = lambda ask: Reply(text="?")
    made = drive(diagnostic(models=FOUR).examine(subject(asked)), by_member(members)).made
    found = said([Examined(item=asked, finding=made)], models=FOUR)
    assert value(found, "members", "d:4", "unreadable") == 1
    assert value(found, "members", "a:1", "unreadable") == 0
    assert sheet(found, "questions").value("q0001", "who") == "a:1, b:2, c:3"
    assert sheet(found, "questions").value("q0001", "right") == 3


def test_runs_of_one_member_are_counted_by_whom():
    asked = item()
    made = drive(diagnostic(at_least="2").examine(subject(asked)), names(right(asked))).made
    found = said([Examined(item=asked, finding=made)], at_least="2")
    assert sheet(found, "questions").value("q0001", "who") == "the model under test (3 of 3)"
    assert sheet(found, "members").rows[0].label == "the model under test"
    two = {"runs": "2", "at_least": "2"}
    made = drive(diagnostic(**two).examine(subject(asked)), names(right(asked))).made
    found = said([Examined(item=asked, finding=made)], **two)
    assert sheet(found, "questions").value("q0001", "who") == "the model under test (2 of 2)"


def test_what_has_no_mark_is_left_out_and_counted():
    asked, gone = item(1), item(2)
    members = {spec: names(right(asked)) for spec in FOUR.split("|")}
    members["a:1"] = lambda ask: Reply(text="broken")
    made = drive(diagnostic(models=FOUR).examine(subject(asked)), by_member(members)).made
    assert made.is_flagged is None
    failed = Failed(stage="model", error="RejectedRequestError", message="no")
    found = said([Examined(item=asked, finding=made), Examined(item=gone, finding=failed)], models=FOUR)
    headline = sheet(found, "blind-panel")
    assert headline.rows == ()
    assert "1 failed, 1 have an answer without a score" in headline.note
    assert sheet(found, "members").rows == ()


def test_every_member_is_asked_in_every_run():
    assert diagnostic(models=FOUR).most_asks(item(), n_frames=8) == 4
    assert diagnostic(models=FOUR, runs="3").most_asks(item(), n_frames=8) == 12
