"""Points of a body by name: 12, 13 or 15 of them, from the joints or markers of any format."""

import difflib
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.body_maps import BodyMap, bare, best_map
from vidence.pointlight.markers import JOINTS, SIDES, leg_joints, steady_mean
from vidence.pointlight.motion import Motion

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


def body(motion: Motion, *, points: str = "13", allow_missing: bool = False) -> Motion:
    """The points of a body, by their own names and in a fixed order.

    Args:
        motion: joints, markers, or a body.
        points: one of `SETS`: ``12``, ``13``, ``15``, ``upper``, ``lower``, ``hands``, ``feet``.
        allow_missing: give the points that there are, with a note about the others.

    Returns:
        A motion of kind ``body``.

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
            f"known, or it holds a part of a body. The map {best_map(motion.names).name!r} gives "
            f"{len(there)} points; --option map=MAP.toml takes a map of yours ([points], each with its names)"
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
        source=msgspec.structs.replace(motion.source, notes=(*motion.source.notes, *notes)),
    )


def by_map(motion: Motion, naming: BodyMap) -> Motion:
    """The points of a body that a map names, in place of the joints or markers.

    Raises:
        DataError: the map names something that the motion does not have; the message says what is near.
    """
    there = {bare(n) for n in motion.names} | set(motion.names)
    for point, sources in naming.points.items():
        for source in sources:
            if source not in there:
                near = difflib.get_close_matches(source, motion.names, n=3, cutoff=0.5)
                message = f"; near are {', '.join(near)}" if near else ""
                raise DataError(
                    f"{motion.source.file or 'this motion'}: the map {naming.name!r} has {source!r} for "
                    f"{point}, and there is no such name{message}"
                )
    names = tuple(p for p in SETS["15"] if p in naming.points)
    placed = place_points(motion.positions_m, motion.names, wanted=names, naming=naming)
    positions = np.stack([placed[p] for p in names], axis=1)
    note = f"points of the body by the map {naming.name!r}"
    return replace(
        motion,
        positions_m=positions,
        is_valid=np.asarray(np.isfinite(positions).all(axis=2)),
        names=names,
        kind="body",
        parents=(),
        source=msgspec.structs.replace(motion.source, notes=(*motion.source.notes, note)),
    )


def points_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the points of a body for joints or markers of these names, of `SETS` ``15``, in order."""
    there = set(map(bare, names))
    recipes = best_map(names).points
    return tuple(p for p in SETS["15"] if p in recipes and set(recipes[p]) <= there)


def place_points(
    positions: Floats,
    names: Sequence[str],
    *,
    wanted: Sequence[str],
    is_on_skin: bool = False,
    naming: BodyMap | None = None,
) -> dict[str, Floats]:
    """Where points of the body are.

    Args:
        positions: of joints or markers, shape (n_frames, n_names, 3), metres; NaN where not seen.
        names: theirs.
        wanted: names of points of the body.
        is_on_skin: take markers as they are, also in another unit; joints in the legs are not computed.
        naming: which names make which point; None: the map that fits best.

    Returns:
        For each point its places, shape (n_frames, 3).

    Raises:
        KeyError: a point that these names do not give.
    """
    chosen = naming or best_map(names)
    own = _own(names, chosen)
    place = {name: i for i, name in reversed(list(enumerate(own)))}
    unseen = _never_seen(positions, own)
    computed = () if is_on_skin else _computed(chosen, own, unseen=unseen)
    joints = _joints_in_legs(positions, place, chosen) if set(computed) & set(wanted) else {}
    points: dict[str, Floats] = {}
    for point in wanted:
        sources = chosen.points.get(point, ())
        if not sources or not set(sources) <= set(place):
            raise KeyError(point)
        values = positions[:, [place[s] for s in sources]]
        points[point] = joints[point] if point in computed else steady_mean(values)
    return points


def _own(names: Sequence[str], chosen: BodyMap) -> list[str]:
    """Match names against the map: the whole name if the map has it, else without its prefix."""
    known = {source for sources in chosen.points.values() for source in sources}
    return [name if name in known else bare(name) for name in names]


def left_on_skin(names: Sequence[str], *, unseen: Set[str] = frozenset()) -> tuple[str, ...]:
    """Return knees and ankles that stay on the skin because waist or leg markers are missing.

    `unseen` are names of markers that no frame shows; they are missing, too.
    """
    chosen = best_map(names)
    if not chosen.is_markers:
        return ()
    hidden = set(_own(list(unseen), chosen))
    own = _own(names, chosen)
    computed = _computed(chosen, own, unseen=hidden)
    legs = [f"{side}_{joint}" for side in SIDES for joint in JOINTS[1:]]
    return tuple(p for p in legs if p not in computed and set(chosen.points[p]) <= set(own) - hidden)


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
        entries = [[place.get(n) for n in chosen.points[f"{side}_{joint}"]] for side in SIDES]
        return np.stack([nowhere if f[0] is None else positions[:, f[0]] for f in entries], axis=1)

    waist = positions[:, [place[n] for n in chosen.points["left_hip"]]]
    return leg_joints(waist, both("knee"), both("ankle"))


# Mass as a share of the body, and how far from the first point to the second the centre lies.
# Source: the table of segments of Dempster (1955) as printed by Winter, Biomechanics and Motor Control of
# Human Movement, table 4.1: upper arm, forearm with hand, thigh, leg with foot.
_SEGMENTS = (
    ("shoulder", "elbow", 0.028, 0.436),
    ("elbow", "wrist", 0.022, 0.682),
    ("hip", "knee", 0.100, 0.433),
    ("knee", "ankle", 0.061, 0.606),
)
_HEAD, _TRUNK = 0.081, 0.497


def mass_centre(figure: Motion) -> NDArray[np.float64]:
    """The centre of mass over time, shape (n_frames, 3), metres; NaN where a point is hidden.

    Departs: the trunk is taken to be centred between the middle of the shoulders and that of the hips.

    Args:
        figure: a body of 13 points, as from `vidence.pointlight.body.body`.

    Raises:
        KeyError: a point is missing.
    """

    def at(name: str) -> NDArray[np.float64]:
        return figure.positions_m[:, figure.index(name)]

    corners = [at(f"{side}_{joint}") for side in ("left", "right") for joint in ("shoulder", "hip")]
    centre = _HEAD * at("head") + _TRUNK * sum(corners[1:], corners[0]) / 4
    for side in ("left", "right"):
        for near, far, mass, share in _SEGMENTS:
            centre = centre + mass * ((1 - share) * at(f"{side}_{near}") + share * at(f"{side}_{far}"))
    total = _HEAD + _TRUNK + 2 * sum(mass for _, _, mass, _ in _SEGMENTS)
    return np.asarray(centre / total)


ARMS_AND_LEGS = tuple((f"{s}_{near}", f"{s}_{far}") for s in SIDES for near, far, _, _ in _SEGMENTS)
