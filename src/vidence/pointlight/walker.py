"""The built-in figure, which needs no data: walks, runs, jumps, waves, bows."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.catalog import read_settings
from vidence.errors import UsageError
from vidence.installation import packaged
from vidence.pointlight.motion import Motion, MotionSource
from vidence.records import Record
from vidence.statistics.exact import root

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
    """A figure over time, facing z, with its left at positive x.

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
    """The 15 points of a body in this posture, in the order of `NAMES`."""
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
    """A bar across the body rotated about the vertical, left end forwards; shape (n_frames, 3)."""
    turn = np.radians(turn_deg)
    return length_m * np.stack([np.cos(turn), np.zeros_like(turn), np.sin(turn)], axis=1)


def direction(flexion_deg: Floats, abduction_deg: Floats, *, sign: float) -> Floats:
    """The direction of a hanging limb swung forwards and then lifted sideways; unit vectors.

    `sign` is 1 for the left side, -1 for the right.
    """
    flexion, abduction = np.radians(flexion_deg), np.radians(abduction_deg)
    return np.stack(
        [
            sign * np.sin(abduction) * np.ones_like(flexion),
            -np.cos(flexion) * np.cos(abduction),
            np.sin(flexion) * np.cos(abduction),
        ],
        axis=1,
    )


def leg_ends(leg: Limb, *, sign: float, height_m: float) -> tuple[Floats, Floats]:
    """Knee and ankle relative to the hip, in metres, each (n_frames, 3)."""
    knee = THIGH * height_m * direction(leg.flexion, leg.abduction, sign=sign)
    shank = direction(leg.flexion - leg.bend, leg.abduction, sign=sign)
    return knee, knee + SHANK * height_m * shank


def _arm_ends(arm: Limb, *, sign: float, height_m: float) -> tuple[Floats, Floats]:
    upper = direction(arm.flexion, arm.abduction, sign=sign)
    elbow = UPPER_ARM * height_m * upper
    fore = direction(arm.flexion + arm.bend, arm.abduction, sign=sign)
    return elbow, elbow + FOREARM * height_m * fore


