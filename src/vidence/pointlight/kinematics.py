"""Skeletons: forward kinematics, and restoring bones that releases have lost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Skeleton:
    """Points joined by bones at rest; parents precede their children; there is one root.

    `offsets` (n_points, 3) leads from the parent to the point, in units of the file. It turns with the
    rotation of the point itself (``own``: a bone of ASF, whose point is its far end) or with that of its
    parent (``parent``: a joint of BVH, whose point is the near end of its bone).
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Floats
    turns_with: Literal["own", "parent"] = "parent"

    def __post_init__(self) -> None:
        if self.offsets.shape != (len(self.names), 3) or len(self.parents) != len(self.names):
            raise ValueError(
                f"{len(self.names)} names, {len(self.parents)} parents and offsets of shape "
                f"{self.offsets.shape} do not belong together"
            )
        if any(parent >= place for place, parent in enumerate(self.parents)):
            raise ValueError("a parent must stand before its children")
        if sum(parent < 0 for parent in self.parents) != 1:
            raise ValueError("a skeleton has one root")


def turn(axis: str, angles_rad: Floats) -> Floats:
    """Rotation matrices about one axis, right-handed.

    Args:
        axis: ``x``, ``y`` or ``z``.
        angles_rad: radians, shape (n,).

    Returns:
        Matrices that act on columns, shape (n, 3, 3).
    """
    first = "xyz".index(axis.lower())
    second, third = (first + 1) % 3, (first + 2) % 3
    cos, sin = np.cos(angles_rad), np.sin(angles_rad)
    values = np.zeros((*np.shape(angles_rad), 3, 3))
    values[..., first, first] = 1.0
    values[..., second, second] = cos
    values[..., third, third] = cos
    values[..., second, third] = -sin
    values[..., third, second] = sin
    return values


def turns(axes: str, angles_rad: Floats) -> Floats:
    """The product of rotations about several axes, the first axis leftmost.

    For ``zyx`` that is ``Rz Ry Rx``: a column is turned about x first.

    Args:
        axes: such as ``zyx``; empty for none.
        angles_rad: radians, shape (n, len(axes)).

    Returns:
        Shape (n, 3, 3).
    """
    values = np.broadcast_to(np.eye(3), (len(angles_rad), 3, 3))
    for place, axis in enumerate(axes):
        values = values @ turn(axis, angles_rad[:, place])
    return np.array(values)


def forward(
    skeleton: Skeleton, *, rotations: Floats, root: Floats, moves: dict[int, Floats] | None = None
) -> tuple[Floats, Floats]:
    """Forward kinematics: each point is placed relative to its parent.

    Args:
        skeleton: the bones.
        rotations: of each point against its parent, shape (n_frames, n_points, 3, 3).
        root: where the root is, shape (n_frames, 3), in units of the skeleton.
        moves: offsets that change over time instead of those of the skeleton, by point, (n_frames, 3) each.

    Returns:
        The positions (n_frames, n_points, 3) and the orientations (n_frames, n_points, 3, 3) in the world.
    """
    n_frames, n_points = rotations.shape[:2]
    places = np.empty((n_frames, n_points, 3))
    world = np.empty((n_frames, n_points, 3, 3))
    for point, parent in enumerate(skeleton.parents):
        if parent < 0:
            places[:, point], world[:, point] = root, rotations[:, point]
            continue
        world[:, point] = world[:, parent] @ rotations[:, point]
        carrier = world[:, point if skeleton.turns_with == "own" else parent]
        if moves and point in moves:
            places[:, point] = places[:, parent] + np.einsum("tij,tj->ti", carrier, moves[point])
        else:
            places[:, point] = places[:, parent] + carrier @ skeleton.offsets[point]
    return places, world


def bone_lengths(positions: Floats, parents: tuple[int, ...]) -> Floats:
    """The length of the bone to each point, in the unit of `positions`.

    Args:
        positions: shape (n_frames, n_points, 3).
        parents: -1 for a root, whose length is 0.

    Returns:
        Shape (n_frames, n_points).
    """
    ends = np.array(parents)
    starts = np.where(ends < 0, np.arange(len(ends)), ends)
    return np.asarray(np.linalg.norm(positions - positions[:, starts], axis=2))


T_POSE_JUMP_M = 0.2
_EASING_M = 0.04
_LONGEST_EASING = 10
_LOOK_AHEAD = 3


def t_pose_frames(positions_m: Floats, root_angles: Floats, *, jump_m: float = T_POSE_JUMP_M) -> int:
    """How many initial frames show a reference pose and the transition out of it.

    There is one where the root has no rotation at all in the first frame, has some in the next, and a point
    jumps by more than `jump_m` in between. Some releases ease out of it over a few frames, not evenly: the
    way goes on where a point still goes 4 cm or more, and four times as far as it usually does
    afterwards, and from there on as long as any of the next three steps is 1.5 times as far as those that
    follow.

    Args:
        positions_m: shape (n_frames, n_points, 3), metres.
        root_angles: of the root over time, shape (n_frames, n_angles), any unit.
        jump_m: metres.
    """
    if len(positions_m) < 2 or root_angles.shape[1] == 0:
        return 0
    if np.any(root_angles[0] != 0.0) or np.all(root_angles[1] == 0.0):
        return 0
    steps = np.linalg.norm(np.diff(positions_m[:60], axis=0), axis=2).max(axis=1)
    if not steps[0] > jump_m:
        return 0
    usual = float(np.median(steps[_LONGEST_EASING:])) if len(steps) > 2 * _LONGEST_EASING else float("inf")
    if len(steps) < 2 or not steps[1] > max(_EASING_M, 4 * usual):
        return 1
    after = steps[_LONGEST_EASING : 2 * _LONGEST_EASING]
    is_large = steps > max(0.01, 1.5 * float(np.median(after)))
    count = 2
    while count < _LONGEST_EASING and is_large[count : count + _LOOK_AHEAD].any():
        count += int(is_large[count : count + _LOOK_AHEAD].argmax()) + 1
    return min(count, _LONGEST_EASING)


def missing_bone(skeleton: Skeleton, children: Sequence[str]) -> str:
    """Return the point where all `children` start without a bone in between; empty if none.

    Neck and shoulders that start at one point, the end of the spine, tell that a bone was lost.
    """
    if not set(children) <= set(skeleton.names):
        return ""
    places = [skeleton.names.index(c) for c in children]
    parents = {skeleton.parents[p] for p in places}
    if len(parents) != 1 or np.any(skeleton.offsets[places] != 0.0):
        return ""
    return skeleton.names[parents.pop()]


def insert_bone(skeleton: Skeleton, children: Sequence[str], bone: Floats) -> Skeleton:
    """Return the skeleton with a bone inserted between `children` and the point where they start.

    Args:
        skeleton: as it was read.
        children: names of points that share a parent.
        bone: the vector in rest, shape (3,), in the unit of the skeleton.
    """
    offsets = skeleton.offsets.copy()
    offsets[[skeleton.names.index(c) for c in children]] = bone
    return replace(skeleton, offsets=offsets)
