"""What is opened at all: the formats of images and of videos, and how large a picture may be.

A file is opened by what it holds, whatever its name is. Formats that are programs (PostScript), or that name
other files (playlists, image sequences by a pattern), are not in the lists.
"""

import io
import re
from pathlib import Path
from typing import Final

from PIL import Image, UnidentifiedImageError

from vidence.errors import MediaError

# As many as Pillow opens by itself; a picture of them takes 0.5 GB as RGB.
MOST_PIXELS: Final = 178_956_970
# An edit list may show the same frames again and again; those of real recordings have some dozen entries.
MOST_EDITS: Final = 1_000
IMAGE_FORMATS: Final = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF")
# Demuxers of libavformat, by the first of their names.
VIDEO_FORMATS: Final = (
    *("mov", "matroska", "avi", "mpegts", "mpeg", "flv", "asf", "ogg", "gif", "mxf", "dv", "ivf"),
    *("yuv4mpegpipe", "h264", "hevc", "av1", "obu", "vc1", "mpegvideo", "m4v", "mjpeg"),
)
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
    """Open an image of one of `IMAGE_FORMATS`; its pixels are not read yet.

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
        raise MediaError(f"{label}: {too_large(_pixels_in(error))}") from error
    except UNREADABLE as error:
        named = other_format(source)
        if named:
            raise MediaError(
                f"{label}: is {named}, which is not opened; expected {_IMAGES_IN_WORDS}: convert it to one"
            ) from error
        raise MediaError(f"{label}: is no image that can be read ({error})") from error
    if picture.width * picture.height > MOST_PIXELS:
        picture.close()
        raise MediaError(f"{label}: {too_large(f'{picture.width} x {picture.height}')}")
    return picture


def _pixels_in(error: Image.DecompressionBombError) -> str:
    """The number in Pillow's message; all of it where there is none."""
    found = re.search(r"\d+ pixels", str(error))
    return found[0] if found else str(error)


def too_large(seen: str) -> str:
    """What is said of a picture with more than `MOST_PIXELS` pixels."""
    return f"its picture is too large ({seen}); expected at most {MOST_PIXELS:,} pixels: make it smaller"


def other_format(source: Path | bytes) -> str:
    """The name of a format that is not opened, by its first bytes; empty where they tell none."""
    if isinstance(source, bytes):
        head = source[:16]
    else:
        try:
            with source.open("rb") as file:
                head = file.read(16)
        except OSError:
            return ""
    found = next((name for mark, name in _OTHERS.items() if head.startswith(mark)), "")
    return found or (_BRANDS.get(head[8:12], "") if head[4:8] == b"ftyp" else "")
