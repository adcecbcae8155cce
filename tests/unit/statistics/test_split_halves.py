"""Split halves: planted reliabilities come back, and nothing is claimed where nothing can be said."""

import math

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.statistics.split_halves import ceiling, reliability, stepped_up


def test_a_planted_reliability_comes_back():
    """Means over 8 raters of things with variance 1 and noise 2: 1 / (1 + 2 / 8) = 0.8."""
    rng = np.random.default_rng(0)
    things = rng.normal(size=4000)
    scores = things + math.sqrt(2) * rng.normal(size=(8, 4000))
    assert reliability(scores, rng=rng, n_splits=50) == pytest.approx(0.8, abs=0.02)


def test_nothing_in_common_few_raters_and_flat_halves_have_none():
    rng = np.random.default_rng(1)
    assert math.isnan(reliability(rng.normal(size=(3, 10)), rng=rng))
    assert math.isnan(reliability(np.ones((6, 10)), rng=rng))
    assert math.isnan(stepped_up(-0.2))
    with pytest.raises(UsageError, match="finite numbers"):
        reliability([[1.0, math.nan]], rng=rng)


def test_the_ceiling_is_the_root_of_the_product():
    assert ceiling(0.64, 0.25) == pytest.approx(0.4)
    assert math.isnan(ceiling(math.nan, 0.5))


def test_a_reliability_is_the_stepped_up_mean_of_the_correlations_of_halves():
    scores = np.random.default_rng(4).random((5, 6)) + np.arange(6) / 2
    draws, found = np.random.default_rng(7), []
    for _ in range(12):
        order = draws.permutation(5)
        halves = scores[order[:2]].mean(axis=0), scores[order[2:]].mean(axis=0)
        found.append(np.corrcoef(*halves)[0, 1])
    r = np.mean(found)
    assert reliability(scores, rng=np.random.default_rng(7), n_splits=12) == pytest.approx(2 * r / (1 + r))
    assert stepped_up(0.25) == pytest.approx(0.4)
    assert stepped_up(1.0) == 1.0
    assert math.isnan(stepped_up(0.0))


def test_four_raters_of_three_things_are_enough_and_fewer_are_not():
    scores = np.array([[0.0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 4]])
    assert reliability(scores, rng=np.random.default_rng(0), n_splits=5) > 0.9
    assert math.isnan(reliability(scores[:3], rng=np.random.default_rng(0), n_splits=5))
    assert math.isnan(reliability(scores[:, :2], rng=np.random.default_rng(0), n_splits=5))
    with pytest.raises(UsageError, match="raters by things"):
        reliability([1.0, 2.0], rng=np.random.default_rng(0))
    assert math.isnan(ceiling(0.0, 0.5))
    assert math.isnan(ceiling(0.5, 0.0))
