"""Probabilities over the letters of the choices, as a model reports them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# By so much less than a letter that was reported is one that was not, so that it never wins a tie.
BELOW_REPORTED = 1e-10
# What is left for letters that were not reported is never taken for less than this.
LEAST_LEFT = 1e-12


@dataclass(frozen=True, kw_only=True)
class OverLetters:
    """The natural-log probabilities over the letters alone, shape (n_letters,); `n_floored` were absent.

    Source: HERBench, section 5.2, step 1.
    Departs: see `of_logps`.
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


def _normalised(logps: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = logps - logps.max()
    return np.asarray(shifted - math.log(float(np.exp(shifted).sum())), np.float64)
