"""Check whether a motion is plausible: size, bones, gaps, speed, gravity, gait."""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.pointlight.body import ARMS_AND_LEGS, SETS, body, mass_centre, points_of
from vidence.pointlight.kinematics import bone_lengths
from vidence.pointlight.motion import Motion, MotionSource, runs
from vidence.pointlight.units import ANKLE_TO_HEAD_SHARE
from vidence.records import Record

Floats = NDArray[np.float64]
GRAVITY = 9.81


class Check(Record, omit_defaults=True):
    """One check of a motion.

    `value` in `unit` should lie in ``[low, high]``. `verdict` is ``none`` where the motion has nothing to
    check; `message` then says why, and otherwise what follows.
    """

    name: str
    verdict: Literal["fine", "doubtful", "none"]
    value: float | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    message: str = ""


def judged(name: str, value: float, *, unit: str, limits: tuple[float, float], message: str) -> Check:
    """Return a check of a value; `message` is kept if the value is outside its limits."""
    is_fine = limits[0] <= value <= limits[1]
    return Check(
        name=name,
        verdict="fine" if is_fine else "doubtful",
        value=round(value, 6),
        unit=unit,
        low=limits[0],
        high=limits[1],
        message="" if is_fine else message,
    )


def _nothing(name: str, why: str) -> Check:
    return Check(name=name, verdict="none", message=why)


def _figure_of(motion: Motion) -> Motion:
    """Return the body points of a motion, or all points if it has none of them."""
    given = [p for p in points_of(motion.names) if p not in ("neck", "pelvis")]
    return body(motion, points="13", allow_missing=True) if len(given) >= 6 else motion


def has_body(motion: Motion, points: tuple[str, ...]) -> bool:
    """Whether a motion has these points of the body."""
    return set(points) <= set(points_of(motion.names))


def height(motion: Motion) -> Check:
    """The stature: ankles to head in the straightest frames, scaled to the whole body.

    A body that never stands straight looks smaller. A wrong unit is far off.
    """
    if not has_body(motion, ("head", "left_ankle", "right_ankle")):
        return _nothing("height", "no head and ankles")
    figure = body(motion, points="13", allow_missing=True)
    head = figure.positions_m[:, figure.index("head")]
    ankles = [figure.positions_m[:, figure.index(f"{s}_ankle")] for s in ("left", "right")]
    reach = np.linalg.norm(head - (ankles[0] + ankles[1]) / 2, axis=1)
    if not np.isfinite(reach).any():
        return _nothing("height", "head and ankles are never seen together")
    tall = float(np.percentile(reach[np.isfinite(reach)], 95)) / ANKLE_TO_HEAD_SHARE
    return judged(
        "height", tall, unit="m", limits=(1.3, 2.0), message="the unit may be wrong, or the body never stands"
    )


def upright(motion: Motion) -> Check:
    """The share of frames with the head above the hips and the hips above the ankles.

    Low where another axis points up, where the points are named in a wrong order, or in handstands.
    """
    if not has_body(motion, ("head", "left_hip", "right_hip", "left_ankle", "right_ankle")):
        return _nothing("upright", "no head, hips and ankles")
    figure = body(motion, points="13", allow_missing=True)
    y = {n: figure.positions_m[:, i, 1] for i, n in enumerate(figure.names)}
    hips = (y["left_hip"] + y["right_hip"]) / 2
    ankles = (y["left_ankle"] + y["right_ankle"]) / 2
    seen = np.isfinite(y["head"] + hips + ankles)
    if not seen.any():
        return _nothing("upright", "head, hips and ankles are never seen together")
    share = float(((y["head"] > hips) & (hips > ankles))[seen].mean())
    return judged(
        "upright",
        share,
        unit="of frames",
        limits=(0.5, 1.0),
        message="the body lies or stands on its head most of the time: up may be another axis (up=z), or the "
        "points may be in another order",
    )


