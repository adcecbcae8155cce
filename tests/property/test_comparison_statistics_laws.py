"""Laws of comparisons, plans, agreement and repeats."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conftest import IS_THOROUGH
from vidence.statistics.agreement import krippendorff_alpha
from vidence.statistics.correlation import spearman
from vidence.statistics.paired import compact_letter_display, compare, holm
from vidence.statistics.power import MANY_APART, Design, paired_needed, paired_power
from vidence.statistics.repeats import components, summarise
from vidence.statistics.resampling import Resampling

FEW = Resampling(n_boot=60)


@st.composite
def two_runs(draw: st.DrawFn) -> tuple[list[int], list[int], list[str]]:
    n = draw(st.integers(2, 30))
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from("abcde")), min_size=n, max_size=n
        )
    )
    return [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows]


@given(case=two_runs())
def test_comparisons_mirror_and_hold_together(case: tuple[list[int], list[int], list[str]]) -> None:
    first, second, clusters = case
    one = compare(first, second, clusters=clusters)
    other = compare(second, first, clusters=clusters)
    assert one.difference.value == pytest.approx(-other.difference.value)
    assert one.p_value == pytest.approx(other.p_value)
    assert 0 < one.p_value <= 1
    assert one.n_first_higher + one.n_second_higher + one.n_same == len(first)
    assert one.mcnemar is not None
    assert 0 <= one.mcnemar.p_mid <= one.mcnemar.p_exact <= 1
    assert (one.n_first_higher, one.n_second_higher) == (one.mcnemar.n_only_first, one.mcnemar.n_only_second)
    if not math.isnan(one.difference.low):
        assert -1 - 1e-12 <= one.difference.low <= one.difference.high <= 1 + 1e-12


@given(case=two_runs(), seed=st.integers(0, 99))
def test_the_order_of_items_changes_no_comparison(case, seed):
    first, second, clusters = case
    order = np.random.default_rng(seed).permutation(len(first))
    moved = [[values[i] for i in order] for values in (first, second, clusters)]
    one = compare(first, second, clusters=clusters)
    other = compare(moved[0], moved[1], clusters=moved[2])
    assert (other.p_value, other.difference.value) == pytest.approx((one.p_value, one.difference.value))
    assert other.difference.high == pytest.approx(one.difference.high, nan_ok=True)
    assert other.mcnemar == one.mcnemar or one.n_first_higher + one.n_second_higher == 0


@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_only_raises_keeps_the_order_and_is_below_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for (p, a), (q, b) in itertools.combinations(zip(p_values, adjusted, strict=True), 2):
        assert (a <= b + 1e-12) if p <= q else (b <= a + 1e-12)
    for p, a in zip(p_values, adjusted, strict=True):
        assert p - 1e-12 <= a <= min(1.0, p * len(p_values)) + 1e-12


@given(n=st.integers(1, 7), edges=st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=15))
def test_groups_are_exactly_the_largest_sets_without_a_clear_pair(n, edges):
    names = [f"s{i}" for i in range(n)]
    clear = [(names[i], names[j]) for i, j in sorted(edges) if i < j < n]

    def is_free(members: tuple[str, ...]) -> bool:
        return not any(i in members and j in members for i, j in clear)

    free = [s for size in range(1, n + 1) for s in itertools.combinations(names, size) if is_free(s)]
    largest = {s for s in free if not any(set(s) < set(t) for t in free)}
    found = compact_letter_display(names, clear)
    assert set(found) == largest
    assert len(found) == len(largest)


@settings(max_examples=100 if IS_THOROUGH else 10)
@given(
    difference=st.floats(0.02, 0.1), size=st.integers(1, 8), icc=st.floats(0, 1), power=st.floats(0.3, 0.99)
)
def test_a_needed_run_has_the_power_and_one_video_less_has_not(difference, size, icc, power):
    rng, like = np.random.default_rng(0), Design(n_items=2 * size, n_clusters=2, icc=icc)
    found = paired_needed(difference, discordance=0.4, rng=rng, like=like, power=power)
    assume(found.n_clusters > 2)
    fewer = Design(n_items=(found.n_clusters - 1) * size, n_clusters=found.n_clusters - 1, icc=icc)
    # Smaller runs are simulated, and their power has some noise.
    assume(fewer.n_effective * 0.4 >= MANY_APART)
    assert paired_power(difference, discordance=0.4, design=found, rng=rng) >= power
    assert paired_power(difference, discordance=0.4, design=fewer, rng=rng) < power


@given(
    ratings=st.lists(
        st.lists(st.one_of(st.just(math.nan), st.integers(0, 4)), min_size=3, max_size=3),
        min_size=2,
        max_size=20,
    ),
    measurement=st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_knows_neither_raters_nor_items_by_name(ratings: list[list[float]], measurement: str) -> None:
    table = np.array(ratings, float)
    assume(((~np.isnan(table)).sum(axis=1) >= 2).any())
    given_as = {"measurement": measurement, "settings": FEW}
    found = krippendorff_alpha(table, rng=np.random.default_rng(0), **given_as).value
    turned = krippendorff_alpha(table[::-1, ::-1], rng=np.random.default_rng(0), **given_as).value
    assert turned == pytest.approx(found, nan_ok=True)
    assert math.isnan(found) or found <= 1 + 1e-12
    # Twice the scale and another zero are the same ratings.
    moved = krippendorff_alpha(2 * table + 7, rng=np.random.default_rng(0), **given_as).value
    assert moved == pytest.approx(found, nan_ok=True)


@given(scores=st.lists(st.integers(0, 100), min_size=2, max_size=8), shift=st.integers(-50, 50))
def test_repeat_intervals_move_with_the_scores(scores: list[int], shift: int) -> None:
    here, there = summarise(scores), summarise([s + shift for s in scores])
    assert there.mean.low == pytest.approx(here.mean.low + shift, nan_ok=True)
    assert there.variance == pytest.approx(here.variance, abs=1e-9)
    assert bool(here.mean.reason) == (len(set(scores)) == 1)
    if not here.mean.reason:
        assert here.mean.low <= here.mean.value <= here.mean.high


@given(case=two_runs())
def test_the_parts_of_an_error_never_pass_the_whole_unless_it_is_all_repeats(case):
    first, second, clusters = case
    found = components(np.column_stack([first, second]), clusters=clusters)
    assume(found.n_clusters > 1)
    together = found.sampling_error**2 + found.repeat_error**2
    assert together >= found.total_error**2 - 1e-12
    assert found.sampling_error == 0 or together == pytest.approx(found.total_error**2)


@given(points=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=12))
def test_rank_correlation_does_not_see_a_stretched_scale(points: list[tuple[int, int]]) -> None:
    x, y = [p[0] for p in points], [p[1] for p in points]
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    found = spearman(x, y, rng=np.random.default_rng(0), settings=FEW)
    cubed = spearman([v**3 for v in x], y, rng=np.random.default_rng(0), settings=FEW)
    falling = spearman([-v for v in x], y, rng=np.random.default_rng(0), settings=FEW)
    assert cubed == found
    assert falling.value == pytest.approx(-found.value)
    assert found.fisher.low - 1e-12 <= found.value <= found.fisher.high + 1e-12
