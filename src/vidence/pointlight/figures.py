"""Figures to show: one body, or two with one clock and one space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.catalog import parse_spec
from vidence.errors import DataError, UsageError
from vidence.pointlight.body import body
from vidence.pointlight.motion import Motion, noted, part
from vidence.pointlight.reading import read_motion
from vidence.pointlight.stimulus import without_dots
from vidence.pointlight.walker import walker_of
from vidence.records import Record

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two bodies with the same points, rate and number of frames, in one space.

    `offset_m` is by how much the second was moved; `notes` tell what was done to bring them together.
    """

    first: Motion
    second: Motion
    offset_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    notes: tuple[str, ...] = ()

    @property
    def n_frames(self) -> int:
        """How many frames both have."""
        return self.first.n_frames


def pair(first: Motion, second: Motion, *, points: str = "13", most_cut_s: float = 0.1) -> Pair:
    """Synchronize two actors.

    Frames are matched by their numbers in the files: where one has lost its first frames, so does the other.
    What one has more at the end is cut off. Bodies without a unit that were scaled to a stature get one
    scale, that of the larger one: they share a room, and who crouches must not grow.

    Args:
        first: one actor.
        second: the other, recorded concurrently and in the same space.
        points: the set of points, as for `vidence.pointlight.body.body`.
        most_cut_s: seconds; a greater difference in length is no rounding but another recording.

    Raises:
        UsageError: different rates; change one with the option ``fps``, or take the other file.
        DataError: lengths that differ by more, or no frame in common.
    """
    if abs(first.fps - second.fps) > 1e-6 * first.fps:
        raise UsageError(
            f"{_name(first)} has {first.fps:g} frames per second and {_name(second)} {second.fps:g}; "
            "partners need one clock (fps=... where a file claims a wrong rate)"
        )
    (first, second), notes = _one_scale(first, second)
    start = max(first.source.first_frame, second.source.first_frame)
    ends = [m.source.first_frame + m.n_frames for m in (first, second)]
    stop = min(ends)
    if stop <= start:
        raise DataError(f"{_name(first)} and {_name(second)} share no frame")
    if max(ends) - stop > most_cut_s * first.fps + 1e-9:
        raise DataError(
            f"{_name(first)} ends after frame {ends[0]} and {_name(second)} after frame {ends[1]}; partners "
            f"differ by at most {most_cut_s:g} s. Are they of one recording? (most_cut_s=... allows more)"
        )
    if ends[0] != ends[1]:
        notes.append(f"{max(ends) - stop} frames cut off at the end of the longer one")
    lost = [start - m.source.first_frame for m in (first, second)]
    if any(lost):
        notes.append(f"{max(lost)} frames left out at the start of the other one too")
    bodies = [body(_frames(m, start, stop), points=points, allow_missing=True) for m in (first, second)]
    shared = [n for n in bodies[0].names if n in bodies[1].names]
    if not shared:
        raise DataError(f"{_name(first)} and {_name(second)} have no point of the body in common")
    motion, other = (_only(result, shared) for result in bodies)
    middles = [np.nanmean(result.positions_m, axis=1) for result in (motion, other)]
    if np.nanmax(np.linalg.norm(middles[0] - middles[1], axis=1)) < _ONE_PLACE_M:
        notes.append(
            "both actors stand in one place throughout, dot on dot, as if they were not of one recording; "
            "offset_m=(x, y, z) moves the second one"
        )
    return Pair(first=motion, second=other, notes=tuple(notes))


def _one_scale(first: Motion, second: Motion) -> tuple[tuple[Motion, Motion], list[str]]:
    """Rescale two separately scaled bodies to the scale of the larger one; return them with a note."""
    both = (first, second)
    if any(m.source.scaled_to_m is None for m in both):
        return both, []
    value = min(m.source.metres_per_unit for m in both)
    if all(m.source.metres_per_unit == value for m in both):
        return both, []
    motions = [
        replace(
            m,
            positions_m=m.positions_m * (value / m.source.metres_per_unit),
            source=msgspec.structs.replace(m.source, metres_per_unit=value),
        )
        for m in both
    ]
    larger = next(m for m in both if m.source.metres_per_unit == value)
    return (motions[0], motions[1]), [
        f"both at the scale of {_name(larger)}, who is {larger.source.scaled_to_m:g} m"
    ]


_ONE_PLACE_M = 0.15  # two bodies that never part by more cannot stand beside each other
_HAND = "right_wrist"
_HOLD_APART_M = 0.2  # two palms (0.20 in CMU's 18_01 and 19_01)
_HOLD_S = 0.5
_MOST_SLIP_M = 0.02
_LEAST_WAY_M = 0.05


