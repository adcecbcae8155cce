"""Images as media: a file is one frame; a folder of numbered images is a video."""

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

from vidence.errors import MediaError, cause
from vidence.media import remote
from vidence.media.address import Address, MediaPath
from vidence.media.encode import UNREADABLE, Size, open_image
from vidence.media.opened import check_file
from vidence.media.pixels import Orientation, resize
from vidence.media.probe import Claimed, MediaKind, Probe, count, seconds
from vidence.media.scan import Scan

_SUFFIXES: Final = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif"})


@overload
def images_in(folder: Path) -> tuple[Path, ...]: ...
@overload
def images_in(folder: MediaPath) -> tuple[MediaPath, ...]: ...
def images_in(folder: MediaPath) -> tuple[MediaPath, ...]:
    """The images of a folder in natural order: ``2.jpg`` before ``10.jpg``.

    Raises:
        MediaError: it is no folder, or holds no image.
    """
    visible = (name for name in _names_in(folder) if not name.startswith("."))
    names = [name for name in visible if PurePosixPath(name).suffix.lower() in _SUFFIXES]
    if not names:
        raise MediaError(f"{folder}: holds no image ({', '.join(sorted(_SUFFIXES))})")
    return tuple(folder / name for name in sorted(names, key=_natural))


def _names_in(folder: MediaPath) -> list[str]:
    if isinstance(folder, Address):
        listed = remote.listing(folder)
        if listed is None:
            raise MediaError(f"{folder}: no such folder")
        return [name for name, facts in listed.items() if not facts.is_folder]
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError as error:
        raise MediaError(f"{folder}: no such folder") from error
    except NotADirectoryError as error:
        raise MediaError(f"{folder}: is a file; the kind 'frames' takes a folder of images") from error
    except OSError as error:
        raise MediaError(f"{folder}: cannot be read ({cause(error)})") from error
    except ValueError as error:
        raise MediaError(f"{folder!s:.200}: is not a valid folder name ({error})") from error


def _natural(name: str) -> tuple[list[tuple[int, str]], str]:
    parts = re.findall(r"[0-9]+|[^0-9]+", name.lower())
    return [(int(p), "") if p[0] in "0123456789" else (-1, p) for p in parts], name


def scan_image(path: MediaPath) -> Scan:
    """Return an image as a medium with one frame at 0 s.

    Raises:
        MediaError: there is no such file, or it is no image.
    """
    return _scan((path,), path, kind="image")


def scan_folder(folder: MediaPath) -> Scan:
    """Return a folder's images as frames, one per second; the first one determines the size.

    Raises:
        MediaError: there is no image, or the first cannot be read.
    """
    return _scan(images_in(folder), folder, kind="frames")


def _scan(images: Sequence[MediaPath], path: MediaPath, *, kind: MediaKind) -> Scan:
    with _opened(images[0]) as picture:
        turn = _turn(picture, images[0])
        width_px, height_px = turn.size(picture.width, picture.height)
        codec = (picture.format or "").lower()
    ticks = np.arange(len(images), dtype=np.int64)
    # A folder says nothing about time; one frame per second makes index and time the same number.
    time_base = Fraction(1)
    probe = Probe(
        path=str(path),
        kind=kind,
        container="image" if kind == "image" else "folder",
        codec=codec,
        width_px=width_px,
        height_px=height_px,
        rotation_deg=turn.rotation_deg,
        claimed=Claimed(n_frames=len(images), duration_s=None, fps=None),
        counted=count(ticks, time_base=time_base),
        has_audio=False,
    )
    return Scan(probe=probe, times_s=seconds(ticks, time_base=time_base), turn=turn, table=None)


def read_image(path: MediaPath, *, size: Size) -> NDArray[np.uint8]:
    """Return an image, upright, within `size`; transparent pixels are composited on white.

    Returns:
        RGB, shape (height, width, 3).

    Raises:
        MediaError: there is no such file, or it is no whole image.
    """
    with _opened(path) as picture:
        turn = _turn(picture, path)
        try:
            pixels = _pixels(picture)
        except UNREADABLE as error:
            raise _damaged(path, error) from error
    fitted = turn.size(*size.fit(*turn.size(pixels.shape[1], pixels.shape[0])))
    return turn.apply(resize(pixels, size=fitted))


def _opened(path: MediaPath) -> Image.Image:
    """Open an image; one at an address is downloaded."""
    if isinstance(path, Address):
        with remote.opened(path) as file:
            return open_image(file.read(file.found.size_bytes), name=str(path))
    check_file(path)
    return open_image(path)


def _damaged(path: MediaPath, error: Exception) -> MediaError:
    return MediaError(f"{path}: the image is damaged or cut off ({error})")


def _turn(picture: Image.Image, path: MediaPath) -> Orientation:
    try:
        # For PNG this reads the whole file: the orientation may stand after the pixels.
        orientation = picture.getexif().get(ExifTags.Base.Orientation, 1)
    except UNREADABLE as error:
        raise _damaged(path, error) from error
    return Orientation.of_exif(orientation if isinstance(orientation, int) else 1)


def _pixels(picture: Image.Image) -> NDArray[np.uint8]:
    """Return RGB, or RGBA if pixels can be transparent."""
    if picture.mode.startswith("I"):
        # Pillow clips 16-bit grey to 8 bits instead of scaling it.
        grey = (np.asarray(picture).astype(np.int64) >> 8).clip(0, 255).astype(np.uint8)
        return np.repeat(grey[..., None], 3, axis=2)
    mode = "RGBA" if picture.has_transparency_data else "RGB"
    return np.asarray(picture.convert(mode), np.uint8)
