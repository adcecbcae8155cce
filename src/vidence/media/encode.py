"""Frames in the size wanted, as JPEG or PNG bytes, and back."""

import hashlib
import io
import re
from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vidence.errors import MediaError, UsageError
from vidence.media.accepted import UNREADABLE, open_image
from vidence.media.pixels import FILTER
from vidence.records import Record

_WORDS = re.compile(r"(short|long):([1-9][0-9]{0,4})")
# Raised whenever the same frame would give other bytes; old cache entries are then not found.
_ENCODER_VERSION: Final = 1
_CHROMA: Final = "4:2:0"
MOST_QUALITY: Final = 95  # above it JPEG grows and does not get better


class Size(Record):
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


class Encoding(Record):
    """How frames are scaled and compressed; `quality` is JPEG's (1 to 95), PNG loses nothing."""

    size: Size
    format: Literal["jpeg", "png"] = "jpeg"
    quality: int = 85

    def __post_init__(self) -> None:
        if not 1 <= self.quality <= MOST_QUALITY:
            raise UsageError(
                f"JPEG quality {self.quality} is out of range; say 1 to {MOST_QUALITY} (85 is usual)"
            )

    @property
    def key(self) -> str:
        """What the bytes depend on besides the frame, as a name that is safe for files.

        >>> Encoding(size=Size.parse("short:720")).key
        'short720-jpeg85-area-v1'
        """
        size = "native" if self.size.kind == "native" else f"{self.size.kind}{self.size.pixels}"
        return f"{size}-{self.format}{self.quality}-{FILTER}-v{_ENCODER_VERSION}"


@dataclass(frozen=True, kw_only=True)
class EncodedFrame:
    """An image file in memory; `digest` is the SHA-256 of `data`, in hexadecimal."""

    data: bytes
    width_px: int
    height_px: int
    digest: str

    @property
    def media_type(self) -> str:
        """``image/jpeg`` or ``image/png``."""
        return "image/png" if self.data.startswith(b"\x89PNG") else "image/jpeg"


def encode(image: NDArray[np.uint8], encoding: Encoding) -> EncodedFrame:
    """Compress a picture that already has its size.

    Args:
        image: RGB, shape (height, width, 3).
        encoding: its `format` and `quality` are used.
    """
    buffer = io.BytesIO()
    picture = Image.fromarray(image)
    if encoding.format == "jpeg":
        picture.save(buffer, "JPEG", quality=encoding.quality, subsampling=_CHROMA)
    else:
        picture.save(buffer, "PNG")
    data = buffer.getvalue()
    return EncodedFrame(
        data=data,
        width_px=image.shape[1],
        height_px=image.shape[0],
        digest=hashlib.sha256(data).hexdigest(),
    )


def decode_image(data: bytes) -> NDArray[np.uint8]:
    """The pixels of an encoded frame, RGB, shape (height, width, 3).

    Raises:
        MediaError: the bytes are no whole image.
    """
    with open_image(data) as picture:
        try:
            return np.asarray(picture.convert("RGB"), np.uint8)
        except UNREADABLE as error:
            raise MediaError(
                f"the data ({len(data)} bytes): the image is damaged or cut off ({error})"
            ) from error
