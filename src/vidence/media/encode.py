"""Pictures: open image files, encode frames as JPEG or PNG at a given size, make montages.

Files are opened by their content, whatever their name.
"""

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from vidence.errors import MediaError, UsageError
from vidence.media.pixels import FILTER
from vidence.records import Record

_WORDS = re.compile(r"(short|long):([1-9][0-9]{0,4})")
# Raised whenever the same frame would give other bytes; old cache entries are then not found.
_ENCODER_VERSION: Final = 1
MOST_QUALITY: Final = 95  # above it JPEG grows and does not get better


class Size(Record):
    """A limit on frames: none (``native``), on the shorter side or on the longer side, in pixels."""

    kind: Literal["native", "short", "long"] = "native"
    pixels: int = 0

    def __post_init__(self) -> None:
        if (self.kind == "native") != (self.pixels == 0) or self.pixels < 0:
            raise UsageError(f"size {self.kind} of {self.pixels} pixels; expected native, short:N or long:N")

    def __str__(self) -> str:
        return self.kind if self.kind == "native" else f"{self.kind}:{self.pixels}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``native``, ``short:720`` or ``long:448``.

        Raises:
            UsageError: any other text.

        >>> Size.parse("short:720").fit(1920, 1080)
        (1280, 720)
        """
        if text == "native":
            return cls(kind="native")
        match = _WORDS.fullmatch(text)
        if match is None:
            raise UsageError(f"unknown size {text!r}; use native, short:PIXELS or long:PIXELS (short:720)")
        return cls(kind="short" if match[1] == "short" else "long", pixels=int(match[2]))

    def fit(self, width_px: int, height_px: int) -> tuple[int, int]:
        """Return width and height under this limit, in pixels.

        Never enlarged, never below one pixel; the aspect ratio is kept to the nearest pixel.

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
    """How frames are scaled and compressed; `quality` is JPEG's (1 to 95), PNG is lossless."""

    size: Size
    format: Literal["jpeg", "png"] = "jpeg"
    quality: int = 85

    def __post_init__(self) -> None:
        if not 1 <= self.quality <= MOST_QUALITY:
            raise UsageError(f"JPEG quality {self.quality}; expected 1 to {MOST_QUALITY} (85 is usual)")

    @property
    def key(self) -> str:
        """Return a name, safe for files, of everything that affects the bytes except the frame.

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
        """Return ``image/jpeg`` or ``image/png``."""
        return "image/png" if self.data.startswith(b"\x89PNG") else "image/jpeg"


def encode(image: NDArray[np.uint8], encoding: Encoding) -> EncodedFrame:
    """Compress a picture that already has its final size.

    Args:
        image: RGB, shape (height, width, 3).
        encoding: its `format` and `quality` are used.
    """
    buffer = io.BytesIO()
    picture = Image.fromarray(image)
    if encoding.format == "jpeg":
        picture.save(buffer, "JPEG", quality=encoding.quality, subsampling="4:2:0")
    else:
        picture.save(buffer, "PNG")
    data = buffer.getvalue()
    return EncodedFrame(
        data=data, width_px=image.shape[1], height_px=image.shape[0], digest=hashlib.sha256(data).hexdigest()
    )


def decode_image(data: bytes) -> NDArray[np.uint8]:
    """Decode an image to RGB, shape (height, width, 3).

    Raises:
        MediaError: the bytes are no whole image.
    """
    with open_image(data) as picture:
        try:
            return np.asarray(picture.convert("RGB"), np.uint8)
        except UNREADABLE as error:
            raise MediaError(f"the data ({len(data)} bytes): damaged or cut off ({error})") from error


def montage(images: Sequence[EncodedFrame], *, columns: int, rows: int, encoding: Encoding) -> EncodedFrame:
    """Lay frames out row by row in equal cells; cells without a frame are black.

    A cell is as large as the largest frame, smaller ones sit in its middle. Nothing is scaled: the
    size of an encoding limits frames, and they were scaled when they were read.

    Raises:
        UsageError: no frames, or more than ``columns * rows``.
    """
    if columns < 1 or rows < 1 or not 1 <= len(images) <= columns * rows:
        raise UsageError(
            f"a montage of {columns}x{rows} cannot hold {len(images)} frames; "
            f"it takes 1 to {max(columns * rows, 1)}"
        )
    width_px = max(image.width_px for image in images)
    height_px = max(image.height_px for image in images)
    canvas = np.zeros((rows * height_px, columns * width_px, 3), np.uint8)
    for position, image in enumerate(images):
        row, column = divmod(position, columns)
        top = row * height_px + (height_px - image.height_px) // 2
        left = column * width_px + (width_px - image.width_px) // 2
        canvas[top : top + image.height_px, left : left + image.width_px] = decode_image(image.data)
    return encode(canvas, encoding)


# As many as Pillow opens by itself; a picture of them takes 0.5 GB as RGB.
MOST_PIXELS: Final = 178_956_970
IMAGE_FORMATS: Final = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF")
# What Pillow raises for bytes that are no whole image.
UNREADABLE: Final = (
    UnidentifiedImageError,
    Image.DecompressionBombError,
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    OverflowError,
)
_IMAGES_IN_WORDS: Final = "JPEG, PNG, WebP, BMP, TIFF or GIF"
_OTHERS: Final = {
    b"%!PS": "PostScript",
    b"\xc5\xd0\xd3\xc6": "PostScript (EPS)",
    b"%PDF": "PDF",
    b"<svg": "SVG",
    b"<?xml": "SVG or another kind of XML",
    b"8BPS": "Photoshop",
    b"\x76\x2f\x31\x01": "OpenEXR",
    b"\0\0\0\x0cJXL ": "JPEG XL",
    b"\xff\x0a": "JPEG XL",
    b"\0\0\0\x0cjP  ": "JPEG 2000",
}
_BRANDS: Final = {b"avif": "AVIF", b"heic": "HEIC", b"heix": "HEIC", b"mif1": "HEIF"}


def open_image(source: Path | bytes, *, name: str = "") -> Image.Image:
    """Open an image of one of `IMAGE_FORMATS`, without reading its pixels.

    Args:
        source: a file, or the bytes of one.
        name: what messages call the bytes.

    Raises:
        MediaError: it is no image, of another format, or has more than `MOST_PIXELS` pixels.
    """
    label = (name or f"the data ({len(source)} bytes)") if isinstance(source, bytes) else str(source)
    try:
        picture = Image.open(
            io.BytesIO(source) if isinstance(source, bytes) else source, formats=IMAGE_FORMATS
        )
    except Image.DecompressionBombError as error:
        n_pixels = re.search(r"\d+ pixels", str(error))
        raise MediaError(f"{label}: {too_large(n_pixels[0] if n_pixels else str(error))}") from error
    except UNREADABLE as error:
        if named := other_format(source):
            raise MediaError(f"{label}: {named} is unsupported; convert it to {_IMAGES_IN_WORDS}") from error
        raise MediaError(f"{label}: is not a readable image ({error})") from error
    if picture.width * picture.height > MOST_PIXELS:
        picture.close()
        raise MediaError(f"{label}: {too_large(f'{picture.width} x {picture.height}')}")
    return picture


def too_large(seen: str) -> str:
    """Return the error message for a picture above `MOST_PIXELS`."""
    return f"the picture is too large ({seen}); expected at most {MOST_PIXELS:,} pixels: make it smaller"


def other_format(source: Path | bytes) -> str:
    """Return the name of an unsupported format from its first bytes; empty if unknown."""
    if isinstance(source, bytes):
        head = source[:16]
    else:
        try:
            with source.open("rb") as file:
                head = file.read(16)
        except OSError:
            return ""
    text = next((name for mark, name in _OTHERS.items() if head.startswith(mark)), "")
    return text or (_BRANDS.get(head[8:12], "") if head[4:8] == b"ftyp" else "")
