"""Named points of a body (12, 13 or 15) from the joints or markers of any format."""

import difflib
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.body_maps import BodyMap, bare, best_map
from vidence.pointlight.motion import Motion

Floats = NDArray[np.float64]


def steady_mean(places: Floats) -> Floats:
    """The mean of several points, continuous while some of them are hidden.

    Where some are hidden, the mean of the others is taken, moved by what it differed from the full mean
    when all were seen, before and after. Where all are hidden there is no value.

    Args:
        places: shape (n_frames, n_points, 3), NaN if hidden.

    Returns:
        Shape (n_frames, 3), NaN if no point is seen.
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
        Left and right, shape (n_frames, 3) each; NaN if two of the four are hidden, or where they lie in
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
    """Markers on one bone; hidden ones are reconstructed from the others.

    The others are laid over the mean shape of the group in frames in which all are seen (Kabsch, 1976).

    Args:
        group: shape (n_frames, n_points, 3), NaN if hidden.

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
    """The mean of groups (n, n_points, 3) after alignment to the first; a sample if there are many."""
    first = groups[0]
    laid = []
    for group in groups[:: max(1, len(groups) // 200)]:
        turn, centre, start = _laid_over(group, first)
        laid.append((group - start) @ turn + centre)
    return np.asarray(np.mean(laid, axis=0))


def _laid_over(points: Floats, target: Floats) -> tuple[Floats, Floats, Floats]:
    """Rotation and both centroids such that ``(points - start) @ turn + centre`` best fits `target`."""
    start, centre = points.mean(axis=0), target.mean(axis=0)
    left, _, right = np.linalg.svd((points - start).T @ (target - centre))
    mirror = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return left @ mirror @ right, centre, start


def _usual(vectors: Floats) -> float:
    """Return the median length; NaN without lengths."""
    lengths = np.linalg.norm(vectors, axis=1)
    known = lengths[np.isfinite(lengths)]
    return float(np.median(known)) if len(known) else float("nan")


def directions(vectors: Floats) -> Floats:
    """Vectors of length 1, shape (n, 3); NaN for those without length."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, np.nan))


SIDES = ("left", "right")
JOINTS = ("hip", "knee", "ankle")
# Breadths of knee and ankle as shares of the stature, 9.5 and 7.0 cm at 1.70 m: rounded means of adults (for
# the knee Ross and Wilson, 1974, A stratagem for proportional growth assessment). Markers are 14 mm thick.
_KNEE_SHARE, _ANKLE_SHARE = 9.5 / 170, 7.0 / 170
_MARKER_RADIUS_M = 0.007
# Thigh and shank as a share of the stature. Source: Drillis and Contini (1966), as printed by Winter.
_LEG_SHARE = 0.245 + 0.246
# The knee's axis is the normal of the bent leg; in a straight leg, which has none, it points as the hips do.
# Both count alike when the knee is bent by asin(0.15), 9 degrees.
_STRAIGHT = 0.15
# A leg that seems to bend the wrong way by less than asin(0.25), 15 degrees, is a straight one.
_HYPEREXTENDED = 0.25
_N_ROUNDS = 8
# How much more than the marker of the knee the lengths of the bones are trusted: skin slides over the knee by
# centimetres (Cappozzo and others, 1996), bones keep their length; 15 mm to 2 mm.
_TRUST_IN_BONES = 7.5


def leg_joints(waist: Floats, knees: Floats, ankles: Floats) -> Mapping[str, Floats]:
    """The centres of hips, knees and ankles.

    The hips follow from the pelvis. Knees and ankles lie half their breadth inside of the markers, along the
    axis of the knee. Then each knee moves to where thigh and shank keep their length best: markers slide on
    the skin, and bones do not stretch.

    Source: hips, Harrington and others (2007), as in `skin.hip_centres`; half a breadth and the radius of a
    marker along the axis of the joint, Kadaba and others (1990), Measurement of lower extremity kinematics
    during level walking, J. Orthopaedic Research 8(3); rigid bones by least squares, Lu and O'Connor (1999),
    Bone position estimation from skin marker co-ordinates using global optimisation with joint constraints,
    J. Biomechanics 32(2).
    Departs: nobody measured breadths, so they are shares of the stature, which is estimated from the legs;
    the axis of the knee is the normal of the bent leg, and not set by a wand on the thigh; lengths of bones
    are medians of the clip; hips and ankles stay, only knees move.

    Args:
        waist: left front, right front, left back, right back; shape (n_frames, 4, 3), metres.
        knees: the markers on the outside of both knees, shape (n_frames, 2, 3).
        ankles: those on the outside of both ankles, shape (n_frames, 2, 3).

    Returns:
        ``left_hip`` to ``right_ankle``, shape (n_frames, 3) each, metres; NaN if a marker that is needed
        is hidden: for knees and ankles both of their leg, and three of the four of the waist.
    """
    hips = hip_centres(waist)
    to_left = directions(hips[0] - hips[1])
    joints = {}
    for i, side in enumerate(SIDES):
        outside = to_left if i == 0 else -to_left
        knee, ankle = _inside(
            hips[i], np.stack([knees[:, i], ankles[:, i]]), outside, sign=1.0 if i == 0 else -1.0
        )
        joints[f"{side}_hip"] = hips[i]
        joints[f"{side}_knee"] = _between_bones(hips[i], knee, ankle)
        joints[f"{side}_ankle"] = ankle
    return joints


def _inside(hip: Floats, markers: Floats, outside: Floats, *, sign: float) -> tuple[Floats, Floats]:
    """Knee and ankle, half a joint width inside their `markers`; `outside` points away from the other leg."""
    knee_marker, ankle_marker = markers
    lengths = _length(knee_marker - hip) + _length(ankle_marker - knee_marker)
    if not np.isfinite(lengths).any():
        nowhere = np.full_like(hip, np.nan)
        return nowhere, nowhere
    stature = float(np.nanmedian(lengths)) / _LEG_SHARE
    knee, ankle = knee_marker, ankle_marker
    for _ in range(_N_ROUNDS):
        bent = sign * np.cross(directions(knee - hip), directions(ankle - knee))
        along = directions(ankle - hip)
        straight = directions(outside - along * (outside * along).sum(axis=1, keepdims=True))
        is_wrong = ((bent * straight).sum(axis=1) < 0) & (_length(bent) < _HYPEREXTENDED)
        bent = np.where(is_wrong[:, None], 0.0, bent)
        axis = directions(bent + _STRAIGHT * straight)
        knee = knee_marker - axis * (_KNEE_SHARE / 2 * stature + _MARKER_RADIUS_M)
        ankle = ankle_marker - axis * (_ANKLE_SHARE / 2 * stature + _MARKER_RADIUS_M)
    return knee, ankle


def _between_bones(hip: Floats, knee: Floats, ankle: Floats) -> Floats:
    """The knee, moved by a limited distance so that thigh and shank keep their usual lengths.

    The least squares of how far it moves and of `_TRUST_IN_BONES` times by how much the bones are too long,
    by Gauss and Newton.
    """
    ends = [(end, float(np.nanmedian(_length(knee - end)))) for end in (hip, ankle) if _any(knee - end)]
    place, trust = knee, _TRUST_IN_BONES**2
    for _ in range(_N_ROUNDS):
        pulls = knee - place
        squares = np.tile(np.eye(3), (len(knee), 1, 1))
        for end, usual in ends:
            along = directions(place - end)
            pulls = pulls + trust * (usual - _length(place - end))[:, None] * along
            squares = squares + trust * along[:, :, None] * along[:, None, :]
        is_known = np.isfinite(pulls).all(axis=1)
        squares[~is_known] = np.eye(3)
        place = place + np.linalg.solve(squares, pulls[..., None])[..., 0]
    return place


def _length(vectors: Floats) -> Floats:
    return np.asarray(np.linalg.norm(vectors, axis=1))


def _any(places: Floats) -> bool:
    return bool(np.isfinite(places).all(axis=1).any())


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
        allow_missing: give the points available, with a note about the others.

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
    if on_skin := [p for p in left_on_skin(motion.names, unseen=unseen) if p in names]:
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
    """The points of a body that a map names, replacing joints or markers.

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
    """The positions of the points of the body.

    Args:
        positions: of joints or markers, shape (n_frames, n_names, 3), metres; NaN if not seen.
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
    """The leg joints computed from markers of these names.

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
    """The centre of mass over time, shape (n_frames, 3), metres; NaN if a point is hidden.

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
