"""Small files of motion capture, written by hand, whose points can be computed on paper."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ASF = """:version 1.10
:name toy
:units
  mass 1.0
  length {length}
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name thigh
    direction 0 -1 0
    length 8
    axis 0 0 90 XYZ
    dof rx ry rz
  end
  begin
    id 2
    name shin
    direction 0 -1 0
    length 7
    axis 0 0 0 XYZ
    dof rx
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""
AMC = """#!OML:ASF toy
:FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 0 0 0
thigh 0 0 0
shin 0
2
root 1 2 3 0 90 0
thigh 0 0 0
shin 90
"""

BVH = """HIERARCHY
ROOT hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT knee
  {
    OFFSET 0 -8 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 -7 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.0083333
1 2 3 0 0 0 0 0 0
1 2 3 0 90 0 0 0 90
"""

# CMU's release for Motionbuilder with its own faults: neck and shoulders start at the end of the spine, hand
# and thumb at the end of the forearm.
_CHANNELS = "CHANNELS 3 Zrotation Yrotation Xrotation"


def _joint(depth: int, name: str, offset: str, *children: object) -> str:
    """A joint with three angles; a child that is a text is the offset of its end."""
    pad = "  " * depth
    inner = "".join(
        f"{pad}  End Site\n{pad}  {{\n{pad}    OFFSET {one}\n{pad}  }}\n"
        if isinstance(one, str)
        else _joint(depth + 1, *one)
        for one in children
    )
    return f"{pad}JOINT {name}\n{pad}{{\n{pad}  OFFSET {offset}\n{pad}  {_CHANNELS}\n{inner}{pad}}}\n"


def _leg(w: str, x: float) -> tuple[object, ...]:
    foot = (f"{w}Foot", "0 -7.2 0", "0 0 2")
    return (f"{w[0]}HipJoint", "0 0 0", (f"{w}UpLeg", f"{x} -1.8 0", (f"{w}Leg", "0 -7.5 0", foot)))


def _arm(w: str, x: float) -> tuple[object, ...]:
    fingers = ((name, "0 0 0", f"{x} 0 0") for name in (f"{w}FingerBase", f"{w[0]}Thumb"))
    fore = (f"{w}ForeArm", f"{x} 0 0", (f"{w}Hand", f"{x} 0 0", *fingers))
    return (f"{w}Shoulder", "0 0 0", (f"{w}Arm", f"{x} 0.5 0", fore))


_NECK = ("Neck", "0 0 0", ("Neck1", "0 1.5 0", ("Head", "0 1.6 0", "0 1.6 0")))
_SPINE1 = ("Spine1", "0 2.1 0", _NECK, _arm("Left", 3), _arm("Right", -3))
_BODY = (_leg("Left", 1.5), _leg("Right", -1.5), ("LowerBack", "0 0 0", ("Spine", "0 2 0", _SPINE1)))


def cmu_bvh(rows: list[list[float]], *, frame_time: str = "0.0083333") -> str:
    """A BVH with the joints of CMU's release; a row gives the six numbers of the root, the others are 0."""
    joints = "".join(_joint(1, *one) for one in _BODY)
    head = "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 0 0\n  CHANNELS 6 Xposition Yposition Zposition "
    head += "Zrotation Yrotation Xrotation\n" + joints + "}\n"
    n_others = 3 * joints.count("CHANNELS 3")
    lines = [" ".join(str(v) for v in [*row, *([0] * n_others)]) for row in rows]
    return head + f"MOTION\nFrames: {len(rows)}\nFrame Time: {frame_time}\n" + "\n".join(lines) + "\n"


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def write_c3d(
    path: Path, labels: Sequence[str], points: NDArray[np.float64], *, rate: float = 120.0, unit: str = "mm"
) -> Path:
    """Write a C3D; `points` has the shape (n_frames, n_points, 3)."""
    import ezc3d

    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [rate]
    file["parameters"]["POINT"]["UNITS"]["value"] = [unit]
    file["parameters"]["POINT"]["LABELS"]["value"] = list(labels)
    data = np.ones((4, len(labels), len(points)))
    data[:3] = np.moveaxis(points, 2, 0).swapaxes(1, 2)
    file["data"]["points"] = data
    file.write(str(path))
    return path


# The bones of CMU's skeletons that give points: where each begins, and how far it leads.
_TRUNK = {
    "lowerback": ("root", (0, 2, 0)),
    "thorax": ("lowerback", (0, 2, 0)),
    "lowerneck": ("thorax", (0, 1.5, 0)),
    "head": ("lowerneck", (0, 3, 0)),
}
_SIDE = {
    "hipjoint": ("root", (1.5, -1.8, 0)),
    "femur": ("hipjoint", (0, -7.5, 0)),
    "tibia": ("femur", (0, -7.2, 0)),
    "clavicle": ("thorax", (3, 0.5, 0)),
    "humerus": ("clavicle", (0.5, -5, 0)),
    "wrist": ("humerus", (0.5, -4.5, 0)),
}


def cmu_asf() -> str:
    """A skeleton with the names and the unit of CMU's, whose bones do not turn."""
    bones = dict(_TRUNK)
    for side, sign in (("l", 1), ("r", -1)):
        for name, (start, (x, y, z)) in _SIDE.items():
            bones[side + name] = (side + start if start in _SIDE else start, (sign * x, y, z))
    text = ASF.format(length="0.45").partition("  begin")[0]
    for name, (_, offset) in bones.items():
        length = float(np.linalg.norm(offset))
        way = " ".join(f"{part / length:.6f}" for part in offset)
        text += f"  begin\n    name {name}\n    direction {way}\n    length {length}\n  end\n"
    pairs = "".join(f"    {start} {name}\n" for name, (start, _) in bones.items())
    return f"{text}:hierarchy\n  begin\n{pairs}  end\n"


def amc(rows: Sequence[Sequence[float]]) -> str:
    """The motion of a skeleton of which only the root moves; a row gives its six numbers."""
    frames = (f"{n}\nroot {' '.join(map(str, row))}\n" for n, row in enumerate(rows, 1))
    return "#!OML:ASF\n:FULLY-SPECIFIED\n:DEGREES\n" + "".join(frames)
