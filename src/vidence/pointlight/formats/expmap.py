"""Exponential maps of CMU: one line of 117 joint angles per frame, no skeleton."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.pointlight.formats.asf_amc import AsfSkeleton, read_asf
from vidence.pointlight.formats.format_options import RawPoints, SkeletonSettings, finish
from vidence.pointlight.kinematics import Skeleton, forward, t_pose_frames
from vidence.pointlight.motion import Motion, drop_first
from vidence.pointlight.reading import open_file

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


class Settings(SkeletonSettings):
    """Options of exponential maps; `skeleton` is required, since the format has no bones."""

    t_pose: Annotated[
        Literal["drop", "keep"], Meta(description="a T-pose put before the recording: drop it, or keep it")
    ] = "drop"


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
        """Whether a text starts with a line of 117 comma-separated numbers."""
        first = head.split("\n", maxsplit=1)[0]
        return first.count(",") == N_COLUMNS - 1 and bool(re.fullmatch(r"[-+\d.,eE\s]+", first))

    def read(self, path: Path) -> Motion:
        """Read a file.

        Raises:
            DataError: no skeleton was given, or a line that has not 117 numbers.
        """
        opened = open_file(path)
        _, values = opened.rows(N_COLUMNS, expected=f"expected {N_COLUMNS}", commas=True, is_finite=True)
        if not self.settings.skeleton:
            raise DataError(
                f"{opened.label}: exponential maps come without a skeleton; give that of the subject, "
                "skeleton=FILE.asf"
            )
        asf = read_asf(open_file(Path(self.settings.skeleton)))
        skeleton = _skeleton(asf)
        vectors = values[:, 3:].reshape(len(values), len(JOINTS), 3)
        positions, _ = forward(skeleton, rotations=_rotations(-vectors), root=values[:, :3])
        read = RawPoints(
            format=self.name,
            positions=positions,
            names=skeleton.names,
            kind="joints",
            parents=skeleton.parents,
            metres_per_unit=asf.metres_per_unit,
            unit_problem=asf.unit_problem,
            notes=(f"the bones are those of {asf.label}",),
            is_cmu=True,
        )
        motion = finish(read, opened=opened, settings=self.settings)
        n_frames = t_pose_frames(motion.positions_m, vectors[:, 0])
        if n_frames == 0 or self.settings.t_pose == "keep":
            return motion
        return drop_first(
            motion, n_frames, note="the first frame is a T-pose put before the recording; dropped"
        )


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


def create(settings: Settings) -> Expmap:
    """The reader of the format."""
    return Expmap(settings=settings)
