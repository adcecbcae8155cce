"""Sorted means: luck that is sorted stays inside its envelope, and what differs leaves it."""

import math

import numpy as np
import pytest

from conftest import IS_THOROUGH
from vidence.errors import UsageError
from vidence.statistics.sorted_means import Marks, sorted_means


def raters(rng, shares, *, n_raters=6, n_each=2):
    things = np.repeat(np.arange(len(shares)), n_each)
    return [
        Marks(values=(rng.random(len(things)) < np.asarray(shares)[things]).astype(float), things=things)
        for _ in range(n_raters)
    ]


def test_the_order_is_that_of_the_means_and_raters_count_alike():
    one = Marks(values=np.array([1.0, 1.0, 0.0]), things=np.array([0, 0, 1]))
    two = Marks(values=np.array([0.0, 1.0]), things=np.array([0, 1]))
    found = sorted_means([one, two], n_things=2, rng=np.random.default_rng(0), n_draws=10)
    assert found.means.tolist() == [0.5, 0.5]
    assert found.order.tolist() == [0, 1]


def test_things_that_do_not_differ_are_called_so_in_19_of_20():
    """ActPLD's case: 12 marks for each of 20 actions, all right with the same chance."""
    rng = np.random.default_rng(2)
    n = 300 if IS_THOROUGH else 100
    found = [sorted_means(raters(rng, [0.35] * 20), n_things=20, rng=rng, n_draws=200) for _ in range(n)]
    n_called = sum(one.p_value <= 0.05 for one in found)
    assert abs(n_called - 0.05 * n) < 3 * math.sqrt(0.05 * 0.95 * n)
    inside = np.mean([((one.means >= one.low) & (one.means <= one.high)).mean() for one in found])
    assert inside > 0.94
    # Sorting alone makes a slope: the first place is far above the last.
    assert np.mean([one.middle[0] - one.middle[-1] for one in found]) > 0.4


def test_a_planted_difference_leaves_the_envelope():
    rng = np.random.default_rng(3)
    shares = [0.9] * 5 + [0.1] * 15
    found = sorted_means(raters(rng, shares), n_things=20, rng=rng, n_draws=500)
    assert found.p_value < 0.01
    assert set(found.order[:5].tolist()) == set(range(5))
    assert (found.means[:5] > found.high[:5]).all()


def test_questions_that_are_hard_for_all_are_no_difference_of_things():
    """20 things with 3 questions each; questions differ, things do not, and 6 raters share the questions."""
    rng = np.random.default_rng(4)
    n_marks = n_questions = 0
    things = np.repeat(np.arange(20), 3)
    n = 100 if IS_THOROUGH else 40
    for _ in range(n):
        hard = rng.random(60)
        some = [Marks(values=(rng.random(60) < hard).astype(float), things=things) for _ in range(6)]
        found = sorted_means(some, n_things=20, rng=rng, are_alike=True, n_draws=199)
        n_marks += found.p_value <= 0.05
        n_questions += found.p_questions <= 0.05
    assert n_questions < 0.05 * n + 3.3 * math.sqrt(0.05 * 0.95 * n)
    assert n_marks > 0.6 * n  # marks that are taken as independent call nearly everything a difference


def test_no_marks_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="no raters"):
        sorted_means([], n_things=2, rng=rng)
    with pytest.raises(UsageError, match="thing 1 has no mark"):
        sorted_means([Marks(values=np.ones(1), things=np.zeros(1, np.int64))], n_things=2, rng=rng)
    with pytest.raises(UsageError, match="two rows of one length"):
        Marks(values=np.ones(2), things=np.zeros(1, np.int64))


def test_all_figures_are_those_of_marks_that_are_dealt_out_one_by_one():
    """Two raters, of whom one has two marks on the first thing and none on the last."""
    values = [np.array([0.2, 0.9, 0.4, 0.7]), np.array([0.1, 0.8, 0.3, 0.6])]
    things = [np.array([0, 0, 1, 2]), np.array([0, 1, 2, 3])]
    some = [Marks(values=v, things=t) for v, t in zip(values, things, strict=True)]
    found = sorted_means(some, n_things=4, rng=np.random.default_rng(5), level=0.8, n_draws=30)

    def means(dealt):
        of = [[] for _ in range(4)]
        for marks, own in zip(dealt, things, strict=True):
            for thing in np.unique(own):
                of[thing].append(marks[own == thing].mean())
        return np.array([np.mean(one) for one in of])

    seen, rng = means(values), np.random.default_rng(5)
    first, second = (rng.permuted(np.tile(one, (30, 1)), axis=1) for one in values)
    drawn = np.array([means(pair) for pair in zip(first, second, strict=True)])
    n_reached = sum(one.var() >= seen.var() - 1e-9 for one in drawn)
    assert 0 < n_reached < 30
    assert found.p_value == (n_reached + 1) / 31
    assert math.isnan(found.p_questions)
    assert found.order.tolist() == np.argsort(-seen).tolist()
    assert found.means == pytest.approx(np.sort(seen)[::-1])
    downwards = np.sort(drawn, axis=1)[:, ::-1]
    for share, ends in ((0.1, found.low), (0.5, found.middle), (0.9, found.high)):
        assert ends == pytest.approx(np.quantile(downwards, share, axis=0))
