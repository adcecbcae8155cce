"""What is computed without scipy agrees with scipy."""

import math

import pytest
from scipy import special, stats

from vidence.statistics.exact import binomial_tail, root, t_power


@pytest.mark.parametrize(
    ("n", "k", "chance"),
    [(10, 3, 0.2), (10, 0, 0.2), (7, 7, 0.9), (5, 6, 0.5), (3, 2, 0.0), (3, 3, 1.0), (20_000, 10_100, 0.5)],
)
def test_the_binomial_tail(n, k, chance):
    assert binomial_tail(n, k, chance) == pytest.approx(stats.binom.sf(k - 1, n, chance), rel=1e-10)


@pytest.mark.parametrize("dof", [1, 1.3, 3.7, 9, 100, 1e5])
@pytest.mark.parametrize("distance", [0, 0.5, 2.5, 8, 20])
def test_the_power_of_a_t_test(dof, distance):
    critical = special.stdtrit(dof, 0.975)
    far = special.nctdtr(dof, distance, -critical) if distance < 5 else 0.0  # scipy gives NaN farther out
    expected = stats.nct.sf(critical, dof, distance) + far
    assert t_power(distance, dof=dof, level=0.95) == pytest.approx(expected, abs=2e-9)


def test_a_root_is_where_the_sign_changes():
    assert root(lambda x: math.cos(-x) * -1, 0, 3, close=1e-12) == pytest.approx(math.pi / 2, abs=1e-11)
