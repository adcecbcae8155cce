import numpy as np
import pytest

from subjects.standing import standing
from vidence.errors import UsageError
from vidence.pointlight.kinematics import Skeleton, insert_bone, missing_bone, t_pose_frames, turns
from vidence.pointlight.units import CMU_UNIT_M, SUBJECTS, cmu_subject, metres_for_stature, read_unit, settle


def test_t_poses():
    positions = standing(60).positions_m + (np.arange(60) * 0.001)[:, None, None] * [0, 0, 1]
    far = positions.copy()
    far[0, 3, 1] += 0.25
    turned = np.ones((60, 3))
    at_rest = np.where(np.arange(60)[:, None] == 0, 0.0, turned)
    assert t_pose_frames(far, at_rest) == 1
    assert t_pose_frames(far, turned) == 0, "the root is turned"
    assert t_pose_frames(far, np.zeros((60, 3))) == 0, "the root never turns"
    assert t_pose_frames(positions, at_rest) == 0, "nothing jumps"
    assert t_pose_frames(far, at_rest, jump_m=0.3) == 0
    assert t_pose_frames(far[:1], at_rest[:1]) == 0
    assert t_pose_frames(far, np.zeros((60, 0))) == 0


def test_the_way_out_of_a_t_pose_goes_on_over_a_short_rest():
    """Steps in mm as in CMU's release for DAZ (60_03): the sixth is small, the two after it are not."""
    steps = np.array([1193, 311, 347, 254, 100, 14, 55, 35, *[6] * 50]) / 1000
    positions = np.zeros((len(steps) + 1, 2, 3))
    positions[1:, :, 2] = np.cumsum(steps)[:, None]
    angles = np.ones((len(positions), 3))
    angles[0] = 0.0
    assert t_pose_frames(positions, angles) == 8
    slow = np.array([823, 31, 31, 30, 28, 26, 25, 22, 20, *[16] * 50]) / 1000
    positions = np.zeros((len(slow) + 1, 2, 3))
    positions[1:, :, 2] = np.cumsum(slow)[:, None]
    assert t_pose_frames(positions, np.r_[np.zeros((1, 3)), np.ones((len(slow), 3))]) == 1, "19_01 slows down"


def test_a_bone_is_missing_only_where_all_lie_on_one_point():
    offsets = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0]], dtype=float)
    spine = Skeleton(
        names=("hips", "spine", "neck", "collar", "arm"), parents=(-1, 0, 1, 1, 3), offsets=offsets
    )
    assert missing_bone(spine, ("neck", "collar")) == "spine"
    assert missing_bone(spine, ("neck", "arm")) == ""
    assert missing_bone(spine, ("neck", "wing")) == ""
    mended = insert_bone(spine, ("neck", "collar"), np.array([0, 2.0, 0]))
    assert mended.offsets[2:4].tolist() == [[0, 2, 0], [0, 2, 0]]
    assert spine.offsets[2].tolist() == [0, 0, 0]
    assert missing_bone(mended, ("neck", "collar")) == ""


def test_a_skeleton_is_checked():
    with pytest.raises(ValueError, match="before its children"):
        Skeleton(names=("a", "b"), parents=(1, -1), offsets=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="one root"):
        Skeleton(names=("a", "b"), parents=(-1, -1), offsets=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="belong together"):
        Skeleton(names=("a",), parents=(-1,), offsets=np.zeros((2, 3)))


def test_turns_follow_the_right_hand():
    quarter = np.array([[np.pi / 2]])
    for axis, start, end in (
        ("x", [0, 1, 0], [0, 0, 1]),
        ("y", [0, 0, 1], [1, 0, 0]),
        ("z", [1, 0, 0], [0, 1, 0]),
    ):
        np.testing.assert_allclose(turns(axis, quarter)[0] @ start, end, atol=1e-15)


@pytest.mark.parametrize(
    ("text", "metres"),
    [("m", 1.0), ("CM", 0.01), ("inch", 0.0254), ("0.0059", 0.0059), ("cmu", 0.0254 / 0.45)],
)
def test_units(text, metres):
    assert read_unit(text).metres == pytest.approx(metres)
    assert round(CMU_UNIT_M * 1000, 3) == 56.444
    with pytest.raises(ValueError, match="no frame shows"):
        metres_for_stature(np.zeros((3, 3)), np.zeros((3, 3)), 1.7)


@pytest.mark.parametrize("text", ["", "furlong", "-1", "0", "nan", "inf", "stature:", "stature:-1", "size:2"])
def test_units_that_are_none(text):
    with pytest.raises(UsageError, match="is no unit; known are"):
        read_unit(text)


@pytest.mark.parametrize(
    ("name", "subject"),
    [("60_01.bvh", 60), ("02_01", 2), ("135_martial04.bvh", 135), ("walk.bvh", None), ("2024-1.bvh", None)],
)
def test_subjects_by_name(name, subject):
    assert cmu_subject(name) == subject


def test_rates():
    assert {s for s, known in SUBJECTS.items() if known.endswith("(measured)")} == {60, 61, 87}
    assert set(SUBJECTS) == {60, 61, 74, 75, 77, 79, 80, 87, 88}
    assert all(known.endswith("(listed)") for s, known in SUBJECTS.items() if s not in {60, 61, 87})
    listed = settle(1 / 0.0083333, given=None, name="79_12.bvh", is_cmu=True)
    assert listed.fps == 60.0
    assert "(listed)" in listed.note
    assert settle(30.0003, given=None, name="x.bvh", is_cmu=False).fps == 30.0
    assert settle(29.8, given=None, name="x.bvh", is_cmu=False).fps == 29.8
    assert settle(59.0, given=None, name="60_01.bvh", is_cmu=True).fps == 60.0
    assert settle(60.0, given=None, name="60_01.bvh", is_cmu=True).note == ""
    assert settle(120.0, given=100.0, name="x.bvh", is_cmu=False).note == "as the user says, not as the file"
    assert settle(None, given=None, name="x.amc", is_cmu=False) is None
    assert settle(None, given=None, name="02_01.amc", is_cmu=True).fps == 120.0
