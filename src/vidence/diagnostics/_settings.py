"""Readers for the options of diagnostics; each raises ValueError for a text that it cannot read."""

import math
from collections.abc import Callable

from vidence.errors import UsageError


def words_apart(text: str) -> tuple[str, ...]:
    """The parts of an option that holds several, split by ``|``.

    Raises:
        ValueError: one is empty, or stands there twice.
    """
    parts = tuple(part.strip() for part in text.split("|"))
    if not all(parts) or len(set(parts)) != len(parts):
        raise ValueError("expected different values, split by |")
    return parts


def whole(text: str, *, least: int) -> int:
    """A whole number, `least` or above.

    Raises:
        ValueError: it is none.
    """
    value = int(text)
    if value < least:
        raise ValueError(f"expected a whole number, {least} or above")
    return value


def amounts_apart(text: str) -> tuple[int, ...]:
    """Whole numbers above 0 split by ``|``, in ascending order.

    Raises:
        ValueError: one is none, or stands there twice.
    """
    return tuple(sorted(whole(part, least=1) for part in words_apart(text)))


def yes_or_no(text: str) -> bool:
    """``yes`` or ``no``.

    Raises:
        ValueError: neither.
    """
    if text not in {"yes", "no"}:
        raise ValueError("expected yes or no")
    return text == "yes"


def check_at_least(at_least: int, of: int, *, owner: str) -> None:
    """Refuse to ask for more right answers than there are answers.

    Raises:
        UsageError: it is more.
    """
    if at_least > of:
        raise UsageError(f"{owner}: at_least={at_least} of {of} answers can never be; expected 1 to {of}")


def one_of(*allowed: str) -> Callable[[str], str]:
    """A reader that takes these words and no others."""

    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"expected one of {', '.join(allowed)}")
        return text

    return read


def from_zero(text: str) -> float:
    """A finite number, 0 or above.

    Raises:
        ValueError: it is none.
    """
    value = float(text)
    if not 0 <= value < math.inf:
        raise ValueError("expected a number, 0 or above")
    return value
