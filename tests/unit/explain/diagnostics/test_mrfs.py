"""The demand of one question, and of many, against models whose needs are planted."""

import math
import random

import pytest

from subjects import evidenced
from subjects.simulated import Simulated, drive, times_shown
from vidence.contracts import View
from vidence.errors import RejectedRequestError
from vidence.records import Item, Reply

MODES = ("nested-bisect", "exhaustive", "official")
ITEM = Item(item_id="q1", question="Which?", choices=("one", "two", "three"), answer="B")


def diagnostic(**options):
    return evidenced.diagnostic("mrfs", options)


def ranking(n, needed=0):
    """`n` times in the order of a ranking, and the `needed` best of them."""
    times = [float(t) for t in range(n)]
    random.Random(n * 100 + needed).shuffle(times)
    return tuple(times), frozenset(times[:needed])


def by_count(right, *, wrong="A"):
    """A parser that is right for some numbers of frames."""
    return lambda ask: Reply(text="B" if right(len(times_shown(ask))) else wrong)


def examined(right, *, n=16, wrong="A", **options):
    subject = Simulated(ITEM, {"ranked": ranking(n)[0]})
    return drive(diagnostic(**options).examine(subject), by_count(right, wrong=wrong))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("demand", [1, 2, 3, 5, 8])
def test_a_fuser_demands_what_was_planted(mode, demand):
    times, needed = ranking(16, demand)

    def fuser(ask):
        return Reply(text="B" if needed <= set(times_shown(ask)) else "C")

    driven = drive(diagnostic(mode=mode).examine(Simulated(ITEM, {"ranked": times})), fuser)
    assert (driven.made.category, driven.made.mrfs) == ("visual-required", demand)
    assert driven.made.is_monotone is (True if mode == "exhaustive" else None)


@pytest.mark.parametrize("mode", MODES)
def test_prefixes_of_the_ranking_are_shown_in_the_order_of_time(mode):
    times, _ = ranking(16)
    subject = Simulated(ITEM, {"ranked": times})
    driven = drive(diagnostic(mode=mode).examine(subject), by_count(lambda k: k >= 6))
    for ask in driven.asks:
        shown = times_shown(ask)
        assert list(shown) == sorted(times[: len(shown)])
    assert driven.made.asked == tuple(len(times_shown(ask)) for ask in driven.asks)


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8, 10, 16, 31, 64])
def test_bisection_asks_no_more_than_two_and_the_logarithm(most):
    for demand in range(1, most + 1):
        driven = examined(lambda k, d=demand: k >= d, n=most, max=str(most))
        assert driven.made.mrfs == demand
        assert len(driven.asks) <= 2 + math.ceil(math.log2(most))
        assert len({len(times_shown(ask)) for ask in driven.asks}) == len(driven.asks)


def test_asks_that_do_not_depend_on_each_other_go_out_together():
    counts = [[len(times_shown(a)) for a in one] for one in examined(lambda k: k >= 5).rounds]
    assert counts == [[0, 16], [8], [4], [6], [5]]
    counts = [
        [len(times_shown(a)) for a in one] for one in examined(lambda k: k >= 5, mode="exhaustive").rounds
    ]
    assert counts == [[0, 16, *range(1, 16)]]


@pytest.mark.parametrize("mode", MODES)
def test_categories(mode):
    assert examined(lambda _: True, mode=mode).made.category == "text-only"
    assert examined(lambda _: True, mode=mode).made.mrfs == 0
    assert examined(lambda _: False, mode=mode).made.category == "undefined"
    assert examined(lambda _: False, mode=mode).made.mrfs is None
    assert examined(lambda k: k > 0, mode=mode).made.category == "visual-required"
    unread = examined(lambda k: k >= 3, wrong="?", mode=mode).made
    assert (unread.category, unread.mrfs, unread.right[0]) == ("visual-required", 3, False)


def test_only_exhaustive_finds_the_true_minimum_of_broken_answers():
    odd = {2, 5, 6, 7, 13, 14, 15, 16}
    found = examined(odd.__contains__, mode="exhaustive").made
    assert (found.mrfs, found.is_monotone) == (2, False)
    assert found.right == {k: k in odd for k in range(17)}
    bisected = examined(odd.__contains__).made
    assert (bisected.mrfs, bisected.is_monotone) == (13, None)
    assert examined(odd.__contains__, mode="official").made.mrfs == 13


def test_a_search_that_meets_broken_answers_says_so():
    # Both are asked: right with 2, wrong with 8.
    found = examined({2, 3, 16}.__contains__, mode="exhaustive", min="2").made
    assert (found.mrfs, found.is_monotone) == (2, False)
    short = examined({1, 2}.__contains__, n=2).made
    assert (short.mrfs, short.is_monotone, short.n_delivered) == (1, True, 2)
    lost = examined({3, 4}.__contains__, mode="exhaustive").made
    assert (lost.category, lost.mrfs, lost.is_monotone) == ("undefined", None, False)


