"""The points of a body by name: 12, 13 or 15 of them, from the joints or markers of any format."""

from collections.abc import Mapping, Sequence, Set

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.body_maps import BodyMap, best_map
from vidence.pointlight.leg_joints import JOINTS, SIDES, leg_joints
from vidence.pointlight.motion import Motion
from vidence.pointlight.skin import steady_mean

Floats = NDArray[np.float64]
# The order in which point-light data are usually exchanged: the head, then each arm, then each leg.
# Source: the points are those of Johansson (1973), with the head.
POINTS_13 = (
    "head",
    *(f"{side}_{joint}" for side in ("left", "right") for joint in ("shoulder", "elbow", "wrist")),
    *(f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee", "ankle")),
)
SETS: dict[str, tuple[str, ...]] = {
    "12": POINTS_13[1:],
    "13": POINTS_13,
    "15": (*POINTS_13, "neck", "pelvis"),
    "upper": POINTS_13[:7],
    "lower": POINTS_13[7:],
    "hands": ("left_wrist", "right_wrist"),
    "feet": ("left_ankle", "right_ankle"),
}
# What each point hangs on; where that is not among the points, the next one up, or nothing.
_HANGS_ON = {
    "neck": "pelvis",
    "head": "neck",
    **{
        f"{s}_{low}": f"{s}_{high}"
        for s in ("left", "right")
        for low, high in (("elbow", "shoulder"), ("wrist", "elbow"), ("knee", "hip"), ("ankle", "knee"))
    },
    **{
        f"{s}_{joint}": top
        for s in ("left", "right")
        for joint, top in (("shoulder", "neck"), ("hip", "pelvis"))
    },
}


def body(motion: Motion, *, points: str = "13", allow_missing: bool = False) -> Motion:
    """The points of a body, by their own names and in a fixed order.

    Args:
        motion: joints, markers, or a body.
        points: one of `SETS`: ``12``, ``13``, ``15``, ``upper``, ``lower``, ``hands``, ``feet``.
        allow_missing: give the points that there are, with a note about the others.

    Returns:
        A motion of kind ``body``. Its bones (`parents`) are empty where there is more than one root.

    Raises:
        UsageError: no such set.
        DataError: points are missing; the message names them.
    """
    if points not in SETS:
        raise UsageError(f"{points!r} is no set of points; known are {', '.join(SETS)}")
    wanted = SETS[points]
    there = points_of(motion.names)
    absent = [p for p in wanted if p not in there]
    if absent and (not allow_missing or len(absent) == len(wanted)):
        raise DataError(
            f"{motion.source.file or 'this motion'} has no {', '.join(absent)} (its points: "
            f"{', '.join(motion.names[:12])}{' ...' if len(motion.names) > 12 else ''}); its naming is not "
            "known, or it holds a part of a body"
        )
    names = tuple(p for p in wanted if p in there)
    placed = place_points(motion.positions_m, motion.names, wanted=names)
    positions = np.stack([placed[p] for p in names], axis=1)
    notes = [f"points that are missing: {', '.join(absent)}"] if absent else []
    unseen = _never_seen(motion.positions_m, motion.names)
    on_skin = [p for p in left_on_skin(motion.names, unseen=unseen) if p in names]
    if on_skin:
        notes.append(f"{', '.join(on_skin)}: the markers themselves; others that tell the joints are missing")
    return Motion(
        positions_m=positions,
        is_valid=np.asarray(np.isfinite(positions).all(axis=2)),
        names=names,
        fps=motion.fps,
        kind="body",
        parents=_parents(names),
        source=msgspec.structs.replace(motion.source, notes=(*motion.source.notes, *notes)),
    )


def points_of(names: Sequence[str]) -> tuple[str, ...]:
    """The points of a body that joints or markers of these names give, of `SETS` ``15``, in its order."""
    there = set(names)
    recipes = best_map(tuple(names)).points
    return tuple(p for p in SETS["15"] if p in recipes and set(recipes[p]) <= there)


def place_points(
    positions: Floats, names: Sequence[str], *, wanted: Sequence[str], is_on_skin: bool = False
) -> dict[str, Floats]:
    """Where points of the body are.

    Args:
        positions: of joints or markers, shape (n_frames, n_names, 3), metres; NaN where not seen.
        names: theirs.
        wanted: names of points of the body.
        is_on_skin: take markers as they are, also in another unit; joints in the legs are not computed.

    Returns:
        For each point its places, shape (n_frames, 3).

    Raises:
        KeyError: a point that these names do not give.
    """
    chosen = best_map(tuple(names))
    place = {name: i for i, name in enumerate(names)}
    unseen = _never_seen(positions, names)
    computed = () if is_on_skin else _computed(chosen, names, unseen=unseen)
    joints = _joints_in_legs(positions, place, chosen) if set(computed) & set(wanted) else {}
    made: dict[str, Floats] = {}
    for point in wanted:
        sources = chosen.points.get(point, ())
        if not sources or not set(sources) <= set(place):
            raise KeyError(point)
        found = positions[:, [place[s] for s in sources]]
        made[point] = joints[point] if point in computed else steady_mean(found)
    return made


def left_on_skin(names: Sequence[str], *, unseen: Set[str] = frozenset()) -> tuple[str, ...]:
    """The knees and ankles that stay on the skin, since markers of the waist or of the leg are missing.

    `unseen` are names of markers that no frame shows; they are missing, too.
    """
    chosen = best_map(tuple(names))
    if not chosen.is_markers:
        return ()
    computed = _computed(chosen, names, unseen=unseen)
    legs = [f"{side}_{joint}" for side in SIDES for joint in JOINTS[1:]]
    return tuple(p for p in legs if p not in computed and set(chosen.points[p]) <= set(names) - unseen)


def _computed(chosen: BodyMap, names: Sequence[str], *, unseen: Set[str]) -> tuple[str, ...]:
    """The joints in the legs that are computed from the markers of these names.

    Hips are wherever their markers are named, as a mean of three of them would be off to one side; knees and
    ankles only where all the markers that they need are seen now and then.
    """
    there, waist = set(names), set(chosen.points.get("left_hip", ()))
    if not chosen.is_markers or not waist <= there:
        return ()
    seen = there - unseen
    legs = {s: {*waist, *chosen.points[f"{s}_knee"], *chosen.points[f"{s}_ankle"]} for s in SIDES}
    whole = [s for s in SIDES if legs[s] <= seen]
    return (*(f"{s}_hip" for s in SIDES), *(f"{s}_{j}" for s in whole for j in JOINTS[1:]))


def _never_seen(positions: Floats, names: Sequence[str]) -> frozenset[str]:
    """The names that no frame shows."""
    seen = np.asarray(np.isfinite(positions).all(axis=2).any(axis=0))
    return frozenset(name for name, is_seen in zip(names, seen.tolist(), strict=True) if not is_seen)


def _joints_in_legs(positions: Floats, place: Mapping[str, int], chosen: BodyMap) -> Mapping[str, Floats]:
    nowhere = np.full((len(positions), 3), np.nan)

    def both(joint: str) -> Floats:
        found = [[place.get(n) for n in chosen.points[f"{side}_{joint}"]] for side in SIDES]
        return np.stack([nowhere if f[0] is None else positions[:, f[0]] for f in found], axis=1)

    waist = positions[:, [place[n] for n in chosen.points["left_hip"]]]
    return leg_joints(waist, both("knee"), both("ankle"))


def _parents(names: tuple[str, ...]) -> tuple[int, ...]:
    """For each point the place of the one that it hangs on; empty where several hang on nothing."""
    if "pelvis" not in names:
        return ()
    return tuple(names.index(_HANGS_ON[n]) if n in _HANGS_ON else -1 for n in names)
