"""Plans against statsmodels, textbook values and simulation."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from conftest import IS_THOROUGH
from vidence.errors import UsageError
from vidence.statistics import power
from vidence.statistics.paired import compare
from vidence.statistics.power import N_SIMULATED, USUAL_ICC, Design, discordance, intraclass_correlation


def generator(seed=0):
    return np.random.default_rng(seed)


# Fresh draws for every call, the same ones.
paired_power = partial(power.paired_power, rng=generator())
paired_detectable = partial(power.paired_detectable, rng=generator())
paired_needed = partial(power.paired_needed, rng=generator())


def alone(n):
    """Every question on a video of its own."""
    return Design(n_items=n, n_clusters=n)


def test_questions_of_one_video_count_less():
    design = Design(n_items=1000, n_clusters=100, icc=0.2)
    assert design.design_effect == pytest.approx(1 + 9 * 0.2)
    assert design.n_effective == pytest.approx(1000 / 2.8)
    assert Design(n_items=1000, n_clusters=100, icc=1).n_effective == pytest.approx(100)
    assert alone(50).design_effect == 1.0
    assert Design(n_items=10, n_clusters=5).icc == USUAL_ICC > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_items": 10, "n_clusters": 1},
        {"n_items": 10, "n_clusters": 11},
        {"n_items": 10, "n_clusters": 5, "icc": -0.1},
        {"n_items": 10, "n_clusters": 5, "icc": 1.1},
        {"n_items": 10, "n_clusters": 2, "sizes": (5, 4)},
    ],
)
def test_a_design_that_cannot_be_is_refused(wrong):
    with pytest.raises(UsageError, match="expected"):
        Design(**wrong)


def test_the_correlation_within_videos_worked_out_by_hand():
    # Means 1 and 5 around 3: between 2 * 4 + 2 * 4 = 16; within 4 * 1 / 2 = 2; (16 - 2) / (16 + 2).
    assert intraclass_correlation([0, 2, 4, 6], clusters=["a", "a", "b", "b"]) == pytest.approx(14 / 18)
    assert intraclass_correlation([1, 1, 3, 3], clusters=["a", "a", "b", "b"]) == pytest.approx(1.0)
    assert math.isnan(intraclass_correlation([1, 1, 1], clusters=["a", "a", "b"]))
    for clusters in (["a", "a"], ["a", "b"]):
        with pytest.raises(UsageError, match="two videos or more"):
            intraclass_correlation([0, 1], clusters=clusters)


def test_the_correlation_within_videos_of_uneven_size_is_found():
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 9, 2000)
    owner = np.repeat(np.arange(2000), sizes)
    values = rng.normal(0, math.sqrt(0.3), 2000)[owner] + rng.normal(0, math.sqrt(0.7), len(owner))
    assert intraclass_correlation(values, clusters=[str(i) for i in owner]) == pytest.approx(0.3, abs=0.03)


def test_discordance_from_accuracies_and_correlation():
    assert discordance(0.6, 0.4, correlation=0) == pytest.approx(0.6 * 0.6 + 0.4 * 0.4)
    # The same run twice is never apart, opposite runs always.
    assert discordance(0.3, 0.3, correlation=1) == pytest.approx(0)
    assert discordance(0.3, 0.7, correlation=-1) == pytest.approx(1)
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 500)) < [[0.7], [0.5]]
    seen = float(np.corrcoef(first, second)[0, 1])
    found = discordance(first.mean(), second.mean(), correlation=seen)
    assert found == pytest.approx(float((first != second).mean()))
    assert discordance(1.0, 1.0, correlation=0.9) == 0.0  # constant runs are correlated with nothing
    # Of ten items with nine right in each run at least eight are right in both: r = -1/9 at the least.
    assert discordance(0.9, 0.9, correlation=-1 / 9) == pytest.approx(0.2)
    with pytest.raises(UsageError, match="correlation"):
        discordance(0.9, 0.9, correlation=-0.2)


@pytest.mark.parametrize(
    ("first", "second", "correlation", "said"),
    [
        (60, 0.5, 0, "not percentages"),
        (0.5, -0.1, 0, "not percentages"),
        (0.9, 0.1, 0.5, r"expected -1.000 to 0.111"),
        (0.5, 1.01, 0, "not percentages"),
        (1.0, 0.5, 0.3, None),
        (0.0, 0.5, 0, None),
        (0.5, 0.0, 0, None),
        (0.5, 1.0, 0, None),
    ],
)
def test_discordance_of_what_cannot_be(first, second, correlation, said):
    if said is None:
        # A run that is always right, or never, is correlated with nothing; the correlation plays no part.
        assert discordance(first, second, correlation=correlation) == pytest.approx(0.5)
        return
    with pytest.raises(UsageError, match=said):
        discordance(first, second, correlation=correlation)


@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("gain", [0.01, 0.05, 0.1])
def test_power_is_that_of_statsmodels(n, gain):
    # Variance of a difference in {-1, 0, 1}: discordance less the square of its mean.
    effect = gain / math.sqrt(0.2 - gain**2)
    theirs = TTestPower().power(effect, n, 0.05)
    assert paired_power(gain, discordance=0.2, design=alone(n)) == pytest.approx(theirs, abs=1e-6)


def test_power_has_no_holes_and_grows():
    for n in (80, 800, 5000):
        powers = [paired_power(gain, discordance=0.5, design=alone(n)) for gain in np.linspace(0, 0.5, 200)]
        assert powers[0] == pytest.approx(0.05)
        assert all(b >= a - 1e-9 for a, b in itertools.pairwise(powers))
        assert powers[-1] <= 1.0


def test_a_difference_without_any_spread_is_found_where_it_could_be():
    assert paired_power(1.0, discordance=1.0, design=alone(5)) == 0.0
    assert paired_power(1.0, discordance=1.0, design=alone(6)) == 1.0
    assert paired_power(1.0, discordance=1.0, design=alone(60)) == 1.0


def test_the_detectable_difference_has_the_power_and_is_the_textbook_one():
    design = Design(n_items=1114, n_clusters=273, icc=0.1)
    found = paired_detectable(discordance=0.3, design=design, power=0.9, level=0.99)
    assert paired_power(found, discordance=0.3, design=design, level=0.99) == pytest.approx(0.9, abs=1e-6)
    # Lachin: (1.960 + 0.842) standard errors, for many independent questions.
    many = paired_detectable(discordance=0.2, design=alone(100_000))
    assert many == pytest.approx((1.95996 + 0.84162) * math.sqrt(0.2 / 100_000), rel=1e-3)


def test_a_run_that_is_too_small_finds_nothing():
    assert paired_detectable(discordance=0.2, design=alone(3)) == math.inf
    assert paired_detectable(discordance=0.3, design=alone(5)) == math.inf
    # Two videos that differ alike are one throw of a coin in two; six are one in thirty-two.
    assert paired_needed(1.0, discordance=1.0).n_clusters == 6


@pytest.mark.parametrize(("size", "icc"), [(1.0, 0.0), (4.0, 0.2), (5.5, 1.0)])
def test_the_needed_run_is_the_smallest(size, icc):
    like = Design(n_items=round(10 * size), n_clusters=10, icc=icc)
    found = paired_needed(0.03, discordance=0.25, like=like)
    assert found.n_items == math.ceil(found.n_clusters * size)
    assert paired_power(0.03, discordance=0.25, design=found) >= 0.8
    fewer = found.n_clusters - 1
    smaller = Design(n_items=math.ceil(fewer * size), n_clusters=fewer, icc=icc)
    assert paired_power(0.03, discordance=0.25, design=smaller) < 0.8


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: paired_power(0.3, discordance=0.2, design=alone(9)), "expected at most the discordance"),
        (lambda: paired_power(0.0, discordance=0.0, design=alone(9)), "share above 0"),
        (lambda: paired_power(0.1, discordance=0.2, design=alone(9), level=95), "level 95"),
        (lambda: paired_detectable(discordance=0.2, design=alone(9), power=0.01), r"power 0\.01"),
        (lambda: paired_detectable(discordance=0.2, design=alone(9), power=1), "power 1"),
        (lambda: paired_needed(0, discordance=0.2), "a difference of 0"),
        (lambda: paired_needed(1e-9, discordance=0.2), "no number of videos"),
    ],
)
def test_plans_that_make_no_sense_are_refused(call, said):
    with pytest.raises(UsageError, match=said):
        call()


@pytest.mark.parametrize(
    ("n_videos", "each", "icc", "apart"),
    [(5, 10, 0.0, 0.5), (6, 1, 0.0, 0.6), (8, 2, 0.0, 0.5), (10, 30, 0.2, 0.1), (60, 5, 0.3, 0.3),
     (50, 2, 0.2, 0.1), (300, 2, 0.1, 0.2)],
)  # fmt: skip
def test_a_planned_paired_run_finds_what_it_promises(n_videos, each, icc, apart):
    """Simulated runs, other than the code's, put through `compare`."""
    rng = generator(21)
    clusters = [f"v{i}" for i in range(n_videos) for _ in range(each)]
    design = Design(n_items=len(clusters), n_clusters=n_videos, icc=icc)
    gain = paired_detectable(discordance=apart, design=design, power=0.5)
    planned = paired_power(gain, discordance=apart, design=design) if gain < 1 else 0.0
    gain = min(gain, apart)
    n_found, n_trials = 0, 2000 if n_videos < 20 else 700
    n_trials //= 1 if IS_THOROUGH else 4
    for _ in range(n_trials):
        shares = [(apart + gain) / 2, (apart - gain) / 2, 1 - apart]
        # A Polya urn: each question takes the fate of an earlier one of its video with its chance.
        fates = np.empty((n_videos, each), int)
        for i in range(each):
            weight = i * icc / (1 - icc + i * icc)
            copied = fates[np.arange(n_videos), rng.integers(0, max(i, 1), n_videos)]
            fresh = rng.choice(3, p=shares, size=n_videos)
            fates[:, i] = np.where(rng.random(n_videos) < weight, copied, fresh)
        first, second = (fates == 0).ravel(), (fates == 1).ravel()
        n_found += compare(first, second, clusters=clusters).verdict == "clear"
    # Standard errors of the simulated share: 0.011 to 0.019, twice that of a quarter; 0.008 of a plan.
    assert n_found / n_trials == pytest.approx(planned, abs=0.05 if IS_THOROUGH else 0.09)


