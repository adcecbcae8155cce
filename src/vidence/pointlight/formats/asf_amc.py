"""Acclaim ASF/AMC: joint angles, with the skeleton of the subject."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats.format_options import RawPoints, SkeletonSettings, finish
from vidence.pointlight.kinematics import Skeleton, forward, turns
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import UnpackedFile, bare_name, open_file, siblings
from vidence.pointlight.units import CMU_LENGTH, CMU_UNIT_M, cmu_subject

Floats = NDArray[np.float64]
_ROOT = "root"
_MOST_BONES = 1_000  # a body has some dozen


@dataclass(frozen=True, kw_only=True)
class AsfSkeleton:
    """The contents of an ASF file.

    `skeleton` has the root first, then the bones in the order of the hierarchy; the point of a bone is its
    far end, and its name is that of the bone. `dofs` are the numbers that an AMC line gives, in order, such
    as ``("rx", "rz")`` or, for the root, ``("tx", ..., "rz")``. `frames` (n_points, 3, 3) turns the axes of
    the bone into those of the world in rest. `metres_per_unit` is None if the length is one that we
    cannot tell the meaning of; `length` is what the file says.
    """

    label: str
    skeleton: Skeleton
    dofs: tuple[tuple[str, ...], ...]
    frames: Floats
    root_position: Floats
    is_degrees: bool
    length: float
    metres_per_unit: float | None

    @property
    def unit_problem(self) -> str:
        """An error message if `metres_per_unit` is unknown."""
        return f"its skeleton {self.label} has the length {self.length:g}"

    def bone(self, name: str) -> Floats:
        """The vector of a bone at rest, in units of the file, shape (3,).

        Raises:
            KeyError: there is no such bone.
        """
        if name not in self.skeleton.names:
            raise KeyError(name)
        return np.asarray(self.skeleton.offsets[self.skeleton.names.index(name)])


@dataclass(kw_only=True)
class _Bone:
    line: int
    name: str = ""
    direction: Floats | None = None
    length: float | None = None
    axis: Floats = field(default_factory=lambda: np.zeros(3))
    axis_order: str = "xyz"
    dofs: tuple[str, ...] = ()


@dataclass(kw_only=True)
class _Draft:
    length: float = 1.0
    is_degrees: bool = True
    bones: dict[str, _Bone] = field(default_factory=dict)
    root: _Bone = field(
        default_factory=lambda: _Bone(line=0, name=_ROOT, dofs=("tx", "ty", "tz", "rx", "ry", "rz"))
    )
    position: Floats = field(default_factory=lambda: np.zeros(3))
    children: list[tuple[str, list[str], int]] = field(default_factory=list)
    current: _Bone | None = None


def read_asf(opened: UnpackedFile) -> AsfSkeleton:
    """Read a skeleton.

    Raises:
        DataError: a line that cannot be read, a bone without length or direction, bones without a parent.
    """
    draft, section = _Draft(), ""
    for number, line in enumerate(opened.lines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0].startswith(":"):
            section = words[0][1:].lower()
            continue
        if section in _SECTIONS:
            try:
                _SECTIONS[section](draft, words, number)
            except (ValueError, IndexError) as error:
                raise opened.at(number, f"cannot read {line.strip()!r} in :{section}: {error}") from error
    if not draft.bones:
        raise DataError(f"{opened.label}: no bones; an ASF has a section :bonedata")
    return _finished(opened, draft)


def _units(draft: _Draft, words: list[str], _number: int) -> None:
    if words[0] == "length":
        draft.length = float(words[1])
        if not draft.length > 0:
            raise ValueError("the length of a unit must be above 0")
    if words[0] == "angle":
        if words[1].lower() not in ("deg", "rad"):
            raise ValueError("angles are deg or rad")
        draft.is_degrees = words[1].lower() == "deg"


def _root_section(draft: _Draft, words: list[str], number: int) -> None:
    key, values = words[0].lower(), words[1:]
    if key == "order":
        draft.root.dofs = _dofs(values)
    elif key == "axis":
        draft.root.axis_order = _order(values[0])
    elif key == "position":
        draft.position = _vector(values)
    elif key == "orientation":
        draft.root.axis = _vector(values)
    draft.root.line = draft.root.line or number


def _bonedata(draft: _Draft, words: list[str], number: int) -> None:
    key, values = words[0].lower(), words[1:]
    if key == "begin":
        draft.current = _Bone(line=number)
        return
    bone = draft.current
    if bone is None:
        raise ValueError("it stands outside begin ... end")
    if key == "end":
        _close(draft, bone)
    else:
        _bone_line(bone, key, values)


def _close(draft: _Draft, bone: _Bone) -> None:
    if not bone.name or bone.direction is None or bone.length is None:
        raise ValueError(f"the bone {bone.name!r} that begins in line {bone.line} lacks its measures")
    if bone.name in draft.bones:
        raise ValueError(f"the bone {bone.name!r} appears twice")
    draft.bones[bone.name], draft.current = bone, None


def _bone_line(bone: _Bone, key: str, values: list[str]) -> None:
    if key == "name":
        bone.name = values[0]
    elif key == "direction":
        bone.direction = _vector(values)
    elif key == "length":
        bone.length = float(values[0])
    elif key == "axis":
        bone.axis, bone.axis_order = _vector(values[:3]), _order(values[3])
    elif key == "dof":
        bone.dofs = _dofs(values)
        if any(d.startswith("t") for d in bone.dofs):
            raise ValueError("bones that move against their parent are not supported; only rx, ry, rz")


def _hierarchy(draft: _Draft, words: list[str], number: int) -> None:
    if words[0].lower() not in ("begin", "end"):
        draft.children.append((words[0], words[1:], number))


_SECTIONS = {"units": _units, "root": _root_section, "bonedata": _bonedata, "hierarchy": _hierarchy}


def _vector(words: list[str]) -> Floats:
    values = np.array([float(w) for w in words])
    if values.shape != (3,) or not np.isfinite(values).all():
        raise ValueError("three numbers are expected")
    return values


def _order(word: str) -> str:
    if sorted(word.lower()) != ["x", "y", "z"]:
        raise ValueError(f"{word!r} is no order of the axes, such as XYZ")
    return word.lower()


def _dofs(words: list[str]) -> tuple[str, ...]:
    dofs = tuple(w.lower() for w in words)
    strange = [d for d in dofs if d not in ("tx", "ty", "tz", "rx", "ry", "rz")]
    if strange or len(set(dofs)) != len(dofs):
        raise ValueError(f"{strange or dofs} are no degrees of freedom; known are tx ty tz rx ry rz")
    return dofs


def _finished(opened: UnpackedFile, draft: _Draft) -> AsfSkeleton:
    if len(draft.bones) > _MOST_BONES:
        raise DataError(f"{opened.label}: {len(draft.bones):,} bones; expected at most {_MOST_BONES:,}")
    names, parents = [_ROOT], [-1]
    for parent, children, number in draft.children:
        if parent not in names:
            raise opened.at(number, f"{parent!r} has children before it is a child itself")
        for child in children:
            if child not in draft.bones or child in names:
                problem = "is named twice" if child in names else "has no entry in :bonedata"
                raise opened.at(number, f"the bone {child!r} {problem}")
            names.append(child)
            parents.append(names.index(parent))
    if alone := sorted(set(draft.bones) - set(names)):
        raise DataError(f"{opened.label}: the bones {', '.join(alone)} have no place in :hierarchy")
    bones = [draft.root, *(draft.bones[n] for n in names[1:])]
    offsets = np.zeros((len(bones), 3))
    for place, bone in enumerate(bones):
        if bone.direction is not None and bone.length is not None:
            offsets[place] = bone.direction * bone.length
    to_rad = np.pi / 180 if draft.is_degrees else 1.0
    frames = np.stack([turns(b.axis_order[::-1], _reordered(b)[None] * to_rad)[0] for b in bones])
    is_cmu = abs(draft.length - CMU_LENGTH) < 1e-6
    return AsfSkeleton(
        label=opened.label,
        skeleton=Skeleton(names=tuple(names), parents=tuple(parents), offsets=offsets, turns_with="own"),
        dofs=tuple(b.dofs for b in bones),
        frames=frames,
        root_position=draft.position,
        is_degrees=draft.is_degrees,
        length=draft.length,
        metres_per_unit=CMU_UNIT_M if is_cmu else None,
    )


def _reordered(bone: _Bone) -> Floats:
    """The angles of `axis` (x, y, z) in the order of matrix multiplication."""
    return bone.axis[["xyz".index(a) for a in bone.axis_order[::-1]]]


@dataclass(kw_only=True)
class _Frame:
    """One frame: its number, each bone's numbers so far, and its last line."""

    number: int
    end: int
    said: dict[str, list[float]] = field(default_factory=dict)


