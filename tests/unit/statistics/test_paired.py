"""Paired comparisons and rankings against hand calculation, scipy and statsmodels."""

import itertools
import math

import msgspec
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests

from conftest import IS_THOROUGH
from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics.intervals import UNBOUNDED, ClusteredMean
from vidence.statistics.paired import (
    Decision,
    check_margin,
    compact_letter_display,
    compare,
    decided,
    holm,
    mcnemar,
    rank,
    verdict,
)


def generator(seed=0):
    return np.random.default_rng(seed)


def runs(n_clusters, seed, gain=0.1):
    """Right and wrong answers of two runs on videos of different size and difficulty."""
    rng = generator(seed)
    sizes = rng.integers(1, 8, n_clusters)
    clusters = [f"v{i:03d}" for i, size in enumerate(sizes) for _ in range(size)]
    ease = np.repeat(rng.beta(2, 2, n_clusters), sizes)
    first = (rng.random(len(clusters)) < np.minimum(1, ease + gain)).astype(float)
    return first, (rng.random(len(clusters)) < ease).astype(float), clusters


def test_mcnemar_worked_out_by_hand():
    # 6 of 7 discordant items for the first: P(X >= 6) = 8 / 128, two-sided 16 / 128.
    first = [1] * 6 + [0] + [1] * 3 + [0] * 2
    second = [0] * 6 + [1] + [1] * 3 + [0] * 2
    found = mcnemar(first, second)
    assert (found.n_only_first, found.n_only_second, found.n_both, found.n_neither) == (6, 1, 3, 2)
    assert found.p_exact == pytest.approx(16 / 128)
    # Mid-p takes half of both tails' 7 / 128 away.
    assert found.p_mid == pytest.approx(9 / 128)
    assert found.odds_ratio == 6.0
    assert found.cohens_g == pytest.approx(6 / 7 - 0.5)


@pytest.mark.parametrize(("b", "c"), [(0, 5), (3, 9), (20, 31), (7, 7), (1, 0)])
def test_mcnemar_is_that_of_statsmodels(b, c):
    found = mcnemar([1] * b + [0] * c + [1, 0], [0] * b + [1] * c + [1, 0])
    theirs = their_mcnemar([[1, b], [c, 1]], exact=True)
    assert found.p_exact == pytest.approx(float(theirs.pvalue))


def test_without_discordant_items_there_is_nothing_to_test():
    found = mcnemar([1, 0], [1, 0])
    assert (found.p_exact, found.p_mid) == (1.0, 1.0)
    assert math.isnan(found.odds_ratio)
    assert math.isnan(found.cohens_g)
    assert mcnemar([1], [0]).odds_ratio == math.inf
    # Two and two of four: P(X = 2) = 6 / 16.
    found = mcnemar([1, 1, 0, 0], [0, 0, 1, 1])
    assert (found.p_exact, found.p_mid) == (1.0, pytest.approx(1 - 3 / 16))
    assert (found.odds_ratio, found.cohens_g) == (1.0, 0.0)
    alone = compare([1, 1, 0], [0, 1, 0], clusters=["a", "b", "c"]).mcnemar
    assert not alone.is_clustered


def test_mcnemar_needs_right_and_wrong():
    with pytest.raises(UsageError, match="0 and 1"):
        mcnemar([0.5, 1], [1, 0])
    with pytest.raises(UsageError, match="same items in the same order"):
        mcnemar([1, 1], [1])


def test_two_videos_give_the_comparison_worked_out_by_hand():
    # Differences 1, 0 and 1, 1, four times each: mean 0.75, error 0.25, t(0.975, 1) = 12.706, cut off at 1.
    found = compare(
        [1, 0, 1, 0, 1, 1, 1, 1] * 2, [0] * 16, clusters=["a"] * 4 + ["b"] * 4 + ["a"] * 4 + ["b"] * 4
    )
    assert (found.mean_first, found.mean_second) == (0.75, 0.0)
    assert (found.difference.value, found.difference.low, found.difference.high) == (0.75, -1.0, 1.0)
    assert found.difference.method == "mean difference; clustered error CR2, t with 1.0 degrees of freedom"
    # t = 3, whose two-sided p with one degree is 2 atan(1/3) / pi.
    assert found.p_value == pytest.approx(2 * math.atan(1 / 3) / math.pi)
    assert found.verdict == "not clear"
    assert (found.n_first_higher, found.n_second_higher, found.n_same) == (12, 0, 4)
    # Mean 0.75, variance 12 / 16 * 4 / 15.
    assert found.standardised == pytest.approx(0.75 / math.sqrt(0.2))
    assert found.mcnemar.n_only_first == 12
    assert found.mcnemar.is_clustered


