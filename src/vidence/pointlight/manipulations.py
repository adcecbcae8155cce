"""Manipulate the dots of a figure: scrambling, phases, masking dots.

All of it works on places in the picture plane in metres, shape (n_frames, n_dots, 2), and takes a seeded
generator. Steps of dots are kept as they are, with the way of the body in them.
"""

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def middles(places: Floats, valid: Bools) -> Floats:
    """The mean of the dots that are seen, frame by frame, shape (n_frames, 1, 2).

    Frames without any take that of the nearest frame before, else after.

    Raises:
        UsageError: no dot is seen in any frame.
    """
    counted = valid.sum(axis=1)
    if not counted.any():
        raise UsageError("no dot is seen in any frame; there is nothing to show")
    total = np.where(valid[..., None], places, 0.0).sum(axis=1)
    mean = total / np.maximum(counted, 1)[:, None]
    seen = np.flatnonzero(counted)
    nearest = seen[np.clip(np.searchsorted(seen, np.arange(len(mean)), side="right") - 1, 0, None)]
    values: Floats = mean[nearest][:, None, :]
    return values


def scrambled_places(places: Floats, valid: Bools, *, rng: np.random.Generator) -> Floats:
    """Spatial scrambling: each dot keeps its own motion, and starts anywhere in the figure's box.

    The mean place of each dot, seen from the middle of the figure, is drawn anew and uniformly from the box
    around the mean places of all dots.

    Source: Cutting, Moore & Morton (1988); Troje & Westhoff (2006): position-scrambled walkers.
    """
    middle = middles(places, valid)
    own = places - middle
    means = _mean_over_time(own, valid)
    low, high = np.nanmin(means, axis=0), np.nanmax(means, axis=0)
    drawn = rng.uniform(size=means.shape) * (high - low) + low
    values: Floats = middle + own - means + drawn
    return values


def scrambled_phases(places: Floats, valid: Bools, *, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Phase scrambling: each dot runs through its own motion from another moment on, around its own place.

    Source: Bertenthal & Pinto (1994): phase-perturbed point-light displays.
    Departs: a clip need be no loop: where its end is reached a dot goes on from where it is with the motion
        of the beginning, so that it never jumps (see `other_phases`).
    """
    dots = np.arange(places.shape[1])
    shifts = rng.integers(0, max(1, len(places) - 1), size=len(dots))
    moved, values = other_phases(places, valid, dots=dots, shifts=shifts)
    return moved - _mean_over_time(moved, values) + _mean_over_time(places, valid), values


def other_phases(
    places: Floats, valid: Bools, *, dots: NDArray[np.int64], shifts: NDArray[np.int64]
) -> tuple[Floats, Bools]:
    """Paths of dots from other moments on: the same steps in a circle, none added and none left out.

    A path of n frames has n - 1 steps. From frame `shift` on it is followed to its end; then the steps from
    its beginning follow, from where the dot is, up to frame `shift`. Step sizes, directions, stops and the
    way from the first frame to the last are those of the dot that is copied.

    Args:
        places: shape (n_frames, n_dots, 2); NaN where a dot is hidden.
        valid: shape (n_frames, n_dots).
        dots: which dot each path copies, shape (n_paths,).
        shifts: the frame that it begins with, 0 to n_frames - 2, shape (n_paths,).

    Returns:
        The paths, shape (n_frames, n_paths, 2), and which of their frames are seen, (n_frames, n_paths).
    """
    whole = _without_gaps(places, valid)
    n_steps = max(1, len(places) - 1)
    at = np.arange(len(places))[:, None] + shifts
    has_wrapped = at > n_steps
    frames = np.where(has_wrapped, at - n_steps, at) % len(places)
    result = whole[frames, dots] + has_wrapped[..., None] * (whole[-1] - whole[0])[dots]
    return result, valid[frames, dots]


def mask_random(
    n_frames: int, n_dots: int, box: Floats, *, life_frames: int, rng: np.random.Generator
) -> Floats:
    """Dots that stand still anywhere in a box (low, high; shape (2, 2)) and move on after some frames."""
    ages = rng.integers(0, life_frames, size=n_dots)
    lives = (np.arange(n_frames)[:, None] + ages) // life_frames
    places = rng.uniform(size=(int(lives.max()) + 1, n_dots, 2)) * (box[1] - box[0]) + box[0]
    values: Floats = places[lives, np.arange(n_dots)]
    return values


def mask_scrambled(
    places: Floats, valid: Bools, n_dots: int, *, box: Floats, phases: bool, rng: np.random.Generator
) -> tuple[Floats, Bools, NDArray[np.int64]]:
    """Dots with the motion of the figure's own dots, translation included, each at another place.

    Every dot of the figure is copied as often as the others (once more for some, where `n_dots` is no
    multiple). A copy has each step of its dot: what is measured of single dots (way, steps, stops, times of
    being out) is the same for figure and mask. Places are drawn evenly from where the whole path of a dot
    stays in the box; a path that is larger than the box has its middle in the middle.

    Args:
        places: of the figure's dots in the picture plane, shape (n_frames, n_dots, 2).
        valid: which are seen.
        n_dots: how many copies.
        box: low and high corner of the area, shape (2, 2).
        phases: begin at another moment of the clip, too (see `other_phases`).
        rng: draws dots, moments and places.

    Returns:
        Places (n_frames, n_dots, 2), which are seen (n_frames, n_dots), and the dot that each copies.

    Source: Cutting, Moore & Morton (1988); Bertenthal & Pinto (1994): scrambled-walker masks.
    """
    copied = rng.permutation(np.arange(n_dots) % places.shape[1])
    shifts = rng.integers(0, max(1, len(places) - 1), size=n_dots) * int(phases)
    moved, values = other_phases(places, valid, dots=copied, shifts=shifts)
    seen = np.where(values[..., None], moved, np.nan)
    is_ever = values.any(axis=0)
    low, high = np.zeros((2, n_dots, 2))
    low[is_ever], high[is_ever] = np.nanmin(seen[:, is_ever], axis=0), np.nanmax(seen[:, is_ever], axis=0)
    room = np.stack([box[0] - low, box[1] - high])
    middle = room.mean(axis=0)
    half = np.maximum(room[1] - room[0], 0.0) / 2
    drawn = middle + rng.uniform(-1.0, 1.0, size=middle.shape) * half
    return moved + drawn, values, copied


def _without_gaps(places: Floats, valid: Bools) -> Floats:
    """Places with straight lines over hidden frames; a dot that is never seen is at 0."""
    values = np.where(valid[..., None], places, 0.0)
    time = np.arange(len(places))
    for dot in np.flatnonzero(~valid.all(axis=0) & valid.any(axis=0)):
        there = valid[:, dot]
        for axis in range(places.shape[2]):
            values[:, dot, axis] = np.interp(time, time[there], places[there, dot, axis])
    return values


def _mean_over_time(own: Floats, valid: Bools) -> Floats:
    """The mean place of each dot over the frames that show it, shape (n_dots, 2); 0 where none does."""
    total = np.where(valid[..., None], own, 0.0).sum(axis=0)
    values: Floats = total / np.maximum(valid.sum(axis=0), 1)[:, None]
    return values
