"""Psychometric functions: planted ones are found again, with the intervals that they claim."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import approx_fprime, minimize
from scipy.stats import t as student

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.statistics.psychometrics import (
    Curve,
    LevelCounts,
    deviances,
    fit,
    fit_counts,
    flatness,
    goodness,
    threshold_within,
    told,
)
from vidence.statistics.resampling import Resampling, cluster_draws

LEVELS = np.linspace(0.0, 10.0, 7)
SHAPES = ("weibull", "logistic", "gaussian")


def curve_of(shape: str, **changes: object) -> Curve:
    return Curve(shape=shape, is_log=shape == "weibull", **changes)


def answered(curve: Curve, levels, n_each: int, rng, *, location=5.0, width=5.0, lapse=0.02):
    shown = np.repeat(levels, n_each)
    chance = curve.right(shown, location=location, width=width, lapse=lapse)
    return shown, (rng.random(len(shown)) < chance).astype(float)


def alone(n: int) -> list[str]:
    return [str(i) for i in range(n)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("is_falling", [False, True])
def test_location_width_and_threshold_are_what_they_are_called(shape, is_falling):
    curve = curve_of(shape, guess=1 / 3, is_falling=is_falling)
    half = float(curve.unscaled(1.0))
    assert curve.right(half, location=1.0, width=2.0, lapse=0.0) == pytest.approx(2 / 3)
    places = curve.unscaled(curve.distance(np.array([0.05, 0.95])) * (-1 if is_falling else 1))
    assert abs(np.diff(curve.scaled(places))[0]) == pytest.approx(1.0)
    level = curve.threshold(0.7, location=1.0, width=2.0, lapse=0.05)
    assert curve.right(level, location=1.0, width=2.0, lapse=0.05) == pytest.approx(0.7)
    assert math.isnan(curve.threshold(0.97, location=1.0, width=2.0, lapse=0.05))
    z = np.array([0.3])
    slope = approx_fprime(z, lambda x: float(curve.rise(x)[0]), 1e-7)
    assert curve.steepness(z) == pytest.approx(slope, rel=1e-4)


def test_a_level_of_zero_lies_beyond_all_others_by_logarithm():
    more_is_harder = Curve(shape="weibull", is_log=True, is_falling=True)
    assert more_is_harder.right(0.0, location=1.0, width=1.0, lapse=0.03) == pytest.approx(0.97)
    more_is_easier = Curve(shape="weibull", is_log=True)
    assert more_is_easier.right(0.0, location=1.0, width=1.0, lapse=0.03) == pytest.approx(0.5)
    with pytest.raises(UsageError, match="level -1 has no logarithm"):
        more_is_easier.scaled([-1.0])


@pytest.mark.parametrize("shape", SHAPES)
def test_the_likeliest_function_is_that_of_scipys_optimiser(shape):
    curve = curve_of(shape, guess=1 / 3)
    levels = np.array([1.0, 2.0, 4.0, 8.0, 16.0]) if curve.is_log else LEVELS
    middle = float(np.median(curve.scaled(levels)))
    span = float(np.ptp(curve.scaled(levels)))
    chance = curve.right(levels, location=middle, width=0.8 * span, lapse=0.02)
    right = np.random.default_rng(3).binomial(40, chance).astype(float)
    n = np.full(len(levels), 40.0)
    found = fit_counts(curve, LevelCounts(levels=levels, right=right, n=n))

    def unlikely(theta):
        p = curve.right(levels, location=theta[0], width=math.exp(theta[1]), lapse=theta[2])
        p = np.clip(p, 1e-9, 1 - 1e-9)
        return -float((right * np.log(p) + (n - right) * np.log1p(-p)).sum())

    bounds = [(None, None), (None, None), (0.0, curve.most_lapses)]
    starts = itertools.product(
        middle + span * np.array([-0.2, 0.0, 0.2]), np.log(span * np.array([0.3, 0.6, 1]))
    )
    best = min(
        (minimize(unlikely, [*start, 0.02], method="L-BFGS-B", bounds=bounds) for start in starts),
        key=lambda one: one.fun,
    )
    assert -found.log_likelihood[0] == pytest.approx(best.fun, abs=1e-4)
    assert found.location[0] == pytest.approx(best.x[0], abs=1e-2)
    assert found.width[0] == pytest.approx(math.exp(best.x[1]), rel=2e-2)
    assert found.lapse[0] == pytest.approx(best.x[2], abs=5e-3)


def test_intervals_hold_planted_thresholds_as_often_as_they_say():
    curve, rng = Curve(), np.random.default_rng(11)
    truth = float(curve.threshold(0.75, location=5.0, width=5.0, lapse=0.02))
    found = []
    for _ in range(200):
        shown, marks = answered(curve, LEVELS, 30, rng)
        found.append(
            fit(
                shown,
                marks,
                curve=curve,
                proportion=0.75,
                clusters=alone(len(shown)),
                rng=rng,
                settings=Resampling(n_boot=150),
            )
        )
    held = np.mean([one.threshold.low <= truth <= one.threshold.high for one in found])
    # Two standard errors of 200 intervals of 95 % are 3 points.
    assert 0.90 <= held <= 0.99
    assert np.mean([one.threshold.value for one in found]) == pytest.approx(truth, abs=0.1)
    assert np.median([one.width.value for one in found]) == pytest.approx(5.0, rel=0.15)
    assert np.mean([one.lapse.value for one in found]) == pytest.approx(0.02, abs=0.01)
    assert np.mean([one.p_fit < 0.05 for one in found]) < 0.1
    assert all(one.p_flat < 0.001 for one in found)


SHOWN = np.array([0.0, 10.0, 20.0, 40.0, 60.0, 80.0])


def by_source(curve: Curve, n_sources: int, rng, *, threshold: float, spread: float = 0.0) -> LevelCounts:
    """One answer of each source at each level; sources are as easy as each other, or differ by `spread`."""
    shift = float(curve.threshold(2 / 3, location=0.0, width=40.0, lapse=0.02))
    locations = threshold - shift + spread * rng.standard_normal(n_sources)
    levels = np.tile(SHOWN, (n_sources, 1))
    chance = curve.right(levels, location=locations[:, None], width=40.0, lapse=0.02)
    right = (rng.random(chance.shape) < chance).astype(float)
    return LevelCounts(levels=SHOWN, right=right, n=np.ones_like(right))


@pytest.mark.parametrize(("n_sources", "spread"), [(7, 0.0), (7, 10.0), (20, 0.0)])
def test_few_answers_of_few_sources_do_not_make_intervals_too_narrow(n_sources, spread):
    """Percentiles of draws of sources hold the threshold of 42 answers in 84 to 86 of 100 cases."""
    curve, rng = Curve(guess=1 / 3, is_falling=True), np.random.default_rng(7)
    held = []
    for _ in range(150):
        answers = by_source(curve, n_sources, rng, threshold=40.0, spread=spread)
        found = threshold_within(curve, answers, proportion=2 / 3)
        held.append(found.low <= 40.0 <= found.high)
    # Two standard errors of 150 intervals of 95 % are 3.6 points; more than 95 % are allowed.
    assert np.mean(held) >= 0.914


def test_the_interval_ends_where_the_best_function_is_so_much_less_likely():
    curve, rng = Curve(guess=1 / 3, is_falling=True), np.random.default_rng(1)
    answers = by_source(curve, 25, rng, threshold=35.0)
    whole = LevelCounts(levels=SHOWN, right=answers.right.sum(axis=0), n=answers.n.sum(axis=0))
    found = threshold_within(curve, answers, proportion=2 / 3)
    best = fit_counts(curve, whole).log_likelihood[0]

    def lost(place: float) -> float:
        def unlikely(theta):
            width, lapse = math.exp(theta[0]), theta[1]
            away = float(curve.threshold(2 / 3, location=0.0, width=width, lapse=lapse))
            p = np.clip(curve.right(SHOWN, location=place - away, width=width, lapse=lapse), 1e-9, 1 - 1e-9)
            return -float((whole.right * np.log(p) + (whole.n - whole.right) * np.log1p(-p)).sum())

        starts = itertools.product(np.log([10.0, 30.0, 60.0]), (0.0, 0.05))
        found = [
            minimize(unlikely, start, method="L-BFGS-B", bounds=[(math.log(2.5), math.log(400)), (0, 0.06)])
            for start in starts
        ]
        return best + min(one.fun for one in found)

    expected = student.ppf(0.975, 24) ** 2 * found.widening / 2
    assert lost(found.low) == pytest.approx(expected, rel=0.03)
    assert lost(found.high) == pytest.approx(expected, rel=0.03)


def slopes(of, theta, step=1e-5):
    """Central differences of a function by each parameter, (n_parameters, ...)."""
    moves = step * np.eye(len(theta))
    return np.array([(of(theta + move) - of(theta - move)) / (2 * step) for move in moves])


@pytest.mark.parametrize(
    ("shape", "is_falling"), [("logistic", True), ("gaussian", False), ("weibull", False), ("weibull", True)]
)
def test_intervals_widen_by_the_clustered_variance_over_the_independent_one(shape, is_falling):
    """A sandwich from numerical slopes: squared scores of sources between inverses of the information."""
    curve = curve_of(shape, guess=0.25, is_falling=is_falling, most_lapses=0.2)
    rng, levels = np.random.default_rng(6), np.linspace(2.0, 20.0, 6)
    middle, width = float(np.median(curve.scaled(levels))), float(np.ptp(curve.scaled(levels))) / 2
    locations = middle + 0.4 * width * rng.standard_normal(30)
    chance = curve.right(levels, location=locations[:, None], width=width, lapse=0.1)
    right = rng.binomial(12, chance).astype(float)
    answers = LevelCounts(levels=levels, right=right, n=np.full(right.shape, 12.0))
    best = fit_counts(curve, LevelCounts(levels=levels, right=right.sum(axis=0), n=answers.n.sum(axis=0)))
    theta = np.array([best.location[0], math.log(best.width[0]), best.lapse[0]])
    # Where lapses end at 0, they are held there.
    free = [0, 1, 2] if theta[2] > 1e-6 else [0, 1]

    def psi(at):
        return curve.right(levels, location=at[0], width=math.exp(at[1]), lapse=at[2])

    def place(at):
        found = curve.threshold(0.6, location=at[0], width=math.exp(at[1]), lapse=at[2])
        return np.asarray(curve.scaled(found))

    p, by = psi(theta), slopes(psi, theta)[free]
    spread = p * (1 - p)
    information = (by * answers.n.sum(axis=0) / spread) @ by.T
    direction = np.linalg.solve(information, slopes(place, theta)[free])
    scores = ((right - 12 * p) / spread) @ by.T
    ratio = ((scores @ direction) ** 2).sum() * 30 / 29 / (slopes(place, theta)[free] @ direction)
    assert ratio > 1.2
    assert threshold_within(curve, answers, proportion=0.6).widening == pytest.approx(ratio, rel=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_steepness_is_the_slope_of_the_rise_everywhere(shape):
    curve = curve_of(shape)
    z = np.array([-3.0, -0.7, 0.0, 0.4, 1.1])
    numerical = (curve.rise(z + 1e-6) - curve.rise(z - 1e-6)) / 2e-6
    assert curve.steepness(z) == pytest.approx(numerical, rel=1e-5, abs=1e-9)
    assert curve.rise(curve.distance(np.array([0.01, 0.5, 0.99]))) == pytest.approx([0.01, 0.5, 0.99])
    assert np.isnan(curve.distance(np.array([-0.1, 0.0, 1.0, 1.2]))).all()
    # Far away it is 0 or 1, and flat.
    assert curve.rise(np.array([-1e6, 1e6])) == pytest.approx([0.0, 1.0], abs=1e-6)
    assert curve.steepness(np.array([1e6])) == pytest.approx([0.0], abs=1e-6)


def test_shares_that_leave_no_room_are_refused():
    for guess, most in ((-0.1, 0.0), (1.0, 0.0), (0.5, 0.5), (0.5, -0.01)):
        with pytest.raises(UsageError, match="expected shares whose sum is below 1"):
            Curve(guess=guess, most_lapses=most)
    assert Curve(guess=0.0, most_lapses=0.0).right(1.0, location=1.0, width=1.0, lapse=0.0) == 0.5


def test_a_deviance_is_twice_the_gap_to_the_shares_that_were_seen():
    curve, n = Curve(), np.array([20.0, 30.0, 10.0, 25.0])
    levels, right = np.array([0.0, 3.0, 6.0, 9.0]), np.array([12.0, 16.0, 9.0, 25.0])
    counted = LevelCounts(levels=levels, right=right, n=n)
    best = fit_counts(curve, counted)
    p = curve.right(levels, location=best.location[0], width=best.width[0], lapse=best.lapse[0])
    fitted, seen = (
        sum(stats.binom.logpmf(right, n, np.clip(shares, 1e-9, 1 - 1e-9))) for shares in (p, right / n)
    )
    assert deviances(curve, counted) == pytest.approx([2 * (seen - fitted)], abs=1e-5)
    share = right.sum() / n.sum()
    flat = sum(stats.binom.logpmf(right, n, share))
    assert flatness(curve, counted) == pytest.approx(stats.chi2.sf(2 * (fitted - flat), 2), rel=1e-4)
    # Below guessing a flat row has the share of guessing.
    low = LevelCounts(levels=levels, right=n * 0.4, n=n)
    assert flatness(curve, low) == pytest.approx(1.0, abs=1e-6)


def test_simulated_answers_of_the_fitted_function_say_how_well_it_fits():
    curve, n = Curve(), np.array([20.0, 30.0, 10.0, 25.0])
    levels, right = np.array([0.0, 3.0, 6.0, 9.0]), np.array([12.0, 24.0, 6.0, 25.0])
    counted = LevelCounts(levels=levels, right=right, n=n)
    best = fit_counts(curve, counted)
    p = curve.right(levels, location=best.location[0], width=best.width[0], lapse=best.lapse[0])
    drawn = np.random.default_rng(5).binomial(n.astype(int), p, size=(40, 4)).astype(float)
    n_reached = sum(
        deviances(curve, LevelCounts(levels=levels, right=row, n=n))[0] >= deviances(curve, counted)[0] - 1e-6
        for row in drawn
    )
    deviance, p_fit = goodness(curve, counted, rng=np.random.default_rng(5), n_simulated=40)
    assert deviance == pytest.approx(float(deviances(curve, counted)[0]))
    assert p_fit == (1 + n_reached) / 41


def test_figures_of_a_fit_are_those_of_the_likeliest_function_and_of_draws_of_sources():
    """Slope and intervals, for answers in sources that differ in number."""
    curve, rng = Curve(guess=0.25, is_falling=True), np.random.default_rng(3)
    shown = rng.choice(LEVELS, 160)
    owners = np.array([f"s{i}" for i in rng.integers(0, 8, 160)])
    marks = (rng.random(160) < curve.right(shown, location=5.0, width=5.0, lapse=0.03)).astype(float)
    found = fit(shown, marks, curve=curve, proportion=0.6, clusters=owners.tolist(),
                rng=np.random.default_rng(4), settings=Resampling(n_boot=60, level=0.8))  # fmt: skip

    def fitted(times):
        weights = np.array([times[name] for name in owners])
        right = np.array([(weights * marks)[shown == level].sum() for level in LEVELS])
        n = np.array([weights[shown == level].sum() for level in LEVELS])
        one = fit_counts(curve, LevelCounts(levels=LEVELS, right=right, n=n))
        return one.location[0], one.width[0], one.lapse[0]

    names = sorted(set(owners))
    location, width, lapse = fitted(dict.fromkeys(names, 1.0))
    steepest = -2 * math.log(19) / 4 / width  # of a logistic function
    (draws,) = cluster_draws(8, np.random.default_rng(4), 60, width=1)
    drawn = np.array([fitted(dict(zip(names, row, strict=True))) for row in draws])
    for one, value, values in (
        (found.location, location, drawn[:, 0]),
        (found.width, width, drawn[:, 1]),
        (found.lapse, lapse, drawn[:, 2]),
        (found.slope, steepest, -2 * math.log(19) / 4 / drawn[:, 1]),
    ):
        assert one.value == pytest.approx(value, abs=1e-6)
        low, high = np.quantile(values, [0.1, 0.9])
        assert (one.low, one.high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))
        assert (one.n, one.n_clusters, one.level) == (160, 8, 0.8)
    level = float(curve.threshold(0.6, location=location, width=width, lapse=lapse))
    assert found.threshold.value == pytest.approx(level)
    assert (found.threshold.n, found.threshold.n_clusters) == (160, 8)


@pytest.mark.parametrize(
    ("value", "low", "high", "p_flat", "said"),
    [
        (5.0, 1.0, 9.0, 0.05, ""),
        (5.0, 1.0, 9.0, 0.051, "do not change with the level"),
        (0.9, 0.0, 1.0, 0.01, "beyond the levels that were shown"),
        (9.1, 9.0, 9.2, 0.01, "beyond the levels that were shown"),
        (5.0, 0.9, 9.0, 0.01, "the interval reaches beyond"),
        (5.0, 1.0, 9.1, 0.01, "the interval reaches beyond"),
        (math.nan, 1.0, 2.0, 0.01, "never reached: 81 % at best"),
        (1.0, 1.0, 1.0, 0.01, ""),
        (9.0, 9.0, 9.0, 0.01, ""),
    ],
)
def test_what_is_said_of_a_threshold(value, low, high, p_flat, said):
    estimate = Estimate(value=value, low=low, high=high, level=0.95, n=9, n_clusters=3, method="m")
    found = told(estimate, np.array([1.0, 5.0, 9.0]), p_flat=p_flat, level=0.95, best=0.81)
    assert said in found.reason
    assert bool(found.reason) == bool(said)
    if p_flat > 0.05:
        assert math.isnan(found.value)
    if p_flat > 0.05 or math.isnan(value):
        assert math.isnan(found.low)
        assert math.isnan(found.high)


def test_six_copies_of_each_answer_make_no_threshold_better_known():
    curve, rng = Curve(guess=1 / 3, is_falling=True), np.random.default_rng(4)
    once = by_source(curve, 12, rng, threshold=40.0)
    sixfold = LevelCounts(levels=SHOWN, right=6 * once.right, n=6 * once.n)
    alike, copied = (threshold_within(curve, one, proportion=2 / 3) for one in (once, sixfold))
    # The ratio of the sources themselves is 0.75 here, which counts as 1.
    assert (alike.widening, copied.widening) == (1.0, pytest.approx(6 * 0.753, rel=0.01))
    # As answers of their own the copies would make it 0.41 as wide.
    assert copied.high - copied.low > 0.8 * (alike.high - alike.low)


def test_answers_of_one_source_are_drawn_together():
    curve, rng = Curve(), np.random.default_rng(2)
    shown, marks = answered(curve, LEVELS, 4, rng)
    copied, same = np.tile(shown, 6), np.tile(marks, 6)
    options = {"curve": curve, "proportion": 0.75, "settings": Resampling(n_boot=300)}
    clusters = alone(len(shown)) * 6
    together = fit(copied, same, clusters=clusters, rng=np.random.default_rng(0), **options)
    apart = fit(copied, same, clusters=alone(len(copied)), rng=np.random.default_rng(0), **options)
    assert together.threshold.n_clusters == len(shown)
    wide, narrow = (one.threshold.high - one.threshold.low for one in (together, apart))
    assert wide > 1.5 * narrow


def test_who_guesses_has_no_threshold_and_who_does_not_reach_it_neither():
    rng = np.random.default_rng(5)
    options = {"curve": Curve(), "rng": rng, "settings": Resampling(n_boot=50)}
    shown = np.repeat(LEVELS, 20)
    marks = np.tile([1.0, 0.0], len(shown) // 2)
    blind = fit(shown, marks, proportion=0.75, clusters=alone(len(shown)), **options).threshold
    assert math.isnan(blind.value)
    assert blind.reason.startswith("answers do not change with the level (p = ")
    shown, marks = answered(Curve(most_lapses=0.3), LEVELS, 60, rng, lapse=0.25)
    sloppy = Curve(most_lapses=0.3)
    never = fit(shown, marks, curve=sloppy, proportion=0.9, clusters=alone(len(shown)), rng=rng,
                settings=Resampling(n_boot=50)).threshold  # fmt: skip
    assert math.isnan(never.value)
    assert never.reason.startswith("never reached: 7")


def test_a_threshold_beyond_the_levels_says_so():
    rng = np.random.default_rng(8)
    shown, marks = answered(Curve(), LEVELS, 100, rng, location=11.0, width=10.0)
    found = fit(shown, marks, curve=Curve(), proportion=0.85, clusters=alone(len(shown)), rng=rng,
                settings=Resampling(n_boot=50)).threshold  # fmt: skip
    assert found.value > 10
    assert found.reason == "beyond the levels that were shown"


def test_a_single_source_gives_a_threshold_without_an_interval():
    rng = np.random.default_rng(8)
    shown, marks = answered(Curve(), LEVELS, 100, rng)
    found = fit(shown, marks, curve=Curve(), proportion=0.75, clusters=["one"] * len(shown), rng=rng,
                settings=Resampling(n_boot=50)).threshold  # fmt: skip
    assert found.value == pytest.approx(5.0, abs=1.0)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.method.endswith("no interval: there is a single cluster")


def test_the_deviance_tells_a_function_that_does_not_fit():
    curve, rng = Curve(), np.random.default_rng(4)
    n = np.full(len(LEVELS), 50.0)
    jagged = LevelCounts(levels=LEVELS, right=np.array([25.0, 45, 27, 44, 28, 46, 49]), n=n)
    deviance, p = goodness(curve, jagged, rng=rng, n_simulated=200)
    assert deviance > 30
    assert p < 0.01
    exact = LevelCounts(levels=LEVELS, right=n * curve.right(LEVELS, location=5, width=4, lapse=0.01), n=n)
    assert deviances(curve, exact) == pytest.approx([0.0], abs=1e-4)
    assert goodness(curve, exact, rng=rng, n_simulated=100)[1] == pytest.approx(1.0)
    assert flatness(curve, exact) < 1e-10
    assert flatness(curve, LevelCounts(levels=LEVELS, right=0.7 * n, n=n)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"marks": [0.5] * 9}, "marks of 0 and 1"),
        ({"levels": [1.0, 2.0] * 4 + [1.0]}, "2 levels; a psychometric function needs 3"),
        ({"proportion": 0.5}, r"proportion 0.5; expected one between 0.5 \(guessing\) and 1"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    given = {"levels": [1.0, 2.0, 3.0] * 3, "marks": [1.0] * 9, "proportion": 0.75} | changes
    levels, marks = given.pop("levels"), given.pop("marks")
    with pytest.raises(UsageError, match=message):
        fit(levels, marks, curve=Curve(), clusters=alone(9), rng=np.random.default_rng(0), **given)


def test_curves_that_make_no_sense_are_refused():
    with pytest.raises(UsageError, match="a weibull is one of the logarithm"):
        Curve(shape="weibull")
    with pytest.raises(UsageError, match="expected shares whose sum is below 1"):
        Curve(guess=0.97)
    one = LevelCounts(levels=np.array([0.0, 1.0]), right=np.ones(2), n=np.ones(2))
    with pytest.raises(UsageError, match="two levels or more above 0"):
        fit_counts(Curve(shape="weibull", is_log=True), one)
