"""Judges with planted behaviour: every figure recovers what was planted, and fair judges are let be."""

import math
from dataclasses import replace

import numpy as np
import pytest

from conftest import IS_THOROUGH
from subjects.planted_judges import FAMILIES, RUNS, PlantedJudge, judged_replies, verdicts
from vidence.report.judge_figures import (
    Replies,
    agreement,
    arms,
    levels,
    order,
    self_preferences,
    standings,
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
        names=("gpt",),
    )
    found = agreement(replies, said(replies, judge), rng=rng())
    assert found.same.value == pytest.approx(0.7)
    assert found.kappa.value == pytest.approx(0.4)
    phi = (40 * 30 - 10 * 20) / math.sqrt(50 * 50 * 60 * 40)
    assert found.phi.value == pytest.approx(phi)
    assert found.points is None


def test_no_verdict_counts_as_not_the_same():
    replies = world(50)
    values = replies.people.copy()
    values[:15] = math.nan
    found = agreement(replies, said(replies, values), rng=rng())
    assert (found.n, found.n_without) == (150, 15)
    assert found.same.value == pytest.approx(0.9)
    assert found.kappa.value == 1
    found = agreement(replies, said(replies, replies.people, points=replies.people_points), rng=rng())
    assert found.points.value == pytest.approx(1)


def test_wins_with_ties_as_an_outcome_and_without():
    people = np.array([1, 0, 1, 1, 0, 1, 0, 0], float)  # won, tied, lost, tied by people
    judge = np.array([1, 0, 1, 0, 1, 0, 0, 0], float)  # won, won, won, tied by the judge
    nothing = np.full(8, math.nan)
    replies = Replies(
        runs=("a", "b") * 4,
        questions=("1", "1", "2", "2", "3", "3", "4", "4"),
        clusters=("1", "1", "2", "2", "3", "3", "4", "4"),
        people=people,
        people_points=nothing,
        names=("a", "b"),
    )
    found = wins(replies, said(replies, judge), people=people, votes={})
    assert (found.n, found.n_decided, found.n_ties_people, found.n_ties_judge) == (4, 2, 2, 1)
    assert found.same.value == 0.5
    assert found.decided.value == 0.5
    # A rater who says which one is better decides in place of the marks.
    better = wins(replies, said(replies, judge), people=people, votes={(2, 3): 2.0, (4, 5): 1.0})
    assert better.same.value == 1.0


def test_strengths_by_people_and_judges_are_those_of_their_pairs():
    replies = world()
    nothing = np.full(len(replies.runs), math.nan)
    replies = replace(replies, people_points=nothing)
    judge = said(replies, planted(replies, sensitivity=0.9, specificity=0.9), points=nothing)
    people, judged = standings(replies, [judge], people=replies.people, votes={})
    assert (people.by, judged.by) == ("people", "judge")
    shares = {run: replies.people[np.array(replies.runs) == run].mean() for run in RUNS}
    assert sorted(RUNS, key=lambda run: people.strengths.strengths[run].value) == sorted(RUNS, key=shares.get)
    assert people.strengths.n_pairs == judged.strengths.n_pairs == 900
    # Votes alone, without marks, of two models of three: the third cannot be set against them.
    at = {run: replies.runs.index(run) for run in RUNS}
    votes = {(at[RUNS[0]], at[RUNS[1]]): 1.0}
    (voted,) = standings(replies, [], people=nothing, votes=votes)
    assert list(voted.strengths.strengths) == list(RUNS[:2])
    assert voted.strengths.is_bounded


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


def test_a_fair_judge_that_errs_is_let_be_in_95_of_100_worlds():
    n_called = 0
    for seed in range(200 if IS_THOROUGH else 60):
        replies = world(100, seed=seed)
        values = planted(replies, sensitivity=0.85, specificity=0.7, seed=10_000 + seed)
        (found,) = self_preferences(replies, [said(replies, values)], families=FAMILIES)
        n_called += found.p_holm < 0.05
    assert n_called <= (18 if IS_THOROUGH else 7)  # 10 or 3 are expected; so many has the probability .99


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
