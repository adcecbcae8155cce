"""Judges with planted behaviour: every figure recovers what was planted, and fair judges are let be."""

import math
from dataclasses import replace

import numpy as np
import pytest

from subjects.planted_judges import FAMILIES, RUNS, PlantedJudge, judged_replies, verdicts
from vidence.report.judge_figures import (
    Replies,
    against_rule,
    agreement,
    arms,
    ceilings,
    choices,
    contradicting_points,
    levels,
    null_judges,
    order,
    reliability,
    self_preferences,
    stability,
    wins,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def world(n_questions=300, *, seed=0):
    """Replies of three models to questions, two on each video, with what people say of them."""
    return judged_replies(n_questions, rng=rng(seed))


def said(replies, values, *, points=None, name="judge", model="openai:gpt", protocol="humanpcr", **fields):
    made = verdicts(replies, values, name=name, model=model, protocol=protocol)
    return replace(made, points=made.points if points is None else points, **fields)


def planted(replies, *, seed=1, **habits):
    """What a judge of these habits marks."""
    return PlantedJudge(**habits).marks(replies, rng=rng(seed))


NO_ONE = (None, None)


def test_sensitivity_and_specificity_are_recovered_against_the_rule():
    replies = world()
    found = against_rule(replies, said(replies, planted(replies)), rng=rng())
    assert found.sensitivity.low < 0.9 < found.sensitivity.high
    assert found.specificity.low < 0.8 < found.specificity.high
    rate = float(replies.people.mean())
    assert found.same.low < 0.9 * rate + 0.8 * (1 - rate) < found.same.high
    assert found.n == 900


def test_agreement_kappa_and_r_of_a_table_by_hand():
    # 40 right and right, 10 right and wrong, 20 wrong and right, 30 wrong and wrong.
    people = np.array([1] * 50 + [0] * 50, float)
    judge = np.array([1] * 40 + [0] * 10 + [1] * 20 + [0] * 30, float)
    nothing = np.full(100, math.nan)
    replies = Replies(
        runs=("gpt",) * 100,
        questions=tuple(map(str, range(100))),
        clusters=tuple(map(str, range(100))),
        people=people,
        people_points=nothing,
        ruled=nothing,
        n_characters=np.ones(100),
        names=("gpt",),
    )
    found = agreement(replies, said(replies, judge), reliability=(0.81, None), rng=rng())
    assert found.same.value == pytest.approx(0.7)
    assert found.kappa.value == pytest.approx(0.4)
    phi = (40 * 30 - 10 * 20) / math.sqrt(50 * 50 * 60 * 40)
    assert found.phi.value == pytest.approx(phi)
    assert found.phi_over_people == pytest.approx(phi / 0.9)
    assert found.points is None
    assert against_rule(replies, said(replies, judge), rng=rng()) is None


def test_no_verdict_counts_as_not_the_same_and_what_rules_decide_is_counted():
    replies = world(50)
    values = replies.people.copy()
    values[:15] = math.nan
    found = agreement(replies, said(replies, values), reliability=NO_ONE, rng=rng())
    assert (found.n, found.n_without) == (150, 15)
    assert found.same.value == pytest.approx(0.9)
    assert found.kappa.value == 1


def test_points_are_correlated_and_have_an_alpha():
    replies = world()
    found = agreement(
        replies,
        said(replies, replies.people, points=replies.people_points[:, None]),
        reliability=NO_ONE,
        rng=rng(),
    )
    assert found.points.value == pytest.approx(1)
    assert found.alpha.value == pytest.approx(1)


def test_judges_that_look_at_nothing():
    replies = world()
    always, base, length = (
        agreement(replies, judge, reliability=NO_ONE, rng=rng()) for judge in null_judges(replies, rng=rng(7))
    )
    rate = float(replies.people.mean())
    assert always.same.value == pytest.approx(rate)
    assert base.same.low < rate**2 + (1 - rate) ** 2 < base.same.high
    assert base.kappa.low < 0 < base.kappa.high
    assert length.same.value < 0.6  # lengths say nothing here
    assert always.is_null


def test_length_is_caught_where_it_decides():
    replies = world()
    long = Replies(**{**vars(replies), "n_characters": 10 + 30 * replies.people})
    length = null_judges(long, rng=rng())[2]
    assert (length.first == long.people).all()


def test_wins_are_printed_three_ways():
    people = np.array([1, 0, 1, 1, 0, 1, 0, 0], float)  # won, tied, lost, tied by people
    judge = np.array([1, 0, 1, 0, 1, 0, 0, 0], float)  # won, won, won, tied by the judge
    nothing = np.full(8, math.nan)
    replies = Replies(
        runs=("a", "b") * 4,
        questions=("1", "1", "2", "2", "3", "3", "4", "4"),
        clusters=("1", "1", "2", "2", "3", "3", "4", "4"),
        people=people,
        people_points=nothing,
        ruled=nothing,
        n_characters=np.ones(8),
        names=("a", "b"),
    )
    found = wins(replies, said(replies, judge), people=people, votes={}, rng=rng())
    assert (found.n, found.n_decided, found.n_ties_people, found.n_ties_judge) == (4, 2, 2, 1)
    assert found.same.value == 0.5
    assert found.decided.value == 0.5
    assert found.half.value == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    assert found.r.value == pytest.approx((1 - 1) / 2)
    # A rater who says which one is better decides in place of the marks.
    better = wins(replies, said(replies, judge), people=people, votes={(2, 3): 2.0, (4, 5): 1.0}, rng=rng())
    assert better.same.value == 1.0


def test_the_order_of_models_and_the_level_of_a_lenient_judge():
    replies = world()
    fair = said(replies, replies.people, name="fair")
    lenient = said(replies, planted(replies, sensitivity=1.0, specificity=0.7), name="lenient")
    assert order(replies, fair, rng=rng()).tau.value == 1
    assert order(replies, fair, rng=rng()).same_order == 1
    found = {(one.judge, one.run): one for one in levels(replies, [fair, lenient])}
    assert found["fair", "gpt"].difference.value == 0
    for run in RUNS:
        one = found["lenient", run]
        wrong = 1 - one.people
        assert one.difference.low < 0.3 * wrong < one.difference.high
        assert one.p_holm < 0.05
    upside = said(replies, 1 - replies.people, name="upside down")
    assert order(replies, upside, rng=rng()).tau.value == -1


def test_a_bonus_for_the_own_family_is_recovered():
    replies = world()
    (found,) = self_preferences(
        replies,
        [said(replies, planted(replies, sensitivity=0.8, specificity=0.85, bonus=0.12))],
        families=FAMILIES,
    )
    assert (found.family, found.n_own, found.n_others) == ("openai", 300, 600)
    assert found.at_same.estimate.low < 0.12 < found.at_same.estimate.high
    assert found.p_holm < 0.05
    assert found.odds.low > 0


def test_a_fair_judge_that_errs_is_let_be_in_95_of_100_worlds():
    n_called = n_plain = 0
    for seed in range(200):
        replies = world(100, seed=seed)
        values = planted(replies, sensitivity=0.85, specificity=0.7, seed=10_000 + seed)
        (found,) = self_preferences(replies, [said(replies, values)], families=FAMILIES)
        n_called += found.p_holm < 0.05
        n_plain += found.plain.p_value < 0.05
    assert n_called <= 18  # 10 are expected; 18 or fewer has the probability .99
    # The difference of differences calls a judge unfair that merely errs: its family is better here.
    assert n_plain > 60


def test_a_judge_without_a_family_among_the_models_has_no_preference():
    replies = world(20)
    (found,) = self_preferences(
        replies, [said(replies, replies.people, model="m")], families=FAMILIES | {"m": "m"}
    )
    assert (found.n_own, found.at_same) == (0, None)
    assert math.isnan(found.p_holm)


def test_two_protocols_of_one_model_are_paired():
    replies = world()
    good = said(replies, planted(replies, sensitivity=0.95, specificity=0.95, seed=3), name="with")
    poor = said(
        replies,
        planted(replies, sensitivity=0.85, specificity=0.85, seed=4),
        name="without",
        protocol="humanpcr-printed",
    )
    other = said(replies, replies.people, name="other", model="m")
    (found,) = arms(replies, [good, poor, other])
    assert (found.first, found.second) == ("humanpcr", "humanpcr-printed")
    assert found.difference.low < 0.1 < found.difference.high
    assert found.p_holm < 0.05


def test_verdicts_that_change_over_repeats_are_recovered():
    replies = world()
    first = planted(replies)
    flips = rng(5).random(len(first)) < 0.1
    found = stability(replies, said(replies, np.column_stack([first, np.where(flips, 1 - first, first)])))
    assert found.changed.low < 0.1 < found.changed.high
    assert found.n_repeats == 2
    assert stability(replies, said(replies, first)) is None


def test_the_cheapest_judge_that_is_not_worse_is_chosen():
    replies = world()
    values = planted(replies, sensitivity=0.95, specificity=0.95)
    best = said(replies, values, name="best", cost=1.0)
    near = values.copy()
    near[:3] = 1 - near[:3]
    cheap = said(replies, near, name="cheap", cost=0.1)
    poor = said(replies, planted(replies, sensitivity=0.7, specificity=0.7, seed=8), name="poor", cost=0.01)
    found = {one.judge: one for one in choices(replies, [best, cheap, poor])}
    assert [found[name].is_chosen for name in ("best", "cheap", "poor")] == [False, True, False]
    assert not found["poor"].is_not_worse
    assert found["cheap"].low > -0.02
    unknown = choices(replies, [said(replies, values, name="free")])
    assert not unknown[0].is_chosen


def test_people_are_the_ceiling_and_their_mean_has_a_reliability():
    truth = rng(0).random(400) < 0.6
    marks = np.column_stack([np.where(rng(k).random(400) < 0.9, truth, ~truth) for k in (1, 2, 3)]) + 0.0
    found = ceilings(marks, raters=["a", "b", "c"], clusters=[str(i) for i in range(400)], rng=rng())
    assert [one.rater for one in found] == ["a", "b", "c"]
    assert all(0.8 < one.same.value < 0.97 for one in found)
    known = reliability(marks)
    r = np.mean([np.corrcoef(marks[:, i], marks[:, j])[0, 1] for i, j in ((0, 1), (0, 2), (1, 2))])
    assert known.r == pytest.approx(r)
    assert known.value == pytest.approx(3 * r / (1 + 2 * r))
    assert reliability(marks[:, :1]).value is None
    assert ceilings(marks[:, :1], raters=["a"], clusters=["v"] * 400, rng=rng()) == ()


def test_points_against_marks():
    values, points = np.array([1.0, 1, 0, 0, math.nan]), np.array([4.0, 2, 3, 0, 4])
    assert contradicting_points(values, points) == 2
