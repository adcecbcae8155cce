"""A figure of sticks: segment lengths by body height, joints from angles, knees from feet."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.pointlight.motion import Motion, MotionSource

Floats = NDArray[np.float64]
# Lengths as shares of the body height.
# Source: Drillis & Contini (1966), as drawn by Winter, Biomechanics and Motor Control of Human Movement,
# figure 4.1; the head is taken at the height of the eyes.
THIGH, SHANK, ANKLE_HEIGHT = 0.245, 0.246, 0.039
UPPER_ARM, FOREARM = 0.186, 0.146
SHOULDER_HALF, HIP_HALF = 0.129, 0.055
TRUNK, NECK_TO_HEAD = 0.288, 0.118
SIDES = (("left", 1.0), ("right", -1.0))
NAMES = (
    "head",
    *(f"{side}_{joint}" for side, _ in SIDES for joint in ("shoulder", "elbow", "wrist")),
    *(f"{side}_{joint}" for side, _ in SIDES for joint in ("hip", "knee", "ankle")),
    "neck",
    "pelvis",
)


@dataclass(frozen=True, kw_only=True)
class Limb:
    """Angles of one arm or leg over time, in degrees, each of shape (n_frames,).

    `flexion` swings the whole limb forwards, `abduction` sideways away from the body, `bend` is that of the
    knee (backwards) or the elbow (forwards).
    """

    flexion: Floats
    abduction: Floats
    bend: Floats


@dataclass(frozen=True, kw_only=True)
class Posture:
    """A figure over time. It faces along z; its left is at positive x.

    Shapes: `pelvis_m` (n_frames, 3); `pelvis_turn`, `trunk_turn`, `trunk_lean` (n_frames,), degrees: about
    the vertical, left side forwards, and bent forwards.
    """

    pelvis_m: Floats
    pelvis_turn: Floats
    trunk_turn: Floats
    trunk_lean: Floats
    left_arm: Limb
    right_arm: Limb
    left_leg: Limb
    right_leg: Limb


def figure(posture: Posture, *, height_m: float, fps: float, source: MotionSource) -> Motion:
    """The points of a body in this posture, 15 of them, in the order of `NAMES`."""
    points = {"pelvis": posture.pelvis_m}
    lean = np.radians(posture.trunk_lean)
    along = np.stack([np.zeros_like(lean), np.cos(lean), np.sin(lean)], axis=1)
    points["neck"] = posture.pelvis_m + TRUNK * height_m * along
    points["head"] = points["neck"] + NECK_TO_HEAD * height_m * along
    for side, sign in SIDES:
        hip = posture.pelvis_m + sideways(posture.pelvis_turn, sign * HIP_HALF * height_m)
        leg = posture.left_leg if side == "left" else posture.right_leg
        points[f"{side}_hip"] = hip
        knee, ankle = leg_ends(leg, sign=sign, height_m=height_m)
        points[f"{side}_knee"], points[f"{side}_ankle"] = hip + knee, hip + ankle
        shoulder = points["neck"] + sideways(posture.trunk_turn, sign * SHOULDER_HALF * height_m)
        arm = posture.left_arm if side == "left" else posture.right_arm
        points[f"{side}_shoulder"] = shoulder
        elbow, wrist = _arm_ends(arm, sign=sign, height_m=height_m)
        points[f"{side}_elbow"], points[f"{side}_wrist"] = shoulder + elbow, shoulder + wrist
    positions = np.stack([points[name] for name in NAMES], axis=1)
    return Motion(
        positions_m=positions,
        is_valid=np.ones(positions.shape[:2], bool),
        names=NAMES,
        fps=fps,
        kind="body",
        source=source,
    )


def sideways(turn_deg: Floats, length_m: float) -> Floats:
    """A bar across the body that is turned about the vertical, left end forwards; shape (n_frames, 3)."""
    turn = np.radians(turn_deg)
    return length_m * np.stack([np.cos(turn), np.zeros_like(turn), np.sin(turn)], axis=1)


def direction(flexion_deg: Floats, abduction_deg: Floats, *, sign: float) -> Floats:
    """Where a limb points that hangs down, is swung forwards and then lifted sideways; unit vectors.

    `sign` is 1 for the left side, -1 for the right.
    """
    flexion, abduction = np.radians(flexion_deg), np.radians(abduction_deg)
    made: Floats = np.stack(
        [
            sign * np.sin(abduction) * np.ones_like(flexion),
            -np.cos(flexion) * np.cos(abduction),
            np.sin(flexion) * np.cos(abduction),
        ],
        axis=1,
    )
    return made


def leg_ends(leg: Limb, *, sign: float, height_m: float) -> tuple[Floats, Floats]:
    """Knee and ankle as seen from the hip, in metres, each (n_frames, 3)."""
    knee = THIGH * height_m * direction(leg.flexion, leg.abduction, sign=sign)
    shank = direction(leg.flexion - leg.bend, leg.abduction, sign=sign)
    return knee, knee + SHANK * height_m * shank


def _arm_ends(arm: Limb, *, sign: float, height_m: float) -> tuple[Floats, Floats]:
    upper = direction(arm.flexion, arm.abduction, sign=sign)
    elbow = UPPER_ARM * height_m * upper
    fore = direction(arm.flexion + arm.bend, arm.abduction, sign=sign)
    return elbow, elbow + FOREARM * height_m * fore


def bent_leg(reach_m: Floats, *, height_m: float) -> tuple[Floats, Floats]:
    """The angles of a leg whose ankle stands straight below its hip, by the law of cosines.

    Args:
        reach_m: from hip to ankle, shape (n_frames,); longer than the leg counts as a straight leg.
        height_m: the body height.

    Returns:
        Flexion of the hip and bend of the knee in degrees, each (n_frames,).
    """
    thigh, shank = THIGH * height_m, SHANK * height_m
    reach = np.clip(reach_m, abs(thigh - shank) + 1e-6, thigh + shank)
    hip = np.arccos(np.clip((thigh**2 + reach**2 - shank**2) / (2 * thigh * reach), -1, 1))
    inner = np.arccos(np.clip((thigh**2 + shank**2 - reach**2) / (2 * thigh * shank), -1, 1))
    return np.degrees(hip), 180.0 - np.degrees(inner)
