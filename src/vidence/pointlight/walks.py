"""Walks as Fourier series: taken from recordings, mixed with each other, and walked again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.body import ARMS_AND_LEGS, SETS, body, points_of
from vidence.pointlight.framing import heading_deg, turned
from vidence.pointlight.motion import Motion, MotionSource, part

Floats = NDArray[np.float64]
N_HARMONICS = 4
# Swings of a foot a second; the grid on which the rate is sought before it is refined.
_RATES_HZ = np.arange(0.4, 2.0001, 0.01)
# The longest window of which the series has this much is taken; of a body that turns, a shorter one.
_WINDOWS_S = (3.0, 2.0, 1.4)
_WELL, _LEAST_EXPLAINED = 0.95, 0.8
_FEWEST_CYCLES = 1.2
# Below these the feet do not swing to and fro as they do in a walk.
_LEAST_SHARE, _LEAST_SWING_M = 0.7, 0.1
_ANKLE_M = 0.07


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A walk on the spot as a Fourier series: it faces along z, and its left foot is foremost at time 0.

    Shapes: `posture_m` (n_points, 3), the mean posture, with the pelvis over the origin; `waves_m`
    (n_harmonics, 2, n_points, 3), cosines and sines; `limbs_m` (n_limbs,), how long arms and legs are, in the
    order of `ARMS_AND_LEGS`; `rate_hz`, cycles (two steps) a second; `speed_m_s`,
    below 0 backwards. `explained` is the share of the motion of all points around their mean that the series
    has; `span_s` where in the recording it is from; `file` names this.
    """

    names: tuple[str, ...]
    posture_m: Floats
    waves_m: Floats
    limbs_m: Floats
    rate_hz: float
    speed_m_s: float
    explained: float = 1.0
    span_s: tuple[float, float] = (0.0, 0.0)
    file: str = ""

    def __post_init__(self) -> None:
        n_points = len(self.names)
        if self.limbs_m.shape != (len(ARMS_AND_LEGS),):
            raise ValueError(f"{len(self.limbs_m)} lengths for {len(ARMS_AND_LEGS)} limbs")
        if self.posture_m.shape != (n_points, 3) or self.waves_m.shape[1:] != (2, n_points, 3):
            raise ValueError(
                f"a posture {self.posture_m.shape} and waves {self.waves_m.shape} are not those of "
                f"{n_points} points"
            )


def walk_of(motion: Motion, *, n_harmonics: int = N_HARMONICS) -> Walk:
    """The walk in a recording, from its steadiest three seconds, or fewer where it is not steady so long.

    The rate is the one at which a wave explains most of the way between the ankles, to the front and back;
    every point is then fitted by least squares with that wave, its harmonics and a straight line, which is
    left out.

    Source: after Troje (2002), Decomposing biological motion: a framework for analysis and synthesis of human
        gait patterns, Journal of Vision 2(5): walks as Fourier series of the places of points, on one phase.
    Departs: how many harmonics, which points and how the phase is set are ours, and were not compared with
        the paper's.

    Args:
        motion: joints, markers or a body that walks (or runs) straight on for 1.2 cycles or more.
        n_harmonics: how many waves.

    Raises:
        DataError: no steady walk, points of the body that are missing, or hidden for too long.
    """
    figure = _figure(motion)
    name = motion.source.file or "this motion"
    swing = _swing(figure)
    best: _Window | None = None
    for size_s in _WINDOWS_S:
        size = min(len(swing), round(size_s * figure.fps))
        for start, rate in _steady(swing, figure.fps, size=size):
            window = _window(figure, swing, start, start + size, rate=rate, n_harmonics=n_harmonics)
            if window is not None and (best is None or window.explained > best.explained):
                best = window
        if best is not None and best.explained >= _WELL:
            break
    if best is None or best.explained < _LEAST_EXPLAINED:
        told = "nowhere" if best is None else f"at best {best.explained:.0%} of the motion is one"
        raise DataError(
            f"{name}: no steady walk of {_FEWEST_CYCLES} cycles or more, straight on with all points seen: "
            f"{told} (expected {_LEAST_EXPLAINED:.0%})"
        )
    fitted, rate = best.fitted, best.rate_hz
    ankles = [figure.index("left_ankle"), figure.index("right_ankle")]
    constant, line, waves = fitted[0], fitted[1], fitted[2:].reshape(n_harmonics, 2, len(figure.names), 3)
    swing_wave = waves[0, :, ankles[0], 2] - waves[0, :, ankles[1], 2]
    waves = _shifted(waves, float(np.arctan2(swing_wave[1], swing_wave[0])))
    posture = constant - _pelvis(constant, figure.names) * [1.0, 0.0, 1.0]
    across, ahead = line.mean(axis=0)[[0, 2]]
    speed = float(np.copysign(np.hypot(across, ahead), ahead))
    cycle = posture + _waved(waves, np.linspace(0, 1, 60, endpoint=False))
    lowest = cycle[:, ankles, 1].min()
    posture = posture - [0.0, lowest - _ANKLE_M, 0.0]
    return Walk(
        names=figure.names,
        posture_m=posture,
        waves_m=waves,
        limbs_m=_limbs(cycle, figure.names).mean(axis=0),
        rate_hz=rate,
        speed_m_s=speed,
        explained=best.explained,
        span_s=(best.start / figure.fps, best.stop / figure.fps),
        file=motion.source.file,
    )


