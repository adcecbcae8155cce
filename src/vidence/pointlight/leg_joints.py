"""Hips, knees and ankles from markers on the skin: where the joints are, and not where the markers stick."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vidence.pointlight.skin import directions, hip_centres

Floats = NDArray[np.float64]
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
        ``left_hip`` to ``right_ankle``, shape (n_frames, 3) each, metres; NaN where a marker that is needed
        is hidden: for knees and ankles both of their leg, and three of the four of the waist.
    """
    hips = hip_centres(waist)
    to_left = directions(hips[0] - hips[1])
    made = {}
    for i, side in enumerate(SIDES):
        outside = to_left if i == 0 else -to_left
        knee, ankle = _inside(
            hips[i], np.stack([knees[:, i], ankles[:, i]]), outside, sign=1.0 if i == 0 else -1.0
        )
        made[f"{side}_hip"] = hips[i]
        made[f"{side}_knee"] = _between_bones(hips[i], knee, ankle)
        made[f"{side}_ankle"] = ankle
    return made


def _inside(hip: Floats, markers: Floats, outside: Floats, *, sign: float) -> tuple[Floats, Floats]:
    """Knee and ankle, half a breadth inside of their `markers`; `outside` points away from the other leg."""
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
    """The knee, moved so that thigh and shank have their usual lengths as far as it need not go far.

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
