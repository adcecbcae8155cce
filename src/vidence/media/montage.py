"""Several frames in one image."""

from collections.abc import Sequence

import numpy as np

from vidence.errors import UsageError
from vidence.media.encode import EncodedFrame, Encoding, decode_image, encode


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
