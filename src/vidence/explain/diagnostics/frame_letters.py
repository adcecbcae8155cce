"""Probabilities over the letters of the choices: as a model reports them, or from several replies."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# By so much less than a letter that was reported is one that was not, so that it never wins a tie.
BELOW_REPORTED = 1e-10
# What is left for letters that were not reported is never taken for less than this.
LEAST_LEFT = 1e-12
# Added to the count of every letter, so that one never sampled has a probability (Krichevsky-Trofimov).
PRIOR_COUNT = 0.5


@dataclass(frozen=True, kw_only=True)
class OverLetters:
    """The natural-log probabilities over the letters alone, shape (n_letters,); `n_floored` were absent.

    Whatever those had, the true ones lie from `low` to `high`, of the same shape; `low` may be -inf.

    Source: HERBench, section 5.2, step 1.
    Departs: see `of_logps` and `of_draws`.
    """

    logps: NDArray[np.float64]
    n_floored: int = 0


def of_logps(reported: Mapping[str, float] | None, letters: Sequence[str]) -> OverLetters | None:
    """The softmax over the letters of what a model reported; None where it reported none of them.

    Models report the likeliest tokens only. Letters that are absent get alike the most that they can have:
    no more than any letter reported, and together no more than what these leave of 1.

    Source: HERBench, section 5.2, step 1.
    Departs: the paper does not say what it does with absent letters.
    """
    wanted = set(letters)
    known = {a: logp for a, logp in (reported or {}).items() if a in wanted and math.isfinite(logp)}
    if not known:
        return None
    reported_sum = sum(math.exp(min(logp, 0.0)) for logp in known.values())
    left = max(1 - reported_sum, LEAST_LEFT)
    n_absent = len(letters) - len(known)
    if not n_absent:
        return OverLetters(logps=_normalised(np.array([known[letter] for letter in letters])))
    floor = min(*known.values(), math.log(left / n_absent)) - BELOW_REPORTED
    logps = _normalised(np.array([known.get(letter, floor) for letter in letters]))
    return OverLetters(logps=logps, n_floored=n_absent)


def of_draws(sampled: Sequence[str], letters: Sequence[str]) -> OverLetters | None:
    """The probabilities estimated from letters that were sampled; None where none was.

    Each letter counts one half more than it was sampled, so that one never sampled has a logarithm.

    Source: Krichevsky & Trofimov (1981) for the half.
    Departs: the paper has log-probabilities.
    """
    wanted = set(letters)
    counts = Counter(letter for letter in sampled if letter in wanted)
    if not counts:
        return None
    return OverLetters(logps=_normalised(np.log([counts[letter] + PRIOR_COUNT for letter in letters])))


def _normalised(logps: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = logps - logps.max()
    return np.asarray(shifted - math.log(float(np.exp(shifted).sum())), np.float64)
