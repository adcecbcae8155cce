"""Student's t: its tail and its quantile.

scipy has both, but loading it takes longer than making all the intervals of a report.
"""

import math
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()
_PRECISE: Final = 1e-15
_MOST_STEPS: Final = 100
# From here on Stirling's series of the gamma functions is more exact than their difference.
_MANY: Final = 100.0


def upper_tail(dof: float, t: float) -> float:
    """The chance that Student's t with `dof` degrees of freedom exceeds `t`; the normal one if infinite.

    Args:
        dof: degrees of freedom, above 0, any fraction.
        t: at least 0.

    Returns:
        From 0 to 0.5, exact to about 1e-12 of itself.
    """
    if math.isinf(dof):
        return 0.5 * math.erfc(t / math.sqrt(2))
    x = dof / (dof + t * t)
    half, rest = dof / 2, t * t / (dof + t * t)
    if x < (half + 1) / (half + 2.5):
        return 0.5 * _incomplete_beta(x, rest, a=half, b=0.5)
    return 0.5 - 0.5 * _incomplete_beta(rest, x, a=0.5, b=half)


def two_sided(dof: float, t: float) -> float:
    """The chance of a t as far from 0 as this one."""
    return 2 * upper_tail(dof, abs(t))


def quantile(dof: float, level: float) -> float:
    """How many standard errors an interval of Student's t reaches to each side.

    Args:
        dof: degrees of freedom, above 0; infinite for the normal distribution.
        level: coverage of the interval, above 0 and below 1.
    """
    tail = (1 - level) / 2
    t = -_NORMAL.inv_cdf(tail)
    # The logarithm of the tail is concave in that of t: after one step Newton's method comes from above.
    for _ in range(_MOST_STEPS if math.isfinite(dof) else 0):
        chance = upper_tail(dof, t)
        density = math.exp(-_log_beta(dof / 2) - (dof + 1) / 2 * math.log1p(t * t / dof)) / math.sqrt(dof)
        step = chance * math.log(chance / tail) / (t * density)
        t *= math.exp(step)
        if abs(step) < 10 * _PRECISE:
            break
    return t


def _log_beta(a: float) -> float:
    """The logarithm of the beta function of `a` and a half."""
    if a < _MANY:
        ratio = math.lgamma(a + 0.5) - math.lgamma(a)
    else:
        ratio = math.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
    return math.log(math.pi) / 2 - ratio


def _incomplete_beta(x: float, rest: float, *, a: float, b: float) -> float:
    """The regularised incomplete beta function at `x`, where `rest` is 1 - x and `a` or `b` a half.

    Source: DLMF 8.17.22, a continued fraction, by the method of Lentz (1976).
    """
    if x <= 0 or rest <= 0:
        return float(rest <= 0)
    upper, lower, fraction, factor, i = 1.0, 0.0, 1.0, 0.0, 0
    while abs(factor - 1) > _PRECISE:
        i += 1
        m = i // 2
        numerator = -(a + m) * (a + b + m) if i % 2 else m * (b - m)
        term = numerator * x / ((a + i - 1) * (a + i))
        lower = 1 / (1 + term * lower)
        upper = 1 + term / upper
        factor = upper * lower
        fraction *= factor
    front = math.exp(a * math.log(x) + b * math.log(rest) - _log_beta(a + b - 0.5))
    return front / a / fraction