@pytest.mark.parametrize("mode", MODES)
def test_a_short_video_is_searched_as_far_as_it_goes(mode):
    found = examined(lambda k: k >= 3, n=5, mode=mode).made
    assert (found.mrfs, found.n_delivered) == (3, 5)
    one = examined(lambda k: k >= 1, n=1, mode=mode).made
    assert (one.mrfs, one.n_delivered) == (1, 1)


@pytest.mark.parametrize("mode", MODES)
def test_without_frames_there_is_no_demand(mode):
    found = examined(lambda _: False, n=0, mode=mode)
    assert (found.made.category, found.made.error) == ("error", "no frames: the ranking is empty")
    assert found.made.n_steps == 0
    assert found.made.asked == (0,)
    assert examined(lambda _: True, n=0, mode=mode).made.category == "text-only"


@pytest.mark.parametrize("mode", ["nested-bisect", "exhaustive"])
def test_the_precondition_can_be_left_out(mode):
    driven = examined(lambda k: k >= 4 or k == 0, mode=mode, text_only="false")
    assert (driven.made.category, driven.made.mrfs) == ("visual-required", 4)
    assert 0 not in driven.made.asked
    assert examined(lambda _: True, n=0, mode=mode, text_only="false").made.category == "error"


@pytest.mark.parametrize("mode", ["nested-bisect", "exhaustive"])
def test_the_least_number_of_frames_bounds_the_search(mode):
    assert examined(lambda k: k >= 2, mode=mode, min="4").made.mrfs == 4
    assert examined(lambda k: k >= 6, mode=mode, min="4").made.mrfs == 6
    assert examined(lambda k: k >= 1, n=3, mode=mode, min="4").made.mrfs == 3


def rejecting(counts, right):
    def answer(ask):
        k = len(times_shown(ask))
        if k in counts:
            raise RejectedRequestError("too many images")
        return Reply(text="B" if right(k) else "A")

    return answer


@pytest.mark.parametrize(
    ("mode", "rejected", "right"),
    [
        ("nested-bisect", 0, {0: None, 16: True}),
        ("nested-bisect", 16, {0: False, 16: None}),
        ("nested-bisect", 4, {0: False, 4: None, 8: True, 16: True}),
        ("exhaustive", 9, {k: None if k == 9 else k >= 5 for k in range(17)}),
        ("official", 0, {0: None}),
    ],
)
def test_a_rejected_request_makes_the_question_an_error(mode, rejected, right):
    subject = Simulated(ITEM, {"ranked": ranking(16)[0]})
    found = drive(diagnostic(mode=mode).examine(subject), rejecting({rejected}, lambda k: k >= 5)).made
    assert (found.category, found.mrfs, found.right) == ("error", None, right)
    assert found.error == f"with {rejected} frames: too many images"


def test_official_is_undefined_where_the_request_with_all_frames_is_rejected():
    subject = Simulated(ITEM, {"ranked": ranking(16)[0]})
    found = drive(diagnostic(mode="official").examine(subject), rejecting({16}, lambda k: k >= 5)).made
    assert (found.category, found.mrfs, found.asked) == ("undefined", None, (0, 16))
    assert found.error == "with 16 frames: too many images"


def test_official_goes_on_above_a_request_that_is_rejected():
    subject = Simulated(ITEM, {"ranked": ranking(16)[0]})
    found = drive(diagnostic(mode="official").examine(subject), rejecting({4}, lambda k: k >= 3)).made
    # 8 is right, 4 is rejected and counts as wrong: low is 5, 6 is right, and so is the 5 that is left.
    assert (found.category, found.mrfs, found.asked) == ("visual-required", 5, (0, 16, 8, 4, 6, 5))
    assert (found.right[4], found.error) == (None, "")
    several = drive(diagnostic(mode="official").examine(subject), rejecting({4, 6, 8}, lambda k: k >= 3)).made
    # 8 is rejected: low is 9, and the search halves what lies above.
    assert (several.mrfs, several.asked) == (9, (0, 16, 8, 12, 10, 9))
    last = drive(diagnostic(mode="official").examine(subject), rejecting({1}, lambda k: k >= 1)).made
    assert (last.mrfs, last.asked) == (2, (0, 16, 8, 4, 2, 1))