def test_without_clusters_it_is_the_paired_t_test():
    rng = generator(4)
    first, second = rng.normal(0.2, 1, 60), rng.normal(0, 1, 60)
    found = compare(first, second, clusters=[str(i) for i in range(60)], bounds=UNBOUNDED)
    theirs = stats.ttest_rel(first, second)
    interval = theirs.confidence_interval(0.95)
    assert found.p_value == pytest.approx(float(theirs.pvalue))
    assert (found.difference.low, found.difference.high) == pytest.approx((interval.low, interval.high))
    assert found.mcnemar is None


def test_copies_of_each_question_change_no_p_value_that_respects_videos():
    first, second, clusters = runs(40, seed=2)
    once = compare(first, second, clusters=clusters)
    many = compare(np.repeat(first, 5), np.repeat(second, 5), clusters=list(np.repeat(clusters, 5)))
    assert many.p_value == pytest.approx(once.p_value)
    assert many.mcnemar.p_exact < once.mcnemar.p_exact


def test_the_two_directions_mirror_each_other():
    first, second, clusters = runs(30, seed=3)
    one = compare(first, second, clusters=clusters)
    other = compare(second, first, clusters=clusters)
    assert (one.difference.value, one.p_value) == pytest.approx((-other.difference.value, other.p_value))
    assert one.difference.low == pytest.approx(-other.difference.high)
    assert one.standardised == pytest.approx(-other.standardised)
    assert (one.n_first_higher, one.n_second_higher) == (other.n_second_higher, other.n_first_higher)


def test_repeats_are_averaged_first_and_may_differ_in_number():
    first = [[1, 0], [1, 1], [0, 0]]
    second = [[0, 0, 1], [1, 1, 1], [0, 0, 0]]
    clusters = ["a", "b", "c"]
    found = compare(first, second, clusters=clusters)
    plain = compare([0.5, 1, 0], [1 / 3, 1, 0], clusters=clusters)
    assert found == plain
    assert found.difference.value == pytest.approx(1 / 18)


def test_runs_that_do_not_differ_have_p_one_and_no_effect():
    found = compare([1, 0, 1], [1, 0, 1], clusters=["a", "b", "c"])
    assert (found.p_value, found.verdict) == (1.0, "not clear")
    assert math.isnan(found.standardised)
    assert found.difference.low == -found.difference.high < 0
    found = compare([0.5, 2.0, 7.0], [0.5, 2.0, 7.0], clusters=["a", "b", "c"], bounds=UNBOUNDED)
    assert (found.difference.value, found.p_value) == (0.0, 1.0)


def test_a_single_video_says_nothing():
    found = compare([1, 1], [0, 0], clusters=["a", "a"])
    assert math.isnan(found.difference.low)
    assert (found.p_value, found.verdict) == (1.0, "too few videos")
    assert found.difference.reason == "too few videos (1)"
    assert math.isnan(compare([1], [0], clusters=["a"]).standardised)


def test_macro_differences_count_groups_alike():
    # Group x: 1 - 0 six times; group y: 0 - 0, 0 - 0, 1 - 0; macro (1 + 1/3) / 2.
    values = [1] * 6 + [0, 0, 1], [0] * 9
    groups, clusters = ["x"] * 6 + ["y"] * 3, ["a", "b", "c", "d", "e", "f", "a", "b", "c"]
    found = compare(*values, groups=groups, clusters=clusters)
    assert found.difference.value == pytest.approx(2 / 3)
    assert (found.mean_first, found.mean_second) == (pytest.approx(2 / 3), 0.0)
    assert found.difference.method.startswith("difference of macro means of 2 groups; clustered error CR2")
    # Group x does not vary; of y the variance of the mean is (1/9 + 1/9 + 4/9) / 2 / 3, its weight 1/4.
    error = math.sqrt(1 / 9 / 4)
    dof = ClusteredMean.of(values[0], clusters=clusters, groups=groups).layout.dof
    assert found.difference.dof == dof
    assert found.p_value == pytest.approx(max(2 * stats.t.sf(2 / 3 / error, dof), 2.0**-6))


