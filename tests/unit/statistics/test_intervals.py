"""Intervals against hand calculation, scipy, clubSandwich and published values."""

import math

import numpy as np
import pytest
from scipy import stats

from vidence.errors import UsageError
from vidence.records import WITHIN, Clusters
from vidence.statistics.intervals import (
    UNBOUNDED,
    ClusteredMean,
    alike,
    clustered_error,
    exact_end,
    mean_interval,
    p_values,
    proportion,
    share_ends,
)
from vidence.statistics.paired import compare
from vidence.statistics.sandwich import Layout

VALUES = [1, 0, 1, 1]
CLUSTERS = ["a", "a", "b", "b"]


def generator(seed=0):
    return np.random.default_rng(seed)


def clustered_sample(n_clusters, seed):
    """Right and wrong answers of videos of different size and difficulty."""
    rng = generator(seed)
    sizes = rng.integers(1, 12, n_clusters)
    clusters = [f"v{i:03d}" for i, size in enumerate(sizes) for _ in range(size)]
    difficulty = np.repeat(rng.beta(2, 2, n_clusters), sizes)
    return (rng.random(len(clusters)) < difficulty).astype(float), clusters


def test_reasons_and_methods_say_sources_where_clusters_are_sources():
    one, three = Clusters("aa", noun="source"), Clusters("abc", noun="source")
    found = mean_interval([1, 0], clusters=one)
    assert (found.reason, found.clustered_by) == ("too few sources (1)", "source")
    assert "unseen sources" in mean_interval([1, 1, 1], clusters=three).method
    alike_too = mean_interval([2, 2, 2], clusters=three, bounds=UNBOUNDED)
    assert alike_too.reason == "all sources are alike"
    assert compare([1, 0], [0, 0], clusters=one).verdict == "too few sources"


def test_two_clusters_give_the_interval_worked_out_by_hand():
    # Sums of deviations from 0.75: -0.5 and 0.5, each scaled by sqrt(2), over 4: variance 1 / 16, and 1 / 8
    # for a single one of two. Each unseen part is half of 1 / 8 over 1 / 4^2 + 1 / 8, which is 1 / 3.
    found = mean_interval(VALUES, clusters=CLUSTERS)
    centre = (2 * 0.75 + 1 / 3) / (2 + 2 / 3)
    spread = (4 / 16 + ((1 - centre) ** 2 + centre**2) / 3) / (8 / 3) ** 2
    each = stats.t.ppf(0.975, 1 + 2 / 3) ** 2 * spread / (centre * (1 - centre))
    half = math.sqrt(each * 3 / 16 + each**2 / 4)
    assert found.value == 0.75
    assert found.low == pytest.approx((0.75 + each / 2 - half) / (1 + each), rel=1e-5)
    assert found.high == pytest.approx((0.75 + each / 2 + half) / (1 + each), rel=1e-5)
    assert (found.n, found.n_clusters, found.level, found.reason) == (4, 2, 0.95, "")
    assert found.dof == pytest.approx(1)
    assert (
        found.method == "mean; Wilson with unseen videos, clustered error CR2, t with 1.0 degrees of freedom"
    )


def test_a_share_mirrors():
    values, clusters = clustered_sample(12, seed=3)
    found = mean_interval(values, clusters=clusters)
    other = mean_interval(1 - values, clusters=clusters)
    assert (found.low, found.high) == pytest.approx((1 - other.high, 1 - other.low))


@pytest.mark.parametrize("n_videos", [2, 5, 10, 100])
def test_videos_that_are_all_right_or_wrong_have_nearly_the_exact_interval(n_videos):
    exact = exact_end(n_videos, 0.95)
    for value in (0.0, 1.0):
        found = mean_interval(
            [value] * 6 * n_videos, clusters=[f"v{i % n_videos}" for i in range(6 * n_videos)]
        )
        end = found.high if value == 0 else 1 - found.low
        assert end == pytest.approx(exact, rel=0.04)
        assert found.value in (found.low, found.high)
        assert (found.dof, found.reason) == (pytest.approx(n_videos - 1), "")


def test_videos_that_are_alike_between_the_ends_keep_a_width():
    found = mean_interval([1, 0] * 10, clusters=[f"v{i // 2}" for i in range(20)])
    assert (found.low, found.high) == pytest.approx((0.4007, 0.5993), abs=1e-4)
    assert mean_interval([1 / 3] * 9, clusters=list("aabbbccdd"), bounds=UNBOUNDED).reason == alike()


