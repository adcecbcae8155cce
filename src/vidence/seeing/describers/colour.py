"""Colour histograms from head to foot; needs no weights.

colour
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pictures

from vidence.seeing.describers.describing import corners, unit_rows
from vidence.seeing.watching import Image

_VERSION: Final = 1
_SIZE_PX: Final = (32, 64)
_BANDS: Final = 4
_HUES, _LEVELS, _GREYS = 8, 2, 4
_LEAST_SATURATION: Final = 50  # of 255; paler colours count as greys
_SPREAD: Final = 0.25  # how fast pixels count less towards the sides, in widths of the box


class Colour:
    """Histograms of hue and lightness in four horizontal bands, weighted towards the middle of the box.

    The vector holds the square roots of the shares, so that the cosine of two vectors is the mean of the
    bands' Bhattacharyya coefficients.

    Source: the measure is that of Bhattacharyya 1943.
    Departs: DeepSORT uses a trained network (see `mobilenet`); this one needs no weights.
    """

    n_dims = _BANDS * (_HUES * _LEVELS + _GREYS)
    opens_anywhere = True

    def __init__(self) -> None:
        self.identity = f"colour/{_VERSION}"
        across = (np.arange(_SIZE_PX[0]) + 0.5) / _SIZE_PX[0] - 0.5
        self._weights = np.tile(np.exp(-0.5 * (across / _SPREAD) ** 2), _SIZE_PX[1])
        rows = np.repeat(np.arange(_SIZE_PX[1]), _SIZE_PX[0])
        self._bands = rows * _BANDS // _SIZE_PX[1]

    def describe(self, image: Image, boxes_px: NDArray[np.float64]) -> NDArray[np.float32]:
        """One vector of length 1 for each box, shape (n, n_dims)."""
        vectors = np.zeros((len(boxes_px), self.n_dims), np.float32)
        picture = Pictures.fromarray(np.ascontiguousarray(image))
        for i, corner in enumerate(corners(boxes_px, image)):
            small = picture.resize(_SIZE_PX, Pictures.Resampling.BOX, box=corner).convert("HSV")
            vectors[i] = self._describe(np.asarray(small, np.int64).reshape(-1, 3))
        return unit_rows(vectors)

    def _describe(self, pixels: NDArray[np.int64]) -> NDArray[np.float64]:
        """The square roots of the shares of each colour in each band; `pixels` are HSV from 0 to 255."""
        hue, saturation, value = pixels.T
        colours = (hue * _HUES // 256) * _LEVELS + value * _LEVELS // 256
        greys = _HUES * _LEVELS + value * _GREYS // 256
        n_bins = self.n_dims // _BANDS
        places = self._bands * n_bins + np.where(saturation < _LEAST_SATURATION, greys, colours)
        counts = np.bincount(places, weights=self._weights, minlength=self.n_dims).reshape(_BANDS, n_bins)
        roots: NDArray[np.float64] = np.sqrt(counts / counts.sum(axis=1, keepdims=True)).ravel()
        return roots


def create() -> Colour:
    """Histograms of colour."""
    return Colour()
