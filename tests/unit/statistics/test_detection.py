"""d' and criterion: values of the books, and planted observers."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from vidence.errors import UsageError
from vidence.statistics.detection import choose, criterion, d_prime, d_prime_among, detect
from vidence.statistics.resampling import Resampling

FEW = Resampling(n_boot=300)


def test_counts_are_corrected_so_that_certain_answers_have_a_d_prime():
    cells = {"false_alarms": 0, "noises": 20}
    assert d_prime(20, 20, **cells) == pytest.approx(2 * norm.ppf(20.5 / 21))
    assert criterion(20, 20, **cells) == pytest.approx(0.0)
    assert criterion(5, 20, **cells) > 0


@pytest.mark.parametrize("n_choices", [2, 3, 4, 8])
def test_d_prime_among_choices_is_that_of_simulated_observers(n_choices):
    rng = np.random.default_rng(n_choices)
    seen = rng.normal(size=(200_000, n_choices))
    seen[:, 0] += 1.3
    share = float((seen.argmax(axis=1) == 0).mean())
    assert d_prime_among(share, n_choices) == pytest.approx(1.3, abs=0.02)
    assert d_prime_among(1 / n_choices, n_choices) == pytest.approx(0.0, abs=1e-3)


def test_two_choices_follow_the_closed_form():
    shares = np.array([0.4, 0.6, 0.9, 0.99])
    assert d_prime_among(shares, 2) == pytest.approx(math.sqrt(2) * norm.ppf(shares), abs=1e-3)


def test_a_planted_observer_is_found_and_its_intervals_hold_it():
    rng = np.random.default_rng(0)
    signal = np.tile([1.0, 0.0], 100)
    held = []
    for _ in range(100):
        said = (rng.normal(size=200) + 1.5 * signal > 1.0).astype(float)
        found = detect(said, signal, clusters=[str(i) for i in range(200)], rng=rng, settings=FEW)
        d, c = found.d_prime, found.criterion
        held.append((d.low <= 1.5 <= d.high, c.low <= 0.25 <= c.high, d.value, c.value))
    shares = np.mean(held, axis=0)
    assert (shares[:2] >= 0.88).all()
    assert shares[2:] == pytest.approx([1.5, 0.25], abs=0.05)


def test_choices_have_no_criterion():
    found = choose([1.0, 0.0] * 10, 3, clusters=[str(i) for i in range(20)],
                   rng=np.random.default_rng(0), settings=FEW)  # fmt: skip
    assert found.d_prime.value == pytest.approx(float(d_prime_among(0.5, 3)))
    assert math.isnan(found.criterion.value)
    assert found.criterion.reason == "more than yes and no"


def test_what_makes_no_sense_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="with a signal and trials without"):
        detect([1.0, 0.0], [1.0, 1.0], clusters=["a", "b"], rng=rng)
    with pytest.raises(UsageError, match="answers and trials of 0 and 1"):
        detect([1.0, 0.5], [1.0, 0.0], clusters=["a", "b"], rng=rng)
    with pytest.raises(UsageError, match="1 choices"):
        d_prime_among(0.5, 1)
    with pytest.raises(UsageError, match="marks of 0 and 1"):
        choose([0.5], 2, clusters=["a"], rng=rng)
