"""The last step of every format: points as a file gives them become a `Motion`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vidence.catalog import take_options
from vidence.errors import DataError
from vidence.pointlight.body import place_points
from vidence.pointlight.motion import Motion, MotionSource
from vidence.pointlight.reading import Opened
from vidence.pointlight.units import Rate, Unit, metres_for_stature, rate_option, unit_option


def one_of(*words: str) -> Callable[[str], str]:
    """A reader of an option that has few values."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"known are {', '.join(words)}")
        return text

    return read


def existing_file(text: str) -> Path:
    """Read the path of a file that must be there (it may lie in an archive)."""
    path = Path(text)
    if not path.is_file() and not any(p.is_file() for p in path.parents):
        raise ValueError("there is no such file")
    return path


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options that were read: those of all formats as attributes, the others in `more`."""

    unit: Unit | None = None
    fps: float | None = None
    more: Mapping[str, object]

    def word(self, key: str, default: str) -> str:
        """An option that is a word."""
        value = self.more.get(key, default)
        return value if isinstance(value, str) else default

    def path(self, key: str) -> Path | None:
        """An option that is a path."""
        value = self.more.get(key)
        return value if isinstance(value, Path) else None


def settings(
    owner: str, options: Mapping[str, str], more: Mapping[str, Callable[[str], object]] | None = None
) -> Settings:
    """Read the options of a format: ``units``, ``fps`` and those in `more`.

    Raises:
        UsageError: an option that is not known, or a value that cannot be read.
    """
    known: dict[str, Callable[[str], object]] = {"units": unit_option, "fps": rate_option}
    values = take_options(owner, options, known | dict(more or {}))
    unit, fps = values.pop("units", None), values.pop("fps", None)
    return Settings(
        unit=unit if isinstance(unit, Unit) else None,
        fps=fps if isinstance(fps, float) else None,
        more=values,
    )


Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Read:
    """Points as a file gives them: in its own units and with its own axes.

    `positions` (n_frames, n_points, 3), NaN where a point was not seen. `up` is the axis that points up.
    `bones_of` says whose bones these are where they are not the subject's own.
    """

    format: str
    positions: Floats
    names: tuple[str, ...]
    kind: Literal["joints", "markers", "body"]
    parents: tuple[int, ...] = ()
    up: str = "y"
    bones_of: str = ""


def y_up(positions: Floats, up: str) -> Floats:
    """Points with y up. For z up the axes change places in a circle, so that left stays left.

    >>> y_up(np.array([1.0, 2.0, 3.0]), "z")
    array([2., 3., 1.])
    """
    return positions if up == "y" else positions[..., [1, 2, 0]]


def finish(
    read: Read,
    *,
    opened: Opened,
    metres_per_unit: float,
    given: Unit | None,
    rate: Rate,
    notes: tuple[str, ...] = (),
) -> Motion:
    """The motion in metres with y up.

    Args:
        read: the points.
        opened: the file that they are from.
        metres_per_unit: as the file, or what is known of its kind, has it.
        given: the unit that the user says; it wins.
        rate: frames per second, claimed and taken.
        notes: what was found, and what was done about it.

    Raises:
        DataError: no point that is ever seen, or no body to scale where a stature is given.
    """
    if given is not None:
        metres_per_unit, note = _as_given(read, opened, given)
        notes = (*notes, note)
    positions = y_up(read.positions, read.up) * metres_per_unit
    is_valid = np.asarray(np.isfinite(positions).all(axis=2))
    if not is_valid.any():
        raise DataError(f"{opened.label}: no point is seen in any of {len(positions)} frames")
    return Motion(
        positions_m=np.where(is_valid[..., None], positions, np.nan),
        is_valid=is_valid,
        names=read.names,
        fps=rate.fps,
        kind=read.kind,
        parents=read.parents,
        source=MotionSource(
            file=opened.label,
            format=read.format,
            fps_claimed=rate.claimed,
            fps_note=rate.note,
            metres_per_unit=metres_per_unit,
            notes=notes,
            bones_of=read.bones_of,
        ),
    )


def _as_given(read: Read, opened: Opened, given: Unit) -> tuple[float, str]:
    if given.metres is not None:
        return given.metres, f"the user says that one unit is {given.metres:g} m"
    stature_m = given.stature_m or 0.0
    try:
        wanted = ("head", "left_ankle", "right_ankle")
        points = place_points(read.positions, read.names, wanted=wanted, is_on_skin=True)
        ankles = (points["left_ankle"] + points["right_ankle"]) / 2
        metres = metres_for_stature(points["head"], ankles, stature_m)
    except KeyError as error:
        raise DataError(f"{opened.label}: no {error.args[0]} by which the body could be scaled") from error
    except ValueError as error:
        raise DataError(f"{opened.label}: the body cannot be scaled: {error}") from error
    return metres, f"the file has no unit; scaled so that the body stands {stature_m:g} m tall"


def no_rate(opened: Opened) -> DataError:
    """What to say where nobody knows the rate."""
    return DataError(
        f"{opened.label} does not say how fast it was recorded, and neither does its name; give fps=..., "
        "for example fps=120"
    )


def no_unit(opened: Opened, said: str, read: Read) -> DataError:
    """What to say where nobody knows the unit. `said` is what the file says of it."""
    tall = float(np.nanmax(np.nanmax(read.positions, axis=1) - np.nanmin(read.positions, axis=1)))
    return DataError(
        f"{opened.label}: {said}; nothing tells how long one unit is. The body is at most {tall:.4g} units "
        "large: give units=m, cm, mm, inch or cmu, metres per unit such as units=0.01, or units=stature:1.75 "
        "to scale it"
    )
