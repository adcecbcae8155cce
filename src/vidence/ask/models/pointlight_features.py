"""Dots in pictures, and what a few frames of them look like and how they move.

A dot is a spot that differs from an even background, lighter or darker. What is said of dots does not
depend on their place and size in the picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# What differs from the background by less than this many levels anywhere is an empty picture.
LEAST_LEVELS = 16.0
# A pixel belongs to a dot if it differs by this share of the largest difference.
_SHARE = 0.3
# A spot with so many times the mass of the usual one is more than one dot.
_SPLIT_FROM = 1.6
# A dot moves less than this from one frame to the next, in units of the figure's size (see `CentredDots`).
MOST_STEP = 0.6
# Rhythm is measured where there are so many frames.
RHYTHM_FROM = 16
_N_RHYTHM = 6
# Where the figure is looked at, from its middle: sideways without left and right, and upwards.
_ACROSS = np.linspace(0.0, 1.4, 5)
_UPWARDS = np.linspace(-2.0, 2.0, 11)
_BLUR = 0.22
_BANDS = (-1.0, -0.35, 0.35, 1.0)


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


@dataclass(frozen=True, kw_only=True)
class CentredDots:
    """Dots of several frames, each frame from its own middle.

    `places` has for every frame an array of shape (n_dots, 2), x to the right and y up, in units of
    `size_px`: the root of the mean squared distance of a dot from the middle of its frame. `middles`
    (n_frames, 2) are these middles in the same units.
    """

    places: tuple[Floats, ...]
    middles: Floats
    size_px: float


def seen(frames: Sequence[Floats]) -> CentredDots | None:
    """Dots without their place and size; None where no frame has two dots apart.

    Args:
        frames: for each frame the dots in pixels, y down, shape (n_dots, 2).
    """
    filled = [dots * np.array([1.0, -1.0]) for dots in frames if len(dots)]
    if not filled:
        return None
    middles = np.stack([dots.mean(axis=0) for dots in filled])
    away = [dots - middle for dots, middle in zip(filled, middles, strict=True)]
    size_px = float(np.sqrt(np.mean([np.mean((a**2).sum(axis=1)) for a in away])))
    if size_px < 1e-6:
        return None
    return CentredDots(places=tuple(a / size_px for a in away), middles=middles / size_px, size_px=size_px)


def describe(what: CentredDots) -> tuple[Floats, ...]:
    """Features in groups that count alike: shape, motion, extent and number, rhythm if there is time.

    The order of the dots does not matter; mirrored figures look the same.
    """
    motion, energy = _motion(what)
    extent, series = _extent(what)
    groups = [_shape(what), motion, extent]
    if len(what.places) >= RHYTHM_FROM:
        groups.append(np.concatenate([_rhythm(one) for one in (*series, energy)]))
    return tuple(groups)


def _shape(what: CentredDots) -> Floats:
    """Where dots are, blurred: the root of their density on a grid, sideways folded, shape (n_cells,)."""
    dots = np.concatenate(what.places)
    across = np.exp(-0.5 * ((np.abs(dots[:, :1]) - _ACROSS) / _BLUR) ** 2)
    upwards = np.exp(-0.5 * ((dots[:, 1:] - _UPWARDS) / _BLUR) ** 2)
    density = across.T @ upwards / len(dots)
    made: Floats = np.sqrt(density / max(density.sum(), 1e-12)).ravel()
    return made


def _motion(what: CentredDots) -> tuple[Floats, Floats]:
    """How dots move in bands of height (root of mean speeds), and the mean speed at every step."""
    bands = np.zeros((len(_BANDS) + 1, 5))
    heights, steps, energy = [], [], []
    for n in range(len(what.places) - 1):
        first, second = linked(what.places[n], what.places[n + 1])
        step = what.places[n + 1][second] - what.places[n][first]
        heights.append(what.places[n][first, 1])
        steps.append(step)
        energy.append(float(np.linalg.norm(step, axis=1).mean()) if len(step) else 0.0)
    if not steps:
        return bands.ravel(), np.zeros(0)
    height, step = np.concatenate(heights), np.concatenate(steps)
    band_of = np.searchsorted(_BANDS, height)
    for band in range(len(bands)):
        x, y = step[band_of == band].T
        if len(x):
            up, down = np.maximum(y, 0).mean(), np.maximum(-y, 0).mean()
            bands[band] = np.sqrt([np.abs(x).mean(), up, down, x.std(), np.quantile(np.hypot(x, y), 0.9)])
    return bands.ravel(), np.array(energy)


def linked(first: Floats, second: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which dots of two frames belong together: the pairs with the least sum of distances, none too far."""
    from scipy.optimize import linear_sum_assignment

    distance = np.linalg.norm(first[:, None] - second[None], axis=2)
    rows, columns = linear_sum_assignment(np.minimum(distance, MOST_STEP))
    near = distance[rows, columns] < MOST_STEP
    return rows[near], columns[near]


def _extent(what: CentredDots) -> tuple[Floats, tuple[Floats, Floats]]:
    """Height and width over time, how the middle moves, how many dots; height and width themselves."""
    ends = np.stack([np.quantile(p, [0.05, 0.95], axis=0) for p in what.places])
    wide, high = (ends[:, 1] - ends[:, 0]).T
    path = np.diff(what.middles, axis=0) if len(what.middles) > 1 else np.zeros((1, 2))
    bend = np.diff(path, axis=0) if len(path) > 1 else np.zeros((1, 2))
    made = np.array(
        [
            high.mean(),
            wide.mean(),
            np.sqrt(high.std()),
            np.sqrt(wide.std()),
            np.sqrt(np.abs(path[:, 0]).mean()),
            np.sqrt(np.maximum(path[:, 1], 0).mean()),
            np.sqrt(np.maximum(-path[:, 1], 0).mean()),
            np.sqrt(np.abs(bend[:, 1]).mean()),
            np.log(np.mean([len(p) for p in what.places])),
        ]
    )
    return made, (high, wide)


def _rhythm(series: Floats) -> Floats:
    """The shares of the lowest frequencies in what changes, shape (6,): 1, 2, ... cycles in all frames."""
    power = np.abs(np.fft.rfft(series - series.mean())) ** 2
    lowest = np.zeros(_N_RHYTHM)
    found = power[1 : 1 + _N_RHYTHM]
    lowest[: len(found)] = found / max(power.sum(), 1e-12)
    return lowest


def is_same(one: CentredDots, other: CentredDots, *, most: float = 0.006) -> bool:
    """Whether two are the same picture frame by frame, up to place, size and the noise of encoding.

    Args:
        one: the first.
        other: the second.
        most: the largest mean distance of dots that belong together, in units of the figure's size.
    """
    if [len(p) for p in one.places] != [len(p) for p in other.places]:
        return False
    for ours, theirs in zip(one.places, other.places, strict=True):
        first, second = linked(ours, theirs)
        away = np.linalg.norm(ours[first] - theirs[second], axis=1)
        if len(first) < len(ours) or away.mean() > most:
            return False
    return True