def bent_leg(reach_m: Floats, *, height_m: float) -> tuple[Floats, Floats]:
    """Return the angles of a leg with the ankle straight below the hip, by the law of cosines.

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


GRAVITY_M_S2 = 9.81
# Shares of the body height. While a foot rolls from heel to toe its ankle goes on by ROLL, and is HEEL_RISE
# higher when the toe leaves the ground. Source: a foot of 0.152 body heights (Drillis & Contini 1966) that
# stands on its toes at about 45°.
ROLL, HEEL_RISE = 0.09, 0.055


class Cycle(Record):
    """One gait: angles in degrees at shares of the cycle between contacts of the same foot.

    `stance` is the share of the cycle in which that foot is on the ground. The other side runs half a cycle
    later. `hip` is seen from a pelvis that is tilted forwards by `tilt`; it is scaled so that the foot on the
    ground keeps its place at the speed that is asked for. `usual_m_s` is taken where none is.
    """

    hip: tuple[tuple[float, float], ...]
    knee: tuple[tuple[float, float], ...]
    shoulder: tuple[tuple[float, float], ...]
    elbow: tuple[tuple[float, float], ...]
    stance: float
    tilt: float
    pelvis_turn: float
    trunk_turn: float
    trunk_lean: float
    speeds_m_s: tuple[float, float]
    usual_m_s: float


@cache
def cycles() -> Mapping[str, Cycle]:
    """The gaits of ``gaits.toml``: ``walk`` and ``run``."""
    return packaged("vidence.pointlight", "gaits.toml", dict[str, Cycle])


def stride_length_m(speed_m_s: float, *, height_m: float, is_run: bool) -> float:
    """The distance travelled in one cycle (two steps), in metres.

    Source: walking: Boulic, Magnenat-Thalmann & Thalmann (1990), after Inman: 1.346 times the square root of
        the speed, both in leg lengths. Running: the cadence that recreational runners keep, 2.6 to 3.1 steps
        per second between 2 and 5 m/s (Cavanagh & Williams 1982).
    Departs: the running cadence is a straight line between these.
    """
    leg_m = (THIGH + SHANK + ANKLE_HEIGHT) * height_m
    if is_run:
        cadence = float(np.interp(speed_m_s, [2.0, 5.0], [2.6, 3.1]))
        return 2 * speed_m_s / cadence
    return float(1.346 * np.sqrt(speed_m_s / leg_m) * leg_m)


def gait(
    cycle: Cycle, *, speed_m_s: float, height_m: float, n_frames: int, fps: float
) -> tuple[Posture, list[str]]:
    """Angles and pelvis path of a figure that walks or runs straight ahead.

    In stance the height of the pelvis follows from the lower ankle, which is on the ground; in flight it
    follows gravity.

    Args:
        cycle: one of `cycles`.
        speed_m_s: how fast.
        height_m: the body height.
        n_frames: how many frames.
        fps: their rate.

    Returns:
        The posture, and notes: the cycle and how far the hip angles were scaled.

    Raises:
        UsageError: a speed at which nobody moves like this.
    """
    low, high = cycle.speeds_m_s
    if not low <= speed_m_s <= high:
        raise UsageError(f"this gait is for {low:g} to {high:g} m/s, not {speed_m_s:g} m/s")
    stride_m = stride_length_m(speed_m_s, height_m=height_m, is_run=cycle == cycles()["run"])
    period_s = stride_m / speed_m_s
    scale = _hip_scale(cycle, step_m=stride_m * cycle.stance - ROLL * height_m, height_m=height_m)
    time_s = np.arange(n_frames) / fps
    phase = time_s / period_s
    legs = {side: _leg(cycle, phase + shift, scale=scale) for side, shift in (("left", 0.0), ("right", 0.5))}
    arms = {side: _arm(cycle, phase + shift) for side, shift in (("left", 0.0), ("right", 0.5))}
    swing = np.cos(2 * np.pi * phase)
    height = _pelvis_height(cycle, phase, scale=scale, height_m=height_m, period_s=period_s)
    pelvis = np.stack([np.zeros(n_frames), height, speed_m_s * time_s], axis=1)
    posture = Posture(
        pelvis_m=pelvis,
        pelvis_turn=cycle.pelvis_turn * swing,
        trunk_turn=cycle.trunk_turn * swing,
        trunk_lean=np.full(n_frames, cycle.trunk_lean),
        left_arm=arms["left"],
        right_arm=arms["right"],
        left_leg=legs["left"],
        right_leg=legs["right"],
    )
    return posture, [f"cycle {period_s:.3f} s, stride {stride_m:.3f} m, hip angles times {scale:.3f}"]


def periodic(points: tuple[tuple[float, float], ...], phase: Floats) -> Floats:
    """A closed cubic spline through points (share of the cycle, value)."""
    at, values = np.array(points).T
    steps, rises = np.diff(at, append=at[0] + 1), np.diff(values, append=values[0])
    before, means = np.roll(steps, 1), rises / steps
    here, after = np.arange(len(at)), np.roll(np.arange(len(at)), -1)
    matrix = np.diag(2 * (before + steps))
    matrix[here, np.roll(here, 1)] += steps
    matrix[here, after] += before
    # The slopes at the points with which the second derivatives of neighbouring pieces are equal there.
    slopes = np.linalg.solve(matrix, 3 * (steps * np.roll(means, 1) + before * means))
    place = np.mod(phase - at[0], 1.0) + at[0]
    i = np.searchsorted(at, place, side="right") - 1
    j, t = after[i], (place - at[i]) / steps[i]
    curve: Floats = (1 - t) ** 2 * ((1 + 2 * t) * values[i] + t * steps[i] * slopes[i]) + t**2 * (
        (3 - 2 * t) * values[j] + (t - 1) * steps[i] * slopes[j]
    )
    return curve


def _leg(cycle: Cycle, phase: Floats, *, scale: float) -> Limb:
    return Limb(
        flexion=scale * (periodic(cycle.hip, phase) - cycle.tilt),
        abduction=np.zeros_like(phase),
        bend=np.maximum(periodic(cycle.knee, phase), 0.0),
    )


def _arm(cycle: Cycle, phase: Floats) -> Limb:
    """An arm that swings against its leg: furthest back when that foot touches the ground."""
    return Limb(
        flexion=periodic(cycle.shoulder, phase),
        abduction=np.full_like(phase, 6.0),
        bend=periodic(cycle.elbow, phase),
    )


def _hip_scale(cycle: Cycle, *, step_m: float, height_m: float) -> float:
    """The factor on hip angles at which the stance foot moves back as fast as the body moves on.

    The knee bends of the cycle are kept. The factor is searched in [0.2, 2].
    """
    ends = np.array([0.0, cycle.stance])

    def excess(scale: float) -> float:
        _, ankle = leg_ends(_leg(cycle, ends, scale=scale), sign=1.0, height_m=height_m)
        return float(ankle[0, 2] - ankle[1, 2] - step_m)

    if excess(0.2) > 0 or excess(2.0) < 0:
        raise UsageError(
            f"a body of {height_m:g} m cannot step {step_m:.2f} m with this gait; choose another speed or "
            "height"
        )
    return root(excess, 0.2, 2.0, close=1e-13)


def _pelvis_height(cycle: Cycle, phase: Floats, *, scale: float, height_m: float, period_s: float) -> Floats:
    """The height of the pelvis in metres, shape (n_frames,)."""
    if cycle.stance >= 0.5:
        return _over_the_feet(cycle, phase, scale=scale, height_m=height_m)
    # Each half cycle is a stance, in which the ankle is on the ground, and a flight: a parabola to the next.
    half = np.mod(phase, 0.5)
    edges = np.array([cycle.stance, 0.0])
    leave, touch = _over_one_foot(cycle, edges, scale=scale, height_m=height_m)
    flight_s = (0.5 - cycle.stance) * period_s
    rise = (touch - leave) / flight_s + GRAVITY_M_S2 * flight_s / 2
    since_s = (half - cycle.stance) * period_s
    in_flight = leave + rise * since_s - GRAVITY_M_S2 * since_s**2 / 2
    in_stance = _over_one_foot(cycle, np.minimum(half, cycle.stance), scale=scale, height_m=height_m)
    return np.where(half >= cycle.stance, in_flight, in_stance)


def _over_one_foot(cycle: Cycle, phase: Floats, *, scale: float, height_m: float) -> Floats:
    """The pelvis height that puts this ankle on the ground; the heel rises towards the end."""
    _, ankle = leg_ends(_leg(cycle, phase, scale=scale), sign=1.0, height_m=height_m)
    late = np.clip((phase / cycle.stance - 0.5) / 0.5, 0.0, 1.0)
    return (ANKLE_HEIGHT + HEEL_RISE * late**2) * height_m - ankle[:, 1]


def _over_the_feet(cycle: Cycle, phase: Floats, *, scale: float, height_m: float) -> Floats:
    """The pelvis height that puts the lower ankle on the ground, smoothed between the feet."""
    grid = np.arange(200) / 200
    drops = []
    for shift in (0.0, 0.5):
        _, ankle = leg_ends(_leg(cycle, grid + shift, scale=scale), sign=1.0, height_m=height_m)
        drops.append(-ankle[:, 1])
    highest = np.maximum(*drops)
    # A cycle without its fast parts: four harmonics.
    waves = np.fft.rfft(highest)
    waves[9:] = 0
    smooth = np.fft.irfft(waves, n=len(grid))
    values: Floats = np.interp(np.mod(phase, 1.0), np.append(grid, 1.0), np.append(smooth, smooth[0]))
    return values + ANKLE_HEIGHT * height_m


class WalkerSpec(Record, omit_defaults=True):
    """The figure's action.

    Units: metres, seconds, metres per second, frames per second, movements per second. `speed_m_s` is for
    walking and running (None: 1.3 and 3.2); `rate_hz` for what is repeated (None: as usual for the action);
    `jump_m` is how high a jump lifts the body.
    """

    positional: ClassVar[str] = "action"
    action: str = "walk"
    duration_s: Annotated[float, Meta(ge=0.1, le=600)] = 3.0
    fps: Annotated[float, Meta(ge=1, le=1000)] = 60.0
    height_m: Annotated[float, Meta(ge=0.5, le=2.5)] = 1.75
    speed_m_s: float | None = None
    rate_hz: Annotated[float, Meta(ge=0.1, le=4)] | None = None
    jump_m: Annotated[float, Meta(ge=0.05, le=0.8)] = 0.3

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise UsageError(f"the figure cannot {self.action!r}; it can {', '.join(ACTIONS)}")


def walker(spec: WalkerSpec) -> Motion:
    """The figure's motion: 15 points of a body that faces z and starts at the origin.

    Gaits are from published joint angles (see `gaits`); in every flight the body follows gravity; a foot on
    the ground stays there. The other actions are ours: smooth curves with feet held by the law of cosines.

    Raises:
        UsageError: a speed at which nobody moves like this.
    """
    n_frames = max(2, round(spec.duration_s * spec.fps))
    time_s = np.arange(n_frames) / spec.fps
    posture, notes = ACTIONS[spec.action](spec, time_s)
    source = MotionSource(
        format="walker", notes=(f"made by equations: {msgspec.json.encode(spec).decode()}", *notes)
    )
    return figure(posture, height_m=spec.height_m, fps=spec.fps, source=source)


def walker_of(argument: str, options: Mapping[str, str]) -> Motion:
    """The figure from a spec such as ``walker:walk?speed_m_s=1.4``.

    Raises:
        UsageError: an unknown action or option, or an invalid value.
    """
    return walker(read_settings(WalkerSpec, options, argument=argument, owner="walker"))


def _gait(spec: WalkerSpec, time_s: Floats) -> tuple[Posture, list[str]]:
    cycle = cycles()[spec.action]
    speed = cycle.usual_m_s if spec.speed_m_s is None else spec.speed_m_s
    return gait(cycle, speed_m_s=speed, height_m=spec.height_m, n_frames=len(time_s), fps=spec.fps)


def _standing_m(spec: WalkerSpec) -> float:
    """The pelvis height of a figure standing with slightly bent knees."""
    return ((THIGH + SHANK) * 0.995 + ANKLE_HEIGHT) * spec.height_m


def _still(value: float, like: Floats) -> Floats:
    return np.full_like(like, value)


def _hanging(like: Floats) -> Limb:
    return Limb(flexion=_still(0.0, like), abduction=_still(6.0, like), bend=_still(12.0, like))


def _posed(
    spec: WalkerSpec, pelvis_y: Floats, *, arms: tuple[Limb, Limb], lift: Floats, lean: Floats
) -> Posture:
    """A figure on the spot: legs reach from the pelvis down to feet that are `lift` metres up.

    `arms` are the left and the right one.
    """
    zero = np.zeros_like(pelvis_y)
    down = pelvis_y - ANKLE_HEIGHT * spec.height_m - lift
    flexion, bend = bent_leg(down, height_m=spec.height_m)
    leg = Limb(flexion=flexion, abduction=zero, bend=bend)
    return Posture(
        pelvis_m=np.stack([zero, pelvis_y, zero], axis=1),
        pelvis_turn=zero,
        trunk_turn=zero,
        trunk_lean=lean,
        left_arm=arms[0],
        right_arm=arms[1],
        left_leg=leg,
        right_leg=leg,
    )


def _eased(share: Floats) -> Floats:
    """From 0 to 1 with zero speed and acceleration at both ends."""
    s = np.clip(share, 0.0, 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2)


def _jump(spec: WalkerSpec, time_s: Floats) -> tuple[Posture, list[str]]:
    """Crouch, stretch, fly, land, stand, repeatedly; the flight obeys gravity."""
    top, rise = _standing_m(spec), spec.jump_m
    take_off = math.sqrt(2 * GRAVITY_M_S2 * rise)
    flight_s, depth = 2 * take_off / GRAVITY_M_S2, 0.32 * spec.height_m * 0.6
    push_s = 2.4 * depth / take_off
    crouch_s, land_s, rest_s = 0.55, 0.5, 0.5
    ends = np.cumsum([crouch_s, push_s, flight_s, land_s, rest_s])
    phase = np.mod(time_s, ends[-1])
    pelvis = top - depth * _eased(phase / crouch_s)
    share = np.clip((phase - ends[0]) / push_s, 0, 1)
    pushed = _hermite(share, start=(top - depth, 0.0), end=(top, take_off * push_s))
    since = phase - ends[1]
    flown = top + take_off * since - GRAVITY_M_S2 * since**2 / 2
    share = np.clip((phase - ends[2]) / land_s, 0, 1)
    landed = _hermite(share, start=(top, -take_off * land_s), end=(top, 0.0))
    pelvis = np.select(
        [phase < ends[0], phase < ends[1], phase < ends[2], phase < ends[3]],
        [pelvis, pushed, flown, landed],
        default=top,
    )
    lift = np.where((phase >= ends[1]) & (phase < ends[2]), flown - top, 0.0)
    swing = -35 * _eased(phase / crouch_s) + 185 * _eased((phase - ends[0]) / (push_s + flight_s / 3))
    swing = swing - 150 * _eased((phase - ends[2]) / land_s)
    arms = Limb(flexion=swing, abduction=_still(8.0, phase), bend=_still(15.0, phase))
    lean = 35 * np.clip((top - pelvis) / depth, 0, 1)
    return _posed(spec, pelvis, arms=(arms, arms), lift=lift, lean=lean), [
        f"jumps of {rise:g} m, {flight_s:.3f} s in the air"
    ]


def _hermite(share: Floats, *, start: tuple[float, float], end: tuple[float, float]) -> Floats:
    """A cubic between positions with given speeds (per whole share)."""
    s = share
    (p0, v0), (p1, v1) = start, end
    return (
        (2 * s**3 - 3 * s**2 + 1) * p0
        + (s**3 - 2 * s**2 + s) * v0
        + (-2 * s**3 + 3 * s**2) * p1
        + (s**3 - s**2) * v1
    )


def _wave(spec: WalkerSpec, time_s: Floats) -> tuple[Posture, list[str]]:
    """The right hand raised and moved from side to side."""
    rate = spec.rate_hz or 1.5
    up = _eased(time_s / 0.6)
    sway = np.sin(2 * np.pi * rate * np.maximum(time_s - 0.4, 0))
    # The upper arm forwards, the forearm upwards, both from side to side.
    arm = Limb(flexion=70 * up, abduction=6 + 18 * up + 20 * up * sway, bend=12 + 88 * up)
    top, zero = _still(_standing_m(spec), time_s), np.zeros_like(time_s)
    return _posed(spec, top, arms=(_hanging(time_s), arm), lift=zero, lean=zero + 1), [
        f"{rate:g} waves per second"
    ]


def _bow(spec: WalkerSpec, time_s: Floats) -> tuple[Posture, list[str]]:
    """The trunk bent forward and raised again."""
    rate = spec.rate_hz or 0.33
    bent = (1 - np.cos(2 * np.pi * rate * time_s)) / 2
    arms = Limb(flexion=45 * bent, abduction=_still(5.0, bent), bend=_still(10.0, bent))
    top, zero = _still(_standing_m(spec), bent), np.zeros_like(bent)
    return _posed(spec, top, arms=(arms, arms), lift=zero, lean=2 + 63 * bent), [f"{rate:g} bows per second"]


ACTIONS: dict[str, Callable[[WalkerSpec, Floats], tuple[Posture, list[str]]]] = {
    "walk": _gait,
    "run": _gait,
    "jump": _jump,
    "wave": _wave,
    "bow": _bow,
}
