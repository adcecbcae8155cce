"""Small files of motion capture, written by hand, whose points can be computed on paper."""

from pathlib import Path

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
_SIDE = """  JOINT {s}HipJoint
  {{
    OFFSET 0 0 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    JOINT {w}UpLeg
    {{
      OFFSET {x} -1.8 0
      CHANNELS 3 Zrotation Yrotation Xrotation
      JOINT {w}Leg
      {{
        OFFSET 0 -7.5 0
        CHANNELS 3 Zrotation Yrotation Xrotation
        JOINT {w}Foot
        {{
          OFFSET 0 -7.2 0
          CHANNELS 3 Zrotation Yrotation Xrotation
          End Site
          {{
            OFFSET 0 0 2
          }}
        }}
      }}
    }}
  }}
"""
_ARM = """        JOINT {w}Shoulder
        {{
          OFFSET 0 0 0
          CHANNELS 3 Zrotation Yrotation Xrotation
          JOINT {w}Arm
          {{
            OFFSET {x} 0.5 0
            CHANNELS 3 Zrotation Yrotation Xrotation
            JOINT {w}ForeArm
            {{
              OFFSET {x} 0 0
              CHANNELS 3 Zrotation Yrotation Xrotation
              JOINT {w}Hand
              {{
                OFFSET {x} 0 0
                CHANNELS 3 Zrotation Yrotation Xrotation
                JOINT {w}FingerBase
                {{
                  OFFSET 0 0 0
                  CHANNELS 3 Zrotation Yrotation Xrotation
                  End Site
                  {{
                    OFFSET {x} 0 0
                  }}
                }}
                JOINT {s}Thumb
                {{
                  OFFSET 0 0 0
                  CHANNELS 3 Zrotation Yrotation Xrotation
                  End Site
                  {{
                    OFFSET {x} 0 0
                  }}
                }}
              }}
            }}
          }}
        }}
"""
_SPINE = """  JOINT LowerBack
  {{
    OFFSET 0 0 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    JOINT Spine
    {{
      OFFSET 0 2 0
      CHANNELS 3 Zrotation Yrotation Xrotation
      JOINT Spine1
      {{
        OFFSET 0 2.1 0
        CHANNELS 3 Zrotation Yrotation Xrotation
        JOINT Neck
        {{
          OFFSET 0 0 0
          CHANNELS 3 Zrotation Yrotation Xrotation
          JOINT Neck1
          {{
            OFFSET 0 1.5 0
            CHANNELS 3 Zrotation Yrotation Xrotation
            JOINT Head
            {{
              OFFSET 0 1.6 0
              CHANNELS 3 Zrotation Yrotation Xrotation
              End Site
              {{
                OFFSET 0 1.6 0
              }}
            }}
          }}
        }}
{arms}      }}
    }}
  }}
"""


def cmu_bvh(rows: list[list[float]], *, frame_time: str = "0.0083333") -> str:
    """A BVH with the joints of CMU's release; a row gives the six numbers of the root, the others are 0."""
    arms = _ARM.format(w="Left", s="L", x=3) + _ARM.format(w="Right", s="R", x=-3)
    legs = _SIDE.format(s="L", w="Left", x=1.5) + _SIDE.format(s="R", w="Right", x=-1.5)
    joints = legs + _SPINE.format(arms=arms)
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
