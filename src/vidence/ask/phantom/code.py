"""How evidence is written into pixels, and read back after compression and downscaling.

A code is a strip of black and white blocks over the whole width of the image, near its lower edge:
32 columns by 3 rows, each block 1/32 of the width by 1/18 of the height. Column by column::

    0 dark | 1 white | 2 black | 3..28 data | 29 black | 30 white | 31 dark

Columns 1, 2, 29 and 30 are marks: they show that there is a code and give the levels of black and
white. The 78 data blocks hold, row by row and most significant bit first, 6 fixed bits, world
(16 bits), piece (12), value (12) and a CRC-32 of all of these. A block that is misread breaks the
checksum, so a damaged code reads as None and not as another piece.
"""

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError

N_COLUMNS = 32
N_ROWS = 3
MIN_WIDTH_PX = 160
MAX_GRID = 8  # columns or rows of a montage
TOP = 14 / 18  # where the strip begins, in heights of the image
BLACK, WHITE = 24, 232

_FIRST_ROW = 14.5 / 18
_ROW_HEIGHT = 1 / 18
_DATA = slice(3, 29)
_MARKS_WHITE = (1, 30)
_MARKS_BLACK = (2, 29)
_FIXED_BITS = 0b101101
_WIDTHS = (6, 16, 12, 12, 32)  # fixed bits, world, piece, value, checksum
_MIN_CONTRAST = 40.0


@dataclass(frozen=True, kw_only=True)
class Payload:
    """The content of a code: the world, the piece of evidence, and its value.

    Ranges: `world` 0..65535, `piece` 0..4095, `value` 0..4095.

    Raises:
        UsageError: a number out of its range.
    """

    world: int
    piece: int
    value: int

    def __post_init__(self) -> None:
        for name, bits in (("world", 16), ("piece", 12), ("value", 12)):
            number = getattr(self, name)
            if not 0 <= number < 1 << bits:
                raise UsageError(
                    f"{name} {number} does not fit in a code; it must be in 0..{(1 << bits) - 1}"
                )


def _checksum(payload: Payload) -> int:
    words = (_FIXED_BITS, payload.world, payload.piece, payload.value)
    return zlib.crc32(b"".join(w.to_bytes(2, "big") for w in words))


def _to_bits(payload: Payload) -> NDArray[np.bool_]:
    numbers = (_FIXED_BITS, payload.world, payload.piece, payload.value, _checksum(payload))
    text = "".join(f"{n:0{width}b}" for n, width in zip(numbers, _WIDTHS, strict=True))
    return np.array([bit == "1" for bit in text]).reshape(N_ROWS, -1)


def _from_bits(bits: NDArray[np.bool_]) -> Payload | None:
    text = "".join("1" if bit else "0" for bit in bits.ravel())
    numbers, start = [], 0
    for width in _WIDTHS:
        numbers.append(int(text[start : start + width], 2))
        start += width
    fixed, world, piece, value, checksum = numbers
    payload = Payload(world=world, piece=piece, value=value)
    return payload if fixed == _FIXED_BITS and checksum == _checksum(payload) else None


def strip(payload: Payload, width_px: int, *, height_px: int) -> NDArray[np.uint8]:
    """Return the strip for the lower edge of an image of this size.

    Shapes: (height_px - floor(TOP * height_px), width_px), grey levels.

    Raises:
        UsageError: the image is narrower than `MIN_WIDTH_PX`.
    """
    if width_px < MIN_WIDTH_PX:
        raise UsageError(
            f"an image of width {width_px} px is too small for a code; use {MIN_WIDTH_PX} or more"
        )
    blocks = np.zeros((N_ROWS + 2, N_COLUMNS), np.bool_)  # one dark row above and below
    blocks[1:-1, _MARKS_WHITE] = True
    blocks[1:-1, _DATA] = _to_bits(payload)
    y = (np.arange(int(TOP * height_px), height_px) + 0.5) / height_px
    x = (np.arange(width_px) + 0.5) / width_px
    rows = np.clip(np.floor((y - _FIRST_ROW) / _ROW_HEIGHT).astype(np.int64) + 1, 0, N_ROWS + 1)
    columns = np.floor(x * N_COLUMNS).astype(np.int64)
    return np.where(blocks[np.ix_(rows, columns)], WHITE, BLACK).astype(np.uint8)


def draw(image: NDArray[np.uint8], payload: Payload) -> NDArray[np.uint8]:
    """Return a copy of the image with the code over its lower edge.

    Shapes: `image` (height, width) or (height, width, 3); the result has the same shape.

    Raises:
        UsageError: the image is narrower than `MIN_WIDTH_PX`.
    """
    height_px, width_px = image.shape[:2]
    blocks = strip(payload, width_px, height_px=height_px)
    drawn = image.copy()
    drawn[height_px - len(blocks) :] = blocks if image.ndim == 2 else blocks[:, :, None]
    return drawn


