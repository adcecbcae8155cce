"""Plans against statsmodels, textbook values and simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from vidence.errors import UsageError
from vidence.statistics.intervals import clustered_error
from vidence.statistics.power import (
    Design,
    discordance,
    intraclass_correlation,
    paired_detectable,
    paired_needed,
    paired_power,
    unpaired_detectable,
    unpaired_needed,
    unpaired_power,
)


def alone(n: int) -> Design:
    """Every question on a video of its own."""
    return Design(n_items=n, n_clusters=n)


def test_questions_of_one_video_count_less() -> None:
    design = Design(n_items=1000, n_clusters=100, icc=0.2)
    assert design.design_effect == pytest.approx(1 + 9 * 0.2)
    assert design.n_effective == pytest.approx(1000 / 2.8)
    assert Design(n_items=1000, n_clusters=100, icc=1).n_effective == pytest.approx(100)
    assert alone(50).design_effect == 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_items": 10, "n_clusters": 1},
        {"n_items": 10, "n_clusters": 11},
        {"n_items": 10, "n_clusters": 5, "icc": -0.1},
        {"n_items": 10, "n_clusters": 5, "icc": 1.1},
    ],
)
def test_a_design_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="expected"):
        Design(**wrong)


def test_the_correlation_within_videos_worked_out_by_hand() -> None:
    # Means 1 and 5 around 3: between 2 * 4 + 2 * 4 = 16; within 4 * 1 / 2 = 2; (16 - 2) / (16 + 2).
    assert intraclass_correlation([0, 2, 4, 6], clusters=["a", "a", "b", "b"]) == pytest.approx(14 / 18)
    assert intraclass_correlation([1, 1, 3, 3], clusters=["a", "a", "b", "b"]) == pytest.approx(1.0)
    assert math.isnan(intraclass_correlation([1, 1, 1], clusters=["a", "a", "b"]))


def test_the_correlation_within_videos_of_uneven_size_is_found() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 9, 2000)
    owner = np.repeat(np.arange(2000), sizes)
    values = rng.normal(0, math.sqrt(0.3), 2000)[owner] + rng.normal(0, math.sqrt(0.7), len(owner))
    assert intraclass_correlation(values, clusters=[str(i) for i in owner]) == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("clusters", [["a", "a"], ["a", "b"]])
def test_the_correlation_within_videos_needs_several_with_several(clusters: list[str]) -> None:
    with pytest.raises(UsageError, match="two videos or more"):
        intraclass_correlation([0, 1], clusters=clusters)


def test_discordance_from_accuracies_and_correlation() -> None:
    assert discordance(0.6, 0.4, correlation=0) == pytest.approx(0.6 * 0.6 + 0.4 * 0.4)
    # The same run twice is never apart, opposite runs always.
    assert discordance(0.3, 0.3, correlation=1) == pytest.approx(0)
    assert discordance(0.3, 0.7, correlation=-1) == pytest.approx(1)
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 500)) < [[0.7], [0.5]]
    seen = float(np.corrcoef(first, second)[0, 1])
    found = discordance(first.mean(), second.mean(), correlation=seen)
    assert found == pytest.approx(float((first != second).mean()))


@pytest.mark.parametrize(
    ("first", "second", "correlation", "said"),
    [
        (60, 0.5, 0, "not percentages"),
        (0.5, -0.1, 0, "not percentages"),
        (0.9, 0.1, 0.5, r"expected -1.000 to 0.111"),
        (1.0, 0.5, 0.3, None),
    ],
)
def test_discordance_of_what_cannot_be(
    first: float, second: float, correlation: float, said: str | None
) -> None:
    if said is None:
        # A run that is always right is correlated with nothing; the correlation plays no part.
        assert discordance(first, second, correlation=correlation) == pytest.approx(0.5)
        return
    with pytest.raises(UsageError, match=said):
        discordance(first, second, correlation=correlation)


def test_a_correlation_that_constant_runs_do_not_allow_is_never_needed() -> None:
    assert discordance(1.0, 1.0, correlation=0.9) == 0.0


@pytest.mark.parametrize("n", [20, 200, 2000])
@pytest.mark.parametrize("gain", [0.01, 0.05, 0.1])
def test_power_is_that_of_statsmodels(n: int, gain: float) -> None:
    # Variance of a difference in {-1, 0, 1}: discordance less the square of its mean.
    effect = gain / math.sqrt(0.2 - gain**2)
    theirs = TTestPower().power(effect, n, 0.05)
    assert paired_power(gain, discordance=0.2, design=alone(n)) == pytest.approx(theirs, abs=1e-6)


def test_power_has_no_holes_and_grows() -> None:
    for df in (2, 5, 50, 5000):
        powers = [paired_power(gain, discordance=0.5, design=alone(df)) for gain in np.linspace(0, 0.5, 200)]
        assert powers[0] == pytest.approx(0.05)
        assert all(b >= a - 1e-9 for a, b in itertools.pairwise(powers))
        assert powers[-1] <= 1.0


def test_a_difference_without_any_spread_is_found() -> None:
    assert paired_power(1.0, discordance=1.0, design=alone(3)) == 1.0
    assert unpaired_power(1.0, 1.0, designs=(alone(5), alone(5))) == pytest.approx(0.05)


def test_the_detectable_difference_has_the_power_and_is_the_textbook_one() -> None:
    design = Design(n_items=1114, n_clusters=273, icc=0.1)
    found = paired_detectable(discordance=0.3, design=design, power=0.9, level=0.99)
    assert paired_power(found, discordance=0.3, design=design, level=0.99) == pytest.approx(0.9, abs=1e-6)
    # Lachin: (1.960 + 0.842) standard errors, for many independent questions.
    many = paired_detectable(discordance=0.2, design=alone(100_000))
    assert many == pytest.approx((1.95996 + 0.84162) * math.sqrt(0.2 / 100_000), rel=1e-3)


def test_a_run_that_is_too_small_finds_nothing() -> None:
    assert paired_detectable(discordance=0.2, design=alone(3)) == math.inf
    assert unpaired_detectable(0.99, design=alone(20)) == math.inf


@pytest.mark.parametrize(("size", "icc"), [(1.0, 0.0), (4.0, 0.2), (5.5, 1.0)])
def test_the_needed_run_is_the_smallest(size: float, icc: float) -> None:
    found = paired_needed(0.03, discordance=0.25, items_per_cluster=size, icc=icc)
    assert found.n_items == math.ceil(found.n_clusters * size)
    assert paired_power(0.03, discordance=0.25, design=found) >= 0.8
    fewer = found.n_clusters - 1
    smaller = Design(n_items=math.ceil(fewer * size), n_clusters=fewer, icc=icc)
    assert paired_power(0.03, discordance=0.25, design=smaller) < 0.8


def test_two_videos_are_the_least() -> None:
    assert paired_needed(1.0, discordance=1.0).n_clusters == 2


def test_unpaired_runs_need_the_textbook_number() -> None:
    # Fleiss, without continuity and pooling: (1.96 + 0.842)^2 (p q + p q) / d^2.
    wanted = (1.95996 + 0.84162) ** 2 * (0.5 * 0.5 + 0.55 * 0.45) / 0.05**2
    found = unpaired_needed(0.5, 0.55)
    assert found.n_items == pytest.approx(wanted, rel=0.005)
    assert unpaired_power(0.5, 0.55, designs=(found, found)) >= 0.8
    smaller = alone(found.n_items - 1)
    assert unpaired_power(0.5, 0.55, designs=(smaller, smaller)) < 0.8
    gain = unpaired_detectable(0.5, design=found)
    assert gain == pytest.approx(0.05, abs=1e-4)


def test_the_same_questions_need_fewer_than_different_ones() -> None:
    apart = discordance(0.5, 0.55, correlation=0.5)
    paired = paired_needed(0.05, discordance=apart)
    assert paired.n_items < unpaired_needed(0.5, 0.55).n_items / 1.9


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: paired_power(0.3, discordance=0.2, design=alone(9)), "cannot be the larger one"),
        (lambda: paired_power(0.0, discordance=0.0, design=alone(9)), "share above 0"),
        (lambda: paired_power(0.1, discordance=0.2, design=alone(9), level=95), "level 95"),
        (lambda: paired_detectable(discordance=0.2, design=alone(9), power=0.01), r"power 0\.01"),
        (lambda: paired_detectable(discordance=0.2, design=alone(9), power=1), "power 1"),
        (lambda: paired_needed(0, discordance=0.2), "other than 0"),
        (lambda: paired_needed(0.1, discordance=0.2, items_per_cluster=0.5), "one item or more"),
        (lambda: paired_needed(1e-9, discordance=0.2), "no number of videos"),
        (lambda: unpaired_power(0.5, 50, designs=(alone(9), alone(9))), "not percentages"),
        (lambda: unpaired_detectable(1.0, design=alone(9)), "below 1"),
        (lambda: unpaired_needed(0.5, 0.5), "other than 0"),
    ],
)
def test_plans_that_make_no_sense_are_refused(call, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call()


def test_a_planned_paired_run_finds_what_it_promises() -> None:
    """Simulated runs on 60 videos of 5 questions, tested with the clustered error and Student's t."""
    rng = np.random.default_rng(21)
    n_clusters, size, icc, gain, apart = 60, 5, 0.3, 0.1, 0.3
    clusters = [f"v{i}" for i in range(n_clusters) for _ in range(size)]
    design = Design(n_items=n_clusters * size, n_clusters=n_clusters, icc=icc)
    planned = paired_power(gain, discordance=apart, design=design)
    critical = stats.t.ppf(0.975, n_clusters - 1)
    shares = [(apart - gain) / 2, 1 - apart, (apart + gain) / 2]
    n_found, n_trials = 0, 1500
    for _ in range(n_trials):
        # A question takes its video's draw with chance sqrt(icc): two of one video correlate with icc.
        own = rng.choice([-1, 0, 1], p=shares, size=(n_clusters, size))
        shared = rng.choice([-1, 0, 1], p=shares, size=(n_clusters, 1))
        takes = rng.random((n_clusters, size)) < math.sqrt(icc)
        differences = np.where(takes, shared, own).ravel()
        error = clustered_error(differences, clusters=clusters)
        n_found += abs(differences.mean()) > critical * error
    # Standard error of the simulated share: 0.012; the t test is not exact for such values.
    assert n_found / n_trials == pytest.approx(planned, abs=0.04)
    assert 0.5 < planned < 0.9


def test_a_planned_unpaired_run_finds_what_it_promises() -> None:
    rng = np.random.default_rng(22)
    n, first, second = 400, 0.5, 0.6
    planned = unpaired_power(first, second, designs=(alone(n), alone(n)))
    counts = rng.binomial(n, [first, second], size=(4000, 2)) / n
    errors = np.sqrt((counts * (1 - counts)).sum(axis=1) / n)
    found = np.abs(counts[:, 1] - counts[:, 0]) / errors > stats.t.ppf(0.975, 2 * n - 2)
    assert found.mean() == pytest.approx(planned, abs=0.03)
