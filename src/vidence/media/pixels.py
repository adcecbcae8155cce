"""Convert decoded pictures to upright RGB arrays, scaled with one fixed filter."""

import struct
from typing import Final, Self

import av
import numpy as np
from av.buffer import Buffer
from av.video.reformatter import Interpolation
from numpy.typing import NDArray

from vidence.records import Record

# Part of every cache key. Averaging over the area keeps small text readable. Scaling rounds exactly,
# which costs nothing there; at native size that would take four times as long as the usual conversion.
FILTER: Final = "area"
_SCALED: Final = int(Interpolation.AREA | Interpolation.ACCURATE_RND | Interpolation.BITEXACT)
_NATIVE: Final = int(Interpolation.AREA)
_BEHIND_TRANSPARENT: Final = 255


class Orientation(Record):
    """How stored pixels are turned for display: transposed, then mirrored in x, then in y."""

    is_transposed: bool = False
    is_mirrored_x: bool = False
    is_mirrored_y: bool = False

    @classmethod
    def of_matrix(cls, matrix: bytes) -> Self | None:
        """Return the turn of a display matrix; None if it is not a multiple of 90 degrees.

        `matrix` holds nine 32-bit integers in native byte order, as libavutil stores them.
        """
        a, b, _, c, d, *_ = struct.unpack("=9i", matrix)
        if a and d and not b and not c:
            return cls(is_mirrored_x=a < 0, is_mirrored_y=d < 0)
        if b and c and not a and not d:
            return cls(is_transposed=True, is_mirrored_x=c < 0, is_mirrored_y=b < 0)
        return None

    @classmethod
    def of_exif(cls, orientation: int) -> Self:
        """Return the turn of an EXIF orientation (1 to 8); other values are upright."""
        if orientation not in range(1, 9):
            return cls()
        return cls(
            is_transposed=orientation >= 5,
            is_mirrored_x=orientation in {2, 3, 6, 7},
            is_mirrored_y=orientation in {3, 4, 7, 8},
        )

    @property
    def rotation_deg(self) -> int:
        """Return the clockwise rotation: 0, 90, 180 or 270 degrees."""
        if self.is_transposed:
            return 90 if self.is_mirrored_x else 270
        return 180 if self.is_mirrored_y else 0

    def size(self, width_px: int, height_px: int) -> tuple[int, int]:
        """Return width and height after the turn (or before it; both agree)."""
        return (height_px, width_px) if self.is_transposed else (width_px, height_px)

    def apply(self, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the upright picture. Shapes: (height, width, 3) to (height, width, 3) after the turn."""
        if self.is_transposed:
            image = image.transpose(1, 0, 2)
        image = image[:: -1 if self.is_mirrored_y else 1, :: -1 if self.is_mirrored_x else 1]
        return np.ascontiguousarray(image)


def turn_of(frame: av.VideoFrame) -> Orientation | None:
    """Return a decoded frame's turn; None if it is not a multiple of 90 degrees."""
    matrix = frame.side_data.get("DISPLAYMATRIX")
    return Orientation.of_matrix(bytes(matrix)) if isinstance(matrix, Buffer) else Orientation()


def to_rgb(frame: av.VideoFrame, *, size: tuple[int, int], turn: Orientation) -> NDArray[np.uint8]:
    """Convert a decoded frame to an upright RGB picture.

    `size` is (width, height) in pixels as displayed, after the turn. Colour matrix and range are the
    stream's, BT.601 by default. Transparent pixels are composited on white.

    Returns:
        Shape (height, width, 3).
    """
    width_px, height_px = turn.size(*size)
    has_alpha = any(component.is_alpha for component in frame.format.components)
    pixels = frame.to_ndarray(
        format="rgba" if has_alpha else "rgb24",
        width=width_px,
        height=height_px,
        interpolation=_NATIVE if (frame.width, frame.height) == (width_px, height_px) else _SCALED,
        threads=1,
    ).astype(np.uint8, copy=False)
    return turn.apply(_on_white(pixels) if has_alpha else pixels)


def resize(image: NDArray[np.uint8], *, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Resize an RGB or RGBA picture to `size` (width, height) with the filter of `to_rgb`.

    Returns:
        Shape (height, width, 3); transparent pixels are composited on white.
    """
    if image.shape[2] == 3 and image.shape[1::-1] == size:
        return image
    frame = av.VideoFrame.from_ndarray(
        np.ascontiguousarray(image), format="rgb24" if image.shape[2] == 3 else "rgba"
    )
    return to_rgb(frame, size=size, turn=Orientation())


def _on_white(rgba: NDArray[np.uint8]) -> NDArray[np.uint8]:
    alpha = rgba[..., 3:].astype(np.uint16)
    mixed = rgba[..., :3] * alpha + _BEHIND_TRANSPARENT * (255 - alpha) + 127
    return (mixed // 255).astype(np.uint8)