def read_amc(opened: UnpackedFile, asf: AsfSkeleton) -> Floats:
    """The numbers of every frame: angles in radians, lengths in units of the file.

    Returns:
        Shape (n_frames, n_dofs), in the order of the bones of the skeleton.

    Raises:
        DataError: a bone that the skeleton lacks, too few or too many numbers, a frame that is cut off,
            frames out of order.
    """
    dofs = {name: own for name, own in zip(asf.skeleton.names, asf.dofs, strict=True) if own}
    frames: list[_Frame] = []
    is_degrees = asf.is_degrees
    for number, line in enumerate(opened.lines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0].startswith(":"):
            is_degrees = {":DEGREES": True, ":RADIANS": False}.get(words[0].upper(), is_degrees)
        elif len(words) == 1 and words[0].isdigit():
            _check_whole(opened, frames, dofs)
            if frames and int(words[0]) != frames[-1].number + 1:
                raise opened.at(
                    number, f"frame {words[0]} follows frame {frames[-1].number}; frames are missing"
                )
            frames.append(_Frame(number=int(words[0]), end=number))
        elif not frames:
            raise opened.at(number, f"expected the number of a frame, found {line.strip()[:60]!r}")
        else:
            frames[-1].said[words[0]] = _numbers(opened, number, words, frame=frames[-1], dofs=dofs, asf=asf)
            frames[-1].end = number
    if not frames:
        raise DataError(
            f"{opened.label}: no frames; an AMC has the number of each frame on a line of its own"
        )
    _check_whole(opened, frames, dofs)
    values = np.array([[value for name in dofs for value in frame.said[name]] for frame in frames])
    is_angle = np.array([d.startswith("r") for own in asf.dofs for d in own])
    return np.where(is_angle & is_degrees, np.deg2rad(values), values)


