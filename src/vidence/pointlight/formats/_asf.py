"""The skeleton of a subject: a file in the Acclaim format ASF."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.kinematics import Skeleton, turns
from vidence.pointlight.opening import Opened
from vidence.pointlight.units import CMU_LENGTH, CMU_UNIT_M

Floats = NDArray[np.float64]
_ROOT = "root"


@dataclass(frozen=True, kw_only=True)
class AsfSkeleton:
    """What an ASF says.

    `skeleton` has the root first, then the bones in the order of the hierarchy; the point of a bone is its
    far end, and its name is that of the bone. `dofs` are the numbers that an AMC line gives, in order, such
    as ``("rx", "rz")`` or, for the root, ``("tx", ..., "rz")``. `frames` (n_points, 3, 3) turns the axes of
    the bone into those of the world in rest. `metres_per_unit` is None where the length is one that we
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

    def bone(self, name: str) -> Floats:
        """The vector of a bone in rest, in units of the file, shape (3,).

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


def read_asf(opened: Opened) -> AsfSkeleton:
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
        raise ValueError(f"the bone {bone.name!r} stands there twice")
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


def _finished(opened: Opened, draft: _Draft) -> AsfSkeleton:
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
    alone = sorted(set(draft.bones) - set(names))
    if alone:
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
    """The angles of `axis` stand for x, y, z; give them in the order in which the matrices are multiplied."""
    return bone.axis[["xyz".index(a) for a in bone.axis_order[::-1]]]
