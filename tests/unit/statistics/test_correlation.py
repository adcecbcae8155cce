"""Correlations against scipy, and intervals against the printed formulas."""

import math

import numpy as np
import pytest
from scipy import stats

from conftest import IS_THOROUGH
from vidence.errors import UsageError
from vidence.statistics.correlation import cluster_permutation, kendall_tau, pearson, spearman
from vidence.statistics.resampling import Resampling

FEW = Resampling(n_boot=50)


def generator(seed=0):
    return np.random.default_rng(seed)


def points(n, seed=1):
    rng = generator(seed)
    x = rng.normal(size=n)
    return x, 0.6 * x + rng.normal(size=n)


def test_pearson_is_that_of_scipy_with_its_interval():
    x, y = points(40)
    found, theirs = pearson(x, y, rng=generator(), settings=FEW), stats.pearsonr(x, y)
    interval = theirs.confidence_interval(0.95)
    assert (found.value, found.p_value, found.n) == (
        pytest.approx(theirs.statistic),
        pytest.approx(theirs.pvalue, rel=1e-9),
        40,
    )
    assert (found.fisher.low, found.fisher.high) == pytest.approx((interval.low, interval.high))
    assert "Fisher's z" in found.fisher.method
    assert found.bootstrap.method.startswith("Pearson's r; pairs drawn with replacement; cluster bootstrap")


def test_spearman_is_that_of_scipy_ties_included():
    x, y = np.round(points(50, seed=3), 0)
    found, theirs = spearman(x, y, rng=generator(), settings=FEW), stats.spearmanr(x, y)
    assert (found.value, found.p_value) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    assert found.bootstrap.value == pytest.approx(found.value)


@pytest.mark.parametrize(("error", "factor"), [("fieller", 1.06), ("fisher", 1.0), ("bonett-wright", None)])
def test_each_error_of_rho_gives_its_own_interval(error, factor):
    x, y = points(30)
    found = spearman(x, y, rng=generator(), error=error, settings=FEW)
    variance = 1 + found.value**2 / 2 if factor is None else factor
    half = 1.959964 * math.sqrt(variance / 27)
    wanted = math.tanh(math.atanh(found.value) - half), math.tanh(math.atanh(found.value) + half)
    assert (found.fisher.low, found.fisher.high) == pytest.approx(wanted, abs=1e-6)
    assert error in found.fisher.method


def test_the_bootstrap_agrees_with_scipy():
    x, y = points(60, seed=5)
    ours = pearson(x, y, rng=generator(1), settings=Resampling(n_boot=3000)).bootstrap
    theirs = stats.bootstrap(
        (x, y), lambda a, b: stats.pearsonr(a, b).statistic, paired=True, vectorized=False,
        method="percentile", n_resamples=3000, rng=generator(2),
    ).confidence_interval  # fmt: skip
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_points_that_belong_together_are_drawn_together():
    x, y = points(10, seed=7)
    models = [f"m{i}" for i in range(10) for _ in range(8)]
    copied = np.repeat(x, 8), np.repeat(y, 8)
    alone = pearson(*copied, rng=generator()).bootstrap
    together = pearson(*copied, clusters=models, rng=generator()).bootstrap
    once = pearson(x, y, rng=generator()).bootstrap
    assert (together.low, together.high) == pytest.approx((once.low, once.high))
    assert together.n_clusters == 10
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_a_perfect_line_has_an_interval_without_width():
    found = pearson([1, 2, 3, 4], [2, 4, 6, 8], rng=generator(), settings=FEW)
    assert (found.value, found.fisher.low, found.fisher.high) == pytest.approx((1, 1, 1))
    falling = spearman([1, 2, 3, 4], [9, 4, 1, 0], rng=generator(), settings=FEW)
    assert (falling.value, falling.fisher.low, falling.fisher.high) == pytest.approx((-1, -1, -1))


def test_three_points_have_no_interval_of_fisher():
    found = spearman([1, 2, 3], [1, 3, 2], rng=generator(), settings=FEW)
    assert found.value == pytest.approx(0.5)
    assert math.isnan(found.fisher.low)
    assert "four points or more" in found.fisher.method
    found = pearson([1, 2, 4], [1, 3, 2], rng=generator(), settings=Resampling(n_boot=200))
    assert "in which it is undefined" in found.bootstrap.method  # draws of equal points are left out
    with pytest.raises(UsageError, match="expected one of fieller, bonett-wright, fisher"):
        spearman([1, 2, 3], [1, 3, 2], rng=generator(), error="exact")


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ([1, 2], [1, 2], "three or more"),
        ([1, 2, 3], [1, 2, 3, 4], "as many of both"),
        ([1, 1, 1], [1, 2, 3], "all values of x are 1.0"),
        ([1, 2, 3], [2, 2, 2], "all values of y are 2.0"),
    ],
)
def test_what_has_no_correlation_is_refused(x, y, said):
    with pytest.raises(UsageError, match=said):
        pearson(x, y, rng=generator())


