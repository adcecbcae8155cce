"""Readers for the options in a selector's spec; each raises ValueError for a text that it cannot read."""

import math
from collections.abc import Callable


def number(text: str) -> float:
    """A finite number."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("expected a finite number")
    return value


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError("expected a number from 0 to 1")
    return value


def whole_from_zero(text: str) -> int:
    """A whole number, zero or above."""
    value = int(text)
    if value < 0:
        raise ValueError("expected a whole number, 0 or above")
    return value


def positive_whole(text: str) -> int:
    """A whole number above zero."""
    value = int(text)
    if value < 1:
        raise ValueError("expected a whole number above 0")
    return value


def one_of(*allowed: str) -> Callable[[str], str]:
    """A reader that takes these words and no others."""

    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"expected one of {', '.join(allowed)}")
        return text

    return read
