"""Ratios of two means against hand calculation, inversion of the t test, and simulation."""

import math
from functools import partial

import numpy as np
import pytest

from conftest import IS_THOROUGH
from vidence.errors import UsageError
from vidence.statistics.intervals import UNBOUNDED, mean_interval
from vidence.statistics.ratios import ratio_of_means
from vidence.statistics.resampling import Resampling

student = partial(mean_interval, bounds=UNBOUNDED)

FEW = Resampling(n_boot=400)


def generator(seed=0):
    return np.random.default_rng(seed)


def paired(n_videos, *, seed, shares):
    """Right and wrong answers under two conditions, on videos of different ease with 1 to 6 questions."""
    rng = generator(seed)
    sizes = rng.integers(1, 7, n_videos)
    videos = [f"v{i:03d}" for i, size in enumerate(sizes) for _ in range(size)]
    ease = np.repeat(rng.beta(4, 4, n_videos) * 2, sizes)
    draws = rng.random((2, len(videos)))
    control, full = (draws < np.minimum(1, ease * np.array(shares)[:, None])).astype(float)
    return control, full, videos


def test_the_ratio_of_table_5_from_its_two_accuracies():
    # Human-R, image over video: 11.08 / 41.40 = 26.8 per cent, as printed.
    first, second = np.zeros(442), np.zeros(442)
    first[:49], second[:183] = 1, 1
    found = ratio_of_means(
        first, second, clusters=[str(i) for i in range(442)], rng=generator(), settings=FEW
    )
    assert round(100 * 49 / 442, 2) == 11.09
    assert found.bootstrap.value == pytest.approx(49 / 183)
    assert round(100 * found.bootstrap.value, 1) == 26.8
    assert found.is_bounded


def test_at_the_ends_of_fiellers_interval_the_t_test_is_just_on_its_edge():
    control, full, videos = paired(40, seed=3, shares=(0.3, 0.7))
    found = ratio_of_means(control, full, clusters=videos, rng=generator(), settings=FEW).fieller
    assert found.low < found.value < found.high
    # A ratio r is inside when 0 is inside the t interval of control - r * full.
    low = student(control - found.low * full, clusters=videos)
    high = student(control - found.high * full, clusters=videos)
    assert low.low == pytest.approx(0, abs=1e-12)
    assert high.high == pytest.approx(0, abs=1e-12)


def test_g_is_one_where_zero_is_just_on_the_edge_of_the_lower_mean():
    # Eight values with mean m and a known error: shift them until the t interval just touches 0.
    noise = np.array([1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0])
    videos = [str(i) for i in range(8)]
    half = student(noise, clusters=videos).high
    on_edge = ratio_of_means(np.ones(8), noise + half, clusters=videos, rng=generator(), settings=FEW)
    assert on_edge.g == pytest.approx(1.0)
    beyond = ratio_of_means(np.ones(8), noise + 1.01 * half, clusters=videos, rng=generator(), settings=FEW)
    assert beyond.is_bounded
    assert beyond.g == pytest.approx(1 / 1.01**2)
    short = ratio_of_means(np.ones(8), noise + 0.99 * half, clusters=videos, rng=generator(), settings=FEW)
    assert not short.is_bounded
    assert short.bootstrap.value == pytest.approx(1 / (0.99 * half))
    for estimate in (short.bootstrap, short.fieller):
        assert math.isnan(estimate.low)
        assert math.isnan(estimate.high)
        assert "not distinguishable from 0" in estimate.method


@pytest.mark.parametrize("shares", [(0.15, 0.45), (0.4, 0.45)])
def test_both_intervals_hold_the_planted_ratio_as_often_as_they_say(shares):
    # ease * share stays below 1 here, so the ratio of the two chances is that of the shares.
    held, n = np.zeros(2), 300 if IS_THOROUGH else 100
    for seed in range(n):
        control, full, videos = paired(60, seed=seed, shares=shares)
        found = ratio_of_means(control, full, clusters=videos, rng=generator(seed), settings=FEW)
        truth = shares[0] / shares[1]
        held += [e.low <= truth <= e.high for e in (found.bootstrap, found.fieller)]
    error = 3 * math.sqrt(0.95 * 0.05 / n)  # three standard errors
    assert (held / n > 0.95 - error).all()
    assert (held / n < min(0.95 + error, 1.001)).all()


def test_pairing_makes_the_interval_narrow():
    same = np.array([1.0, 0, 1, 1, 0, 1, 0, 1])
    videos = [str(i) for i in range(8)]
    found = ratio_of_means(same, same, clusters=videos, rng=generator(), settings=FEW)
    assert found.bootstrap.value == 1.0
    assert (found.bootstrap.low, found.bootstrap.high) == (1.0, 1.0)
    assert found.fieller.low == pytest.approx(1.0)
    assert "not informative" in found.fieller.method
    assert "not informative" in found.bootstrap.method


def test_repeats_are_averaged_by_item():
    videos = ["a", "a", "b", "c"]
    first, second = [[1, 0], [1, 1], [0, 0], [0, 1]], [1, 1, 0, 1]
    found = ratio_of_means(first, second, clusters=videos, rng=generator(), settings=FEW)
    assert found.bootstrap.value == pytest.approx(0.5 / 0.75)


def test_a_lower_mean_of_nothing_has_no_ratio():
    found = ratio_of_means([1, 0, 1], [0, 0, 0], clusters=["a", "b", "c"], rng=generator(), settings=FEW)
    assert math.isnan(found.bootstrap.value)
    assert math.isinf(found.g)
    assert not found.is_bounded
    assert "undefined" in found.fieller.method
    found = ratio_of_means([1, 0], [1, 1], clusters=["a", "a"], rng=generator(), settings=FEW)
    assert found.bootstrap.value == 0.5  # a single video has a value and no interval
    assert math.isnan(found.g)
    assert not found.is_bounded
    assert "single cluster" in found.fieller.method


def test_what_does_not_go_together_is_refused():
    with pytest.raises(UsageError, match="2 numerators and 3 denominators"):
        ratio_of_means([1, 0], [1, 0, 1], clusters=["a", "b"], rng=generator())
    with pytest.raises(UsageError, match="finite"):
        ratio_of_means([1, math.nan], [1, 0], clusters=["a", "b"], rng=generator())
    with pytest.raises(UsageError, match="clusters"):
        ratio_of_means([1, 0], [1, 0], clusters=["a"], rng=generator())
