"""d' and criterion: values of the books, and planted observers."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
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


def test_no_share_is_farther_from_chance_than_six_standard_deviations():
    assert d_prime_among([0.0, 1.0], 2).tolist() == [-6.0, 6.0]
    assert d_prime_among([0.0, 1.0], 5).tolist() == [-6.0, 6.0]


def test_d_prime_among_choices_is_the_inverse_of_the_integral():
    for n_choices, d in ((2, 0.5), (3, 2.0), (5, -1.0), (9, 3.5)):
        share, _ = quad(lambda x, m=n_choices, d=d: norm.pdf(x - d) * norm.cdf(x) ** (m - 1), -9, 13)
        assert d_prime_among(share, n_choices) == pytest.approx(d, abs=2e-3)


def test_figures_of_draws_of_clusters_are_those_of_their_counts():
    """Two clusters with 3 signals and 2 noises, and with 1 and 4: a draw holds one of them twice, or both."""
    said = [1.0, 1, 0, 0, 1, 1, 0, 0, 0, 1]
    signal = [1.0, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    found = detect(said, signal, clusters=["a"] * 5 + ["b"] * 5, rng=np.random.default_rng(0), settings=FEW)
    cells = {"a": (2, 3, 1, 2), "b": (1, 1, 1, 4)}
    possible = []
    for pair in ("aa", "ab", "bb"):
        hits, signals, alarms, noises = (sum(cells[one][i] for one in pair) for i in range(4))
        rates = norm.ppf((hits + 0.5) / (signals + 1)), norm.ppf((alarms + 0.5) / (noises + 1))
        possible.append((rates[0] - rates[1], -sum(rates) / 2))
    assert found.d_prime.value == pytest.approx(possible[1][0])
    assert found.criterion.value == pytest.approx(possible[1][1])
    assert (found.d_prime.n, found.d_prime.n_clusters) == (10, 2)
    for i, one in enumerate((found.d_prime, found.criterion)):
        assert one.low == pytest.approx(min(pair[i] for pair in possible))
        assert one.high == pytest.approx(max(pair[i] for pair in possible))
    right = choose(
        [1.0, 1, 0, 1, 0, 0], 3, clusters=list("aaabbb"), rng=np.random.default_rng(0), settings=FEW
    )
    ends = [float(d_prime_among((n + 0.5) / 7, 3)) for n in (2, 3, 4)]
    assert (right.d_prime.low, right.d_prime.value, right.d_prime.high) == pytest.approx(ends)
    assert math.isnan(right.criterion.low)
    assert math.isnan(right.criterion.high)


def test_a_draw_with_signals_alone_says_nothing():
    found = detect([1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0], clusters=["a", "a", "b", "b"],
                   rng=np.random.default_rng(0), settings=FEW)  # fmt: skip
    # Both clusters, or a draw that is left out: there is one figure only.
    assert found.d_prime.low == found.d_prime.high == found.d_prime.value == 0.0
    assert "left out" in found.d_prime.method
