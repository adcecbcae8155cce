import math

import pytest
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from vidence.statistics.student import quantile, two_sided, upper_tail

DOFS = (0.5, 1, 1.5, 2, 3.3, 4.7, 10, 33.3, 99, 199, 200, 201, 5_000, 1e6)


@pytest.mark.parametrize("dof", DOFS)
def test_the_tail_is_that_of_scipy(dof: float) -> None:
    for t in (0.0, 0.01, 0.5, 1.0, 1.4, 1.7, 1.96, 3.0, 6.0, 20.0, 100.0):
        assert upper_tail(dof, t) == pytest.approx(stdtr(dof, -t), rel=1e-9)


@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("level", [0.01, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_the_quantile_is_that_of_scipy(dof: float, level: float) -> None:
    assert quantile(dof, level) == pytest.approx(stdtrit(dof, (1 + level) / 2), rel=1e-9)


def test_with_infinite_degrees_of_freedom_both_are_normal() -> None:
    assert quantile(math.inf, 0.95) == pytest.approx(ndtri(0.975), rel=1e-12)
    assert upper_tail(math.inf, 1.5) == pytest.approx(ndtr(-1.5), rel=1e-12)


def test_a_tail_on_both_sides_knows_no_sign() -> None:
    assert two_sided(3, -2.0) == two_sided(3, 2.0) == 2 * upper_tail(3, 2.0)
    assert two_sided(3, 0.0) == 1


def test_far_tails_keep_their_precision() -> None:
    assert upper_tail(1, 1e-8) == pytest.approx(0.5 - math.atan(1e-8) / math.pi, rel=1e-14)
    assert quantile(99, 1 - 1e-9) == pytest.approx(-stdtrit(99, 5e-10), rel=1e-7)
