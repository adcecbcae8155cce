"""Points whose names were exchanged, for a while or all along: by the ways they go and by their bones."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.pointlight.motion import Motion

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Near a joint and far from it: bones with one end that a recording may have exchanged with the other side.
BONES = (("shoulder", "elbow"), ("elbow", "wrist"), ("hip", "knee"), ("knee", "ankle"))
_SIDES = ("left", "right")
# A bone that is this much too long or too short is none; one that is right fits within half of it.
_WRONG = 0.2
_FEWEST_FRAMES = 3
_LEAST_M = 0.06


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Two points that took each other's place from a frame to the next one that shows both."""

    first: str
    second: str
    after_frame: int


@dataclass(frozen=True, kw_only=True)
class Crossed:
    """Frames `start` to `stop` (not included) in which the left and the right `joint` are exchanged."""

    joint: str
    start: int
    stop: int


def exchanges(motion: Motion, *, longest_gap_s: float = 0.25) -> tuple[Exchange, ...]:
    """Pairs of points that would have gone far less with their names exchanged.

    Less than a third as far, or less than half as far where that spares 15 cm. Less than 6 cm, which both
    together are spared, may be noise.

    Args:
        motion: joints, markers or a body.
        longest_gap_s: seconds for which a point may be hidden in between.
    """
    found: list[Exchange] = []
    before = np.full(motion.positions_m.shape[1:], np.nan)
    seen_at = np.full(len(motion.names), -(10**9))
    longest = max(1, int(longest_gap_s * motion.fps))
    for frame, places in enumerate(motion.positions_m):
        known = motion.is_valid[frame] & (frame - seen_at <= longest)
        steps = np.where(known, np.linalg.norm(places - before, axis=1), 0.0)
        far = np.flatnonzero(steps > _LEAST_M / 3)
        if len(far) > 1:
            found += _crossings(motion.names, before[far], places[far], which=far, after=frame - 1)
        before = np.where(motion.is_valid[frame][:, None], places, before)
        seen_at = np.where(motion.is_valid[frame], frame, seen_at)
    return tuple(found)


def _crossings(
    names: tuple[str, ...], before: Floats, after_m: Floats, *, which: NDArray[np.intp], after: int
) -> list[Exchange]:
    apart = np.linalg.norm(after_m[:, None] - before[None], axis=2)
    own = np.diag(apart)
    named = own[:, None] + own[None]
    crossed = apart + apart.T
    spared = named - crossed
    hits = ((crossed < named / 3) & (spared > _LEAST_M)) | ((crossed < named / 2) & (spared > 2.5 * _LEAST_M))
    return [
        Exchange(first=names[which[a]], second=names[which[b]], after_frame=after)
        for a, b in zip(*np.nonzero(np.triu(hits, 1)), strict=True)
    ]


def crossed(figure: Motion) -> tuple[Crossed, ...]:
    """Stretches in which a limb has its usual length only if the names of the two sides are exchanged.

    A bone keeps its length, and the way from the joint of one side to the next joint of the other side does
    not, unless the names are exchanged. The usual length is the median of the ways as they are named, or of
    the others where these vary far less over the clip, so that an exchange all along is found as well as one
    for a while. Legs that stand side by side tell nothing: frames in which either way would do are left out.
    Whole legs, arms and bodies with exchanged names keep every bone; for them there is
    `vidence.pointlight.checks.sides`.

    Args:
        figure: points of a body by their names.
    """
    at = {name: figure.positions_m[:, i] for i, name in enumerate(figure.names)}
    found: list[Crossed] = []
    is_off: Flags = np.zeros(figure.n_frames, bool)
    for near, far in BONES:
        if not {f"{s}_{j}" for s in _SIDES for j in (near, far)} <= set(at):
            continue
        here = _is_crossed(at, near, far)
        # A knee that is exchanged crosses the thigh and the shank; the joint nearer to the trunk is named.
        changes = here & ~is_off
        found += [Crossed(joint=far, start=a, stop=b) for a, b in _stretches(changes)]
        is_off = here if near in ("shoulder", "hip") else np.zeros(figure.n_frames, bool)
    return tuple(found)


def _is_crossed(at: Mapping[str, Floats], near: str, far: str) -> Flags:
    """In which frames the bones of both sides fit only with their far ends exchanged."""
    own = [np.linalg.norm(at[f"{s}_{far}"] - at[f"{s}_{near}"], axis=1) for s in _SIDES]
    other = [np.linalg.norm(at[f"{t}_{far}"] - at[f"{s}_{near}"], axis=1) for s, t in (_SIDES, _SIDES[::-1])]
    usual = [_usual(a, b) for a, b in zip(own, other, strict=True)]
    fits = [np.abs(b - u) < _WRONG / 2 * u for b, u in zip(other, usual, strict=True)]
    fails = [np.abs(a - u) > _WRONG * u for a, u in zip(own, usual, strict=True)]
    return np.asarray(fits[0] & fits[1] & (fails[0] | fails[1]))


def _usual(own: Floats, other: Floats) -> float:
    """The usual length of a bone: the median of the ways as named, or of the others where these are the bone.

    They are where they vary far less, or vary less and are shorter, as the way across the body is longer. 0
    where none is known.
    """
    (middle, varies), (other_middle, other_varies) = _spread(own), _spread(other)
    is_steadier = varies > 0.05 and other_varies < 0.4 * varies
    is_shorter = middle > 1.15 * other_middle > 0 and other_varies < varies
    return other_middle if is_steadier or is_shorter else middle


def _spread(lengths: Floats) -> tuple[float, float]:
    """The median, and the mean distance from it as a share of it; 0 and 0 where nothing is seen."""
    seen = lengths[np.isfinite(lengths)]
    if not len(seen):
        return 0.0, 0.0
    middle = float(np.median(seen))
    return middle, float(np.mean(np.abs(seen - middle))) / max(middle, 1e-9)


def _stretches(flags: Flags) -> list[tuple[int, int]]:
    """Runs of true of three frames or more; gaps of a tenth of the clip at most do not part them."""
    at = np.flatnonzero(flags)
    if not len(at):
        return []
    longest = max(2, len(flags) // 10)
    parts = np.split(at, np.flatnonzero(np.diff(at) > longest) + 1)
    return [(int(p[0]), int(p[-1]) + 1) for p in parts if len(p) >= _FEWEST_FRAMES]
