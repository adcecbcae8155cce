"""A body that stands, and one that walks or jumps as on paper; metres, y up, looking along +z."""

import numpy as np

from vidence.pointlight.body import POINTS_13
from vidence.pointlight.motion import Motion, MotionSource

PLACES_M = {
    "head": (0.0, 1.60, 0.0),
    "shoulder": (0.20, 1.40, 0.0),
    "elbow": (0.25, 1.10, -0.02),
    "wrist": (0.25, 0.85, 0.05),
    "hip": (0.12, 0.90, 0.0),
    "knee": (0.12, 0.50, 0.02),
    "ankle": (0.12, 0.08, 0.0),
}


def standing(n_frames=120, *, fps=60.0, file="", first_frame=0):
    """Thirteen points that do not move, shape (n_frames, 13, 3)."""
    rows = []
    for name in POINTS_13:
        x, y, z = PLACES_M[name.split("_")[-1]]
        rows.append((-x if name.startswith("right") else x, y, z))
    positions = np.repeat(np.array(rows)[None], n_frames, axis=0)
    return motion_of(positions, fps=fps, source=MotionSource(file=file, first_frame=first_frame))


def motion_of(positions, *, fps=60.0, names=POINTS_13, kind="body", source=None):
    """A motion whose points are valid where they are finite."""
    return Motion(
        positions_m=positions,
        is_valid=np.isfinite(positions).all(axis=2),
        names=names,
        fps=fps,
        kind=kind,
        source=source or MotionSource(),
    )


def jumping(*, fps=60.0, rise_m=0.3):
    """Jumps under 9.81 m/s2 that rise by `rise_m`, with a second on the floor between them."""
    still = standing(1, fps=fps)
    flight_s = 2 * np.sqrt(2 * rise_m / 9.81)
    time = np.arange(int(4 * (1 + flight_s) * fps)) / fps % (1 + flight_s)
    since = time - 1
    up = np.where(since > 0, since * np.sqrt(2 * 9.81 * rise_m) - 9.81 * since**2 / 2, 0.0)
    return motion_of(still.positions_m + up[:, None, None] * [0, 1, 0], fps=fps)


def stepping(rate_hz, *, fps=60.0, seconds=8.0, stride_m=1.4):
    """A walk: each foot rests half of the time and swings forward in the other half; the rest goes along."""
    still = standing(1, fps=fps).positions_m
    phase = np.arange(int(seconds * fps)) / fps * rate_hz
    positions = np.repeat(still, len(phase), axis=0) + (phase * stride_m)[:, None, None] * [0, 0, 1]
    for side, delay in (("left", 0.0), ("right", 0.5)):
        part = phase + delay
        swing = np.clip(2 * (part % 1.0) - 1, 0, 1)
        foot = POINTS_13.index(f"{side}_ankle")
        positions[:, foot, 2] = stride_m * (np.floor(part) + (1 - np.cos(np.pi * swing)) / 2 - delay)
        positions[:, foot, 1] += 0.1 * np.sin(np.pi * swing)
    return motion_of(positions, fps=fps)
