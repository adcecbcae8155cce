"""What the options of detectors, describers and trackers may be."""

import math
from collections.abc import Callable


def share(text: str) -> float:
    """A number from 0 to 1."""
    return number(0.0, 1.0)(text)


def number(least: float, most: float = math.inf) -> Callable[[str], float]:
    """A reader of finite numbers from `least` to `most`."""

    def read(text: str) -> float:
        value = float(text)
        if not (math.isfinite(value) and least <= value <= most):
            limit = f"from {least:g} to {most:g}" if math.isfinite(most) else f", {least:g} or above"
            raise ValueError(f"expected a number {limit}")
        return value

    return read


def whole(least: int) -> Callable[[str], int]:
    """A reader of whole numbers from `least` on."""

    def read(text: str) -> int:
        value = int(text)
        if value < least:
            raise ValueError(f"expected a whole number, {least} or above")
        return value

    return read


def word(*allowed: str) -> Callable[[str], str]:
    """A reader that takes these words and no others."""

    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"expected one of {', '.join(allowed)}")
        return text

    return read


def size_px(text: str) -> tuple[int, int]:
    """``WIDTHxHEIGHT`` in pixels."""
    width, cross, height = text.partition("x")
    if not cross or not (width.isdecimal() and height.isdecimal()) or not int(width) * int(height):
        raise ValueError("expected WIDTHxHEIGHT in pixels, such as 768x576")
    return int(width), int(height)