def test_a_simulated_plan_takes_its_draws_from_the_generator():
    design = Design(n_items=60, n_clusters=20, icc=0.1)
    found = {power.paired_power(0.2, discordance=0.3, design=design, rng=generator(i)) for i in (1, 1, 2)}
    assert len(found) == 2
    assert max(found) - min(found) < 5 * math.sqrt(0.5 / N_SIMULATED)


def test_a_design_takes_the_sizes_of_its_videos():
    equal = Design.of(["a", "a", "b", "b", "c", "c"], icc=0.2)
    assert equal.design_effect == pytest.approx(Design(n_items=6, n_clusters=3, icc=0.2).design_effect)
    assert equal.dof == pytest.approx(2)
    uneven = Design.of(["a"] * 8 + ["b", "c"], icc=0.2)
    # Kish: 1 + (sum of squared sizes / n - 1) icc = 1 + (66 / 10 - 1) * 0.2.
    assert uneven.design_effect == pytest.approx(2.12)
    assert uneven.dof < 2
    assert uneven.counts().tolist() == [8, 1, 1]
    assert Design(n_items=11, n_clusters=4).counts().tolist() == [3, 3, 3, 2]
    many = Design.of([f"v{min(i, 99)}" for i in range(300)], icc=0.0)
    assert paired_power(0.1, discordance=0.3, design=many) < paired_power(
        0.1, discordance=0.3, design=Design(n_items=300, n_clusters=100, icc=0.0)
    )