def test_a_single_cluster_has_no_interval_and_says_so():
    for found in (
        mean_interval([1, 0], clusters=["a", "a"]),
        mean_interval([1, 1], clusters=["a", "a"]),
        mean_interval([1, 0], clusters=["a", "a"], bounds=UNBOUNDED),
        mean_interval([1, 0], groups=["x", "y"], clusters=["a", "a"]),
    ):
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert (found.n, found.n_clusters, found.dof) == (2, 1, None)
        assert found.reason == "too few videos (1)"
        assert "no interval: too few videos (1)" in found.method
    assert math.isnan(clustered_error([1, 0], clusters=["a", "a"]))
    found, p_value = ClusteredMean.of([1.0, 1.0], clusters=["a", "a"]).difference()
    assert (p_value, found.reason) == (1.0, "too few videos (1)")
    found = mean_interval([1, 0], groups=["x", "y"], clusters=["a", "b"])  # a group lies in one video each
    assert (found.reason, found.value) == ("too few videos (2)", 0.5)


def test_the_one_interval_is_the_same_in_any_units():
    values, clusters = clustered_sample(9, seed=4)
    share = mean_interval(values, clusters=clusters)
    frames = mean_interval(1 + 15 * values, clusters=clusters, bounds=(1, 16))
    assert (frames.low, frames.high) == pytest.approx((1 + 15 * share.low, 1 + 15 * share.high))


def test_what_has_no_bounds_has_the_interval_of_scipy():
    values = generator(2).normal(size=25)
    low, high = stats.t.interval(0.9, 24, loc=values.mean(), scale=stats.sem(values))
    found = mean_interval(values, clusters=[str(i) for i in range(25)], bounds=UNBOUNDED, level=0.9)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.method == "mean; clustered error CR2, t with 24.0 degrees of freedom"
    cut = mean_interval([1.0, 1.0, 5.0], clusters=["a", "a", "b"], bounds=(0, math.inf))
    assert cut.low == 0
    assert 5 < cut.high < math.inf


def test_macro_is_the_mean_of_the_groups():
    # Group x: 1/1, group y: 1/3; micro would be 2/4.
    found = mean_interval([1, 1, 0, 0], groups=["x", "y", "y", "y"], clusters=["a", "a", "b", "c"])
    assert found.value == pytest.approx(2 / 3)
    assert (found.n, found.n_clusters) == (4, 3)
    assert found.method.startswith("macro mean of 2 groups; Wilson")
    assert "groups on a single video: 1" in found.method