def _edges(first: float, pitch: float, *, n_blocks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the middle half of each block starts and ends, in pixels; at least one pixel."""
    begin = np.rint(first + (np.arange(n_blocks) + 0.25) * pitch).astype(np.int64)
    end = np.rint(first + (np.arange(n_blocks) + 0.75) * pitch).astype(np.int64)
    return begin, np.maximum(end, begin + 1)


def _block_levels(image: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the mean grey level of each block's middle: (N_ROWS, N_COLUMNS)."""
    height_px, width_px = image.shape[:2]
    top = int(TOP * height_px)
    grey = image[top:].astype(np.float64)
    if grey.ndim == 3:
        grey = (grey[..., 0] + grey[..., 1] + grey[..., 2]) / 3  # a mean over so short an axis is slow
    sums = np.zeros((grey.shape[0] + 1, width_px + 1))
    sums[1:, 1:] = grey.cumsum(axis=0).cumsum(axis=1)
    y0, y1 = _edges(_FIRST_ROW * height_px - top, _ROW_HEIGHT * height_px, n_blocks=N_ROWS)
    x0, x1 = _edges(0.0, width_px / N_COLUMNS, n_blocks=N_COLUMNS)
    totals = sums[np.ix_(y1, x1)] - sums[np.ix_(y0, x1)] - sums[np.ix_(y1, x0)] + sums[np.ix_(y0, x0)]
    areas: NDArray[np.int64] = np.outer(y1 - y0, x1 - x0)
    return totals / areas


def _may_have_marks(image: NDArray[np.uint8]) -> bool:
    """Whether the marks' middle pixels are light and dark; a quick test, more tolerant than `read`."""
    height_px, width_px = image.shape[:2]
    rows = ((_FIRST_ROW + (np.arange(N_ROWS) + 0.5) * _ROW_HEIGHT) * height_px).astype(np.int64)
    columns = ((np.array(_MARKS_WHITE + _MARKS_BLACK) + 0.5) * width_px / N_COLUMNS).astype(np.int64)
    pixels = image[np.ix_(rows, columns)].astype(np.float64)
    levels = pixels.mean(axis=2) if pixels.ndim == 3 else pixels
    return float(levels[:, :2].min() - levels[:, 2:].max()) > _MIN_CONTRAST / 2


def read(image: NDArray[np.uint8]) -> Payload | None:
    """Read the code in the image; None without a code, or if it is damaged.

    The image must be whole: it may be resized (also with a slightly changed aspect) and compressed,
    not cropped.

    Shapes: `image` (height, width) or (height, width, 3).
    """
    height_px, width_px = image.shape[:2]
    if width_px < N_COLUMNS or height_px < 18 or not _may_have_marks(image):
        return None
    levels = _block_levels(image)
    white, black = levels[:, _MARKS_WHITE], levels[:, _MARKS_BLACK]
    if white.min() - black.max() < _MIN_CONTRAST:
        return None
    return _from_bits(levels[:, _DATA] > (white.mean() + black.mean()) / 2)


def _grids(n_cells: int) -> list[tuple[int, int]]:
    """Return the grids (columns and rows) that can hold this many frames, smallest first."""
    sides = range(1, MAX_GRID + 1)
    return sorted(
        ((c, r) for c in sides for r in sides if n_cells <= c * r and c * r > 1),
        key=lambda grid: (grid[0] * grid[1], abs(grid[0] - grid[1])),
    )


def _cells(image: NDArray[np.uint8], columns: int, *, rows: int) -> list[NDArray[np.uint8]]:
    height_px, width_px = image.shape[0] // rows, image.shape[1] // columns
    return [
        image[r * height_px : (r + 1) * height_px, c * width_px : (c + 1) * width_px]
        for r in range(rows)
        for c in range(columns)
    ]


def read_montage(image: NDArray[np.uint8], n_frames: int) -> tuple[Payload, ...]:
    """The codes in a montage of equal cells without margins, row by row.

    The numbers of columns and rows are found by trial: those that make the most codes readable, the
    smaller grid among equals. Cells without a code add nothing.

    Shapes: `image` (height, width) or (height, width, 3).

    Args:
        image: the montage.
        n_frames: how many frames it shows, 1 or more; cells may be left over.
    """
    best: tuple[Payload, ...] = ()
    for columns, rows in _grids(n_frames):
        payloads = tuple(p for cell in _cells(image, columns, rows=rows) if (p := read(cell)) is not None)
        if len(payloads) > len(best):
            best = payloads
        if len(best) == n_frames:
            break
    return best
