"""The ways in which BVH files are released: names of joints, length of a unit, bones that are lost."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from vidence.pointlight.kinematics import Skeleton
from vidence.pointlight.units import CMU_UNIT_M


@dataclass(frozen=True, kw_only=True)
class LostBone:
    """A bone that a release has lost, so that `children` start where it starts and not where it ends.

    `bone` is its name in the skeletons of CMU. Without such a skeleton it is taken to be `share` times as
    long as the bone that leads to the point `like`, in the same direction.
    """

    bone: str
    children: tuple[str, ...]
    like: str
    share: float


@dataclass(frozen=True, kw_only=True)
class Flavour:
    """One release, recognised by names of joints.

    `metres_per_unit` is None where it is not known. `up` is the axis that points up. `lost` are bones that
    are missing. `bones` names for joints the bone in the skeletons of CMU that leads to them, where the pose
    in rest is the same as there.
    """

    name: str
    signs: frozenset[str]
    metres_per_unit: float | None
    is_cmu: bool = False
    up: str = "y"
    lost: tuple[LostBone, ...] = ()
    bones: Mapping[str, str] = field(default_factory=dict)


def _sides(names: str, bones: str) -> dict[str, str]:
    """Names with ``*`` for Left or Right, with the bones of the same side."""
    return {
        name.replace("*", word).replace("+", letter.upper()): letter + bone
        for word, letter in (("Left", "l"), ("Right", "r"))
        for name, bone in zip(names.split(), bones.split(), strict=True)
    }


def _lost(*, neck: str, collar: str, palms: tuple[str, str], hand: str, spine: str) -> tuple[LostBone, ...]:
    """The bones that both releases of CMU with its own proportions have lost.

    On nine skeletons of CMU the thorax is 0.985 to 1.041 times as long as the bone below it, and the bone of
    the wrist half as long as that of the forearm.
    """
    left, right = palms
    return (
        LostBone(bone="thorax", children=(neck, f"Left{collar}", f"Right{collar}"), like=spine, share=1.0),
        LostBone(bone="lwrist", children=(left, "LThumb"), like=f"Left{hand}", share=0.5),
        LostBone(bone="rwrist", children=(right, "RThumb"), like=f"Right{hand}", share=0.5),
    )


FLAVOURS = (
    Flavour(
        name="cmu-motionbuilder",
        signs=frozenset({"LHipJoint", "LeftUpLeg", "LowerBack", "Neck1"}),
        metres_per_unit=CMU_UNIT_M,
        is_cmu=True,
        lost=_lost(
            neck="Neck",
            collar="Shoulder",
            palms=("LeftFingerBase", "RightFingerBase"),
            hand="Hand",
            spine="Spine1",
        ),
        bones={
            "Spine": "lowerback",
            "Spine1": "upperback",
            "Neck": "thorax",
            "LeftShoulder": "thorax",
            "RightShoulder": "thorax",
            "Neck1": "lowerneck",
            "Head": "upperneck",
            "Head end": "head",
            **_sides("*UpLeg *Leg *Foot *ToeBase", "hipjoint femur tibia foot"),
            **_sides("*Arm *ForeArm *Hand *FingerBase", "clavicle humerus radius wrist"),
            **_sides("+Thumb", "wrist"),
        },
    ),
    Flavour(
        name="cmu-max",
        signs=frozenset({"LHipJoint", "LeftHip", "LeftCollar", "Chest2"}),
        metres_per_unit=CMU_UNIT_M,
        is_cmu=True,
        lost=_lost(neck="lowerneck", collar="Collar", palms=("lhand", "rhand"), hand="Wrist", spine="Chest2"),
    ),
    Flavour(
        name="cmu-daz",
        signs=frozenset({"rButtock", "lButtock", "abdomen"}),
        metres_per_unit=0.01,
        is_cmu=True,
    ),
    Flavour(
        name="bandai",
        signs=frozenset({"joint_Root", "UpperArm_L", "LowerLeg_R"}),
        metres_per_unit=0.01,
    ),
    Flavour(
        name="animated-drawings",
        signs=frozenset({"Spine3", "RightHandEnd", "RightHandThumb1"}),
        metres_per_unit=None,
        up="z",
    ),
)
OTHER = Flavour(name="", signs=frozenset(), metres_per_unit=None)

# A release whose bodies all have the bones of CMU's subject 1, with the path scaled to fit them. The factor
# was measured on 02_01 against its AMC (1.0631 on all three axes).
FITTED_HIP = (1.36306, -1.79463, 0.83929)
FITTED_SUBJECT = 1
FITTED_SCALE = 1.063


def recognise(names: tuple[str, ...]) -> Flavour:
    """The release that names of joints tell; `OTHER` where they tell none."""
    there = set(names)
    return next((f for f in FLAVOURS if f.signs <= there), OTHER)


def is_fitted(skeleton: Skeleton, subject: int | None) -> bool:
    """Whether a file of another subject has the bones of CMU's subject 1."""
    if subject in (None, FITTED_SUBJECT) or "LeftUpLeg" not in skeleton.names:
        return False
    return bool(np.allclose(skeleton.offsets[skeleton.names.index("LeftUpLeg")], FITTED_HIP, atol=1e-5))
