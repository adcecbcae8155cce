"""The built-in figure, which needs no data: walks, runs, jumps, waves, bows."""

import math
from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.catalog import read_settings
from vidence.errors import UsageError
from vidence.pointlight.gaits import (
    ANKLE_HEIGHT,
    GRAVITY_M_S2,
    SHANK,
    THIGH,
    Limb,
    Posture,
    bent_leg,
    cycles,
    figure,
    gait,
)
from vidence.pointlight.motion import Motion, MotionSource
from vidence.records import Record

Floats = NDArray[np.float64]


class WalkerSpec(Record, omit_defaults=True):
    """What the figure does.

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
    """The motion of the figure: 15 points of a body that faces along z and starts at the origin.

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
    """The figure by a spec such as ``walker:walk?speed_m_s=1.4``.

    Raises:
        UsageError: an unknown action or option, or a value that makes no sense.
    """
    return walker(read_settings(WalkerSpec, options, argument=argument, owner="walker"))


def _gait(spec: WalkerSpec, time_s: Floats) -> tuple[Posture, list[str]]:
    cycle = cycles()[spec.action]
    speed = cycle.usual_m_s if spec.speed_m_s is None else spec.speed_m_s
    return gait(cycle, speed_m_s=speed, height_m=spec.height_m, n_frames=len(time_s), fps=spec.fps)


def _standing_m(spec: WalkerSpec) -> float:
    """The height of the pelvis of a figure that stands straight, a little bent as people are."""
    return ((THIGH + SHANK) * 0.995 + ANKLE_HEIGHT) * spec.height_m


def _still(value: float, like: Floats) -> Floats:
    return np.full_like(like, value)


def _hanging(like: Floats) -> Limb:
    return Limb(flexion=_still(0.0, like), abduction=_still(6.0, like), bend=_still(12.0, like))


def _posed(
    spec: WalkerSpec,
    pelvis_y: Floats,
    *,
    arms: tuple[Limb, Limb],
    lift: Floats,
    lean: Floats,
) -> Posture:
    """A figure on the spot: the legs reach from the pelvis down to the feet, which are `lift` metres up.

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
    """From 0 to 1 with no speed and no acceleration at either end."""
    s = np.clip(share, 0.0, 1.0)
    values: Floats = s**3 * (10 - 15 * s + 6 * s**2)
    return values


def _jump(spec: WalkerSpec, time_s: Floats) -> tuple[Posture, list[str]]:
    """Crouch, stretch, fly, land, stand; again and again. The flight follows gravity."""
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
    landed = _landing(share, top=top, speed=take_off * land_s)
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
    """A cubic from a place and a speed (per whole share) to another."""
    s = share
    (p0, v0), (p1, v1) = start, end
    values: Floats = (
        (2 * s**3 - 3 * s**2 + 1) * p0
        + (s**3 - 2 * s**2 + s) * v0
        + (-2 * s**3 + 3 * s**2) * p1
        + (s**3 - s**2) * v1
    )
    return values


def _landing(share: Floats, *, top: float, speed: float) -> Floats:
    """Down at `speed`, slowed by the legs, and up to where it began."""
    return _hermite(share, start=(top, -speed), end=(top, 0.0))


def _wave(spec: WalkerSpec, time_s: Floats) -> tuple[Posture, list[str]]:
    """The right hand up and from side to side."""
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
    """The trunk forwards and up again."""
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
