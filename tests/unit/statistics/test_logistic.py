"""Log-odds with an error by cluster."""

import math

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.statistics import logistic
from vidence.statistics.logistic import log_odds


def test_the_coefficient_of_two_groups_is_the_log_of_their_odds_ratio():
    outcomes = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    found = log_odds(outcomes, of=[1] * 40 + [0] * 40, clusters=[f"v{i}" for i in range(80)])
    assert found.value == pytest.approx(math.log(9))
    # Woolf's error of a log odds ratio, times sqrt(80 / 79) for the clusters.
    half = 1.990450 * math.sqrt(1 / 30 + 1 / 10 + 1 / 10 + 1 / 30) * math.sqrt(80 / 79)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=1e-4)


def test_planted_log_odds_are_recovered_beside_another_variable():
    rng = np.random.default_rng(0)
    human, own = rng.integers(0, 2, 4000), rng.integers(0, 2, 4000)
    chance = 1 / (1 + np.exp(-(-1.5 + 3 * human + 0.8 * own)))
    outcomes = (rng.random(4000) < chance).astype(float)
    found = log_odds(outcomes, of=own, given=[human], clusters=[f"v{i // 4}" for i in range(4000)])
    assert found.low < 0.8 < found.high
    assert found.high - found.low < 0.5


def test_a_group_that_is_all_right_has_no_finite_coefficient():
    found = log_odds([1, 1, 1, 0, 1, 0], of=[1, 1, 1, 0, 0, 0], clusters=list("abcdef"))
    assert math.isnan(found.value)
    assert found.reason.startswith("a group is all right or all wrong")


def test_a_single_cluster_has_no_interval():
    found = log_odds([1, 0, 1, 0, 0, 1], of=[1, 1, 1, 0, 0, 0], clusters=["v"] * 6)
    assert math.isnan(found.low)
    assert "single cluster" in found.reason


def test_outcomes_other_than_right_and_wrong_are_refused():
    with pytest.raises(UsageError, match="0 and 1"):
        log_odds([0.5, 1], of=[0, 1], clusters=["a", "b"])
    with pytest.raises(UsageError, match="as many values"):
        log_odds([0, 1], of=[0, 1, 1], clusters=["a", "b"])


def test_a_variable_that_does_not_vary_has_no_coefficient():
    found = log_odds([1, 0, 1, 0], of=[1, 1, 1, 1], clusters=list("abcd"))
    assert math.isnan(found.value)


def test_steps_that_do_not_come_to_an_end_give_no_coefficient(monkeypatch):
    monkeypatch.setattr(logistic, "_MOST_STEPS", 1)
    found = log_odds([1, 0, 1, 1, 0, 0, 1, 0], of=[1, 1, 1, 1, 0, 0, 0, 0], clusters=list("abcdefgh"))
    assert math.isnan(found.value)
