"""Readers for the options of specs; each raises ValueError for a text that it cannot read.

They are handed to `vidence.catalog.take_options`, which says whose option could not be read.
"""

import math
from collections.abc import Callable

import msgspec


def number(text: str) -> float:
    """A finite number."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("expected a finite number")
    return value


def positive_number(text: str) -> float:
    """A finite number above zero."""
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise ValueError("expected a number above 0")
    return value


def number_from_zero(text: str) -> float:
    """A finite number, zero or above."""
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError("expected a number, 0 or above")
    return value


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError("expected a number from 0 to 1")
    return value


def whole_from(least: int) -> Callable[[str], int]:
    """A reader of whole numbers from `least` on."""

    def read(text: str) -> int:
        value = int(text)
        if value < least:
            raise ValueError(f"expected a whole number, {least} or above")
        return value

    return read


def positive_whole(text: str) -> int:
    """A whole number above zero."""
    value = int(text)
    if value < 1:
        raise ValueError("expected a whole number above 0")
    return value


def whole_from_zero(text: str) -> int:
    """A whole number, zero or above."""
    return whole_from(0)(text)


def yes_or_no(text: str) -> bool:
    """``yes`` or ``no``."""
    if text not in {"yes", "no"}:
        raise ValueError("expected yes or no")
    return text == "yes"


def one_of(*allowed: str) -> Callable[[str], str]:
    """A reader that takes these words and no others."""

    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"expected one of {', '.join(allowed)}")
        return text

    return read


def words_apart(text: str) -> tuple[str, ...]:
    """The parts of an option that holds several, split by ``|``; none is empty or stands there twice."""
    parts = tuple(part.strip() for part in text.split("|"))
    if not all(parts) or len(set(parts)) != len(parts):
        raise ValueError("expected different values, split by |")
    return parts


def json_object(text: str) -> dict[str, object]:
    """A JSON object, such as ``{"reasoning_effort": "low"}``."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(f"expected a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("expected a JSON object such as {" + '"reasoning_effort": "low"}')
    return value
