"""QUEST+: the levels and posteriors of the package of that name, and planted observers."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from vidence.errors import UsageError
from vidence.statistics.psychometrics import Counted, Curve, fit_counts
from vidence.statistics.staircase import QuestPlus

LEVELS = np.linspace(0.0, 10.0, 21)


def test_levels_and_posterior_are_those_of_questplus():
    # Of questplus 2023.1 (norm_cdf, the same grid, guess 0.5) after the same answers.
    wide = norm.ppf(0.95) - norm.ppf(0.05)
    quest = QuestPlus(
        Curve(shape="gaussian"),
        LEVELS,
        locations=LEVELS,
        widths=wide * np.array([0.5, 1.0, 2.0, 4.0]),
        lapses=[0.0, 0.03, 0.06],
    )
    shown = []
    for is_right in (1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1):
        shown.append(float(LEVELS[quest.next_level()]))
        quest.add(quest.next_level(), is_right=bool(is_right))
    assert shown == [6.0, 5.0, 4.5, 7.0, 6.5, 8.0, 8.0, 7.5, 7.0, 8.5, 8.5, 8.0]
    assert quest.weights @ quest.location == pytest.approx(6.6913040286523, rel=1e-9)
    assert quest.weights @ quest.width / wide == pytest.approx(1.949115188961315, rel=1e-9)
    assert quest.weights @ quest.lapse == pytest.approx(0.030416290974692797, rel=1e-9)


@pytest.fixture(scope="module")
def simulated():
    """The thresholds of 120 staircases of 40 answers, and whether the intervals hold the planted one."""
    curve, rng = Curve(), np.random.default_rng(9)
    truth = float(curve.threshold(0.75, location=4.0, width=4.0, lapse=0.02))
    levels = np.linspace(0.0, 10.0, 11)
    found = []
    for _ in range(200):
        quest = QuestPlus(
            curve, levels, locations=np.linspace(0, 10, 31), widths=[1, 2, 4, 8, 16], lapses=[0, 0.03]
        )
        for _ in range(40):
            at = quest.next_level()
            chance = curve.right(levels[at], location=4.0, width=4.0, lapse=0.02)
            quest.add(at, is_right=bool(rng.random() < chance))
        found.append(quest.threshold(0.75))
    return truth, found


def test_intervals_hold_planted_thresholds_as_often_as_they_say(simulated):
    truth, found = simulated
    held = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.91 <= held <= 1.0
    assert np.mean([one.value for one in found]) == pytest.approx(truth, abs=0.2)
    assert all(one.n == 40 for one in found)


def test_a_staircase_is_as_exact_as_constant_stimuli_with_more_answers(simulated):
    truth, found = simulated
    curve, rng = Curve(), np.random.default_rng(1)
    levels = np.linspace(0.0, 10.0, 7)
    n = np.full((400, 7), 8)
    right = rng.binomial(n, curve.right(levels, location=4.0, width=4.0, lapse=0.02)).astype(float)
    fits = fit_counts(curve, Counted(levels=levels, right=right, n=n.astype(float)))
    constant = curve.threshold(0.75, location=fits.location, width=fits.width, lapse=fits.lapse)

    def off(values):
        return float(np.median(np.abs(np.asarray(values) - truth)))

    # 40 answers of a staircase against 56 of constant stimuli.
    assert off([one.value for one in found]) < off(constant[np.isfinite(constant)])


def test_levels_that_are_used_up_are_not_chosen():
    quest = QuestPlus(Curve(), [0.0, 5.0, 10.0])
    best = quest.next_level()
    allowed = [position != best for position in range(3)]
    assert quest.next_level(allowed) != best
    with pytest.raises(UsageError, match="no level is left to show"):
        quest.next_level([False] * 3)


def test_who_is_never_right_has_no_upper_limit():
    quest = QuestPlus(Curve(most_lapses=0.4), [0.0, 5.0, 10.0])
    for number in range(20):
        quest.add(2, is_right=number % 2 == 0)
    found = quest.threshold(0.8)
    assert math.isnan(found.high)
    assert found.reason == "the posterior reaches beyond all levels"


def test_width_and_lapses_have_intervals_too():
    quest = QuestPlus(Curve(shape="weibull", is_log=True), [0.0, 5.0, 10.0, 20.0])
    assert quest.figure("lapse").value == pytest.approx(0.03, abs=0.01)
    width = quest.figure("width")
    assert width.low < width.value < width.high


@pytest.mark.parametrize("levels", [[1.0, 2.0], [1.0, 3.0, 2.0]])
def test_levels_must_ascend(levels):
    with pytest.raises(UsageError, match="three or more that ascend"):
        QuestPlus(Curve(), levels)


def test_levels_without_a_logarithm_are_refused():
    with pytest.raises(UsageError, match="level -2 has no logarithm"):
        QuestPlus(Curve(shape="weibull", is_log=True), [-2.0, -1.0, 0.0])