def walked(walk: Walk, *, duration_s: float = 3.0, fps: float = 60.0) -> Motion:
    """The walk over the ground: it starts at the origin, with the left foot foremost, and goes along z.

    Arms and legs keep their length: a series has them a little too short where they swing, as a mixture has.

    Raises:
        UsageError: no time, or no rate.
    """
    if not (duration_s > 0 and 1 <= fps <= 1000) or duration_s > 600:
        raise UsageError(
            f"a walk of {duration_s:g} s at {fps:g} frames per second; expected 0 to 600 s, 1 to 1000"
        )
    n_frames = max(2, round(duration_s * fps))
    time_s = np.arange(n_frames) / fps
    places = walk.posture_m + _waved(walk.waves_m, time_s * walk.rate_hz)
    places = _with_limbs(places, walk.names, walk.limbs_m)
    places = places + (walk.speed_m_s * time_s)[:, None, None] * [0.0, 0.0, 1.0]
    told = f"{walk.rate_hz:.3f} cycles a second, {walk.speed_m_s:.2f} m/s, {len(walk.waves_m)} harmonics"
    return Motion(
        positions_m=places,
        is_valid=np.ones(places.shape[:2], bool),
        names=walk.names,
        fps=fps,
        kind="body",
        source=MotionSource(file=walk.file, format="walk", notes=(f"a walk by a Fourier series: {told}",)),
    )


def morph(
    first: Walk,
    second: Walk,
    share: float,
    *,
    structure_share: float | None = None,
    motion_share: float | None = None,
) -> Walk:
    """A walk between two, or beyond: 0 is the first, 1 the second, 0.5 their mean, 1.5 a caricature.

    `structure_share` is that of the mean posture, `motion_share` that of the waves, the rate and the speed;
    None: `share`. With 0 and 1 the result is a hybrid: the body of the first moves as the second.

    Source: after Troje (2002), as `walk_of`: linear combinations of walks on one phase.
    Departs: setting posture and waves apart, and limbs, rate and speed beside them, are ours.
    """
    first, second = alike((first, second))
    a = share if structure_share is None else structure_share
    b = share if motion_share is None else motion_share
    rate = (1 - b) * first.rate_hz + b * second.rate_hz
    if not rate > 0:
        raise UsageError(
            f"a share of {b:g} gives a rate of {rate:.2f} cycles a second; take one nearer to 0 and 1"
        )
    return Walk(
        names=first.names,
        posture_m=(1 - a) * first.posture_m + a * second.posture_m,
        waves_m=(1 - b) * first.waves_m + b * second.waves_m,
        limbs_m=(1 - a) * first.limbs_m + a * second.limbs_m,
        rate_hz=rate,
        speed_m_s=(1 - b) * first.speed_m_s + b * second.speed_m_s,
        explained=min(first.explained, second.explained),
        file=f"{Path(first.file).name} and {Path(second.file).name}",
    )


def alike(walks: Sequence[Walk]) -> list[Walk]:
    """The walks with the points and the harmonics that all of them have.

    Raises:
        DataError: fewer than 13 points in common.
    """
    names = tuple(n for n in walks[0].names if all(n in w.names for w in walks))
    if len(names) < len(SETS["13"]):
        raise DataError(f"walks have only {', '.join(names)} in common; expected the 13 points of a body")
    n_harmonics = min(len(w.waves_m) for w in walks)
    made = []
    for walk in walks:
        at = [walk.names.index(n) for n in names]
        waves = walk.waves_m[:n_harmonics][:, :, at]
        made.append(replace(walk, names=names, posture_m=walk.posture_m[at], waves_m=waves))
    return made