@pytest.mark.parametrize("mode", MODES)
def test_the_letters_said_are_kept(mode):
    found = examined(lambda k: k >= 3, mode=mode).made
    assert found.letters == {k: "B" if is_right else "A" for k, is_right in found.right.items()}
    assert examined(lambda k: k >= 3, wrong="?", mode=mode).made.letters[0] == ""
    subject = Simulated(ITEM, {"ranked": ranking(16)[0]})
    rejected = drive(diagnostic(mode=mode).examine(subject), rejecting({4}, lambda k: k >= 3)).made
    assert 4 not in rejected.letters
    open_item = Item(item_id="q2", question="What?", answer="B", answer_kind="text")
    told = drive(
        diagnostic(mode=mode).examine(Simulated(open_item, {"ranked": (0.0,)})), lambda _: Reply(text="B")
    )
    assert told.made.letters == {}


def in_orders(answers, **options):
    subject = Simulated(ITEM, {"ranked": ranking(4)[0]})
    return drive(diagnostic(max="4", mode="exhaustive", **options).examine(subject), answers)


def text_of(text):
    return lambda ask: Reply(text="ABC"[ask.prompt.choices.index(text)])


def test_every_number_of_frames_is_put_in_each_rotation_of_the_choices():
    driven = in_orders(text_of("two"), orders="3", text_only="false")
    assert [(len(times_shown(a)), a.prompt.choices[0]) for a in driven.asks] == [
        (k, first) for k in (4, 1, 2, 3) for first in ("one", "two", "three")
    ]
    assert (driven.made.mrfs, driven.made.n_orders, len(driven.made.asked)) == (1, 3, 12)
    assert set(driven.made.letters.values()) == {"B"}  # in the item's own order
    assert in_orders(text_of("two"), orders="7").made.n_orders == 3  # there are no more


def test_only_what_survives_every_rotation_is_right():
    letter = in_orders(lambda ask: Reply(text="B" if times_shown(ask) else "A"), orders="2")
    assert letter.made.category == "undefined"
    assert in_orders(lambda ask: Reply(text="B" if times_shown(ask) else "A")).made.mrfs == 1

    def from_two(ask):
        return text_of("two")(ask) if len(times_shown(ask)) >= 2 else Reply(text="B")

    assert in_orders(from_two, orders="2").made.mrfs == 2
    assert in_orders(from_two).made.category == "text-only"


def test_a_rotation_that_fails_leaves_no_score_unless_another_is_wrong():
    def failing(ask, text):
        if len(times_shown(ask)) == 2 and ask.prompt.choices[0] == "three":
            raise RejectedRequestError("too long")
        return text_of(text if len(times_shown(ask)) < 3 else "two")(ask)

    wrong = in_orders(lambda ask: failing(ask, "one"), orders="3").made
    assert (wrong.mrfs, wrong.right[2]) == (3, False)
    unknown = in_orders(lambda ask: failing(ask, "two"), orders="3", text_only="false").made
    assert (unknown.category, unknown.right[2], unknown.error) == ("error", None, "with 2 frames: too long")


def test_an_open_question_cannot_be_rotated():
    item = Item(item_id="q2", question="What?", answer="B", answer_kind="text")
    flow = diagnostic(orders="2").examine(Simulated(item, {"ranked": (0.0,)}))
    found = drive(flow, lambda _: Reply(text="B"))
    assert found.asks == []
    assert found.made.category == "error"
    assert found.made.error == "orders=2 rotates the choices, and this question has none"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("judge", "with 0 frames: the answer waits for a judge; name one with --judge-model"),
        ("broken", "with 0 frames: JudgeError: no verdict"),
        ("rejected", "with 0 frames: the judge did not take the reply: the judge's model says no"),
    ],
)
def test_a_reply_without_a_mark_is_an_error(word, message):
    found = examined(lambda _: False, wrong=word).made
    assert (found.category, found.error) == ("error", message)


@pytest.mark.parametrize("mode", MODES)
def test_the_same_prompt_is_put_twice_where_asked_for(mode):
    subject = Simulated(ITEM, {"ranked": ranking(16)[0]})

    def changing(ask):
        return Reply(text="C" if ask.sample else "B" if len(times_shown(ask)) >= 4 else "A")

    driven = drive(diagnostic(mode=mode, check_repeat="true").examine(subject), changing)
    assert driven.made.is_changed is True
    assert driven.made.mrfs == 4
    repeats = [(len(times_shown(a)), a.sample) for a in driven.asks if a.sample]
    assert repeats == [(16, 1)]
    assert examined(lambda k: k >= 4, mode=mode, check_repeat="true").made.is_changed is False
    assert examined(lambda k: k >= 4, mode=mode).made.is_changed is None


def test_the_ranking_is_the_plans_or_the_one_named():
    assert diagnostic().views(selector="aks", n_frames=8) == {
        "ranked": View(selector="aks", n_frames=16, is_ranked=True)
    }
    named = diagnostic(selector="similarity", max="32").views(selector="aks", n_frames=8)
    assert named["ranked"] == View(selector="similarity", n_frames=32, is_ranked=True)
    assert diagnostic().models() == {}
