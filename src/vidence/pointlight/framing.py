"""The camera: the direction bodies face, what it follows, and pixels per metre."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.body import place_points, points_of
from vidence.pointlight.kinematics import turn
from vidence.pointlight.motion import Motion, runs
from vidence.pointlight.specs import StimulusSpec, View

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
SIDES = ("left", "right")
# A foot is planted while its ankle is slower than this and no higher above its floor; who walks is slower
# than that only with the foot that stands, and the ankle of a standing foot rises while the heel does.
_PLANTED_M_S, _PLANTED_M = 0.35, 0.1
_SHORTEST_S = 0.1
# Feet that end up further from where they stood have gone somewhere; and hips do, of who never stands long.
_GONE_M, _HIPS_GONE_M = 0.4, 0.8
# A body stands while both feet are planted for so long; in a walk both are for 0.1 to 0.2 s.
_STANDS_S, _RAMP_S = 0.6, 0.25
# What a belt under a walker follows: of a swing of 1 Hz (a stride) 0.7 % is left, of 2 Hz (a step) nothing.
_SMOOTH_S = 0.5


def floor_path(figures: Sequence[Motion], framing: str) -> Floats:
    """The offset subtracted from all figures in each frame, shape (n_frames, 1, 3); heights are 0.

    Args:
        figures: on one clock; of several the mean of their paths is taken, as they share a camera.
        framing: as in `StimulusSpec`.

    Raises:
        DataError: points are missing that the framing needs.
    """
    if framing == "fixed":
        return np.zeros((figures[0].n_frames, 1, 3))
    paths = np.mean([belt(figure) for figure in figures], axis=0)
    return np.stack([paths[:, 0], np.zeros(len(paths)), paths[:, 1]], axis=1)[:, None, :]


def root(figure: Motion) -> Floats:
    """The middle of the hips on the floor, x and z, shape (n_frames, 2).

    Where the figure has no hips it is the mean of all its points.
    """
    hips = [_place(figure, f"{side}_hip") for side in SIDES]
    entries = [h for h in hips if h is not None]
    places = figure.positions_m if len(entries) < 2 else np.stack(entries, axis=1)
    seen = np.asarray(np.isfinite(places).all(axis=2))
    total = np.where(seen[..., None], places, 0.0).sum(axis=1)
    mean = total / np.maximum(seen.sum(axis=1), 1)[:, None]
    return _bridged(mean[:, [0, 2]], np.asarray(seen.all(axis=1) if len(entries) == 2 else seen.any(axis=1)))


def belt(figure: Motion) -> Floats:
    """The path of a treadmill under the figure, x and z, shape (n_frames, 2): smooth, still where it stands.

    Who goes nowhere (the middle of where both feet stand is never 0.4 m from where it was, nor that of the
    hips 0.8 m) has a belt that stands still, so that standing feet do. Else it is the path of the hips
    without what swings: a local line of 0.5 s (standard deviation) around each moment; while both feet stand
    for 0.6 s or more the belt stands, too. A figure without ankles has the smooth path.
    """
    path = root(figure)
    smooth = _smoothed(path, figure.fps)
    feet = _feet(figure)
    if feet is None:
        return smooth
    planted = planted_feet(feet, figure.fps)
    if not planted.any():
        return smooth
    stood = np.mean([_plateaus(feet[:, i], planted[:, i]) for i in range(2)], axis=0)
    gone = [float(np.linalg.norm(p - p[0], axis=1).max()) for p in (stood, smooth)]
    if gone[0] < _GONE_M and gone[1] < _HIPS_GONE_M:
        still: Floats = np.repeat(path.mean(axis=0, keepdims=True), len(path), axis=0)
        return still
    stands = _long(np.asarray(planted.all(axis=1)), round(_STANDS_S * figure.fps))
    moving = _ramped(stands, max(1, round(_RAMP_S * figure.fps)))
    steps = np.diff(smooth, axis=0) * np.minimum(moving[1:], moving[:-1])[:, None]
    values: Floats = smooth[0] + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
    return values


def planted_feet(feet: Floats, fps: float) -> Bools:
    """Which feet stand on the ground, frame by frame, shape (n_frames, 2).

    Args:
        feet: both ankles, shape (n_frames, 2, 3), metres.
        fps: frames per second.

    A foot stands for 0.1 s or more while its ankle is slower than 0.35 m/s and within 0.1 m of the lowest
    5 % of its heights.
    """
    if len(feet) < 2:
        return np.ones((len(feet), 2), bool)
    speed = np.linalg.norm(np.gradient(feet, axis=0), axis=2) * fps
    floor = np.percentile(feet[..., 1], 5, axis=0)
    is_slow = (speed < _PLANTED_M_S) & (feet[..., 1] < floor + _PLANTED_M)
    shortest = max(2, round(_SHORTEST_S * fps))
    return np.stack([_long(is_slow[:, i], shortest) for i in range(2)], axis=1)


def heading_deg(figures: Sequence[Motion]) -> float:
    """The rotation of all figures into the canonical view, in degrees counter-clockwise from above.

    One figure faces the viewer: forwards is across the line from the right to the left of hips and shoulders,
    over the whole clip, and in the first frame for who turns around. Two stand side by side: the way from
    the first to the second, over the whole clip, goes to the right.

    Raises:
        UsageError: a figure has neither hips nor shoulders, or two stand in one place.
    """
    if len(figures) > 1:
        way = np.mean(root(figures[1]) - root(figures[0]), axis=0)
        if not np.linalg.norm(way) > 1e-6:
            raise UsageError(
                "heading=viewer: both figures stand in one place, so that neither is left of the other"
            )
        return float(np.degrees(np.arctan2(way[1], way[0])))
    across = np.zeros((figures[0].n_frames, 2))
    for joint in ("hip", "shoulder"):
        left, right = (_place(figures[0], f"{side}_{joint}") for side in SIDES)
        if left is not None and right is not None:
            across = across + np.nan_to_num((left - right)[:, [0, 2]])
    length = np.linalg.norm(across, axis=1)
    if not (length > 1e-6).any():
        raise UsageError("heading=viewer needs both hips or both shoulders, to know where the body faces")
    each = across[length > 1e-6] / length[length > 1e-6, None]
    mean = each.mean(axis=0)
    x, z = mean if np.linalg.norm(mean) > 0.3 else each[0]
    # Who faces the viewer (z) has the left side at x.
    return float(np.degrees(np.arctan2(z, x)))


def turned(positions: Floats, degrees: float) -> Floats:
    """Points rotated about the vertical, counter-clockwise seen from above."""
    return positions @ turn("y", np.radians(degrees)).T


def extent(positions: Floats, view: View) -> Floats:
    """Half the width and height of the points in the picture from all sides, in metres, shape (2,).

    The points may turn about the vertical through their centre; pitch and roll are those of the view.

    Args:
        positions: seen from the centre of their box, shape (n, 3).
        view: where the viewer stands.

    Raises:
        DataError: a viewer in perspective stands among the points from some side.
    """
    reach = float(np.linalg.norm(positions[:, [0, 2]], axis=1).max())
    rise = float(np.abs(positions[:, 1]).max())
    pitch, roll = np.radians([view.pitch_deg, view.roll_deg])
    high = rise * abs(np.cos(pitch)) + reach * abs(np.sin(pitch))
    wide = np.array(
        [
            reach * abs(np.cos(roll)) + high * abs(np.sin(roll)),
            reach * abs(np.sin(roll)) + high * abs(np.cos(roll)),
        ]
    )
    if view.projection == "orthographic":
        return wide
    near = reach * abs(np.cos(pitch)) + rise * abs(np.sin(pitch))
    if near >= 0.95 * view.distance_m:
        raise DataError(
            f"points come {near:.2f} m towards the viewer from some side, who stands {view.distance_m:g} m "
            "away; choose a larger distance_m, framing=follow, or fit=view"
        )
    values: Floats = wide * view.distance_m / (view.distance_m - near)
    return values


def room_px(spec: StimulusSpec) -> Floats:
    """The width and height available to figures in the picture, in pixels, shape (2,).

    Raises:
        UsageError: nothing is left.
    """
    room = np.array([spec.width_px, spec.height_px]) * (1 - 2 * spec.margin) - 2 * spec.dot_radius_px
    if room.min() <= 0:
        raise UsageError(
            f"dots of radius {spec.dot_radius_px} px and a margin of {spec.margin:g} leave no room in "
            f"{spec.width_px}x{spec.height_px} px"
        )
    return room


def _place(figure: Motion, name: str) -> Floats | None:
    """The path of a point of the body; None if the figure does not have it."""
    if name in figure.names:
        return np.where(
            figure.is_valid[:, figure.index(name), None], figure.positions_m[:, figure.index(name)], np.nan
        )
    if figure.kind == "body" or name not in points_of(figure.names):
        return None
    return place_points(figure.positions_m, figure.names, wanted=[name])[name]


def _feet(figure: Motion) -> Floats | None:
    """Both ankles, with hidden frames interpolated; None if one is missing or never seen."""
    places = [_place(figure, f"{side}_ankle") for side in SIDES]
    feet = [f for f in places if f is not None]
    seen = [np.asarray(np.isfinite(f).all(axis=1)) for f in feet]
    if len(feet) < 2 or not all(s.any() for s in seen):
        return None
    return np.stack([_bridged(f, s) for f, s in zip(feet, seen, strict=True)], axis=1)


def _bridged(places: Floats, seen: Bools) -> Floats:
    """Positions interpolated linearly over unseen frames, and constant at both ends."""
    if not seen.any():
        raise DataError("no frame shows the points that framing needs; use framing=fixed")
    frames = np.arange(len(places))
    columns = [np.interp(frames, frames[seen], places[seen, axis]) for axis in range(places.shape[1])]
    return np.stack(columns, axis=1)


def _smoothed(path: Floats, fps: float) -> Floats:
    """For each frame, a local linear fit with Gaussian weights."""
    reach = min(len(path) - 1, int(4 * _SMOOTH_S * fps))
    offsets = np.arange(-reach, reach + 1) / fps
    weights = np.exp(-0.5 * (offsets / _SMOOTH_S) ** 2)

    def summed(values: Floats, power: int) -> Floats:
        return np.convolve(values, (weights * offsets**power)[::-1])[reach : reach + len(values)]

    ones = np.ones(len(path))
    s0, s1, s2 = (summed(ones, power) for power in range(3))
    apart = s0 * s2 - s1**2
    if reach == 0:
        return path.copy()
    return np.stack([(s2 * summed(p, 0) - s1 * summed(p, 1)) / apart for p in path.T], axis=1)


def _long(is_so: Bools, shortest: int) -> Bools:
    """The stretches of at least this many frames."""
    values = np.zeros(len(is_so), bool)
    for first, stop in runs(is_so):
        values[first:stop] = stop - first >= shortest
    return values


def _plateaus(foot: Floats, planted: Bools) -> Floats:
    """Where a foot stands, linear between stands, x and z, (n_frames, 2)."""
    if not planted.any():
        return foot[:, [0, 2]]
    held = foot[:, [0, 2]].copy()
    for first, stop in runs(planted):
        held[first:stop] = np.median(held[first:stop], axis=0)
    return _bridged(held, planted)


def _ramped(stands: Bools, n_frames: int) -> Floats:
    """0 where a body stands, 1 from `n_frames` away, linear between."""
    if not stands.any():
        return np.ones(len(stands))
    frames, known = np.arange(len(stands)), np.flatnonzero(stands)
    after = known[np.clip(np.searchsorted(known, frames), 0, len(known) - 1)]
    before = known[np.clip(np.searchsorted(known, frames, side="right") - 1, 0, len(known) - 1)]
    away = np.minimum(np.abs(frames - before), np.abs(after - frames))
    values: Floats = np.clip(away / n_frames, 0.0, 1.0)
    return values