def _numbers(
    opened: UnpackedFile,
    number: int,
    words: list[str],
    *,
    frame: _Frame,
    dofs: Mapping[str, tuple[str, ...]],
    asf: AsfSkeleton,
) -> list[float]:
    """The numbers of a bone."""
    name, wanted = words[0], dofs.get(words[0])
    if wanted is None:
        raise opened.at(
            number,
            f"{name[:40]!r} is not a moving bone of the skeleton {asf.label}; is it the right skeleton?",
        )
    if len(words) - 1 != len(wanted):
        numbers = (
            f"{name} has {len(words) - 1} numbers, the skeleton wants {len(wanted)} ({' '.join(wanted)})"
        )
        raise opened.at(number, numbers)
    if name in frame.said:
        raise opened.at(number, f"{name} appears twice in frame {frame.number}")
    try:
        values = [float(word) for word in words[1:]]
    except ValueError as error:
        raise opened.at(number, f"cannot read the numbers of {name}: {error}") from error
    if not all(map(math.isfinite, values)):
        raise opened.at(number, f"a number of {name} is not finite")
    return values


def _check_whole(opened: UnpackedFile, frames: list[_Frame], dofs: Mapping[str, tuple[str, ...]]) -> None:
    """The last frame must have every bone."""
    absent = [name for name in dofs if name not in frames[-1].said] if frames else []
    if absent:
        raise opened.at(
            frames[-1].end,
            f"frame {frames[-1].number} ends without {', '.join(absent[:4])}"
            f"{' and others' if len(absent) > 4 else ''}; the file is cut off or made for another skeleton",
        )


# Subjects whose own skeleton is often missing, and the one whose bones fit them well enough.
STAND_INS = {13: 12, 14: 12}


class Settings(SkeletonSettings):
    """Options of AMC files; without `skeleton` the ASF is searched for next to the file."""