def _figure(motion: Motion) -> Motion:
    """The 15 points of a body, or 13 where neck and pelvis are not there."""
    there = points_of(motion.names)
    return body(motion, points="15" if set(SETS["15"]) <= set(there) else "13")


@dataclass(frozen=True, kw_only=True)
class _Window:
    """Frames `start` to `stop`, and what was fitted to them."""

    start: int
    stop: int
    rate_hz: float
    fitted: Floats
    explained: float


def _swing(figure: Motion) -> Floats:
    """How far the left ankle is in front of the right one, as the body faces then; NaN where hidden."""
    at = {n: figure.positions_m[:, i] for i, n in enumerate(figure.names)}
    across = sum((at[f"left_{j}"] - at[f"right_{j}"] for j in ("hip", "shoulder")), np.zeros((1, 3)))
    forwards = np.cross(across * [1.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    length = np.linalg.norm(forwards, axis=1)
    way = ((at["left_ankle"] - at["right_ankle"]) * forwards).sum(axis=1)
    made: Floats = np.divide(way, length, out=np.full(len(way), np.nan), where=length > 0.05)
    return made


def _steady(swing: Floats, fps: float, *, size: int) -> list[tuple[int, float]]:
    """Where windows start in which a wave explains how the feet swing, and its rate."""
    found = []
    rates: Floats = np.asarray(_RATES_HZ[_RATES_HZ * size / fps >= _FEWEST_CYCLES])
    for start in range(0, len(swing) - size + 1, max(1, round(0.1 * fps))):
        values = swing[start : start + size]
        if np.isfinite(values).mean() < 0.8 or not len(rates):
            continue
        share, swing_m, rate = max((*_explained(values, fps, float(r)), float(r)) for r in rates[::4])
        if share >= _LEAST_SHARE - 0.1 and swing_m >= _LEAST_SWING_M:
            near: Floats = np.asarray(rates[np.abs(rates - rate) < 0.04])
            share, _, rate = max((*_explained(values, fps, float(r)), float(r)) for r in near)
            if share >= _LEAST_SHARE and rate > rates[0] + 0.005:  # a slower one may be cut off
                found.append((start, rate))
    return found


def _window(  # noqa: PLR0917
    figure: Motion, swing: Floats, start: int, stop: int, *, rate: float, n_harmonics: int
) -> _Window | None:
    """The series of a window; None where a point is hidden for too long."""
    piece = part(figure, start, stop - 1)
    rate = _refined(swing[start:stop], figure.fps, rate)
    places = turned(piece.positions_m, heading_deg([piece]))
    fitted = _fitted(places, np.arange(stop - start) / figure.fps, rate_hz=rate, n_harmonics=n_harmonics)
    if fitted is None or not _is_gait(fitted[0], figure.names, n_harmonics=n_harmonics):
        return None
    return _Window(start=start, stop=stop, rate_hz=rate, fitted=fitted[0], explained=fitted[1])


def _explained(values: Floats, fps: float, rate: float) -> tuple[float, float]:
    """The share of the variance that one wave explains, and its height."""
    seen = np.isfinite(values)
    phase = 2 * np.pi * rate * np.arange(len(values)) / fps
    basis = np.stack([np.ones_like(phase), np.cos(phase), np.sin(phase)], axis=1)[seen]
    found, *_ = np.linalg.lstsq(basis, values[seen], rcond=None)
    rest = values[seen] - basis @ found
    total = float(values[seen].var())
    return (1 - float(rest.var()) / total if total > 0 else 0.0), float(np.hypot(found[1], found[2]))


def _refined(swing: Floats, fps: float, rate: float) -> float:
    """The rate near `rate` at which one wave explains most."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda r: -_explained(swing, fps, float(r))[0],
        bounds=(rate - 0.02, rate + 0.02),
        method="bounded",
        options={"xatol": 1e-5},
    )
    return float(found.x)


def _is_gait(fitted: Floats, names: tuple[str, ...], *, n_harmonics: int) -> bool:
    """Whether the legs swing against each other, about as far, and limbs keep their length within 5 %."""
    waves = fitted[2:].reshape(n_harmonics, 2, len(names), 3)
    at = {n: i for i, n in enumerate(names)}
    pelvis = (waves[0, :, at["left_hip"], 2] + waves[0, :, at["right_hip"], 2]) / 2
    left, right = (complex(*(waves[0, :, at[f"{s}_ankle"], 2] - pelvis)) for s in ("left", "right"))
    if not 0.5 < abs(left) / max(abs(right), 1e-9) < 2.0:
        return False
    against = (left / right).real / abs(left / right)
    places = fitted[0] + _waved(waves, np.linspace(0, 1, 40, endpoint=False))
    lengths = _limbs(places, names)
    return bool(against < -0.5) and bool((lengths.std(axis=0) < 0.05 * lengths.mean(axis=0)).all())


def _limbs(places: Floats, names: tuple[str, ...]) -> Floats:
    """The lengths of arms and legs over time, shape (n_frames, n_limbs)."""
    ways = [places[:, names.index(b)] - places[:, names.index(a)] for a, b in ARMS_AND_LEGS]
    made: Floats = np.linalg.norm(np.stack(ways, axis=1), axis=2)
    return made


def _with_limbs(places: Floats, names: tuple[str, ...], limbs_m: Floats) -> Floats:
    """The same directions of all limbs, with these lengths: each goes on where the one before it ends."""
    made = places.copy()
    for (near, far), length in zip(ARMS_AND_LEGS, limbs_m, strict=True):
        a, b = names.index(near), names.index(far)
        way = places[:, b] - places[:, a]
        made[:, b] = made[:, a] + way * (length / np.linalg.norm(way, axis=1, keepdims=True))
    return made


def _fitted(
    places: Floats, time_s: Floats, *, rate_hz: float, n_harmonics: int
) -> tuple[Floats, float] | None:
    """Constant, line and waves of every point, (2 + 2 * n_harmonics, n_points, 3), and the share explained.

    None where a point is hidden in more than a fifth of the frames.
    """
    phase = 2 * np.pi * rate_hz * time_s
    columns = [np.ones_like(time_s), time_s - time_s.mean()]
    for k in range(1, n_harmonics + 1):
        columns += [np.cos(k * phase), np.sin(k * phase)]
    basis = np.stack(columns, axis=1)
    made = np.zeros((len(columns), places.shape[1], 3))
    rest, total = 0.0, 0.0
    for i in range(places.shape[1]):
        seen = np.asarray(np.isfinite(places[:, i]).all(axis=1))
        if seen.sum() < max(0.8 * len(seen), len(columns) + 2):
            return None
        made[:, i], *_ = np.linalg.lstsq(basis[seen], places[seen, i], rcond=None)
        rest += float(((places[seen, i] - basis[seen] @ made[:, i]) ** 2).sum())
        level = places[seen, i] - basis[seen, :2] @ made[:2, i]
        total += float(((level - level.mean(axis=0)) ** 2).sum())
    return made, 1 - rest / total if total > 0 else 0.0


def _shifted(waves: Floats, phase: float) -> Floats:
    """The waves with their time moved on by a phase of the first one, so that what was there is at time 0."""
    made = np.empty_like(waves)
    for k in range(1, len(waves) + 1):
        cosine, sine = np.cos(k * phase), np.sin(k * phase)
        made[k - 1, 0] = waves[k - 1, 0] * cosine + waves[k - 1, 1] * sine
        made[k - 1, 1] = waves[k - 1, 1] * cosine - waves[k - 1, 0] * sine
    return made


def _waved(waves: Floats, cycles: Floats) -> Floats:
    """What the waves add to the posture at these times, in cycles: shape (n_times, n_points, 3)."""
    k = np.arange(1, len(waves) + 1)
    phase = 2 * np.pi * cycles[:, None] * k
    made: Floats = np.einsum("tk,kpa->tpa", np.cos(phase), waves[:, 0]) + np.einsum(
        "tk,kpa->tpa", np.sin(phase), waves[:, 1]
    )
    return made


def _pelvis(posture: Floats, names: tuple[str, ...]) -> Floats:
    """The middle of the hips of a posture."""
    return np.asarray((posture[names.index("left_hip")] + posture[names.index("right_hip")]) / 2)
