"""Names of the joints that the body models of the SMPL family give, by how many there are."""

_SIDES = ("left", "right")
# Source: the order of the kinematic tree of SMPL (Loper and others, 2015), in the names that its users write.
# SMPL, SMPL-H and SMPL-X share these 22; hands, the jaw and points on the skin come after them.
SMPL = (
    "pelvis",
    *(f"{side}_hip" for side in _SIDES),
    "spine1",
    *(f"{side}_knee" for side in _SIDES),
    "spine2",
    *(f"{side}_ankle" for side in _SIDES),
    "spine3",
    *(f"{side}_foot" for side in _SIDES),
    "neck",
    *(f"{side}_collar" for side in _SIDES),
    "head",
    *(f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist") for side in _SIDES),
)
# How many joints each gives: the body alone, SMPL (with points on the skin), SMPL-H, SMPL-X.
COUNTS = {22: "the body", 24: "SMPL", 45: "SMPL", 52: "SMPL-H", 73: "SMPL-H"}
COUNTS |= dict.fromkeys((55, 127, 144), "SMPL-X")