def test_the_p_values_keep_their_promise_under_videos_that_go_together():
    # Pairs of runs that do not differ, on 20 videos of 10 questions that share their luck.
    rng = generator(12)
    clusters = [f"v{i}" for i in range(20) for _ in range(10)]
    n_clear = n_mcnemar = 0
    n = 400 if IS_THOROUGH else 120
    for _ in range(n):
        luck = np.repeat(rng.random((2, 20)), 10, axis=1)
        first, second = (rng.random((2, 200)) < np.where(luck < 0.5, 0.2, 0.8)).astype(float)
        found = compare(first, second, clusters=clusters)
        n_clear += found.verdict == "clear"
        n_mcnemar += found.mcnemar.p_exact <= 0.05
    # One in twenty expected; the test that ignores videos is far off.
    assert n_clear < 0.05 * n + 3.6 * math.sqrt(0.05 * 0.95 * n)
    assert n_mcnemar > 0.2 * n


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"second": [1]}, "same items in the same order"),
        ({"clusters": ["a"]}, "1 clusters for 2 values"),
        ({"groups": ["a"]}, "1 groups for 2 values"),
        ({"first": [1, math.nan]}, "not a finite number"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(change, said):
    given = {"first": [1, 0], "second": [0, 0], "clusters": ["a", "b"]} | change
    with pytest.raises(UsageError, match=said):
        compare(given.pop("first"), given.pop("second"), **given)


def by_hand_holm(p_values):
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for step, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[i]))
        adjusted[i] = highest
    return adjusted


@pytest.mark.parametrize("p_values", [[0.5], [0.01, 0.04, 0.03, 0.005], [0.2, 0.2, 0.9, 0.0, 1.0]])
def test_holm_is_the_step_down_rule(p_values):
    assert list(holm(p_values)) == pytest.approx(by_hand_holm(p_values))
    assert holm(p_values) == tuple(multipletests(p_values, method="holm")[1].tolist())


@pytest.mark.parametrize("p_values", [[], [0.5, math.nan], [1.5], [-0.1]])
def test_holm_needs_probabilities(p_values):
    with pytest.raises(UsageError, match="from 0 to 1"):
        holm(p_values)


display = compact_letter_display


def test_groups_are_the_largest_sets_without_a_clear_pair():
    names = ["a", "b", "c", "d"]
    assert display(names, []) == (("a", "b", "c", "d"),)
    assert display(names, [("a", "d")]) == (("a", "b", "c"), ("b", "c", "d"))
    assert display(names, list(itertools.combinations(names, 2))) == (("a",), ("b",), ("c",), ("d",))
    # A gap that is no chain: a-c and b-d are clear.
    assert display(names, [("a", "c"), ("b", "d")]) == (("a", "b"), ("a", "d"), ("b", "c"), ("c", "d"))


@pytest.mark.parametrize("pair", [("a", "a"), ("a", "x"), ("x", "a")])
def test_a_clear_pair_is_of_two_names(pair):
    with pytest.raises(UsageError, match="does not name two of"):
        display(["a", "b"], [pair])


def test_a_ranking_says_who_is_ahead_and_who_cannot_be_told_apart():
    rng = generator(8)
    n = 400
    clusters = [f"v{i // 2}" for i in range(n)]
    good = (rng.random(n) < 0.9).astype(float)
    twin = good.copy()
    twin[:6] = 1 - twin[:6]
    bad = (rng.random(n) < 0.5).astype(float)
    found = rank({"bad": bad, "good": good, "twin": twin}, clusters=clusters)
    means = {"bad": bad.mean(), "good": good.mean(), "twin": twin.mean()}
    assert list(found.names) == sorted(means, key=lambda name: -means[name])
    assert [m.value for m in found.means] == pytest.approx(sorted(means.values(), reverse=True))
    assert found.names[2] == "bad"
    assert set(found.groups) == {(found.names[0], found.names[1]), ("bad",)}
    assert found.places == ((1, 2), (1, 2), (3, 3))
    assert [(p.first, p.second) for p in found.pairs] == [("bad", "good"), ("bad", "twin"), ("good", "twin")]
    assert [p.worse for p in found.pairs[:2]] == ["bad", "bad"]
    assert {found.pairs[2].better, found.pairs[2].worse} == {"good", "twin"}
    assert [p.p_holm for p in found.pairs] == pytest.approx(by_hand_holm([p.p_value for p in found.pairs]))
    assert [p.is_clear for p in found.pairs] == [True, True, False]
    assert found.method == "paired differences clustered by video; Holm over 3 pairs"
    systems = {"bad": bad, "good": good, "twin": twin}
    for pair in found.pairs:
        alone = compare(systems[pair.second], systems[pair.first], clusters=clusters)
        assert pair.difference == alone.difference
        assert pair.p_value == alone.p_value


