"""Points of the body from markers on the skin."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def steady_mean(places: Floats) -> Floats:
    """The mean of several points, which does not jump when some of them are hidden for a while.

    Where some are hidden, the mean of the others is taken, moved by what it differed from the full mean
    when all were seen, before and after. Where all are hidden there is no value.

    Args:
        places: shape (n_frames, n_points, 3), NaN where hidden.

    Returns:
        Shape (n_frames, 3), NaN where no point is seen.
    """
    seen = np.asarray(np.isfinite(places).all(axis=2))
    mean = np.full((len(places), 3), np.nan)
    full = seen.all(axis=1)
    mean[full] = places[full].mean(axis=1)
    partial = seen.any(axis=1) & ~full
    for pattern in np.unique(seen[partial], axis=0):
        frames = np.flatnonzero(partial & (seen == pattern).all(axis=1))
        mean[frames] = places[frames][:, pattern].mean(axis=1)
        if full.any():
            known = np.flatnonzero(full)
            differs = mean[known] - places[known][:, pattern].mean(axis=1)
            mean[frames] += np.stack([np.interp(frames, known, differs[:, i]) for i in range(3)], axis=1)
    return mean


def hip_centres(waist: Floats) -> tuple[Floats, Floats]:
    """The centres of both hip joints from four markers about the waist.

    Source: Bell, Pedersen and Brand (1990), A comparison of the accuracy of several hip center location
    prediction methods, J. Biomechanics 23(6): from the front of the pelvis 14 % of its width inwards, 30 %
    down and 19 % back.
    Departs: the markers of the front and back waist stand for the spines of the pelvis.

    Args:
        waist: left front, right front, left back, right back; shape (n_frames, 4, 3).

    Returns:
        Left and right, shape (n_frames, 3) each; NaN where one of the four is hidden, or where they lie in
        one line.
    """
    left, right, left_back, right_back = np.moveaxis(waist, 1, 0)
    across = left - right
    width = np.linalg.norm(across, axis=1, keepdims=True)
    across = _directions(across)
    back = (left_back + right_back - left - right) / 2
    back = back - across * (back * across).sum(axis=1, keepdims=True)
    back = _directions(back)
    down = np.cross(back, across)  # in a right-handed frame with y up, back times left leads down
    centre = (left + right) / 2 + width * (0.30 * down + 0.19 * back)
    return centre + 0.36 * width * across, centre - 0.36 * width * across


def _directions(vectors: Floats) -> Floats:
    """Vectors of length 1, shape (n, 3); NaN for those without length."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, np.nan))
