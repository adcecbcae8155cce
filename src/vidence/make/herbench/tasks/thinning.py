"""From a count of tracks that a detector found to the range that the true number of people lies in.

Of N people each leaves a track with the same chance r, independently of the others: T of them do, T binomial.
With a uniform prior on N the people without a track, N - T, follow a negative binomial distribution with
T + 1 successes of the chance r. The recall that was measured gives r as a Beta distribution, so that they
follow a beta negative binomial one. It was measured per frame; somebody is seldom missed in all frames of a
stay, so that r is that recall or more: the upper end of the range takes it as it is, and the lower end takes
1, nobody missed. Of the C tracks counted some are false, each with the chance f, a Beta distribution too: F
of C follow a beta-binomial one, and the lower end takes them off. The upper end takes none off.
"""

from collections.abc import Iterator
from math import exp, lgamma

from vidence.seeing.tracks import Recall

_ENOUGH = 1 - 1e-12


def true_count(low: int, high: int, recall: Recall, *, confidence: float) -> tuple[int, int]:
    """The range that the true number lies in with at least this confidence, half of the doubt at each end.

    Args:
        low: how many were counted for certain.
        high: how many with all that may count, too.
        recall: of the detector; see the head of this file.
        confidence: of the range.

    Source: the posterior of binomial thinning with conjugate priors.
    Departs: ends from different readings of the recall, so that the range holds the number more often.
    """
    tail = (1 - confidence) / 2
    real, missed = recall.share * recall.n_independent, (1 - recall.share) * recall.n_independent
    more = _quantile(_beta_negative_binomial(high + 1, 1 + real, 1 + missed), 1 - tail)
    n_tracks = recall.n_independent_tracks
    false, true = recall.false_share * n_tracks, (1 - recall.false_share) * n_tracks
    fewer = _quantile(_beta_binomial(low, 1 + false, 1 + true), 1 - tail)
    return low - fewer, high + more


def _quantile(chances: Iterator[float], at: float) -> int:
    """The least number that is not exceeded with the chance `at`; `chances` are those of 0, 1, 2, ..."""
    number, total = 0, 0.0
    for number, chance in enumerate(chances):  # noqa: B007 - the last number is the answer
        total += chance
        if total >= min(at, _ENOUGH):
            break
    return number


def _beta_negative_binomial(successes: int, a: float, b: float) -> Iterator[float]:
    """The chances of 0, 1, 2, ... failures before so many successes, whose chance is Beta(a, b)."""
    chance = exp(lgamma(a + successes) + lgamma(a + b) - lgamma(a + b + successes) - lgamma(a))
    number = 0
    while True:
        yield chance
        chance *= (successes + number) * (b + number) / ((number + 1) * (a + successes + b + number))
        number += 1


def _beta_binomial(n: int, a: float, b: float) -> Iterator[float]:
    """The chances of 0 to n of n, the chance of each being Beta(a, b)."""
    chance = exp(lgamma(b + n) + lgamma(a + b) - lgamma(a + b + n) - lgamma(b))
    for number in range(n + 1):
        yield chance
        if number < n:
            chance *= (n - number) * (a + number) / ((number + 1) * (b + n - number - 1))
