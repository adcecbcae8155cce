"""Options shared by motion formats, and the steps from a file's labelled points to a `Motion`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.catalog import FilePath
from vidence.errors import DataError, UsageError
from vidence.pointlight.body import by_map, place_points
from vidence.pointlight.body_maps import BodyMap, body_map
from vidence.pointlight.motion import Motion, MotionSource
from vidence.pointlight.reading import UnpackedFile
from vidence.pointlight.units import Unit, metres_for_stature, read_unit, settle
from vidence.records import Record

Floats = NDArray[np.float64]


class MotionSettings(Record):
    """Options of every format."""

    units: Annotated[
        str, Meta(description="unit of length: m, cm, mm, inch, ft, cmu, metres per unit, or stature:METRES")
    ] = ""
    fps: Annotated[
        Annotated[float, Meta(gt=0, lt=100_000)] | None,
        Meta(description="frames per second, overriding the file"),
    ] = None

    map: Annotated[str, Meta(description="map from names to points: one of vidence's, or FILE.toml")] = ""

    def __post_init__(self) -> None:
        self.unit  # noqa: B018 - refuses a unit that cannot be read
        self.naming  # noqa: B018 - refuses a map that cannot be read

    @property
    def naming(self) -> BodyMap | None:
        """The map given by the user, if any."""
        return body_map(self.map) if self.map else None

    @property
    def unit(self) -> Unit | None:
        """The unit given by the user, if any."""
        return read_unit(self.units) if self.units else None


class SkeletonSettings(MotionSettings):
    """Options of formats that need, or can take, the skeleton of the subject."""

    skeleton: Annotated[FilePath, Meta(description="ASF file with the skeleton of the subject")] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        path = Path(self.skeleton)
        if self.skeleton and not path.is_file() and not any(p.is_file() for p in path.parents):
            raise UsageError(f"skeleton={self.skeleton}: there is no such file; expected an ASF")


class MarkerSettings(MotionSettings):
    """Options of formats that hold labelled markers."""

    up: Annotated[Literal["z", "y"], Meta(description="axis that points up")] = "z"
    points: Annotated[
        Literal["markers", "all"],
        Meta(description="markers: the known markers of a body, if any; all: every point"),
    ] = "markers"
    subject: Annotated[
        str, Meta(description="prefix of the labels before the colon, if there are several subjects")
    ] = ""


@dataclass(frozen=True, kw_only=True)
class RawPoints:
    """Points as stored in a file, in its own units and axes.

    `positions` (n_frames, n_points, 3), NaN if a point was not seen. `up` is the axis that points up.
    `bones_of` says whose bones these are where they are not the subject's own. `metres_per_unit` is None
    where nothing tells; `unit_problem` then says why, or `stature_m` to what height the body is scaled. `fps`
    is what the file says, None if it says nothing; `is_cmu` where it is of the library of CMU.
    `notes` are what was found, and what was done about it.
    """

    format: str
    positions: Floats
    names: tuple[str, ...]
    kind: Literal["joints", "markers", "body"]
    parents: tuple[int, ...] = ()
    up: str = "y"
    bones_of: str = ""
    metres_per_unit: float | None = None
    stature_m: float | None = None
    unit_problem: str = ""
    fps: float | None = None
    is_cmu: bool = False
    notes: tuple[str, ...] = ()


def y_up(positions: Floats, up: str) -> Floats:
    """Points with y up; z-up axes are rotated, so that left stays left.

    >>> y_up(np.array([1.0, 2.0, 3.0]), "z")
    array([2., 3., 1.])
    """
    return positions if up == "y" else positions[..., [1, 2, 0]]


def finish(read: RawPoints, *, opened: UnpackedFile, settings: MotionSettings) -> Motion:
    """The motion in metres with y up.

    Args:
        read: the points.
        opened: the file that they are from.
        settings: what the user says; a unit or a rate that is given wins.

    Raises:
        DataError: no point that is ever seen, no rate, no unit, or no body to scale where a stature is given.
    """
    rate = settle(read.fps, given=settings.fps, name=opened.name, is_cmu=read.is_cmu)
    if rate is None:
        raise DataError(
            f"{opened.label} does not say how fast it was recorded, and neither does its name; give fps=..., "
            "for example fps=120"
        )
    given = settings.unit or (Unit(stature_m=read.stature_m) if read.stature_m else None)
    metres_per_unit, notes = read.metres_per_unit, read.notes
    if given is not None:
        metres_per_unit, note = _as_given(read, opened, given, naming=settings.naming)
        notes = (*notes, note)
    if metres_per_unit is None:
        raise _no_unit(opened, read)
    positions = y_up(read.positions, read.up) * metres_per_unit
    is_valid = np.asarray(np.isfinite(positions).all(axis=2))
    if not is_valid.any():
        raise DataError(f"{opened.label}: no point is seen in any of {len(positions)} frames")
    motion = Motion(
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
            scaled_to_m=None if given is None else given.stature_m,
            notes=notes,
            bones_of=read.bones_of,
        ),
    )
    return motion if settings.naming is None else by_map(motion, settings.naming)


def _as_given(
    read: RawPoints, opened: UnpackedFile, given: Unit, *, naming: BodyMap | None
) -> tuple[float, str]:
    if given.metres is not None:
        return given.metres, f"the user says that one unit is {given.metres:g} m"
    stature_m = given.stature_m or 0.0
    try:
        wanted = ("head", "left_ankle", "right_ankle")
        points = place_points(read.positions, read.names, wanted=wanted, is_on_skin=True, naming=naming)
        ankles = (points["left_ankle"] + points["right_ankle"]) / 2
        metres = metres_for_stature(points["head"], ankles, stature_m)
    except KeyError as error:
        raise DataError(f"{opened.label}: no {error.args[0]} by which the body could be scaled") from error
    except ValueError as error:
        raise DataError(f"{opened.label}: the body cannot be scaled: {error}") from error
    return metres, f"the file has no unit; scaled so that the body stands {stature_m:g} m tall"


def _no_unit(opened: UnpackedFile, read: RawPoints) -> DataError:
    """Return the message for a file of unknown unit."""
    tall = float(np.nanmax(np.nanmax(read.positions, axis=1) - np.nanmin(read.positions, axis=1)))
    return DataError(
        f"{opened.label}: {read.unit_problem}; nothing tells how long one unit is. The body is at most "
        f"{tall:.4g} units large: give units=m, cm, mm, inch or cmu, metres per unit such as units=0.01, or "
        "units=stature:1.75 to scale it"
    )


# The markers on the body that CMU and ACCAD use, and those of Plug-in Gait.
KNOWN = frozenset(
    {
        *(
            f"{side}{m}"
            for side in "LR"
            for m in ("FHD", "BHD", "SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN")
        ),
        *(
            f"{side}{m}"
            for side in "LR"
            for m in ("FWT", "BWT", "THI", "KNE", "SHN", "ANK", "HEE", "TOE", "MT5")
        ),
        *("C7", "T10", "CLAV", "STRN", "RBAC"),
        # Vicon's Plug-in Gait names the pelvis by its spines, and the shin by the tibia.
        *(f"{side}{m}" for side in "LR" for m in ("ASI", "PSI", "TIB")),
    }
)
# With fewer known labels than this a file is taken to follow another set.
_FEWEST = 10


def choose(
    opened: UnpackedFile, labels: Sequence[str], settings: MarkerSettings
) -> tuple[tuple[str, ...], list[int], tuple[str, ...]]:
    """Which points to take, by their labels.

    Args:
        opened: the file, for messages.
        labels: as the file has them, such as ``Ann:LKNE``.
        settings: with `points` or a map of its own every point of the subject is taken, also computed ones
            and those without a label; `subject` is what the labels have before the colon.

    Returns:
        The names without the subject, their places in `labels`, and notes.

    Raises:
        DataError: the subject is not there, or several subjects are and none was named.
    """
    subject, is_all = settings.subject, settings.points == "all" or bool(settings.map)
    split = [label.strip().rpartition(":") for label in labels]
    subjects = Counter(head for head, _, name in split if name in KNOWN)
    if subject and subject not in {head for head, _, _ in split}:
        raise DataError(f"{opened.label} has no subject {subject!r}; it has {', '.join(sorted(subjects))}")
    if not subject and len([s for s, n in subjects.items() if n >= _FEWEST]) > 1:
        raise DataError(
            f"{opened.label} holds several subjects: {', '.join(sorted(subjects))}; give subject=NAME"
        )
    taken = subject or (subjects.most_common(1)[0][0] if subjects else "")
    ours = [(i, name) for i, (head, _, name) in enumerate(split) if not subjects or head == taken]
    known = [(i, name) for i, name in ours if name in KNOWN]
    if is_all or len(known) < _FEWEST:
        known = [(i, name or f"point {i + 1}") for i, name in ours]
    first: dict[str, int] = {}
    for i, name in known:
        first.setdefault(name, i)
    notes = []
    if len(first) < len(labels):
        notes.append(f"{len(labels)} points in the file; {len(first)} taken by their labels")
    if taken:
        notes.append(f"the labels are those of the subject {taken!r}")
    return tuple(first), list(first.values()), tuple(notes)


def hide_zeros(positions: Floats) -> tuple[Floats, tuple[str, ...]]:
    """Mark points exactly at the origin as hidden, by the convention of many recorders.

    Args:
        positions: shape (n_frames, n_points, 3).

    Returns:
        The same with NaN there, and a note where there were any.
    """
    at_origin = (positions == 0.0).all(axis=2)
    if not at_origin.any():
        return positions, ()
    hidden = np.where(at_origin[..., None], np.nan, positions)
    return hidden, (f"{int(at_origin.sum())} points exactly at the origin taken as not seen",)
