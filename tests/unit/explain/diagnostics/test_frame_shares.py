"""Shares of frames against models whose probabilities are planted."""

import math

import msgspec
import numpy as np
import pytest

from subjects.simulated import Simulated, drive, times_shown
from vidence import catalog
from vidence.contracts import View
from vidence.errors import RejectedRequestError
from vidence.explain.diagnostics.frame_shares import OverLetters, of_logps, share_out
from vidence.records import Evidence, Item, Reply

LETTERS = "ABCDE"


def diagnostic(**options):
    return catalog.create("diagnostic", catalog.Spec(name="frame-shares", options=options))


def asked_for(n_spans, **changes):
    """A question with five choices and spans of ten seconds."""
    spans = tuple(Evidence(start_s=20.0 * i, end_s=20.0 * i + 10) for i in range(n_spans))
    item = Item(item_id="q1", question="?", choices=tuple("vwxyz"), answer="C", evidence=spans)
    return msgspec.structs.replace(item, **changes)


def middles(n_spans):
    return tuple(20.0 * i + 5 for i in range(n_spans))


def with_probability(p, letter="C"):
    """A reply in which a letter has this probability and the others share the rest."""
    logps = {a: math.log(p if a == letter else (1 - p) / 4) for a in LETTERS}
    return Reply(text=letter, choice_logps=logps)


def measured(item, answers, *, times=None, **options):
    times_s = middles(len(item.evidence)) if times is None else tuple(times)
    return drive(diagnostic(**options).examine(Simulated(item, {"frames": times_s})), answers)


@pytest.mark.parametrize("k", [2, 3, 8])
def test_a_fuser_shares_evenly(k):
    def fuser(ask):
        return with_probability(0.9 * 6.0 ** (len(times_shown(ask)) - k))

    driven = measured(asked_for(k), fuser)
    assert driven.made.shares == pytest.approx((1 / k,) * k)
    assert driven.made.top_share == pytest.approx(1 / k)
    assert driven.made.entropy == pytest.approx(1)
    assert driven.made.is_right is True


@pytest.mark.parametrize("k", [2, 3, 8])
def test_a_parser_of_one_frame_has_its_whole_share(k):
    def single(ask):
        return with_probability(0.9 if 5.0 in times_shown(ask) else 0.3)

    found = measured(asked_for(k), single).made
    assert found.shares == (1.0, *(0.0,) * (k - 1))
    assert (found.top_share, found.entropy) == (1.0, 0.0)


def test_the_question_goes_out_once_whole_and_once_without_each_frame_together():
    driven = measured(asked_for(3), lambda _: with_probability(0.5))
    assert [[times_shown(a) for a in one] for one in driven.rounds] == [
        [(5.0, 25.0, 45.0), (25.0, 45.0), (5.0, 45.0), (5.0, 25.0)]
    ]
    for ask in driven.asks:
        assert ask.sampling.want_choice_logps
        assert (ask.sampling.temperature, ask.sampling.max_tokens) == (0.0, 16)


def test_views():
    plan = {"selector": "aks:x", "n_frames": 8}
    assert diagnostic().views(**plan) == {"frames": View(selector="evidence:only", n_frames=16)}
    assert diagnostic(n="4").views(**plan) == {"frames": View(selector="evidence:only", n_frames=4)}
    assert diagnostic(view="plan").views(**plan) == {"frames": View(selector="aks:x", n_frames=8)}
    assert diagnostic(view="ranked", selector="bolt", n="5").views(**plan) == {
        "frames": View(selector="bolt", n_frames=5, is_ranked=True)
    }
    assert diagnostic().models() == {}


def test_ranked_frames_are_shown_in_the_order_of_time():
    driven = measured(asked_for(0), lambda _: with_probability(0.5), times=(9, 1, 4), view="ranked")
    assert times_shown(driven.asks[0]) == (1.0, 4.0, 9.0)
    assert driven.made.times_s == (1.0, 4.0, 9.0)


def test_each_span_gives_the_frame_nearest_to_its_middle():
    times = (14.0, 1.0, 4.0, 9.0, 22.0, 26.0)
    driven = measured(asked_for(2), lambda _: with_probability(0.5), times=times)
    assert driven.made.times_s == (4.0, 26.0)
    driven = measured(asked_for(2), lambda _: with_probability(0.5), times=times, pieces="all")
    assert driven.made.times_s == (1.0, 4.0, 9.0, 14.0, 22.0, 26.0)


def test_the_softmax_is_over_the_letters_alone():
    over = of_logps({"A": math.log(0.3), "B": math.log(0.1), "Z": -0.1}, "AB")
    assert np.exp(over.logps) == pytest.approx([0.75, 0.25])
    assert over.n_floored == 0


