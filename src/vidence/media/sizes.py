"""How large frames are shown: a limit on the shorter or the longer side."""

import re
from typing import Literal, Self

from vidence.errors import UsageError
from vidence.records import Record

_WORDS = re.compile(r"(short|long):([1-9][0-9]{0,4})")


class Size(Record, kw_only=True):
    """A limit on frames: none (``native``), on the shorter side or on the longer side, in pixels."""

    kind: Literal["native", "short", "long"] = "native"
    pixels: int = 0

    def __post_init__(self) -> None:
        if (self.kind == "native") != (self.pixels == 0) or self.pixels < 0:
            raise UsageError(
                f"a size of kind {self.kind!r} cannot have {self.pixels} pixels; "
                "say native, or short or long with a number of pixels above 0"
            )

    def __str__(self) -> str:
        return self.kind if self.kind == "native" else f"{self.kind}:{self.pixels}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The size that ``native``, ``short:720`` or ``long:448`` stands for.

        Raises:
            UsageError: any other text.

        >>> Size.parse("short:720").fit(1920, 1080)
        (1280, 720)
        """
        if text == "native":
            return cls(kind="native")
        found = _WORDS.fullmatch(text)
        if found is None:
            raise UsageError(
                f"size {text!r} is not known; say native, short:PIXELS (such as short:720) "
                "or long:PIXELS (such as long:448)"
            )
        return cls(kind="short" if found[1] == "short" else "long", pixels=int(found[2]))

    def fit(self, width_px: int, height_px: int) -> tuple[int, int]:
        """Width and height under this limit, in pixels.

        Never larger than what is there, never below one pixel; the aspect is kept to the nearest pixel.

        >>> Size.parse("long:448").fit(320, 180)
        (320, 180)
        """
        sides = (width_px, height_px)
        limited = min(sides) if self.kind == "short" else max(sides)
        if self.kind == "native" or limited <= self.pixels:
            return sides
        # Whole-number rounding: the same on every machine, halves up.
        width, height = ((2 * side * self.pixels + limited) // (2 * limited) for side in sides)
        return max(width, 1), max(height, 1)
