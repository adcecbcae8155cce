"""What every statistic checks before it counts: numbers that are there, one label for each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidence.errors import UsageError


def as_values(values: ArrayLike) -> NDArray[np.float64]:
    """The values as a flat array, shape (n,), n >= 1.

    Raises:
        UsageError: there are none, they are not in one row, or one is not a finite number.
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or not len(numbers):
        raise UsageError(f"values of shape {numbers.shape}; expected one row with at least one value")
    broken = np.flatnonzero(~np.isfinite(numbers))
    if len(broken):
        raise UsageError(
            f"value {numbers[broken[0]]} at position {broken[0]} is not a finite number; "
            "leave out or mark what has no score before averaging"
        )
    return numbers


def as_labels(labels: Sequence[str], n: int, *, what: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The different labels, sorted, and for each value the position of its label, shape (n,).

    Raises:
        UsageError: not one label for each value.
    """
    if len(labels) != n:
        raise UsageError(f"{len(labels)} {what} for {n} values; expected one for each")
    distinct, codes = np.unique(np.asarray(labels, np.str_), return_inverse=True)
    return tuple(distinct.tolist()), codes.astype(np.int64)


def check_level(level: float) -> None:
    """Refuse a level that is no probability.

    Raises:
        UsageError: it is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise UsageError(f"level {level}; expected a number between 0 and 1, for example 0.95")