@pytest.mark.parametrize(
    ("reported", "floor"),
    [
        ({"A": math.log(0.6), "B": math.log(0.3)}, 0.1),  # what is left
        ({"A": math.log(0.2), "B": math.log(0.05)}, 0.05),  # no more than any that was reported
        ({"A": math.log(0.6), "B": math.log(0.3), "C": -math.inf}, 0.1),
        ({"A": math.log(0.8)}, 0.1),  # of what is left each has half
        ({"A": 0.0}, 5e-13),  # nothing is left
        ({"A": 1e-7}, 5e-13),
    ],
)
def test_an_absent_letter_gets_the_most_that_it_can_have(reported, floor):
    over = of_logps(reported, "ABC")
    assert math.exp(over.logps[2] - over.logps[0]) == pytest.approx(floor / math.exp(reported["A"]))
    assert over.n_floored == 3 - len([v for v in reported.values() if math.isfinite(v)])


@pytest.mark.parametrize("reported", [None, {}, {"Z": -1.0}, {"A": math.nan, "B": -math.inf}])
def test_without_any_letter_there_are_no_probabilities(reported):
    assert of_logps(reported, "ABC") is None


def logps(*probabilities):
    return OverLetters(logps=np.log(probabilities))


def test_deltas_follow_the_option_chosen_with_all_frames():
    # Chosen is B; without the first frame it loses a factor 4, without the second 2; the third works
    # against it.
    shared = share_out(logps(0.2, 0.8), [logps(0.8, 0.2), logps(0.6, 0.4), logps(0.1, 0.9)])
    assert shared.chosen == 1
    assert shared.deltas == pytest.approx([math.log(4), math.log(2), -math.log(9 / 8)])
    assert shared.shares == pytest.approx([2 / 3, 1 / 3, 0])
    assert shared.entropy == pytest.approx((math.log(3) - 2 / 3 * math.log(2)) / math.log(3))


def test_a_letter_that_was_not_reported_is_never_chosen():
    over = of_logps({"C": math.log(0.2)}, "ABCD")
    assert np.exp(over.logps) == pytest.approx([0.25] * 4)
    assert share_out(over, [over, over]).chosen == 2
    assert share_out(logps(0.2, 0.4, 0.4), [logps(0.4, 0.3, 0.3)] * 2).chosen == 1  # of equals the first


def test_rounding_is_no_evidence():
    crumb = OverLetters(logps=np.log([0.5, 0.5]) - 1e-12)
    shared = share_out(logps(0.5, 0.5), [crumb, crumb])
    assert shared.shares is None
    assert shared.entropy is None


def test_questions_that_cannot_be_measured_are_not_asked():
    def never(_):
        raise AssertionError

    def excluded(item, **options):
        return measured(item, never, **options).made

    assert excluded(asked_for(3, choices=(), answer_kind="text")).excluded == "no choices"
    assert excluded(asked_for(3, choices=())).excluded == "no choices"
    many = excluded(asked_for(3, choices=tuple(str(i) for i in range(27))))
    assert many.excluded == "too many choices"
    assert many.why == "27 choices; expected at most 26, one letter each"
    assert excluded(asked_for(1)).excluded == "fewer than two frames"
    assert excluded(asked_for(1)).times_s == (5.0,)
    assert excluded(asked_for(0)).excluded == "fewer than two frames"


def test_no_positive_evidence():
    found = measured(asked_for(3), lambda _: with_probability(0.5)).made
    assert (found.excluded, found.top_share, found.shares) == ("no positive evidence", None, ())
    assert found.deltas == (0.0, 0.0, 0.0)
    assert (found.chosen, found.is_right) == ("C", True)
    found = measured(asked_for(2), lambda a: with_probability(0.3 * len(times_shown(a)), "E")).made
    assert (found.chosen, found.is_right) == ("E", False)
    assert sum(found.probabilities) == pytest.approx(1)


def test_without_log_probabilities_a_question_is_left_out_where_they_were_demanded():
    driven = measured(asked_for(2), lambda _: Reply(text="C"))
    assert driven.made.excluded == "no log-probabilities"
    assert driven.made.why.startswith("3 of 3 replies have none of a choice letter")
    assert len(driven.rounds) == 1


def test_a_server_that_rejects_the_request_for_log_probabilities_is_named():
    def picky(ask):
        raise RejectedRequestError("logprobs is not supported")

    found = measured(asked_for(2), picky).made
    assert found.excluded == "no log-probabilities"
    assert found.why == "the request for log-probabilities was rejected: logprobs is not supported"


def test_letters_that_were_not_reported_are_counted():
    def top_two(ask):
        p = 0.9 if len(times_shown(ask)) == 2 else 0.6
        return Reply(text="C", choice_logps={"C": math.log(p), "A": math.log(0.05)})

    found = measured(asked_for(2), top_two).made
    assert found.n_floored == 9
    assert found.shares == pytest.approx((0.5, 0.5))


@pytest.mark.parametrize(
    ("options", "n_asks"),
    [({}, 1 + 16), ({"n": "3"}, 4), ({"n": "3", "placebo": "n"}, 4 + 7), ({"view": "plan"}, 1 + 5)],
)
def test_how_often_a_question_is_asked_at_most(options, n_asks):
    """With all frames and without each; so many times where replies are drawn."""
    one = diagnostic(**options)
    assert one.most_asks(asked_for(2), n_frames=5) == n_asks
    free = Item(item_id="q", question="?", answer="x", answer_kind="text")
    assert one.most_asks(free, n_frames=5) == 0
