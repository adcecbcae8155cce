"""Whether stated probabilities are as good as they say: calibration of the confidence in an answer."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError
from vidence.records import Record

N_BINS = 10


class CalibrationBin(Record):
    """Answers whose confidence lies in ``(low, high]`` (the first bin holds 0, too).

    `confidence` is the mean confidence of its `n` answers, `accuracy` the share of them that is right.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


def calibration_bins(
    confidences: ArrayLike, correct: ArrayLike, *, n_bins: int = N_BINS
) -> tuple[CalibrationBin, ...]:
    """The points of a reliability diagram: confidence against accuracy in bins of equal width.

    Args:
        confidences: for each answer the probability that it is right, from 0 to 1.
        correct: whether it is right, 1 or 0.
        n_bins: how many bins 0 to 1 is cut into.

    Returns:
        The bins that hold answers, from low to high.

    Raises:
        UsageError: no answers, not one confidence for each, a value outside of 0 to 1, or no bins.

    Source: DeGroot & Fienberg (1983); bins as in Guo and others (2017), section 2.
    Departs: no.

    >>> [(b.n, b.confidence, b.accuracy) for b in calibration_bins([0.9, 0.9, 0.3], [1, 0, 0], n_bins=2)]
    [(1, 0.3, 0.0), (2, 0.9, 0.5)]
    """
    stated, right = _checked(confidences, correct)
    if n_bins < 1:
        raise UsageError(f"{n_bins} bins; expected at least one")
    edges = np.linspace(0, 1, n_bins + 1)
    # The bin (low, high] of each confidence, 0 with the first bin.
    places = np.maximum(np.searchsorted(edges, stated, side="left") - 1, 0)
    return tuple(
        CalibrationBin(
            low=float(edges[place]),
            high=float(edges[place + 1]),
            n=int(np.sum(places == place)),
            confidence=float(np.mean(stated[places == place])),
            accuracy=float(np.mean(right[places == place])),
        )
        for place in np.unique(places)
    )


def ece(confidences: ArrayLike, correct: ArrayLike, *, n_bins: int = N_BINS) -> float:
    """The expected calibration error: the mean distance of confidence and accuracy over the bins.

    Bins weigh by their answers. It depends on the number of bins, and is above 0 for a calibrated model with
    few answers.

    Args:
        confidences: for each answer the probability that it is right, from 0 to 1.
        correct: whether it is right, 1 or 0.
        n_bins: how many bins 0 to 1 is cut into.

    Raises:
        UsageError: as for `calibration_bins`.

    Source: Naeini, Cooper & Hauskrecht (2015); Guo and others (2017), equation 3.
    Departs: no.

    >>> round(ece([0.9, 0.9, 0.3], [1, 0, 0], n_bins=2), 4)
    0.3667
    """
    bins = calibration_bins(confidences, correct, n_bins=n_bins)
    n = sum(one.n for one in bins)
    return sum(one.n * abs(one.accuracy - one.confidence) for one in bins) / n


def ece_by_luck(confidences: ArrayLike, *, n_bins: int = N_BINS) -> float:
    """The expected calibration error to expect of a model that is calibrated, with as many answers.

    The share of right answers in a bin strays from the mean confidence by luck alone; the mean of what it
    strays is that of the normal distribution with the same variance. Answers count as independent.

    Args:
        confidences: for each answer the probability that it is right, from 0 to 1.
        n_bins: how many bins 0 to 1 is cut into.

    Raises:
        UsageError: as for `calibration_bins`.

    >>> round(ece_by_luck([0.5] * 100), 3)
    0.04
    """
    stated = np.asarray(confidences, np.float64)
    found = calibration_bins(stated, np.zeros(stated.shape), n_bins=n_bins)
    strayed = 0.0
    for one in found:
        is_inside = (stated <= one.high) & ((stated > one.low) | (one.low == 0))
        inside = stated[is_inside]
        strayed += float(np.sqrt(2 / np.pi * (inside * (1 - inside)).sum()))
    return strayed / len(stated)


def brier(confidences: ArrayLike, correct: ArrayLike) -> float:
    """The Brier score of "this answer is right": the mean squared distance of probability and outcome.

    0 is best; 0.25 is what a constant 0.5 gets.

    Args:
        confidences: for each answer the probability that it is right, from 0 to 1.
        correct: whether it is right, 1 or 0.

    Raises:
        UsageError: as for `calibration_bins`.

    Source: Brier (1950), for two outcomes.
    Departs: the sum over one of the two outcomes, so that it lies between 0 and 1; his lies between 0 and 2.

    >>> round(brier([1.0, 0.5], [1, 0]), 4)
    0.125
    """
    stated, right = _checked(confidences, correct)
    return float(np.mean((stated - right) ** 2))


def _checked(confidences: ArrayLike, correct: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    stated, right = np.asarray(confidences, np.float64), np.asarray(correct, np.float64)
    if stated.ndim != 1 or stated.shape != right.shape or not stated.size:
        raise UsageError(
            f"{_shape(stated)} confidences for {_shape(right)} answers; expected one for each answer, "
            "and at least one answer"
        )
    if not np.all((stated >= 0) & (stated <= 1)):
        worst: Sequence[float] = stated[~((stated >= 0) & (stated <= 1))].tolist()
        raise UsageError(f"{worst[0]} is no probability; expected confidences from 0 to 1")
    if not np.all((right == 0) | (right == 1)):
        raise UsageError("an answer is neither right (1) nor wrong (0)")
    return stated, right


def _shape(values: NDArray[np.float64]) -> str:
    return " x ".join(map(str, values.shape)) or "one bare number of"
