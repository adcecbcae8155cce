"""Readers for the options in a model's spec; each raises ValueError for a text that it cannot read."""

import math
from collections.abc import Callable

import msgspec


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


def positive_whole(text: str) -> int:
    """A whole number above zero."""
    value = int(text)
    if value < 1:
        raise ValueError("expected a whole number above 0")
    return value


def whole_from_zero(text: str) -> int:
    """A whole number, zero or above."""
    value = int(text)
    if value < 0:
        raise ValueError("expected a whole number, 0 or above")
    return value


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


def json_object(text: str) -> dict[str, object]:
    """A JSON object, such as ``{"reasoning_effort": "low"}``."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(f"expected a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("expected a JSON object such as {" + '"reasoning_effort": "low"}')
    return value