@pytest.mark.parametrize(("x", "y"), [([0, 1, 0, 1, 1], [1, 9, 2, 7, 4]), ([1, 9, 2, 7, 4], [0, 1, 0, 1, 1])])
def test_right_and_wrong_can_be_correlated(x, y):
    """Values that differ by exactly 1 do vary."""
    found = pearson(x, y, rng=np.random.default_rng(0))
    assert found.bootstrap.low < found.value < found.bootstrap.high


def test_whole_clusters_are_permuted_with_their_strata():
    """Three clusters with two points each: six orders, counted here one by one."""
    x, y = [1.0, 4.0, 2.0, 6.0, 3.0, 5.0], [2.0, 5.0, 1.0, 6.0, 4.0, 3.0]
    clusters, strata = [*"aabbcc"], [*"stststs"][:6]
    seen = abs(stats.spearmanr(x, y).statistic)
    blocks = np.reshape(y, (3, 2))
    orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    expected = np.mean([abs(stats.spearmanr(x, blocks[o].ravel()).statistic) >= seen - 1e-9 for o in orders])
    found = cluster_permutation(x, y, clusters=clusters, strata=strata, rng=generator())
    assert found == pytest.approx(expected)
    # The order in which the points are named does not matter.
    turned = [list(reversed(some)) for some in (x, y, clusters, strata)]
    assert cluster_permutation(
        turned[0], turned[1], clusters=turned[2], strata=turned[3], rng=generator()
    ) == pytest.approx(expected)


def test_clusters_that_share_their_luck_are_not_taken_for_many_points():
    """Two points of each of 6 models are nearly copies: taken one by one they find too much."""
    rng, n_alone, n_together = generator(3), 0, 0
    clusters, strata = [f"m{i}" for i in range(6) for _ in "st"], [*"st"] * 6
    n = 80 if IS_THOROUGH else 30
    for _ in range(n):
        x, y = (np.repeat(rng.normal(size=6), 2) + 0.1 * rng.normal(size=12) for _ in range(2))
        n_alone += stats.spearmanr(x, y).pvalue < 0.05
        n_together += cluster_permutation(x, y, clusters=clusters, strata=strata, rng=rng) < 0.05
    assert n_together / n <= (0.09 if IS_THOROUGH else 0.14)
    assert n_alone / n >= 0.12


@pytest.mark.parametrize(
    ("clusters", "strata"), [([*"aab"], [*"sts"]), ([*"aaab"], [*"stst"]), ([*"aabb"], [*"ssst"])]
)
def test_clusters_without_the_same_strata_cannot_be_permuted(clusters, strata):
    values = [1.0, 2.0, 3.0, 4.0][: len(clusters)]
    with pytest.raises(UsageError, match="expected each cluster once in each stratum"):
        cluster_permutation(values, values[::-1], clusters=clusters, strata=strata, rng=generator())


def test_tau_b_of_several_rows_with_ties():
    x, y = np.array([[1, 2, 2, 4], [4, 3, 2, 1]]), np.array([[1, 3, 2, 4], [1, 2, 3, 4]])
    assert kendall_tau(x, y) == pytest.approx(
        [stats.kendalltau(*pair).statistic for pair in zip(x, y, strict=True)]
    )
    assert math.isnan(kendall_tau([1, 1], [1, 2]))
    with pytest.raises(UsageError, match="two or more"):
        kendall_tau([1], [1])


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_drawn_orders_move_whole_clusters_and_count_the_one_that_was_seen(kind):
    """Eight clusters have more orders than are tried: 5039 are drawn."""
    rng = generator(7)
    x, y = rng.normal(size=16), rng.normal(size=16)
    x += 0.7 * y
    clusters, strata = [f"m{i}" for i in range(8) for _ in "st"], [*"st"] * 8
    found = cluster_permutation(x, y, clusters=clusters, strata=strata, rng=generator(3), kind=kind)
    of = stats.pearsonr if kind == "pearson" else stats.spearmanr
    if kind == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    seen, draws, n_reached = abs(of(x, y).statistic), generator(3), 1
    a, blocks = x - x.mean(), y.reshape(8, 2) - y.mean()
    scale = math.sqrt((a**2).sum() * (blocks**2).sum())
    for _ in range(5039):
        moved = blocks[draws.permutation(8)].ravel()
        n_reached += abs(a @ moved) / scale >= seen - 1e-9
    assert found == pytest.approx(n_reached / 5040)


def test_whole_clusters_permuted_hold_their_level_where_points_are_near_copies():
    rng, n, few = np.random.default_rng(8), 200, Resampling(n_boot=1)
    clusters, strata = [*"aabbccddee"], ["s", "t"] * 5
    moved = naive = 0
    for _ in range(n):
        x, y = (np.repeat(rng.standard_normal(5), 2) + 0.2 * rng.standard_normal(10) for _ in range(2))
        p = cluster_permutation(x, y, clusters=clusters, strata=strata, rng=rng)
        moved, naive = moved + (p <= 0.05), naive + (spearman(x, y, rng=rng, settings=few).p_value <= 0.05)
    assert moved <= 0.08 * n
    assert naive >= 0.1 * n