def test_groups_within_a_group_weigh_as_one_together():
    # VSI-Bench: counting beside three levels of direction, which the authors' code averages first.
    levels = [f"way{WITHIN}{level}" for level in ("easy", "easy", "hard", "hard", "hard", "hard")]
    groups, values = ["count", "count", *levels], [1, 0.5, 1, 1, 1, 0, 0, 0]
    clusters = ["a", "b", "a", "b", "c", "d", "a", "d"]
    found = ClusteredMean.of(values, clusters=clusters, groups=groups)
    assert found.value == pytest.approx((0.75 + (1 + 0.25) / 2) / 2)
    counts = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 2]], float)
    by_hand = Layout.of(counts, weights=[0.5, 0.25, 0.25])
    totals = np.array([[1, 1, 0], [0.5, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert found.variance == pytest.approx(float(by_hand.variance(totals)))
    assert found.layout.dof == by_hand.dof
    # A level on a single video adds the variance of a single value, weighted as the level is.
    weights = [1 / 4] * 2 + [1 / 8] * 2 + [1 / 16] * 4
    spread = np.average((np.array(values) - found.value) ** 2, weights=weights)
    single = ClusteredMean.of(values, clusters=["a", "b", "a", "a", "c", "d", "a", "d"], groups=groups)
    rest = float(single.layout.variance(single.totals))
    assert single.variance - rest == pytest.approx(spread / 16)


def test_larger_groups_of_one_group_each_change_nothing():
    values, clusters = clustered_sample(9, seed=3)
    plain = [f"g{i % 3}" for i in range(len(values))]
    nested = [f"{group}{WITHIN}{group}" for group in plain]
    found = mean_interval(values, clusters=clusters, groups=nested)
    assert found == mean_interval(values, clusters=clusters, groups=plain)


def test_a_group_on_a_single_video_counts_as_one_question():
    values, groups = [1, 1, 1, 0, 1, 0, 1], ["x", "x", "x", "y", "y", "y", "y"]
    clusters = ["a", "a", "a", "b", "c", "d", "e"]
    mean = ClusteredMean.of(values, clusters=clusters, groups=groups)
    # Group y: 0.5, variance of its mean 1/12, weight 1/4. Around 0.75, x adds half of 1/16, y of 5/16.
    assert mean.variance == pytest.approx(1 / 12 / 4 + (1 / 16 + 5 / 16) / 2 / 4)
    found = mean.interval()
    assert 0 < found.low < 0.75 < found.high < 1


def test_the_interval_of_a_difference_leaves_out_zero_where_its_p_value_is_small():
    for seed in range(40):
        values, clusters = clustered_sample(6, seed=seed)
        shifted = np.clip(values - generator(seed).integers(0, 2, len(values)), -1, 1)
        found, p_value = ClusteredMean.of(shifted, clusters=clusters).difference(level=0.9)
        assert (found.low > 0 or found.high < 0) == (p_value < 0.1)
        assert -1 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize(("n_videos", "is_clear"), [(2, False), (5, False), (6, True)])
def test_videos_that_all_differ_alike_are_as_sure_as_so_many_throws_of_a_coin(n_videos, is_clear):
    mean = ClusteredMean.of([1.0] * 2 * n_videos, clusters=[f"v{i // 2}" for i in range(2 * n_videos)])
    found, p_value = mean.difference()
    assert p_value == pytest.approx(2.0 ** (1 - n_videos))
    assert (found.low > 0) == is_clear
    assert found.high == 1
    assert exact_end(n_videos, 0.95) == pytest.approx(
        stats.binomtest(0, n_videos).proportion_ci(method="exact").high
    )


def test_no_difference_at_all_has_an_interval_around_zero():
    found, p_value = ClusteredMean.of([0.0] * 12, clusters=[f"v{i // 2}" for i in range(12)]).difference()
    assert p_value == 1
    assert (found.low, found.high) == pytest.approx((-exact_end(6, 0.95), exact_end(6, 0.95)))


def test_differences_without_bounds_that_are_alike_have_a_p_value_and_no_interval():
    found, p_value = ClusteredMean.of([3.0] * 6, clusters=list("abcdef")).difference(bounds=UNBOUNDED)
    assert (p_value, found.reason) == (pytest.approx(2.0**-5), alike())
    assert math.isnan(found.low)


@pytest.mark.parametrize(("n_apart", "is_clear"), [(4, False), (5, False), (6, True)])
def test_fewer_than_six_questions_that_differ_are_no_clear_difference(n_apart, is_clear):
    # Of 60 questions on 60 videos; t alone has p 0.044 where four differ, the exact test of McNemar 0.125.
    mean = ClusteredMean.of([1.0] * n_apart + [0.0] * (60 - n_apart), clusters=[str(i) for i in range(60)])
    found, p_value = mean.difference()
    assert p_value == pytest.approx(2.0 ** (1 - n_apart))
    assert (found.low > 0) == is_clear
    assert found.low >= 0


def test_many_means_at_once_have_the_ends_and_p_values_of_one():
    values, clusters = clustered_sample(7, seed=5)
    layout = ClusteredMean.of(values, clusters=clusters).layout
    drawn = generator(8).binomial(layout.counts[:, 0].astype(int), 0.3, size=(20, 7)).astype(float)[..., None]
    low, high = share_ends(layout.mean(drawn), layout.variance(drawn), layout=layout, level=0.9)
    found_p = p_values(
        layout.mean(drawn), layout.variance(drawn), n_apart=drawn.sum(axis=(1, 2)), dof=layout.dof, n_alike=7
    )
    for i, totals in enumerate(drawn[:, :, 0]):
        sizes = [int(n) for n in layout.counts[:, 0]]
        marks = [float(j < total) for total, n in zip(totals, sizes, strict=True) for j in range(n)]
        names = [str(g) for g, n in enumerate(layout.counts[:, 0]) for _ in range(int(n))]
        mean = ClusteredMean.of(marks, clusters=names)
        one = mean.interval(level=0.9)
        assert (one.low, one.high) == pytest.approx((low[i], high[i]))
        assert mean.difference()[1] == pytest.approx(found_p[i])


def test_clustered_error_is_the_double_sum_of_the_paper():
    values, clusters = clustered_sample(12, seed=6)
    deviations = values - values.mean()
    names = np.array(clusters)
    total = sum(
        deviations[i] * deviations[j]
        for i in range(len(values)) for j in range(len(values)) if names[i] == names[j]
    )  # fmt: skip
    without_factor = math.sqrt(total) / len(values)
    assert clustered_error(values, clusters=clusters) == pytest.approx(without_factor * math.sqrt(12 / 11))
    # Sums of deviations from 0.75: -0.5 and 0.5; sqrt(2 / 1 * 0.5) / 4 = 0.25.
    assert clustered_error(VALUES, clusters=CLUSTERS) == pytest.approx(0.25)
    values = generator(1).normal(size=40)
    assert clustered_error(values, clusters=[str(i) for i in range(40)]) == pytest.approx(stats.sem(values))


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    # Newcombe (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_against_published_values(k, n, low, high):
    estimate = proportion(k, n)
    assert estimate.value == k / n
    assert (round(estimate.low, 4), round(estimate.high, 4)) == (low, high)
    assert (estimate.n, estimate.n_clusters) == (n, n)


def test_wilson_against_scipy():
    theirs = stats.binomtest(37, 91).proportion_ci(confidence_level=0.8, method="wilson")
    ours = proportion(37, 91, level=0.8)
    assert (proportion(0, 7).low, proportion(7, 7).high) == (0.0, 1.0)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize(("k", "n"), [(1, 0), (0, 0), (-1, 5), (6, 5)])
def test_what_is_no_proportion_is_refused(k, n):
    with pytest.raises(UsageError, match=f"{k} of {n}"):
        proportion(k, n)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_a_level_that_is_no_probability_is_refused(level):
    with pytest.raises(UsageError, match=r"0\.95"):
        mean_interval(VALUES, clusters=CLUSTERS, level=level)
    with pytest.raises(UsageError, match=r"0\.95"):
        ClusteredMean.of(VALUES, clusters=CLUSTERS).difference(level=level)
    with pytest.raises(UsageError, match=r"0\.95"):
        proportion(1, 2, level=level)


def test_values_outside_the_bounds_are_refused():
    with pytest.raises(UsageError, match="values from 0 to 16; expected 0 to 1 "):
        mean_interval([0, 16], clusters=["a", "b"])
    with pytest.raises(UsageError, match="values from -2 to 0; expected -1 to 1 "):
        ClusteredMean.of([-2, 0], clusters=["a", "b"]).difference()


def test_labels_must_match_the_values():
    with pytest.raises(UsageError, match="1 clusters for 2 values"):
        mean_interval([1, 0], clusters=["a"])
    with pytest.raises(UsageError, match="3 groups for 2 values"):
        mean_interval([1, 0], groups=["x"] * 3, clusters=["a", "b"])
    for broken in (math.nan, math.inf):
        with pytest.raises(UsageError, match="at position 2"):
            mean_interval([1, 0, broken], clusters=["a", "b", "c"])
    for interval in (mean_interval, clustered_error):
        with pytest.raises(UsageError, match="one row"):
            interval([], clusters=[])


@pytest.mark.parametrize(
    ("sizes", "share", "icc"),
    # A percentile bootstrap of videos holds the truth in 0.55, 0.69 and 0.74 of the first three; t on the
    # scale of the logit in 0.78, 0.77 and 0.83 of the last, where all videos answer as one.
    [
        ([4] * 5, 0.05, 0),
        ([2, 3, 5, 8, 13, 3, 4, 2, 6, 4], 0.05, 0),
        ([8, 8, 8], 0.5, 0),
        ([15, 1] * 20, 0.05, 0.8),
        ([15, 1] * 30, 0.02, 0.8),
        ([15, 1] * 50, 0.95, 0.5),
    ],
)
def test_the_interval_holds_the_truth_where_videos_are_few_or_unequal(sizes, share, icc):
    layout, rng = Layout.of(np.array(sizes, float)[:, None]), generator(31)
    strength = (1 - icc) / icc if icc else 0
    size = (4000, len(sizes))
    chances = rng.beta(share * strength, (1 - share) * strength, size=size) if icc else share
    totals = rng.binomial(sizes, chances, size=size).astype(float)[..., None]
    low, high = share_ends(layout.mean(totals), layout.variance(totals), layout=layout, level=0.95)
    assert ((low <= share) & (share <= high)).mean() > 0.93