def test_a_ranking_by_macro_means_and_one_of_equal_scores():
    equal = rank({"b": [1, 0], "a": [0, 1]}, clusters=["x", "y"])
    assert (equal.names, equal.groups, equal.pairs[0].p_holm) == (("a", "b"), (("a", "b"),), 1.0)
    systems = {"p": [1, 0, 0, 0], "q": [0, 1, 1, 0]}
    groups, clusters = ["x", "y", "y", "y"], ["a", "b", "c", "d"]
    assert rank(systems, clusters=clusters).names == ("q", "p")
    found = rank(systems, clusters=clusters, groups=groups)
    assert found.names == ("p", "q")
    assert [m.value for m in found.means] == pytest.approx([1 / 2, 1 / 3])
    assert found.means[0].method.startswith("macro mean of 2 groups")


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        ({"a": [1, 0]}, "1 systems to rank"),
        ({"a": [1, 0], "b": [1]}, r"different numbers of items \(a: 2, b: 1\)"),
    ],
)
def test_rankings_that_make_no_sense_are_refused(systems, said):
    with pytest.raises(UsageError, match=said):
        rank(systems, clusters=["a", "b"])


@pytest.mark.parametrize(
    ("reason", "noun", "told"),
    [
        ("too few people (1)", "source", "too few people"),
        ("too few sources (1)", "source", "too few sources"),
        ("too few videos (1)", "video", "too few videos"),
    ],
)
def test_a_verdict_names_what_there_is_too_little_of(reason, noun, told):
    found = Estimate(
        value=0.1, low=math.nan, high=math.nan, level=0.95, n=2, n_clusters=1, method="none", reason=reason
    )
    assert verdict(0.01, msgspec.structs.replace(found, clustered_by=noun)) == told


# ------------------------------------------------------------------ equivalence within a margin


@pytest.mark.parametrize(
    ("value", "is_clear", "is_within", "word"),
    [
        (0.01, True, True, "better"),
        (-0.3, True, False, "worse"),
        (0.01, False, True, "equivalent"),
        (0.01, False, False, "not decided"),
    ],
)
def test_the_four_verdicts_at_a_margin(value, is_clear, is_within, word):
    assert decided(value, is_clear=is_clear, is_within=is_within) == word


def test_a_decision_says_what_it_rests_on():
    """Clear, and within a wide margin; before it is decided, and behind it, with what was not asked."""
    first, second = np.ones(100), np.ones(100)
    second[:6] = 0
    clusters = [*map(str, range(100))]
    levels = (compare(first, second, clusters=clusters, level=level) for level in (0.95, 0.9))
    found, tests = levels
    at = Decision.at(0.2, found, tests.difference)
    assert (at.decided, at.is_within, at.word) == ("better", True, "better, but by less than the margin")
    assert not Decision.at(0.05, found, tests.difference).is_within
    assert at.ends.startswith("+6.0 points, +2.0 to +10.0, 90 % at all looks together")
    look = msgspec.structs.replace(at, n_items=300, n_sources=200)
    assert str(look) == "not decided after 100 of 300 questions (100 of 200 videos)"
    look = msgspec.structs.replace(look, n_asked=60, n_decisive=40, n_left=1)
    said = "decided after 60 of 300 questions (40 of 200 videos): better, but by less than the margin"
    assert str(look) == f"{said}; 1 question not asked"


@pytest.mark.parametrize("margin", [0.0, -0.02, 1.0, math.nan])
def test_a_margin_that_says_nothing_is_refused(margin):
    with pytest.raises(UsageError, match="expected above 0 and below 100"):
        check_margin(margin)
    check_margin(0.02)
