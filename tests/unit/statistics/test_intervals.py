"""Intervals against hand calculation, scipy and published values."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from scipy import stats

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics import resampling
from vidence.statistics.intervals import ClusteredMean, clustered_error, mean_interval, proportion
from vidence.statistics.resampling import Resampling

student = partial(mean_interval, rule="student")

VALUES = [1, 0, 1, 1]
CLUSTERS = ["a", "a", "b", "b"]


def drawn(
    values: Sequence[float],
    *,
    clusters: list[str],
    rng: np.random.Generator,
    n_boot: int,
    level: float = 0.95,
    groups: list[str] | None = None,
) -> Estimate:
    """The bootstrap interval with another number of draws."""
    settings = Resampling(level=level, n_boot=n_boot)
    return ClusteredMean.of(values, clusters=clusters, groups=groups).interval(rng=rng, settings=settings)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def clustered_sample(n_clusters: int, seed: int) -> tuple[np.ndarray, list[str]]:
    """Right and wrong answers of videos of different size and difficulty."""
    rng = generator(seed)
    sizes = rng.integers(1, 12, n_clusters)
    clusters = [f"v{i:03d}" for i, size in enumerate(sizes) for _ in range(size)]
    difficulty = np.repeat(rng.beta(2, 2, n_clusters), sizes)
    return (rng.random(len(clusters)) < difficulty).astype(float), clusters


def test_two_clusters_give_the_interval_worked_out_by_hand() -> None:
    # The draws aa, ab, ba, bb have means 0.5, 0.75, 0.75, 1 with a quarter each.
    estimate = mean_interval(VALUES, clusters=CLUSTERS, rng=generator())
    assert (estimate.value, estimate.low, estimate.high) == (0.75, 0.5, 1.0)
    assert (estimate.n, estimate.n_clusters, estimate.level) == (4, 2, 0.95)
    assert estimate.method == "mean; cluster bootstrap, percentile, 2000 draws"
    middle = mean_interval(VALUES, clusters=CLUSTERS, rng=generator(), level=0.4)
    assert (middle.low, middle.high) == (0.75, 0.75)


def test_clusters_of_different_size_count_by_their_items() -> None:
    # Draws: aa 1, bb 0, ab and ba 3 / 4, not the mean of the two cluster means.
    values, clusters = [1, 1, 1, 0], ["a", "a", "a", "b"]
    estimate = mean_interval(values, clusters=clusters, rng=generator(), level=0.4)
    assert (estimate.low, estimate.high) == (0.75, 0.75)


def test_the_bootstrap_agrees_with_the_analytic_error_on_many_clusters() -> None:
    values, clusters = clustered_sample(400, seed=11)
    boot = drawn(values, clusters=clusters, rng=generator(1), n_boot=4000)
    half_width = stats.norm.ppf(0.975) * clustered_error(values, clusters=clusters)
    assert (boot.high - boot.low) / 2 == pytest.approx(half_width, rel=0.05)
    assert boot.value == pytest.approx(values.mean())


def test_the_bootstrap_agrees_with_scipy_when_each_value_is_its_own_cluster() -> None:
    values = generator(3).normal(size=150)
    names = [str(i) for i in range(150)]
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=4000, rng=generator(4))
    ours = drawn(values, clusters=names, rng=generator(5), n_boot=4000)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.01)


def test_questions_of_one_video_widen_the_interval() -> None:
    values = np.repeat([1.0, 0.0] * 100, 8)
    together = [f"v{i // 8}" for i in range(1600)]
    apart = [f"q{i}" for i in range(1600)]
    wide = mean_interval(values, clusters=together, rng=generator())
    narrow = mean_interval(values, clusters=apart, rng=generator())
    # With equal clusters of 8 identical answers the error is sqrt(8) times as large.
    ratio = (wide.high - wide.low) / (narrow.high - narrow.low)
    assert ratio == pytest.approx(math.sqrt(8), rel=0.1)


def test_the_same_generator_gives_the_same_interval() -> None:
    values, clusters = clustered_sample(30, seed=2)
    first = mean_interval(values, clusters=clusters, rng=generator(7))
    assert mean_interval(values, clusters=clusters, rng=generator(7)) == first
    assert mean_interval(values, clusters=clusters, rng=generator(8)) != first


def test_the_size_of_the_blocks_does_not_change_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    values, clusters = clustered_sample(23, seed=5)
    whole = drawn(values, clusters=clusters, rng=generator(9), n_boot=101)
    for cells in (1, 50, 1000):
        monkeypatch.setattr(resampling, "BLOCK_CELLS", cells)
        assert drawn(values, clusters=clusters, rng=generator(9), n_boot=101) == whole


def test_equal_values_have_an_interval_of_no_width_that_says_so() -> None:
    clusters = [str(i) for i in range(7)]
    boot = mean_interval([0.1] * 7, clusters=clusters, rng=generator())
    assert boot.low == pytest.approx(0.1)
    assert boot.high == pytest.approx(0.1)
    assert "says nothing" in boot.method
    assert "says nothing" in student([0.1] * 7, clusters=clusters).method


def test_a_single_cluster_has_no_interval_and_says_so() -> None:
    for estimate in (
        mean_interval([1, 0], clusters=["a", "a"], rng=generator()),
        student([1, 0], clusters=["a", "a"]),
        mean_interval([1, 0], groups=["x", "y"], clusters=["a", "a"], rng=generator()),
    ):
        assert estimate.value == 0.5
        assert math.isnan(estimate.low)
        assert math.isnan(estimate.high)
        assert (estimate.n, estimate.n_clusters) == (2, 1)
        assert "single cluster" in estimate.method
    assert math.isnan(clustered_error([1, 0], clusters=["a", "a"]))


def test_clustered_error_worked_out_by_hand() -> None:
    # Sums of deviations from 0.75: -0.5 and 0.5; sqrt(2 / 1 * 0.5) / 4 = 0.25.
    assert clustered_error(VALUES, clusters=CLUSTERS) == pytest.approx(0.25)


def test_clustered_error_without_clusters_is_the_usual_one() -> None:
    values = generator(1).normal(size=40)
    usual = stats.sem(values)
    assert clustered_error(values, clusters=[str(i) for i in range(40)]) == pytest.approx(usual)


def test_clustered_error_is_the_double_sum_of_the_paper() -> None:
    values, clusters = clustered_sample(12, seed=6)
    deviations = values - values.mean()
    names = np.array(clusters)
    total = sum(
        deviations[i] * deviations[j]
        for i in range(len(values)) for j in range(len(values)) if names[i] == names[j]
    )  # fmt: skip
    without_factor = math.sqrt(total) / len(values)
    assert clustered_error(values, clusters=clusters) == pytest.approx(without_factor * math.sqrt(12 / 11))


def test_the_analytic_interval_uses_t() -> None:
    # Student's t at 0.975 with one degree of freedom is 12.706 (any table).
    estimate = student(VALUES, clusters=CLUSTERS)
    assert estimate.value == 0.75
    assert estimate.high - 0.75 == pytest.approx(12.706 * 0.25, abs=1e-3)
    assert estimate.low == pytest.approx(0.75 - (estimate.high - 0.75))
    assert "t with 1 degrees of freedom" in estimate.method


def test_the_analytic_interval_without_clusters_is_that_of_scipy() -> None:
    values = generator(2).normal(size=25)
    low, high = stats.t.interval(0.9, 24, loc=values.mean(), scale=stats.sem(values))
    estimate = student(values, clusters=[str(i) for i in range(25)], level=0.9)
    assert (estimate.low, estimate.high) == pytest.approx((low, high))


def test_macro_is_the_mean_of_the_groups() -> None:
    # Group x: 1/1, group y: 1/3; micro would be 2/4.
    estimate = mean_interval(
        [1, 1, 0, 0], groups=["x", "y", "y", "y"], clusters=["a", "a", "b", "c"], rng=generator()
    )
    assert estimate.value == pytest.approx(2 / 3)
    assert (estimate.n, estimate.n_clusters) == (4, 3)
    assert "macro mean of 2 groups" in estimate.method


def test_macro_draws_clusters_once_for_all_groups() -> None:
    # Each video has one question of each group, right in one and wrong in the other: every draw is 0.5.
    values, groups = [1, 0] * 9, ["x", "y"] * 9
    clusters = [f"v{i // 2}" for i in range(18)]
    estimate = mean_interval(values, groups=groups, clusters=clusters, rng=generator())
    assert (estimate.value, estimate.low, estimate.high) == (0.5, 0.5, 0.5)


def test_a_group_that_a_draw_misses_is_left_out_and_counted() -> None:
    # Draws of two clusters: xx -> mean of x alone, yy -> mean of y alone: half of the draws miss a group.
    estimate = drawn([1, 0], groups=["x", "y"], clusters=["a", "b"], rng=generator(), n_boot=4000)
    assert (estimate.value, estimate.low, estimate.high) == (0.5, 0.0, 1.0)
    share = float(estimate.method.split("(")[1].split("%")[0])
    assert share == pytest.approx(50, abs=3)


def test_macro_agrees_with_the_error_of_a_mean_of_independent_groups() -> None:
    # Groups with videos of their own: the variance of the mean is the sum of theirs over four.
    one, clusters_one = clustered_sample(300, seed=20)
    two, clusters_two = clustered_sample(300, seed=21)
    clusters = ["1" + c for c in clusters_one] + ["2" + c for c in clusters_two]
    estimate = drawn(
        np.concatenate([one, two]), groups=["1"] * len(one) + ["2"] * len(two), clusters=clusters,
        rng=generator(22), n_boot=4000,
    )  # fmt: skip
    error = (
        math.hypot(clustered_error(one, clusters=clusters_one), clustered_error(two, clusters=clusters_two))
        / 2
    )
    assert (estimate.high - estimate.low) / 2 == pytest.approx(stats.norm.ppf(0.975) * error, rel=0.06)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    # Newcombe (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_against_published_values(k: int, n: int, low: float, high: float) -> None:
    estimate = proportion(k, n)
    assert estimate.value == k / n
    assert (round(estimate.low, 4), round(estimate.high, 4)) == (low, high)
    assert (estimate.n, estimate.n_clusters) == (n, n)


def test_wilson_against_scipy() -> None:
    theirs = stats.binomtest(37, 91).proportion_ci(confidence_level=0.8, method="wilson")
    ours = proportion(37, 91, level=0.8)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_wilson_ends_exactly_at_the_ends() -> None:
    assert proportion(0, 7).low == 0.0
    assert proportion(7, 7).high == 1.0


@pytest.mark.parametrize(("k", "n"), [(1, 0), (0, 0), (-1, 5), (6, 5)])
def test_what_is_no_proportion_is_refused(k: int, n: int) -> None:
    with pytest.raises(UsageError, match=f"{k} of {n}"):
        proportion(k, n)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_a_level_that_is_no_probability_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match=r"0\.95"):
        mean_interval(VALUES, clusters=CLUSTERS, rng=generator(), level=level)
    with pytest.raises(UsageError, match=r"0\.95"):
        student(VALUES, clusters=CLUSTERS, level=level)
    with pytest.raises(UsageError, match=r"0\.95"):
        proportion(1, 2, level=level)


def test_no_draws_are_refused() -> None:
    with pytest.raises(UsageError, match="n_boot 0"):
        drawn(VALUES, clusters=CLUSTERS, rng=generator(), n_boot=0)


@pytest.mark.parametrize("values", [[], [[1.0, 0.0]]])
def test_nothing_to_average_is_refused(values: list[float]) -> None:
    with pytest.raises(UsageError, match="one row"):
        mean_interval(values, clusters=[], rng=generator())
    with pytest.raises(UsageError, match="one row"):
        clustered_error(values, clusters=[])


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_a_value_that_is_not_finite_is_refused_with_its_position(broken: float) -> None:
    with pytest.raises(UsageError, match="at position 2"):
        mean_interval([1, 0, broken], clusters=["a", "b", "c"], rng=generator())


def test_labels_must_match_the_values() -> None:
    with pytest.raises(UsageError, match="1 clusters for 2 values"):
        mean_interval([1, 0], clusters=["a"], rng=generator())
    with pytest.raises(UsageError, match="3 groups for 2 values"):
        mean_interval([1, 0], groups=["x"] * 3, clusters=["a", "b"], rng=generator())


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    # 60 videos of 5 questions each; the mean of Beta(2, 2) is 0.5.
    rng = generator(31)
    clusters = [f"v{i // 5}" for i in range(300)]
    n_boot_hits = n_analytic_hits = 0
    for _ in range(300):
        difficulty = np.repeat(rng.beta(2, 2, 60), 5)
        values = (rng.random(300) < difficulty).astype(float)
        boot = drawn(values, clusters=clusters, rng=rng, level=0.9, n_boot=300)
        analytic = student(values, clusters=clusters, level=0.9)
        n_boot_hits += boot.low <= 0.5 <= boot.high
        n_analytic_hits += analytic.low <= 0.5 <= analytic.high
    # Three standard errors of 300 draws at 0.9 are 0.052.
    assert n_boot_hits / 300 == pytest.approx(0.9, abs=0.052)
    assert n_analytic_hits / 300 == pytest.approx(0.9, abs=0.052)


@pytest.mark.parametrize(("n_videos", "way"), [(29, "t with 28 degrees"), (30, "cluster bootstrap")])
def test_few_clusters_take_student_and_many_the_bootstrap(n_videos: int, way: str) -> None:
    values, clusters = [0.0, 1.0] * n_videos, [f"v{i // 2}" for i in range(2 * n_videos)]
    found = mean_interval(values, clusters=clusters, rng=generator(), rule="student-if-few")
    assert way in found.method


def test_the_bootstrap_needs_something_to_draw_from() -> None:
    with pytest.raises(UsageError, match="rng is None; expected a numpy Generator"):
        mean_interval(VALUES, clusters=CLUSTERS)
