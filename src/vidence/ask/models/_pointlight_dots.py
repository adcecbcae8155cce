"""Find the dots in a picture: spots that differ from an even background, lighter or darker."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# What differs from the background by less than this many levels anywhere is an empty picture.
LEAST_LEVELS = 16.0
# A pixel belongs to a dot if it differs by this share of the largest difference.
_SHARE = 0.3
# A spot with so many times the mass of the usual one is more than one dot.
_SPLIT_FROM = 1.6


def find_dots(picture: NDArray[np.uint8]) -> Floats:
    """The centres of the dots in pixels, x to the right and y down from the upper left, shape (n_dots, 2).

    The background is the median of the picture, so that dots may be lighter, darker or both. Neighbouring
    pixels that stand out are one spot; its centre is weighted by how much each pixel stands out, so that it
    is finer than a pixel. Spots of dots that touch are cut across their longer axis, by their mass.

    Args:
        picture: RGB, shape (height, width, 3).
    """
    from scipy import ndimage

    levels = picture.astype(np.float64)
    away: Floats = np.abs(levels - np.median(levels, axis=(0, 1))).max(axis=2)
    if away.max() < LEAST_LEVELS:
        return np.zeros((0, 2))
    spots, n_spots = ndimage.label(away > _SHARE * away.max(), structure=np.ones((3, 3)))
    masses = ndimage.sum_labels(away, spots, np.arange(1, n_spots + 1))
    usual = float(np.median(masses))
    boxes = ndimage.find_objects(spots)
    centres: list[Floats] = []
    for number, (box, mass) in enumerate(zip(boxes, masses, strict=True), start=1):
        rows, columns = np.nonzero(spots[box] == number)
        # The centre of pixel (i, j) lies at (i + 0.5, j + 0.5).
        places = np.stack([columns + box[1].start, rows + box[0].start], axis=1) + 0.5
        weights = away[box][rows, columns]
        n_dots = round(mass / usual) if mass >= _SPLIT_FROM * usual else 1
        centres += _centres(places, weights, n_dots)
    return np.stack(centres)


def _centres(places: Floats, weights: Floats, n_dots: int) -> list[Floats]:
    """The weighted centre of a spot, or of each of `n_dots` parts of the same mass along its longer axis."""
    middle = np.average(places, axis=0, weights=weights)
    if n_dots < 2:
        return [middle]
    spread = (places - middle) * weights[:, None]
    _, axes = np.linalg.eigh(spread.T @ (places - middle))
    order = np.argsort((places - middle) @ axes[:, -1], kind="stable")
    before = np.cumsum(weights[order]) - weights[order] / 2
    part = np.minimum((n_dots * before / weights.sum()).astype(np.int64), n_dots - 1)
    return [
        np.average(places[order][part == i], axis=0, weights=weights[order][part == i])
        for i in range(n_dots)
        if (part == i).any()
    ]
