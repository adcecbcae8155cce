"""Binomial tails, the power of a t test and roots, exact to rounding, without loading scipy."""

import math
from collections.abc import Callable

import numpy as np

from vidence.statistics.student import quantile

_NODES = 4001


def binomial_tail(n: int, k: int, chance: float) -> float:
    """The chance of `k` or more of `n`, each with this chance, from 0 to 1.

    >>> round(binomial_tail(4, 3, 0.5), 12)
    0.3125
    """
    if k <= 0 or chance >= 1:
        return float(k <= n)
    if chance <= 0:
        return 0.0
    odds, rest, choose = math.log(chance), math.log1p(-chance), math.lgamma(n + 1)
    return min(
        1.0,
        math.fsum(
            math.exp(choose - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * odds + (n - i) * rest)
            for i in range(k, n + 1)
        ),
    )


def t_power(distance: float, *, dof: float, level: float) -> float:
    """The chance that a two-sided t test finds a difference of so many standard errors.

    The noncentral t is the normal distribution averaged over the estimate of a standard error of 1, whose
    square times `dof` is chi-square; here by the trapezoid rule over the logarithm of that estimate.

    Args:
        distance: the difference over its standard error, at least 0.
        dof: degrees of freedom, 1 or more.
        level: of the test.
    """
    critical, half = quantile(dof, level), math.sqrt(0.5)
    # Beyond these bounds less than 1e-16 of the density lies.
    low, high = -39 / dof - 9 / math.sqrt(dof), math.log1p(9 / math.sqrt(dof))
    logs = np.linspace(low, high, _NODES)
    weights = np.exp(dof * (logs - np.expm1(2 * logs) / 2))
    reached = (critical * np.exp(logs)).tolist()
    tails = [math.erfc((r - distance) * half) + math.erfc((r + distance) * half) for r in reached]
    return min(1.0, float(weights @ tails / weights.sum() / 2))


def root(of: Callable[[float], float], low: float, high: float, *, close: float) -> float:
    """Where a function that is negative at `low` and not at `high` crosses 0, by halving; to `close`.

    >>> round(root(lambda x: x * x - 2, 0, 2, close=1e-12), 9)
    1.414213562
    """
    while high - low > close:
        middle = (low + high) / 2
        low, high = (middle, high) if of(middle) < 0 else (low, middle)
    return high
