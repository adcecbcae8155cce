"""Which joints or markers stand for the points of a body, for each naming that is in use.

A point is the mean of its names. A new naming is one entry of `MAPS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class BodyMap:
    """One naming: for each point of the body the names whose mean it is.

    With `is_markers` the names are of markers on the skin; hips, knees and ankles are then computed from them
    (see `leg_joints.py`).
    """

    name: str
    points: Mapping[str, tuple[str, ...]]
    is_markers: bool = False


def _sided(template: Mapping[str, str], left: str, right: str) -> dict[str, tuple[str, ...]]:
    """Names of both sides; ``*`` in a template stands for `left` or `right`, blanks part several names."""
    return {
        f"{side}_{joint}": tuple(n.replace("*", mark) for n in names.split())
        for side, mark in (("left", left), ("right", right))
        for joint, names in template.items()
    }


_JOINTS = ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")
_MOST = ("shoulder", "elbow", "hip", "knee", "ankle")


def _limbs(names: str) -> dict[str, str]:
    return dict(zip(_JOINTS, names.split(), strict=True))


MAPS = (
    # Which joints come nearest to the markers was measured on trial 02_01, which is there as AMC and as C3D:
    # the far end of ``head`` lies 4 cm from the middle of the head, that of ``lowerneck`` 2 cm from the base
    # of the neck, that of ``lwrist`` 5 cm from the wrist (``lradius``: 10 cm, with a forearm of 19 cm).
    BodyMap(  # the far ends of the bones of CMU's skeletons
        name="asf",
        points={
            "head": ("head",),
            "neck": ("lowerneck",),
            "pelvis": ("root",),
            **_sided(_limbs("*clavicle *humerus *wrist *hipjoint *femur *tibia"), "l", "r"),
        },
    ),
    BodyMap(  # the BVH release of CMU for Motionbuilder
        name="cmu-motionbuilder",
        points={
            "head": ("Head end",),
            "neck": ("Neck1",),
            "pelvis": ("Hips",),
            **_sided(_limbs("*Arm *ForeArm *FingerBase *UpLeg *Leg *Foot"), "Left", "Right"),
        },
    ),
    BodyMap(  # Motionbuilder's names elsewhere
        name="motionbuilder",
        points={
            "head": ("Head", "Head end"),
            "neck": ("Neck",),
            "pelvis": ("Hips",),
            **_sided(_limbs("*Arm *ForeArm *Hand *UpLeg *Leg *Foot"), "Left", "Right"),
        },
    ),
    BodyMap(  # the BVH release of CMU for 3ds Max
        name="cmu-max",
        points={
            "head": ("Head end",),
            "neck": ("Neck",),
            "pelvis": ("Hips",),
            "left_wrist": ("lhand",),
            "right_wrist": ("rhand",),
            **_sided(
                dict(zip(_MOST, ["*Shoulder", "*Elbow", "*Hip", "*Knee", "*Ankle"], strict=True)),
                "Left",
                "Right",
            ),
        },
    ),
    BodyMap(  # the BVH release of CMU for DAZ and Poser
        name="cmu-daz",
        points={
            "head": ("head", "leftEye", "rightEye"),
            "neck": ("neck",),
            "pelvis": ("hip",),
            **_sided(_limbs("*Shldr *ForeArm *Hand *Thigh *Shin *Foot"), "l", "r"),
        },
    ),
    BodyMap(
        name="bandai",
        points={
            "head": ("Head", "Head end"),
            "neck": ("Neck",),
            "pelvis": ("Hips",),
            **_sided(_limbs("UpperArm_* LowerArm_* Hand_* UpperLeg_* LowerLeg_* Foot_*"), "L", "R"),
        },
    ),
    BodyMap(  # the 41 markers of CMU and ACCAD, Vicon's full body set
        name="vicon",
        is_markers=True,
        points={
            "head": ("LFHD", "RFHD", "LBHD", "RBHD"),
            "neck": ("C7", "CLAV"),
            "pelvis": ("LFWT", "RFWT", "LBWT", "RBWT"),
            **_sided(
                {
                    "shoulder": "*SHO",
                    "elbow": "*ELB",
                    "wrist": "*WRA *WRB",
                    "hip": "LFWT RFWT LBWT RBWT",
                    "knee": "*KNE",
                    "ankle": "*ANK",
                },
                "L",
                "R",
            ),
        },
    ),
    BodyMap(
        name="points",
        points={
            p: (p,)
            for p in (
                "head",
                "neck",
                "pelvis",
                *(f"{side}_{joint}" for side in ("left", "right") for joint in _JOINTS),
            )
        },
    ),
)


def best_map(names: tuple[str, ...]) -> BodyMap:
    """The naming that fits most points; where several do, the first of `MAPS`."""
    there = set(names)
    return max(MAPS, key=lambda m: sum(set(sources) <= there for sources in m.points.values()))
