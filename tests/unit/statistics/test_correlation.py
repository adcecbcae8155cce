"""Correlations against scipy, and intervals against the printed formulas."""

import math

import numpy as np
import pytest
from scipy import stats

from vidence.errors import UsageError
from vidence.statistics.correlation import pearson, spearman
from vidence.statistics.resampling import Resampling

FEW = Resampling(n_boot=50)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def points(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(seed)
    x = rng.normal(size=n)
    return x, 0.6 * x + rng.normal(size=n)


def test_pearson_is_that_of_scipy_with_its_interval() -> None:
    x, y = points(40)
    found, theirs = pearson(x, y, rng=generator(), settings=FEW), stats.pearsonr(x, y)
    interval = theirs.confidence_interval(0.95)
    assert (found.value, found.p_value, found.n) == (pytest.approx(theirs.statistic), theirs.pvalue, 40)
    assert (found.fisher.low, found.fisher.high) == pytest.approx((interval.low, interval.high))
    assert "Fisher's z" in found.fisher.method
    assert found.bootstrap.method.startswith("Pearson's r; pairs drawn with replacement; cluster bootstrap")


def test_spearman_is_that_of_scipy_ties_included() -> None:
    x, y = np.round(points(50, seed=3), 0)
    found, theirs = spearman(x, y, rng=generator(), settings=FEW), stats.spearmanr(x, y)
    assert (found.value, found.p_value) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    assert found.bootstrap.value == pytest.approx(found.value)


@pytest.mark.parametrize(("error", "factor"), [("fieller", 1.06), ("fisher", 1.0), ("bonett-wright", None)])
def test_each_error_of_rho_gives_its_own_interval(error: str, factor: float | None) -> None:
    x, y = points(30)
    found = spearman(x, y, rng=generator(), error=error, settings=FEW)
    variance = 1 + found.value**2 / 2 if factor is None else factor
    half = 1.959964 * math.sqrt(variance / 27)
    wanted = math.tanh(math.atanh(found.value) - half), math.tanh(math.atanh(found.value) + half)
    assert (found.fisher.low, found.fisher.high) == pytest.approx(wanted, abs=1e-6)
    assert error in found.fisher.method


def test_the_bootstrap_agrees_with_scipy() -> None:
    x, y = points(60, seed=5)
    ours = pearson(x, y, rng=generator(1), settings=Resampling(n_boot=3000)).bootstrap
    theirs = stats.bootstrap(
        (x, y), lambda a, b: stats.pearsonr(a, b).statistic, paired=True, vectorized=False,
        method="percentile", n_resamples=3000, rng=generator(2),
    ).confidence_interval  # fmt: skip
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_points_that_belong_together_are_drawn_together() -> None:
    x, y = points(10, seed=7)
    models = [f"m{i}" for i in range(10) for _ in range(8)]
    copied = np.repeat(x, 8), np.repeat(y, 8)
    alone = pearson(*copied, rng=generator()).bootstrap
    together = pearson(*copied, clusters=models, rng=generator()).bootstrap
    once = pearson(x, y, rng=generator()).bootstrap
    assert (together.low, together.high) == pytest.approx((once.low, once.high))
    assert together.n_clusters == 10
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_a_perfect_line_has_an_interval_without_width() -> None:
    found = pearson([1, 2, 3, 4], [2, 4, 6, 8], rng=generator(), settings=FEW)
    assert (found.value, found.fisher.low, found.fisher.high) == pytest.approx((1, 1, 1))
    falling = spearman([1, 2, 3, 4], [9, 4, 1, 0], rng=generator(), settings=FEW)
    assert (falling.value, falling.fisher.low, falling.fisher.high) == pytest.approx((-1, -1, -1))


def test_draws_of_equal_points_are_left_out() -> None:
    found = pearson([1, 2, 4], [1, 3, 2], rng=generator(), settings=Resampling(n_boot=200))
    assert "in which it does not exist" in found.bootstrap.method


def test_three_points_have_no_interval_of_fisher() -> None:
    found = spearman([1, 2, 3], [1, 3, 2], rng=generator(), settings=FEW)
    assert found.value == pytest.approx(0.5)
    assert math.isnan(found.fisher.low)
    assert "four points or more" in found.fisher.method


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([1, 2], [1, 2], "three or more"),
        ([1, 2, 3], [1, 2, 3, 4], "as many of both"),
        ([1, 1, 1], [1, 2, 3], "all values of x are 1.0"),
        ([1, 2, 3], [2, 2, 2], "all values of y are 2.0"),
    ],
)
def test_what_has_no_correlation_is_refused(x: list[float], y: list[float], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        pearson(x, y, rng=generator())


def test_an_unknown_error_of_rho_is_refused() -> None:
    with pytest.raises(UsageError, match="expected one of fieller, bonett-wright, fisher"):
        spearman([1, 2, 3], [1, 3, 2], rng=generator(), error="exact")


@pytest.mark.parametrize(("x", "y"), [([0, 1, 0, 1, 1], [1, 9, 2, 7, 4]), ([1, 9, 2, 7, 4], [0, 1, 0, 1, 1])])
def test_right_and_wrong_can_be_correlated(x: list[int], y: list[int]) -> None:
    """Values that differ by exactly 1 do vary."""
    found = pearson(x, y, rng=np.random.default_rng(0))
    assert found.bootstrap.low < found.value < found.bootstrap.high
