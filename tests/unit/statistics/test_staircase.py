"""QUEST+: the levels and posteriors of the package of that name, and planted observers."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from vidence.errors import UsageError
from vidence.statistics.psychometrics import Curve, LevelCounts, fit_counts
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
    fits = fit_counts(curve, LevelCounts(levels=levels, right=right, n=n.astype(float)))
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


@pytest.mark.parametrize("levels", [[1.0, 2.0], [1.0, 3.0, 2.0], [1.0, 1.0, 2.0]])
def test_levels_must_ascend(levels):
    with pytest.raises(UsageError, match="three or more that ascend"):
        QuestPlus(Curve(), levels)


def test_levels_without_a_logarithm_are_refused():
    with pytest.raises(UsageError, match="level -2 has no logarithm"):
        QuestPlus(Curve(shape="weibull", is_log=True), [-2.0, -1.0, 0.0])


def test_the_posterior_is_that_of_bayes_on_the_whole_grid():
    """The product of the chances of all answers, over its sum; the grid is that of the docstring."""
    curve, levels = Curve(guess=0.25), [0.0, 4.0, 10.0]
    quest = QuestPlus(curve, levels)
    assert sorted(set(quest.lapse)) == pytest.approx([0.0, 0.03, 0.06])
    assert (min(quest.location), max(quest.location)) == (0.0, 10.0)
    assert (min(quest.width), max(quest.width)) == (pytest.approx(1.0), pytest.approx(20.0))
    assert len(quest.weights) == 61 * 13 * 3
    answers = [(1, True), (0, False), (2, True), (1, False), (1, True)]
    product = np.ones(len(quest.weights))
    for level, is_right in answers:
        quest.add(level, is_right=is_right)
        chance = curve.right(levels[level], location=quest.location, width=quest.width, lapse=quest.lapse)
        product *= chance if is_right else 1 - chance
    assert quest.weights == pytest.approx(product / product.sum(), abs=1e-9)
    found = quest.figure("location", level=0.5)
    assert (found.n, found.n_clusters, found.level) == (5, 5, 0.5)
    order = np.argsort(quest.location, kind="stable")
    below = np.cumsum(quest.weights[order])
    for share, value in ((0.25, found.low), (0.5, found.value), (0.75, found.high)):
        # Within a step of the grid, a sixth, of where the posterior reaches that share.
        assert value == pytest.approx(quest.location[order][np.searchsorted(below, share)], abs=1 / 6)


def test_the_entropy_of_an_answer_is_that_of_its_two_posteriors():
    quest = QuestPlus(Curve(), [0.0, 4.0, 10.0], locations=[2.0, 6.0], widths=[3.0], lapses=[0.0])
    quest.add(1, is_right=True)
    for level, found in enumerate(quest.expected_entropy()):
        chance = quest.curve.right(
            quest.levels[level], location=quest.location, width=quest.width, lapse=quest.lapse
        )
        expected = 0.0
        for joint in (quest.weights * chance, quest.weights * (1 - chance)):
            share = joint / joint.sum()
            expected -= joint.sum() * (share * np.log(share)).sum()
        assert found == pytest.approx(expected)


def test_certain_answers_leave_every_function_possible():
    """Without guessing and lapses a chance is 1 or 0 far from the location; an answer against it decides."""
    quest = QuestPlus(
        Curve(guess=0.0), [0.0, 500.0, 1000.0], locations=[0.0, 1000.0], widths=[1.0], lapses=[0.0]
    )
    quest.add(1, is_right=False)
    assert quest.weights == pytest.approx([0.0, 1.0], abs=1e-8)
    quest.add(1, is_right=True)
    assert quest.weights == pytest.approx([0.5, 0.5])


def test_quantiles_of_a_single_function_are_its_own():
    quest = QuestPlus(Curve(), [0.0, 4.0, 10.0], locations=[5.0], widths=[3.0], lapses=[0.0])
    for name, value in (("location", 5.0), ("width", 3.0), ("lapse", 0.0)):
        found = quest.figure(name)
        assert (found.low, found.value, found.high) == (value, value, value)
    assert quest.figure("width").reason == ""
    assert quest.threshold(0.75).value == pytest.approx(
        float(Curve().threshold(0.75, location=5.0, width=3.0, lapse=0.0))
    )


def test_functions_that_never_reach_a_share_lie_above_all_levels_or_below_where_higher_is_harder():
    for is_falling in (False, True):
        quest = QuestPlus(
            Curve(is_falling=is_falling, most_lapses=0.4),
            [0.0, 5.0, 10.0],
            locations=[3.0, 5.0, 7.0, 9.0],
            widths=[1.0],
            lapses=[0.0, 0.4],
        )
        found = quest.threshold(0.9, level=0.2)
        # Half of the posterior has no threshold: the median lies at the edge of it.
        ends = (found.low, found.high)
        assert [math.isnan(end) for end in ends] == [is_falling, not is_falling]
        assert found.reason == "the posterior reaches beyond all levels"


@pytest.mark.parametrize("is_falling", [False, True])
def test_of_two_functions_the_one_without_a_threshold_is_an_end(is_falling):
    quest = QuestPlus(
        Curve(is_falling=is_falling, most_lapses=0.4),
        [0.0, 5.0, 10.0],
        locations=[5.0],
        widths=[1.0],
        lapses=[0.0, 0.4],
    )
    found = quest.threshold(0.9, level=0.8)
    ends = [found.low, found.high]
    there, not_there = ends[::-1] if is_falling else ends
    assert math.isnan(not_there)
    # A share below the middle of its weight is the value itself.
    assert there == pytest.approx(float(quest.curve.threshold(0.9, location=5.0, width=1.0, lapse=0.0)))
