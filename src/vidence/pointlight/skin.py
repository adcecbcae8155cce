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

    Source: Harrington, Zavatsky, Lawson, Yuan and Theologis (2007), Prediction of the hip joint centre in
    adults, children, and patients with cerebral palsy based on magnetic resonance imaging, J. Biomechanics
    40(3): from the middle of the front of the pelvis 0.24 of its depth and 9.9 mm back, 0.30 of its width and
    10.9 mm down, 0.33 of its width and 7.3 mm to the side. Sangeux, Pillet and Skalli (2014, Gait & Posture
    40(1)) found them the best of the equations.
    Departs: the markers of the front and back waist stand for the spines of the pelvis; depth and width are
    medians of the clip. Where one of the four is hidden, it is put where the other three have it.

    Args:
        waist: left front, right front, left back, right back; shape (n_frames, 4, 3), metres.

    Returns:
        Left and right, shape (n_frames, 3) each; NaN where two of the four are hidden, or where they lie in
        one line.
    """
    left, right, left_back, right_back = np.moveaxis(whole(waist), 1, 0)
    across = left - right
    width = _usual(across)
    across = directions(across)
    back = (left_back + right_back - left - right) / 2
    depth = _usual(back)
    back = directions(back - across * (back * across).sum(axis=1, keepdims=True))
    down = np.cross(back, across)  # in a right-handed frame with y up, back times left leads down
    centre = (left + right) / 2 + (0.24 * depth + 0.0099) * back + (0.30 * width + 0.0109) * down
    aside = (0.33 * width + 0.0073) * across
    return centre + aside, centre - aside


def whole(group: Floats) -> Floats:
    """Markers on one bone, with one that is hidden put in where the others have it.

    The others are laid over the mean shape of the group in frames in which all are seen (Kabsch, 1976).

    Args:
        group: shape (n_frames, n_points, 3), NaN where hidden.

    Returns:
        The same; frames with fewer than three points stay as they are, and so does all where the group is
        never seen whole.
    """
    seen = np.asarray(np.isfinite(group).all(axis=2))
    full = seen.all(axis=1)
    partial = np.flatnonzero(~full & (seen.sum(axis=1) >= 3))
    if not full.any() or not len(partial):
        return group
    shape = _mean_shape(group[full])
    filled = group.copy()
    for frame in partial:
        known = seen[frame]
        turn, centre, start = _laid_over(shape[known], group[frame, known])
        filled[frame, ~known] = (shape[~known] - start) @ turn + centre
    return filled


def _mean_shape(groups: Floats) -> Floats:
    """The mean of groups (n, n_points, 3), each laid over the first; of many, some hundreds."""
    first = groups[0]
    laid = []
    for group in groups[:: max(1, len(groups) // 200)]:
        turn, centre, start = _laid_over(group, first)
        laid.append((group - start) @ turn + centre)
    return np.asarray(np.mean(laid, axis=0))


def _laid_over(points: Floats, target: Floats) -> tuple[Floats, Floats, Floats]:
    """The turn, and both middles, so that ``(points - start) @ turn + centre`` comes nearest to `target`."""
    start, centre = points.mean(axis=0), target.mean(axis=0)
    left, _, right = np.linalg.svd((points - start).T @ (target - centre))
    mirror = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return left @ mirror @ right, centre, start


def _usual(vectors: Floats) -> float:
    """The median length; NaN where there is none."""
    lengths = np.linalg.norm(vectors, axis=1)
    known = lengths[np.isfinite(lengths)]
    return float(np.median(known)) if len(known) else float("nan")


def directions(vectors: Floats) -> Floats:
    """Vectors of length 1, shape (n, 3); NaN for those without length."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, np.nan))
