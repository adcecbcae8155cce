"""The joints of the SMPL family that matter here, at their known places in the tree."""

from vidence.pointlight.formats.body_models import COUNTS, SMPL


def test_the_order_is_that_of_the_tree():
    """Places as in the paper: 1 and 2 hips, 4 and 5 knees, 7 and 8 ankles, 15 head, 20 and 21 wrists."""
    assert [SMPL[i] for i in (0, 1, 2, 4, 5, 7, 8, 12, 15, 16, 19, 20, 21)] == [
        "pelvis", "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle", "neck",
        "head", "left_shoulder", "right_elbow", "left_wrist", "right_wrist",
    ]  # fmt: skip
    assert len(SMPL) == len(set(SMPL)) == min(COUNTS)
