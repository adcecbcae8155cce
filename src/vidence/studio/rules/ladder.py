"""Which score of a submission a board shows: that of the Ladder, in whole points.

Source: Blum and Hardt, The Ladder: a reliable leaderboard for machine learning competitions (arXiv
1502.04585), section 3: a score is shown only where it beats the best before by a step. Departs: the step is
`LEAST_STEP`, or `STANDARD_ERRORS` standard errors of the paired difference where that is more; their
parameter-free Ladder takes one standard error (section 3.2). On 200 questions with four options, 20
submissions that guess climb 5 to 8 points above chance by steps of a point alone, 4 to 6 points with one
standard error, and about 1 point with these.
"""

import math
from collections.abc import Mapping
from typing import Final

LEAST_STEP: Final = 0.01
"""A score beats another by a point at least."""
STANDARD_ERRORS: Final = 2.33
"""And by what happens by chance in one of a hundred submissions that are no better."""
_ROUNDING: Final = 1e-9


def accuracy(values: Mapping[str, float]) -> float:
    """The mean value of all questions.

    >>> accuracy({"q1": 1.0, "q2": 0.0})
    0.5
    """
    return math.fsum(values.values()) / len(values)


def whole_points(values: Mapping[str, float]) -> int:
    """The mean value in points, halves rounded up.

    >>> whole_points({"q1": 1.0, "q2": 0.0, "q3": 0.0})
    33
    """
    return math.floor(100 * accuracy(values) + 0.5 + _ROUNDING)


def beats(values: Mapping[str, float], best: Mapping[str, float]) -> bool:
    """Whether the values of the questions are better than the best before by a step of the Ladder.

    >>> best = {f"q{i}": float(i < 50) for i in range(100)}
    >>> [beats({name: float(i < n) for i, name in enumerate(best)}, best) for n in (51, 55, 56)]
    [False, False, True]
    """
    gains = [values[name] - best[name] for name in best]
    gain, error = math.fsum(gains), math.sqrt(math.fsum(value * value for value in gains))
    return gain >= max(LEAST_STEP * len(gains), STANDARD_ERRORS * error) - _ROUNDING
