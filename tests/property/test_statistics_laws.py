"""Laws of intervals, baselines and position bias."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.statistics.answer_keys import position_bias
from vidence.statistics.chance import numeric_median
from vidence.statistics.intervals import ClusteredMean, clustered_error, mean_interval, proportion


@st.composite
def clustered(draw: st.DrawFn) -> tuple[list[float], list[str]]:
    """Scores in whole hundredths, and clusters: at least two of them."""
    n = draw(st.integers(2, 40))
    values = [v / 100 for v in draw(st.lists(st.integers(0, 100), min_size=n, max_size=n))]
    clusters = draw(st.lists(st.sampled_from("abcdef"), min_size=n - 2, max_size=n - 2))
    return values, ["a", "b", *clusters]


@given(case=clustered())
def test_the_interval_holds_the_mean_and_stays_in_range(case: tuple[list[float], list[str]]) -> None:
    values, clusters = case
    found = mean_interval(values, clusters=clusters)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert found.low < found.high
    assert found.value == pytest.approx(sum(values) / len(values))
    assert (found.n, found.n_clusters) == (len(values), len(set(clusters)))


@given(case=clustered())
def test_a_higher_level_is_a_wider_interval(case: tuple[list[float], list[str]]) -> None:
    values, clusters = case
    narrow, wide = (mean_interval(values, clusters=clusters, level=level) for level in (0.5, 0.95))
    assert wide.low <= narrow.low < narrow.high <= wide.high


@given(case=clustered(), shift=st.integers(-50, 50), scale=st.integers(1, 20))
def test_intervals_follow_a_change_of_unit(case, shift, scale):
    values, clusters = case
    moved = [shift + scale * v for v in values]
    error = clustered_error(values, clusters=clusters)
    assert clustered_error(moved, clusters=clusters) == pytest.approx(scale * error, abs=1e-9)
    before = mean_interval(values, clusters=clusters)
    after = mean_interval(moved, clusters=clusters, bounds=(shift, shift + scale))
    assert after.low == pytest.approx(shift + scale * before.low, abs=1e-6)
    assert after.high == pytest.approx(shift + scale * before.high, abs=1e-6)


@given(case=clustered(), seed=st.integers(0, 1000))
def test_the_order_of_the_items_does_not_matter(case: tuple[list[float], list[str]], seed: int) -> None:
    values, clusters = case
    order = np.random.default_rng(seed).permutation(len(values))
    shuffled = [values[i] for i in order], [clusters[i] for i in order]
    before = mean_interval(values, clusters=clusters)
    after = mean_interval(shuffled[0], clusters=shuffled[1])
    assert (after.value, after.low, after.high) == pytest.approx((before.value, before.low, before.high))
    assert clustered_error(shuffled[0], clusters=shuffled[1]) == pytest.approx(
        clustered_error(values, clusters=clusters), abs=1e-12
    )


@given(case=clustered())
def test_asking_each_question_twice_does_not_narrow_the_interval(case: tuple[list[float], list[str]]) -> None:
    values, clusters = case
    once = mean_interval(values, clusters=clusters)
    twice = mean_interval(values * 2, clusters=clusters * 2)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high), abs=1e-9)


@given(case=clustered())
def test_a_difference_is_told_from_zero_exactly_where_its_interval_leaves_it_out(case):
    values, clusters = case
    mean = ClusteredMean.of([2 * v - 1 for v in values], clusters=clusters)
    found, p_value = mean.difference(level=0.8)
    if abs(p_value - 0.2) > 1e-9:
        assert (found.low > 0 or found.high < 0) == (p_value < 0.2)
    assert -1 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1


@given(n=st.integers(1, 5000), share=st.floats(0, 1), level=st.floats(0.5, 0.999))
def test_wilson_holds_the_share_stays_in_range_and_mirrors(n: int, share: float, level: float) -> None:
    k = round(n * share)
    estimate, mirrored = proportion(k, n, level=level), proportion(n - k, n, level=level)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.low < estimate.high
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - estimate.high, 1 - estimate.low), abs=1e-12)


@given(numbers=st.lists(st.integers(-999, 999), min_size=1, max_size=9))
def test_the_median_has_at_most_half_of_the_numbers_on_each_side(numbers: list[int]) -> None:
    found = numeric_median([f"about {number} cm" for number in numbers])
    middle = sorted(numbers)[(len(numbers) - 1) // 2]
    assert (found is None) == (numbers.count(middle) > 1)
    if found is None:
        return
    assert sum(number < numbers[found] for number in numbers) <= (len(numbers) - 1) / 2
    assert sum(number > numbers[found] for number in numbers) <= len(numbers) / 2


@given(
    pairs=st.lists(
        st.tuples(
            st.one_of(st.none(), st.sampled_from("ABCDEF")), st.sampled_from("ABCD"), st.integers(4, 5)
        ),
        min_size=1,
        max_size=40,
    ),
    seed=st.integers(0, 1000),
)
def test_position_counts_add_up(pairs: list[tuple[str | None, str, int]], seed: int) -> None:
    read, right, sizes = [p[0] for p in pairs], [p[1] for p in pairs], [p[2] for p in pairs]
    found = position_bias(read, right, n_choices=sizes, rng=np.random.default_rng(seed), n_draws=99)
    assert found.n == len(pairs) == sum(found.right)
    assert sum(found.read) + found.n_unread + found.n_outside == found.n
    assert sum(found.wrong_read) == pytest.approx(sum(found.wrong_expected))
    n_hits = sum(a * n for a, n in zip(found.accuracy, found.right, strict=True) if n)
    assert n_hits == pytest.approx(sum(a == b for a, b in zip(read, right, strict=True)))
    assert math.isnan(found.p_value) == (sum(found.wrong_read) == 0)
    assert math.isnan(found.p_value) or 0.01 <= found.p_value <= 1