def sides(motion: Motion) -> Check:
    """Return how consistent left and right are: 1 if all limbs agree in all frames, -1 if none does.

    Hips and shoulders have their left on one side, and so on the whole have elbows, knees and ankles; knees
    bend forwards, which is across the line from right to left. The least of the means over time is taken;
    names of all points, of legs or arms or of parts of them that are exchanged all along make one of them
    negative, and so does a space that is mirrored. Of elbows, knees and ankles those count that are 3 cm or
    more apart across the body.
    """
    wanted = tuple(f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee", "ankle"))
    if not has_body(motion, wanted):
        return _nothing("sides", "no hips, knees and ankles")
    figure = body(motion, points="13", allow_missing=True)
    across = _across(figure, "hip")
    sides = {"knees bend backwards": _bending(figure, across)}
    if "left_shoulder" in figure.names and "right_shoulder" in figure.names:
        cosine = (across * _across(figure, "shoulder")).sum(axis=1)
        cosine = cosine[np.isfinite(cosine)]
        sides["hips and shoulders have their left on opposite sides"] = (
            float(cosine.mean()) if len(cosine) else None
        )
    for joint, trunk in (("elbow", "shoulder"), ("knee", "hip"), ("ankle", "hip")):
        if has_both(figure, joint) and has_both(figure, trunk):
            sides[f"the left {joint} is on the right"] = _apart(figure, joint, _across(figure, trunk))
    known = {words: value for words, value in sides.items() if value is not None}
    if not known:
        return _nothing("sides", "hips, knees and ankles are never seen together, or knees never bend")
    lowest = -0.2
    message = " and ".join(what for what, value in known.items() if value < lowest)
    return judged(
        "sides",
        min(known.values()),
        unit="of 1",
        limits=(lowest, 1.0),
        message=f"{message}: names of the left and the right may be exchanged, or the space is mirrored",
    )


def _across(figure: Motion, joint: str) -> Floats:
    """The horizontal direction from right to left, length 1, shape (n_frames, 3); NaN if unknown."""
    left, right = (figure.positions_m[:, figure.index(f"{side}_{joint}")] for side in ("left", "right"))
    way = (left - right) * [1.0, 0.0, 1.0]
    length = np.linalg.norm(way, axis=1, keepdims=True)
    values: Floats = np.divide(way, length, out=np.full(way.shape, np.nan), where=length > 0.02)
    return values


def _bending(figure: Motion, across: Floats) -> float | None:
    """How far knees are in front of the hip-ankle line, as a share of their distance from it."""
    ahead, off = 0.0, 0.0
    forwards = np.cross(across, [0.0, 1.0, 0.0])
    for side in ("left", "right"):
        hip, knee, ankle = (
            figure.positions_m[:, figure.index(f"{side}_{j}")] for j in ("hip", "knee", "ankle")
        )
        bent = (knee - (hip + ankle) / 2) * [1.0, 0.0, 1.0]
        far = np.linalg.norm(bent, axis=1)
        counted = np.isfinite(far) & np.isfinite(forwards).all(axis=1) & (far > 0.03)
        ahead += float((bent * forwards).sum(axis=1)[counted].sum())
        off += float(far[counted].sum())
    return ahead / off if off > 0 else None


def _apart(figure: Motion, joint: str, across: Floats) -> float | None:
    """How far the left joint is left of the right one, as a share of their sideways distance."""
    left, right = (figure.positions_m[:, figure.index(f"{side}_{joint}")] for side in ("left", "right"))
    far = ((left - right) * across).sum(axis=1)
    counted = far[np.isfinite(far) & (np.abs(far) > 0.03)]
    return float(counted.sum() / np.abs(counted).sum()) if len(counted) else None


def has_both(figure: Motion, joint: str) -> bool:
    """Whether a figure has a point of this name on either side."""
    return {f"left_{joint}", f"right_{joint}"} <= set(figure.names)


def skeleton(motion: Motion) -> Check:
    """Return whether the bones are the subject's own; a substitute skeleton moves points by centimetres."""
    whose = motion.source.bones_of
    if not whose and motion.kind != "joints":
        return _nothing("skeleton", "points, and no bones")
    return Check(
        name="skeleton",
        verdict="doubtful" if whose else "fine",
        message=f"the bones, or the angles, are those of {whose}" if whose else "",
    )


def limbs(motion: Motion) -> Check:
    """How much bone lengths vary: standard deviation over mean, for the most variable bone.

    Joints with their bones are rigid by construction; markers on the skin, and other points, are not.
    """
    if motion.kind == "joints" and motion.parents:
        lengths = bone_lengths(motion.positions_m, motion.parents)
        limit = 1e-6
    else:
        pairs = [p for p in ARMS_AND_LEGS if has_body(motion, p)]
        if not pairs:
            return _nothing("limbs", "no arms and legs")
        figure = body(motion, points="13", allow_missing=True)
        at = {n: figure.positions_m[:, i] for i, n in enumerate(figure.names)}
        lengths = np.stack([np.linalg.norm(at[a] - at[b], axis=1) for a, b in pairs], axis=1)
        limit = 0.1
    lengths = lengths[np.isfinite(lengths).all(axis=1)]
    if len(lengths) < 2:
        return _nothing("limbs", "arms and legs are never seen whole")
    mean = lengths.mean(axis=0)
    varies = lengths.std(axis=0)[mean > 1e-9] / mean[mean > 1e-9]
    worst = float(varies.max()) if len(varies) else 0.0
    return judged(
        "limbs",
        worst,
        unit="sd / mean",
        limits=(0.0, limit),
        message="a bone changes its length: markers slip, points are swapped, or joints are in a wrong order",
    )


def gaps(motion: Motion) -> Check:
    """The share of hidden points over all frames."""
    hidden = ~motion.is_valid
    share = float(hidden.mean())
    worst = int(hidden.mean(axis=0).argmax())
    return judged(
        "gaps",
        share,
        unit="of points",
        limits=(0.0, 0.05),
        message=f"{motion.names[worst]} is hidden most: {hidden[:, worst].mean():.0%} of the frames; the "
        f"longest gap of a point lasts {longest_gap_s(motion):.2f} s",
    )


def presence(motion: Motion) -> Check:
    """Return how many frames show fewer than half of the points, as when a person leaves the capture volume.

    They are few among all frames, so that `gaps` may be fine, and yet a clip of the end shows nobody.
    """
    away = absences(_figure_of(motion))
    return judged(
        "presence",
        float(sum(last - first + 1 for first, last in away)),
        unit="frames",
        limits=(0.0, 0.0),
        message=f"frames {spans(away, start=motion.source.first_frame)} of the file show fewer than half of "
        "the points; show a part without them",
    )


def absences(motion: Motion) -> list[tuple[int, int]]:
    """Stretches of frames (first, last) that show fewer than half of the points."""
    return [(int(start), int(stop) - 1) for start, stop in runs(motion.is_valid.mean(axis=1) < 0.5)]


def spans(away: Sequence[tuple[int, int]], *, start: int = 0) -> str:
    """The first three stretches in words; `start` is the number of the first frame.

    >>> spans([(0, 4), (9, 9)], start=100)
    '100 to 104, 109 to 109'
    """
    named = ", ".join(f"{start + first} to {start + last}" for first, last in away[:3])
    return named + (" ..." if len(away) > 3 else "")


def longest_gap_s(motion: Motion) -> float:
    """The longest time for which a point is hidden, in seconds."""
    gaps = [gap for is_seen in motion.is_valid.T for gap in runs(~is_seen)]
    return max((int(stop - start) for start, stop in gaps), default=0) / motion.fps


def first_step(motion: Motion) -> Check:
    """Return how far points jump from the first frame to the second: large after a leading T-pose.

    Up to three times the steps of the next frames it counts as part of a fast motion.
    """
    if motion.n_frames < 2:
        return _nothing("first-step", "one frame")
    motion = _figure_of(motion)
    steps = np.linalg.norm(np.diff(motion.positions_m[:6], axis=0), axis=2)
    seen = np.isfinite(steps).any(axis=1)
    if not seen[0]:
        return _nothing("first-step", "no point is seen in both of the first frames")
    largest = np.array([np.nanmax(row) for row in steps[seen]])
    usual = float(np.median(largest[1:])) if len(largest) > 1 else 0.0
    return judged(
        "first-step",
        float(largest[0]),
        unit="m",
        limits=(0.0, max(0.2, 3 * usual)),
        message="the first frame may be a T-pose that is not part of the motion (t_pose=drop)",
    )


def jumps(motion: Motion) -> Check:
    """The highest speed of a point; faster than any hand means a recording error."""
    if motion.n_frames < 2:
        return _nothing("jumps", "one frame")
    motion = _figure_of(motion)
    speeds = np.linalg.norm(np.diff(motion.positions_m, axis=0), axis=2) * motion.fps
    if not np.isfinite(speeds).any():
        return _nothing("jumps", "no point is seen in two frames on end")
    frame, point = np.unravel_index(int(np.nanargmax(speeds)), speeds.shape)
    return judged(
        "jumps",
        float(speeds[frame, point]),
        unit="m/s",
        limits=(0.0, 25.0),
        message=f"{motion.names[int(point)]} jumps after frame {int(frame)}",
    )


def gravity(motion: Motion) -> Check:
    """The vertical acceleration of the centre of mass in jumps; -9.81 m/s² if the rate is right.

    A jump is a stretch in which no point of the body is within 10 cm of the floor (the lowest 2 % of places
    of the feet), in which the centre falls by 6 cm on both sides of its highest place, and in which no foot
    rests. The fit takes the frames between. Doubling the rate makes the acceleration four times as large.
    """
    if len([p for p in points_of(motion.names) if p not in ("neck", "pelvis")]) < 13:
        return _nothing("gravity", "not all 13 points of the body")
    figure = body(motion, points="13")
    heights = figure.positions_m[..., 1]
    lowest, centre = heights.min(axis=1), mass_centre(figure)
    if not np.isfinite(lowest).any():
        return _nothing("gravity", "the body is never seen whole")
    floor = float(np.nanpercentile(lowest, 2))
    feet = figure.positions_m[:, [figure.index("left_ankle"), figure.index("right_ankle")]]
    falls = _falls(centre, feet, lowest > floor + 0.1, fps=motion.fps, drop_m=0.06)
    if not falls:
        return _nothing("gravity", "no jump")
    value = float(np.median(falls))
    limits = (-13.0, -7.0)
    probable = motion.fps * np.sqrt(GRAVITY / max(-value, 1e-3))
    return judged(
        "gravity",
        value,
        unit="m/s2",
        limits=limits,
        message=f"{len(falls)} jumps; at {motion.fps:g} frames per second bodies fall too "
        f"{'slowly' if value > limits[1] else 'fast'}; {probable:.0f} would be right (fps=...)",
    )


def _falls(
    centre: Floats, feet: Floats, is_off: NDArray[np.bool_], *, fps: float, drop_m: float
) -> list[float]:
    """The acceleration of each jump."""
    falls = []
    is_off = is_off & np.isfinite(centre).all(axis=1)
    for start, end in runs(is_off):
        flight = centre[start:end, 1]
        top = int(flight.argmax())
        high = np.flatnonzero(flight >= flight[top] - drop_m)
        inner = high[(high > 0) & (high < len(flight) - 1)]
        if len(inner) < 5 or top in (0, len(flight) - 1) or len(inner) < len(high):
            continue
        if inner[-1] - inner[0] + 1 != len(inner):
            continue  # more than one top: no free fall
        if _rests(feet[start:end][inner], centre[start:end][inner]):
            continue  # the floor is higher there
        times = inner / fps
        falls.append(float(2 * np.polyfit(times - times.mean(), flight[inner], 2)[0]))
    return falls


def _rests(feet: Floats, centre: Floats) -> bool:
    """Whether a foot stays within 15 mm for 40 % of the frames while the body moves on."""
    size = max(2, int(0.4 * len(feet)))
    for start in range(len(feet) - size + 1):
        part = slice(start, start + size)
        goes = np.ptp(centre[part], axis=0).max()
        stays = np.ptp(feet[part], axis=0).max(axis=1).min()
        if stays < min(0.015, goes / 3):
            return True
    return False


def stride(motion: Motion) -> Check:
    """Return how often per second each foot swings, if it swings regularly.

    People walk with 0.8 to 1.0 and run with 1.3 to 1.6 swings of each foot a second; sprinters reach 2.3 with
    strides of 4 m, so that the limit is 2.6 for strides longer than 2.5 m. The lower limit holds for bodies
    that get on by 1 m or more with each stride; others may stand and shift their weight. Where the main
    frequency has less than 40 % of the power there is no regular gait.
    """
    if not has_body(motion, ("left_ankle", "right_ankle")):
        return _nothing("stride", "no ankles")
    feet = _unbroken(body(motion, points="feet").positions_m)
    if len(feet) < 16 or len(feet) / motion.fps < 1.0:
        return _nothing("stride", "too short")
    rate = _regular_rate(feet, motion.fps)
    if rate is None:
        return _nothing("stride", "no regular gait")
    middle = feet.mean(axis=1)[:, [0, 2]]
    length = float(np.linalg.norm(middle[-1] - middle[0])) / max(rate * len(feet) / motion.fps, 1e-9)
    low = 0.5 if length > 1.0 else 0.0
    high = 1.8 if length < 2.5 else 2.6
    return judged(
        "stride",
        rate,
        unit="Hz",
        limits=(low, high),
        message=f"people do not step at this rate; the true rate may be {'half' if rate > high else 'twice'} "
        f"of {motion.fps:g} (fps=...)",
    )


def _unbroken(paths: Floats) -> Floats:
    """Paths with hidden frames interpolated linearly, between the first and last visible ones."""
    seen = np.isfinite(paths).all(axis=2)
    known = np.flatnonzero(np.all(seen, axis=1))
    if len(known) < 2:
        return paths[:0]
    values = paths[known[0] : known[-1] + 1].copy()
    time = np.arange(len(values))
    for point in range(values.shape[1]):
        there = np.isfinite(values[:, point]).all(axis=1)
        for axis in range(3):
            values[:, point, axis] = np.interp(time, time[there], values[there, point, axis])
    return values


def _regular_rate(feet: Floats, fps: float) -> float | None:
    """The median over windows of 6 s of the rate at which feet swing; None if few windows are regular."""
    speed = np.linalg.norm(np.gradient(feet, axis=0), axis=2) * fps
    turns = speed[:, 0] - speed[:, 1]  # feet that swing together, as in a jumping jack, leave nothing
    size = min(len(feet), int(6.0 * fps))
    starts = range(0, len(feet) - size + 1, max(size // 2, 1))
    entries = []
    for start in starts:
        part, both = turns[start : start + size], speed[start : start + size].sum(axis=1)
        rate, share = _main_frequency(part, fps)
        if share >= 0.4 and part.std() > max(0.15, 0.7 * both.std()) and rate * size / fps >= 2:
            entries.append(rate)
    return float(np.median(entries)) if entries and 4 * len(entries) >= len(starts) else None


def _main_frequency(signal: Floats, fps: float) -> tuple[float, float]:
    """The main frequency of a signal (n_frames,), and its share of the power (0.15 to 6 Hz)."""
    n_padded = 1 << (4 * len(signal) - 1).bit_length()
    power = np.abs(np.fft.rfft((signal - signal.mean()) * np.hanning(len(signal)), n_padded)) ** 2
    rates = np.fft.rfftfreq(n_padded, 1 / fps)
    inside = (rates >= 0.15) & (rates <= 6.0)
    if not power[inside].sum() > 0:
        return 0.0, 0.0
    main = float(rates[inside][power[inside].argmax()])
    width = max(0.15 * main, 1.5 * fps / len(signal))
    near = inside & (np.abs(rates - main) <= width)
    return main, float(power[near].sum() / power[inside].sum())


FEWEST_FRAMES = 8


class MotionReport(MotionSource, omit_defaults=False):
    """The content of a motion file, the corrections applied, and the doubtful checks.

    `points_missing` are those of the 13 points of a body that it does not give. `is_usable` is False with
    fewer than 8 frames.
    """

    fps: float
    n_frames: int
    duration_s: float
    kind: str
    points: tuple[str, ...]
    points_missing: tuple[str, ...]
    checks: tuple[Check, ...]
    is_usable: bool

    @property
    def doubts(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(c for c in self.checks if c.verdict == "doubtful")


def inspect(motion: Motion) -> MotionReport:
    """Run every check on a motion; with fewer than `FEWEST_FRAMES` no stimulus can be cut from it."""
    is_usable = motion.n_frames >= FEWEST_FRAMES
    frames = Check(
        name="frames",
        verdict="fine" if is_usable else "doubtful",
        value=float(motion.n_frames),
        unit="frames",
        low=float(FEWEST_FRAMES),
        message="" if is_usable else "too short for a stimulus",
    )
    there = points_of(motion.names)
    return MotionReport(
        **msgspec.structs.asdict(motion.source),
        fps=motion.fps,
        n_frames=motion.n_frames,
        duration_s=motion.duration_s,
        kind=motion.kind,
        points=motion.names,
        points_missing=tuple(p for p in SETS["13"] if p not in there),
        checks=(
            frames,
            height(motion),
            upright(motion),
            sides(motion),
            skeleton(motion),
            limbs(motion),
            gaps(motion),
            presence(motion),
            first_step(motion),
            jumps(motion),
            gravity(motion),
            stride(motion),
        ),
        is_usable=is_usable,
    )