@dataclass(frozen=True, kw_only=True)
class AsfAmc:
    """Reads ``.amc`` with a skeleton found by file name, by subject, or from the option."""

    settings: Settings
    name: str = "asf-amc"
    version: int = 1
    suffixes: tuple[str, ...] = (".amc",)

    def recognises(self, head: str) -> bool:
        """Whether a text starts like an AMC file."""
        return bool(re.search(r"^:(FULLY-SPECIFIED|DEGREES|RADIANS)\b", head, re.IGNORECASE | re.MULTILINE))

    def read(self, path: Path) -> Motion:
        """Read the angles and assemble the bones.

        The points are the far ends of the bones, by the names of the bones, and the root.

        Raises:
            DataError: no skeleton, one that does not fit, or a line that cannot be read.
        """
        opened = open_file(path)
        opened.text()  # an empty file is that before it is one without a skeleton
        skeleton_path, stands_in_for = _find_skeleton(opened, self.settings.skeleton)
        notes = (
            f"no skeleton of {stands_in_for}: {skeleton_path.name} stands in, so that the lengths of the "
            "bones are not the subject's own",
        )
        asf = read_asf(open_file(skeleton_path))
        positions = pose(asf, read_amc(opened, asf))
        read = RawPoints(
            format=self.name,
            positions=positions,
            names=asf.skeleton.names,
            kind="joints",
            parents=asf.skeleton.parents,
            bones_of=skeleton_path.name if stands_in_for else "",
            metres_per_unit=asf.metres_per_unit,
            unit_problem=asf.unit_problem,
            notes=notes if stands_in_for else (),
            is_cmu=asf.metres_per_unit is not None,
        )
        return finish(read, opened=opened, settings=self.settings)


def pose(asf: AsfSkeleton, values: Floats) -> Floats:
    """The position of every point of a skeleton, in units of the file, shape (n_frames, n_points, 3).

    The rotation of a bone is written in the axes of the bone: ``C Rz Ry Rx C'``, where C turns them into
    those of the world in rest.

    Args:
        asf: the skeleton.
        values: as from `read_amc`.
    """
    n_frames, n_points = len(values), len(asf.dofs)
    rotations = np.empty((n_frames, n_points, 3, 3))
    root = np.tile(asf.root_position, (n_frames, 1))
    start = 0
    for point, dofs in enumerate(asf.dofs):
        columns = {dof: values[:, start + i] for i, dof in enumerate(dofs)}
        start += len(dofs)
        axes = [d[1] for d in dofs if d.startswith("r")][::-1]
        angles = np.stack([columns["r" + a] for a in axes], axis=1) if axes else np.zeros((n_frames, 0))
        rest = asf.frames[point]
        rotations[:, point] = rest @ turns("".join(axes), angles) @ rest.T
        if point == 0:
            for i, axis in enumerate("xyz"):
                root[:, i] += columns.get("t" + axis, 0.0)
    return forward(asf.skeleton, rotations=rotations, root=root)[0]


def _find_skeleton(opened: UnpackedFile, given: str) -> tuple[Path, str]:
    """Find the ASF of a file; return it with the subject it replaces, empty if it is the subject's own."""
    if given:
        return Path(given), ""
    there = {bare_name(p.name).lower().removesuffix(".asf"): p for p in siblings(opened, ".asf")}
    stem = opened.name.lower().removesuffix(".amc")
    for wanted in (stem, re.sub(r"[-_ ]?\d+$", "", stem)):
        if wanted in there:
            return there[wanted], ""
    subject = cmu_subject(opened.name)
    by_subject = {int(s): p for s, p in there.items() if s.isdigit()}
    if subject in by_subject:
        return by_subject[subject], ""
    stand_in = STAND_INS.get(subject) if subject is not None else None
    if stand_in in by_subject:
        return by_subject[stand_in], f"subject {subject}"
    listed = ", ".join(sorted(p.name for p in there.values())) or "no .asf at all"
    raise DataError(
        f"{opened.label}: its skeleton is missing; looked beside it for {stem}.asf and for that of its "
        f"subject, and found {listed}. Give skeleton=FILE.asf"
    )


def create(settings: Settings) -> AsfAmc:
    """The reader of the format."""
    return AsfAmc(settings=settings)