def align(pair: Pair) -> Pair:
    """Move the second actor so that joined right hands coincide.

    Hands that hold each other move together. The half second is sought in which the way from one wrist to the
    other is steadiest while both move by 5 cm or more; the second actor is then moved over the floor until
    the wrists are 20 cm apart in the direction from one body to the other. A way whose standard deviation is
    above 2 cm is no hold.

    Args:
        pair: two actors of whom it is known that they touch.

    Returns:
        The pair with the second moved, and a note.

    Raises:
        DataError: a point is missing, or the hands never hold each other.
    """
    try:
        ours = pair.first.positions_m[:, pair.first.index(_HAND)]
        theirs = pair.second.positions_m[:, pair.second.index(_HAND)]
    except KeyError as error:
        raise DataError(f"an actor has no {error.args[0]}, by which the two could be aligned") from error
    start, stop, slip = _hold(ours, theirs, size=max(2, round(_HOLD_S * pair.first.fps)))
    if slip > _MOST_SLIP_M:
        raise DataError(
            f"{_HAND} and {_HAND} never hold each other (steady to {slip:.3f} m at best, {_MOST_SLIP_M:g} "
            "wanted); take a trial of the same session in which they do, and shift by its offset_m"
        )
    way = (theirs - ours)[start:stop].mean(axis=0)
    middle = [np.nanmean(m.positions_m[start:stop], axis=(0, 1)) for m in (pair.first, pair.second)]
    offset = np.zeros(3)
    for _ in range(20):  # the direction between the bodies turns a little as one of them is moved
        ahead = (middle[1] + offset - middle[0]) * [1.0, 0.0, 1.0]
        reach = np.linalg.norm(ahead)
        if not reach > 0:
            raise DataError("both actors stand in one place; the direction between them is not known")
        offset = (_HOLD_APART_M * ahead / reach - way) * [1.0, 0.0, 1.0]
    return shift(pair, (float(offset[0]), 0.0, float(offset[2])))


def shift(pair: Pair, offset_m: tuple[float, float, float]) -> Pair:
    """Move the second actor, for example by the offset found in another trial of the session."""
    total = tuple(float(a + b) for a, b in zip(pair.offset_m, offset_m, strict=True))
    moved = replace(pair.second, positions_m=pair.second.positions_m + np.array(offset_m))
    message = ", ".join(f"{v:+.3f}" for v in offset_m)
    return replace(
        pair,
        second=moved,
        offset_m=(total[0], total[1], total[2]),
        notes=(*pair.notes, f"the second actor moved by ({message}) m"),
    )


def _hold(ours: Floats, theirs: Floats, *, size: int) -> tuple[int, int, float]:
    """Return the window with the steadiest distance between two points, and its standard deviation."""
    best = (0, len(ours), float("inf"))
    for start in range(max(1, len(ours) - size + 1)):
        part = slice(start, start + size)
        a, b = ours[part], theirs[part]
        if not np.isfinite(a + b).all():
            continue
        if min(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max()) < _LEAST_WAY_M:
            continue
        slip = float((b - a).std(axis=0).max())
        if slip < best[2]:
            best = (start, start + len(a), slip)
    return best


def _frames(motion: Motion, start: int, stop: int) -> Motion:
    """The frames of a motion by their numbers in its file."""
    skipped = motion.source.first_frame
    source = msgspec.structs.replace(motion.source, first_frame=start)
    return replace(part(motion, start - skipped, stop - skipped - 1), source=source)


def _only(figure: Motion, names: list[str]) -> Motion:
    others = [n for n in figure.names if n not in names]
    return without_dots(figure, others) if others else figure


def _name(motion: Motion) -> str:
    return Path(motion.source.file).name or "a motion"


WALKER = "walker"


class Staging(Record, omit_defaults=True):
    """Which figures to show and how to make them: the arguments of `staged`."""

    sources: tuple[str, ...]
    points: str = "13"
    hold_hands: bool = False
    offset_m: tuple[float, float, float] | None = None
    options: dict[str, str] = msgspec.field(default_factory=dict)

    def figures(self) -> list[Motion]:
        """The figures; errors as for `staged`."""
        return staged(**msgspec.structs.asdict(self))


def staged(
    sources: Sequence[str],
    *,
    points: str = "13",
    hold_hands: bool = False,
    offset_m: tuple[float, float, float] | None = None,
    options: Mapping[str, str] | None = None,
) -> list[Motion]:
    """Return the figures to show.

    Args:
        sources: for each figure a file of motion capture, or ``walker:ACTION?key=value``. Two share one
            clock and one space.
        points: the set of points of a body (see `vidence.pointlight.body.SETS`), or ``markers`` for
            everything that a file holds.
        hold_hands: move the second figure until hands that hold each other meet (see `align`).
        offset_m: move the second figure by this, instead.
        options: those of the format of the files, such as ``fps``.

    Raises:
        UsageError: no source or more than two, or unknown points.
        DataError: a file that cannot be read, or points that it does not have.
    """
    if not 1 <= len(sources) <= 2:
        raise UsageError(f"one or two figures can be shown, not {len(sources)}")
    if hold_hands and (len(sources) == 1 or points == "markers"):
        raise UsageError("hands that hold each other are those of two bodies; give two files, not markers")
    motions = [motion_of(source, options) for source in sources]
    if points == "markers":
        return motions
    if len(motions) == 1:
        return [body(motions[0], points=points)]
    both = pair(motions[0], motions[1], points=points)
    if offset_m is not None:
        both = shift(both, offset_m)
    elif hold_hands:
        both = align(both)
    second = both.second
    for note in both.notes:
        second = noted(second, note)
    return [both.first, second]


def is_walker(source: str) -> bool:
    """Return whether a source is the built-in figure, not a file."""
    return source == WALKER or source.startswith((f"{WALKER}:", f"{WALKER}?"))


def motion_of(source: str, options: Mapping[str, str] | None = None) -> Motion:
    """The motion in a file, or of ``walker:ACTION?key=value``; errors as for `staged`."""
    if is_walker(source):
        spec = parse_spec(source)
        return walker_of(spec.argument, spec.options)
    return read_motion(Path(source), options=options or {})
