"""Frames as JPEG or PNG bytes, and back."""

import hashlib
import io
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from vidence.errors import MediaError, UsageError
from vidence.media.pixels import FILTER
from vidence.media.sizes import Size
from vidence.records import Record

# Raised whenever the same frame would give other bytes; old cache entries are then not found.
_ENCODER_VERSION: Final = 1
_CHROMA: Final = "4:2:0"
MOST_QUALITY: Final = 95  # above it JPEG grows and does not get better


class Encoding(Record, kw_only=True):
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
    try:
        with Image.open(io.BytesIO(data)) as picture:
            return np.asarray(picture.convert("RGB"), np.uint8)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise MediaError(f"{len(data)} bytes are no image that can be read ({error})") from error
