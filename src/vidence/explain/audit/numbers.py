"""What a choice allows: the numbers or words that would make it true."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_WORD_NUMBER = re.compile(rf"\b({'|'.join(reversed(_WORDS))})\b")
_N = r"([-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+]?\d+(?::\d{2}){1,2}|[-+]?\d*\.?\d+)"
_UNIT = r"\s*((?:[^\W\d]|[%°/²³ ])*?)\s*"
_TO = r"\s*(?:-|\u2013|\u2014|~|to|until)\s*"
_ABOVE = r"(?:or more|or above|and above|and more|or higher|or greater)"
_BELOW = r"(?:or less|or fewer|or below|and below|or lower)"


class Span(NamedTuple):
    """Numbers from `low` to `high`, both counted in: of an open end it is the next number within."""

    low: float
    high: float

    @property
    def is_point(self) -> bool:
        """A single number."""
        return self.low == self.high

    def covers(self, other: "Span") -> bool:
        """Every number of the other is in this one."""
        return self.low <= other.low and other.high <= self.high

    def meets(self, other: "Span") -> bool:
        """They have a number in common."""
        return max(self.low, other.low) <= min(self.high, other.high)

    def touches(self, other: "Span") -> bool:
        """They have one number in common, and that is an end of both."""
        is_apart = not (self.is_point or other.is_point)
        return is_apart and max(self.low, other.low) == min(self.high, other.high)


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """The numbers that make a choice true, and the words around them (the unit; empty for none)."""

    spans: tuple[Span, ...]
    unit: str

    @property
    def is_point(self) -> bool:
        """It names one number."""
        return len(self.spans) == 1 and self.spans[0].is_point

    def is_like(self, other: "Allowed") -> bool:
        """The units agree, or one has none."""
        return not (self.unit and other.unit) or self.unit == other.unit

    def covers(self, other: "Allowed") -> bool:
        """Whatever makes the other true makes this one true."""
        return all(any(ours.covers(theirs) for ours in self.spans) for theirs in other.spans)

    def meets(self, other: "Allowed") -> bool:
        """Something makes both true."""
        return any(ours.meets(theirs) for ours in self.spans for theirs in other.spans)

    def touches(self, other: "Allowed") -> bool:
        """They have no more than ends in common."""
        met = [(a, b) for a in self.spans for b in other.spans if a.meets(b)]
        return bool(met) and all(a.touches(b) for a, b in met)


def _value(text: str) -> float:
    """A number, or a clock time in seconds."""
    parts = text.replace(",", "").split(":")
    return sum(float(part) * 60.0**i for i, part in enumerate(reversed(parts)))


# How choices are written, and the spans that the numbers in them stand for.
_FORMS: tuple[tuple[re.Pattern[str], Callable[..., tuple[tuple[float, float], ...]]], ...] = tuple(
    (re.compile(pattern), spans)
    for pattern, spans in (
        (rf"(?:between\s+){_N}{_UNIT}\s+and\s+{_N}{_UNIT}", lambda a, b: ((a, b),)),
        (rf"(?:from\s+|between\s+)?{_N}{_UNIT}{_TO}{_N}{_UNIT}", lambda a, b: ((a, b),)),
        (rf"(?:either\s+)?{_N}{_UNIT}\s+or\s+{_N}{_UNIT}", lambda a, b: ((a, a), (b, b))),
        (
            rf"(?:more than|greater than|over|above|>)\s*{_N}{_UNIT}",
            lambda a: ((math.nextafter(a, math.inf), math.inf),),
        ),
        (rf"(?:at least|no less than|no fewer than|≥|>=)\s*{_N}{_UNIT}", lambda a: ((a, math.inf),)),
        (rf"{_N}{_UNIT}(?:\+|{_ABOVE}){_UNIT}", lambda a: ((a, math.inf),)),
        (
            rf"(?:less than|fewer than|under|below|<)\s*{_N}{_UNIT}",
            lambda a: ((-math.inf, math.nextafter(a, -math.inf)),),
        ),
        (rf"(?:at most|up to|no more than|≤|<=)\s*{_N}{_UNIT}", lambda a: ((-math.inf, a),)),
        (rf"{_N}{_UNIT}{_BELOW}{_UNIT}", lambda a: ((-math.inf, a),)),
        (rf"(?:exactly\s+|only\s+)?{_N}{_UNIT}", lambda a: ((a, a),)),
    )
)


def allowed(choice: str) -> Allowed | None:
    """The numbers that a choice allows; None where it is no number, range or bound.

    >>> allowed("3 to 8 people").spans[0].high
    8.0
    >>> [span.low for span in allowed("two or three").spans]
    [2.0, 3.0]
    >>> allowed("3, 4, 2, 1") is None
    True
    """
    text = _WORD_NUMBER.sub(lambda m: str(_WORDS.index(m[0])), choice.casefold().strip().rstrip(".;,"))
    text = text.lstrip("$€£").replace("\u2212", "-")
    for pattern, spans_of in _FORMS:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        numbers = [_value(g) for g in match.groups() if g and re.fullmatch(_N, g)]
        around = (g.strip() for g in match.groups() if g and not re.fullmatch(_N, g))
        units = {words.removesuffix("s") if len(words) > 2 else words for words in around if words}
        spans = tuple(Span(*ends) for ends in spans_of(*numbers))
        if len(units) > 1 or any(span.low > span.high for span in spans):
            return None
        return Allowed(spans=spans, unit=units.pop() if units else "")
    return None


def all_allowed(choices: Sequence[str]) -> list[Allowed | None]:
    """What each choice allows. Where one reads "3-2", such pairs are scores and no ranges.

    >>> [one is None for one in all_allowed(["3-2", "1-2", "4"])]
    [True, True, False]
    """
    pair = re.compile(r"\s*(\d+)\s*[-\u2013:]\s*(\d+)\s*")
    pairs = [pair.fullmatch(choice) for choice in choices]
    has_scores = any(p is not None and int(p[1]) >= int(p[2]) for p in pairs)
    return [None if has_scores and p is not None else allowed(c) for c, p in zip(choices, pairs, strict=True)]
