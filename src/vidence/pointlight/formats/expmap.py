"""Joint angles of CMU as exponential maps: one line of 117 numbers for each frame, no skeleton."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats.asf_amc import AsfSkeleton, read_asf
from vidence.pointlight.formats.finish import (
    Read,
    Settings,
    existing_file,
    finish,
    no_rate,
    no_unit,
    one_of,
    settings,
)
from vidence.pointlight.kinematics import Skeleton, drop_first, forward, t_pose_frames
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import Opened, open_file
from vidence.pointlight.units import settle

Floats = NDArray[np.float64]
# Each joint, the one that it hangs on, and the bone of CMU that leads to it (none: it lies on its parent).
# The order is that of CMU's BVH release for Motionbuilder, with the ends of chains.
_LEG = "HipJoint:root: UpLeg:HipJoint:hipjoint Leg:UpLeg:femur Foot:Leg:tibia Toe:Foot:foot ToeEnd:Toe:toes"
_ARM = (
    "Shoulder:Spine1:thorax Arm:Shoulder:clavicle ForeArm:Arm:humerus Hand:ForeArm:radius "
    "FingerBase:Hand:wrist Fingers:FingerBase:hand FingersEnd:Fingers:fingers Thumb:Hand:wrist "
    "ThumbEnd:Thumb:thumb"
)
_SPINE = (
    "LowerBack:Hips: Spine:LowerBack:lowerback Spine1:Spine:upperback Neck:Spine1:thorax "
    "Neck1:Neck:lowerneck Head:Neck1:upperneck Head end:Head:head"
)
_NAMED = {"Toe": "ToeBase", "ToeEnd": "ToeBase end", "FingersEnd": "Fingers end", "ThumbEnd": "Thumb end"}


def _side(template: str, word: str, letter: str) -> list[tuple[str, str, str]]:
    def named(joint: str) -> str:
        if joint in ("root", "Spine1"):
            return "Hips" if joint == "root" else joint
        return word + _NAMED.get(joint, joint)

    rows = [row.split(":") for row in template.split()]
    return [(named(j), named(p), bone if bone in ("", "thorax") else letter + bone) for j, p, bone in rows]


JOINTS: tuple[tuple[str, str, str], ...] = (
    ("Hips", "", ""),
    *_side(_LEG, "Left", "l"),
    *_side(_LEG, "Right", "r"),
    *((j, p, b) for j, p, b in (row.split(":") for row in re.split(r" (?=[A-Z]\w*(?: end)?:)", _SPINE))),
    *_side(_ARM, "Left", "l"),
    *_side(_ARM, "Right", "r"),
)
N_COLUMNS = 3 + 3 * len(JOINTS)


def create(options: Mapping[str, str] | None = None) -> "Expmap":
    """The reader.

    Options: ``skeleton`` (the ASF of the subject; needed, for the format has no bones), ``units``, ``fps``;
    ``t-pose`` (``drop`` or ``keep``).
    """
    more: dict[str, Callable[[str], object]] = {
        "skeleton": existing_file,
        "t-pose": one_of("drop", "keep"),
    }
    return Expmap(settings=settings("expmap", options or {}, more))


@dataclass(frozen=True, kw_only=True)
class Expmap:
    """Reads the text files of the motion prediction benchmarks, which were made from CMU's BVH.

    The numbers of a joint are a vector along the axis of its rotation, as long as the angle in radians,
    turned the other way round.
    """

    settings: Settings
    name: str = "expmap"
    version: int = 1
    suffixes: tuple[str, ...] = (".expmap.txt", ".txt")

    def recognises(self, head: str) -> bool:
        """Whether a text begins with a line of 117 numbers parted by commas."""
        first = head.split("\n", maxsplit=1)[0]
        return first.count(",") == N_COLUMNS - 1 and bool(re.fullmatch(r"[-+\d.,eE\s]+", first))

    def read(self, path: Path) -> Motion:
        """Read a file.

        Raises:
            DataError: no skeleton was given, or a line that has not 117 numbers.
        """
        opened = open_file(path)
        values = _values(opened)
        asf_path = self.settings.path("skeleton")
        if asf_path is None:
            raise DataError(
                f"{opened.label}: exponential maps come without a skeleton; give that of the subject, "
                "skeleton=FILE.asf"
            )
        asf = read_asf(open_file(asf_path))
        skeleton = _skeleton(asf)
        vectors = values[:, 3:].reshape(len(values), len(JOINTS), 3)
        positions, _ = forward(skeleton, rotations=_rotations(-vectors), root=values[:, :3])
        rate = settle(None, given=self.settings.fps, name=opened.name, is_cmu=True)
        if rate is None:
            raise no_rate(opened)
        read = Read(
            format=self.name,
            positions=positions,
            names=skeleton.names,
            kind="joints",
            parents=skeleton.parents,
        )
        if asf.metres_per_unit is None and self.settings.unit is None:
            raise no_unit(opened, f"its skeleton {asf.label} has the length {asf.length:g}", read)
        motion = finish(
            read,
            opened=opened,
            metres_per_unit=asf.metres_per_unit or 1.0,
            given=self.settings.unit,
            rate=rate,
            notes=(f"the bones are those of {asf.label}",),
        )
        n_frames = t_pose_frames(motion.positions_m, vectors[:, 0])
        if n_frames == 0 or self.settings.word("t-pose", "drop") == "keep":
            return motion
        return drop_first(
            motion, n_frames, note="the first frame is a T-pose put before the recording; dropped"
        )


def _values(opened: Opened) -> Floats:
    rows = []
    for number, line in enumerate(opened.lines(), start=1):
        words = line.replace(",", " ").split()
        if not words:
            continue
        if len(words) != N_COLUMNS:
            raise opened.at(number, f"{len(words)} numbers, expected {N_COLUMNS}")
        try:
            rows.append([float(w) for w in words])
        except ValueError as error:
            raise opened.at(number, f"cannot read a number: {error}") from error
        if not np.isfinite(rows[-1]).all():
            raise opened.at(number, "a number of this frame is not finite")
    return np.array(rows)


def _skeleton(asf: AsfSkeleton) -> Skeleton:
    names = [joint for joint, _, _ in JOINTS]
    try:
        offsets = [asf.bone(bone) if bone else np.zeros(3) for _, _, bone in JOINTS]
    except KeyError as error:
        raise DataError(f"{asf.label} has no bone {error.args[0]!r}; skeletons of CMU have it") from error
    parents = tuple(names.index(parent) if parent else -1 for _, parent, _ in JOINTS)
    return Skeleton(names=tuple(names), parents=parents, offsets=np.stack(offsets))


def _rotations(vectors: Floats) -> Floats:
    """Rotation matrices for rotation vectors in radians, shape (..., 3) to (..., 3, 3).

    Source: Rodrigues' formula.
    """
    angles = np.linalg.norm(vectors, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*x.shape, 3, 3)
    safe = np.where(angles > 1e-12, angles, 1.0)
    sine = np.where(angles > 1e-12, np.sin(safe) / safe, 1.0)
    rest = np.where(angles > 1e-6, (1 - np.cos(safe)) / safe**2, 0.5)
    return np.asarray(np.eye(3) + sine * cross + rest * (cross @ cross))
