"""Agreement against published worked examples, statsmodels and hand calculation.

The ratings of the alpha example are those of Krippendorff, "Computing Krippendorff's Alpha-Reliability"
(2011), section E: nominal 0.743, ordinal 0.815, interval 0.849. The counts of the kappa example are those
of Fleiss (1971) as reprinted in many textbooks: kappa 0.210. Split halves give planted reliabilities back.
"""

import math

import numpy as np
import pytest
from statsmodels.stats import inter_rater

from vidence.errors import UsageError
from vidence.statistics.agreement import ceiling, cohen_kappa, krippendorff_alpha, reliability, stepped_up
from vidence.statistics.resampling import Resampling

FEW = Resampling(n_boot=100)
NAN = math.nan


def generator(seed=0):
    return np.random.default_rng(seed)


def names(n):
    return [str(i) for i in range(n)]


def test_a_side_that_always_says_the_same_has_a_kappa_of_0_and_no_interval():
    second = ["right", "wrong"] * 10
    found = cohen_kappa(["right"] * 20, second, clusters=names(20), rng=generator(), settings=FEW)
    assert (found.value, found.reason) == (0.0, "all labels of one side are right")
    assert np.isnan([found.low, found.high]).all()


def test_cohens_kappa_is_that_of_statsmodels():
    rng = generator(2)
    first = rng.choice(list("ABCD"), 300)
    second = np.where(rng.random(300) < 0.6, first, rng.choice(list("ABCDE"), 300))
    found = cohen_kappa(first.tolist(), second.tolist(), clusters=names(300), rng=rng, settings=FEW)
    table = np.array([[((first == a) & (second == b)).sum() for b in "ABCDE"] for a in "ABCDE"])
    theirs = inter_rater.cohens_kappa(table)
    assert found.value == pytest.approx(float(theirs.kappa))
    # The bootstrap of independent items comes near the interval of the asymptotic error.
    wide = cohen_kappa(first.tolist(), second.tolist(), clusters=names(300), rng=generator(1))
    assert (wide.low, wide.high) == pytest.approx((theirs.kappa_low, theirs.kappa_upp), abs=0.02)


def test_kappa_is_undefined_where_both_raters_always_give_one_label():
    found = cohen_kappa(["A", "A"], ["A", "A"], clusters=["a", "b"], rng=generator(), settings=FEW)
    assert math.isnan(found.value)
    assert "undefined" in found.method


def test_agreement_on_nothing_is_refused():
    with pytest.raises(UsageError, match="as many of each"):
        cohen_kappa([], [], clusters=[], rng=generator())


ALPHA_RATINGS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


@pytest.mark.parametrize(
    ("measurement", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_krippendorffs_example(measurement, alpha):
    table = np.array(ALPHA_RATINGS).T
    found = krippendorff_alpha(table, measurement=measurement, rng=generator(), settings=FEW)
    assert found.value == pytest.approx(alpha, abs=0.0005)
    # The unit with a single rating says nothing.
    assert found.n == 11
    assert found.method.startswith(f"Krippendorff's alpha, {measurement}; cluster bootstrap")


def test_alpha_of_two_raters_without_gaps_worked_out_by_hand():
    # Krippendorff (2011), section A: 14 ratings of 0, 6 of 1, four pairs apart; 1 - 19 * 4 / (14 * 6).
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    found = krippendorff_alpha(
        np.column_stack([first, second]), measurement="nominal", rng=generator(), settings=FEW
    )
    assert found.value == pytest.approx(1 - 19 * 4 / (14 * 6))
    given = {"rng": generator(), "settings": FEW}
    equal = krippendorff_alpha([[1, 1], [1, 1]], measurement="interval", **given)
    assert math.isnan(equal.value)
    # Clusters without pairs are left out.
    table = [[1, 1], [2, NAN], [1, 2]]
    found = krippendorff_alpha(table, measurement="nominal", clusters=["a", "b", "c"], **given)
    assert (found.n, found.n_clusters) == (2, 2)


def pairwise_alpha(table):
    """Alpha with squared distances as the mean within items over the mean over all pairs, item by item."""
    rows = [[v for v in row if not math.isnan(v)] for row in table.tolist()]
    rows = [row for row in rows if len(row) > 1]
    n = sum(map(len, rows))
    within = sum(
        sum((a - b) ** 2 for a in row for b in row) / (len(row) - 1) for row in rows
    ) / n  # fmt: skip
    pool = [v for row in rows for v in row]
    overall = sum((a - b) ** 2 for a in pool for b in pool) / (n * (n - 1))
    return 1 - within / overall


def test_alpha_of_intervals_is_one_less_the_ratio_of_distances():
    rng = generator(5)
    table = np.round(rng.normal(size=(40, 1)) + rng.normal(0, 0.5, (40, 4)), 1)
    table[rng.random(table.shape) < 0.3] = NAN
    found = krippendorff_alpha(table, measurement="interval", rng=rng, settings=FEW)
    assert found.value == pytest.approx(pairwise_alpha(table))


def test_alpha_draws_videos_where_they_are_known():
    rng = generator(6)
    truth = np.repeat(rng.integers(0, 5, 30), 4)
    # Raters who disagree, disagree on a whole video.
    noise = np.repeat(rng.random(30) < 0.4, 4)
    table = np.column_stack([truth, np.where(noise, (truth + 2) % 5, truth)])
    videos = [str(i // 4) for i in range(120)]
    apart = krippendorff_alpha(table, measurement="ordinal", rng=generator(), settings=FEW)
    together = krippendorff_alpha(
        table, measurement="ordinal", rng=generator(), clusters=videos, settings=FEW
    )
    assert together.value == apart.value
    assert together.n_clusters == 30
    assert together.high - together.low > 1.4 * (apart.high - apart.low)


@pytest.mark.parametrize(
    ("ratings", "said"),
    [
        ([1, 2], "items by raters"),
        ([[1, math.inf]], "finite numbers"),
        ([[1, NAN], [NAN, NAN]], "none of 2 items has two ratings"),
    ],
)
def test_alpha_of_what_is_no_table_is_refused(ratings, said):
    with pytest.raises(UsageError, match=said):
        krippendorff_alpha(ratings, measurement="nominal", rng=generator())


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
