import re

import numpy as np
import pytest

from subjects.mocap_files import ASF, BVH, cmu_bvh, write
from vidence.errors import DataError, UsageError
from vidence.pointlight.body import body
from vidence.pointlight.checks import limbs
from vidence.pointlight.formats import bvh
from vidence.pointlight.reading import read_motion

UNIT = 25.4 / 0.45 / 1000
WALK = [[0, 17, 0.1 * t, 1, 2, 3] for t in range(10)]


def test_points_are_where_paper_says(tmp_path):
    """The root turns by 90° about y; the lower leg, turned by 90° about x, points to -z and then to -x."""
    motion = read_motion(write(tmp_path, "leg.bvh", BVH), options={"units": "cm"})
    assert motion.names == ("hips", "knee", "knee end")
    expected = [[[1, 2, 3], [1, -6, 3], [1, -13, 3]], [[1, 2, 3], [1, -6, 3], [-6, -6, 3]]]
    np.testing.assert_allclose(motion.positions_m * 100, expected, atol=1e-9)
    assert (motion.fps, motion.source.fps_claimed) == (120.0, pytest.approx(120.00048))
    upright = read_motion(tmp_path / "leg.bvh", options={"units": "m", "up": "z"})
    np.testing.assert_allclose(upright.positions_m[0, 0], [2, 3, 1])
    with pytest.raises(DataError, match="ends before MOTION"):
        read_motion(write(tmp_path, "leg.bvh", BVH.split("MOTION")[0]))


def test_positions_of_a_joint_take_the_place_of_its_offset(tmp_path):
    moving = BVH.replace("CHANNELS 3 Z", "CHANNELS 6 Xposition Yposition Zposition Z")
    moving = moving.replace("0 0 0\n1 2 3", "0 -9 0 0 0 0\n1 2 3").replace("0 0 90\n", "0 -10 0 0 0 0\n")
    motion = read_motion(write(tmp_path, "leg.bvh", moving), options={"units": "cm"})
    np.testing.assert_allclose(motion.positions_m[:, 1, 1] * 100, [2 - 9, 2 - 10], atol=1e-9)
    assert motion.parents == (-1, -1, 1)
    assert limbs(motion).verdict == "fine"


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("1 2 3 0 90 0 0 0 90\n", ""), 19, "1 frames, but the file announces 2; the file is cut off"),
        (("0 90 0 0 0 90\n", "0 90 0 0"), 20, "7 numbers, but the joints have 9 channels"),
        (("1 2 3 0 90", "1 2 x 0 90"), 20, "cannot read a number"),
        (("1 2 3 0 90", "1 2 inf 0 90"), 20, "not finite"),
        (("Frames: 2", "Frames: two"), 17, "cannot read 'Frames: two'"),
        (("Frame Time: 0.0083333\n", ""), 17, "'Frame Time: T' are expected"),
        (("CHANNELS 3", "CHANNELS 4"), 9, "announces 4 channels but names 3"),
        (("3 Zrotation", "3 Wrotation"), 9, "no channel is called 'Wrotation'"),
        (("OFFSET 0 -8 0", "OFFSET 0 -8"), 8, "three numbers"),
        (("JOINT knee", "ROOT knee"), 6, "a root already"),
        (("JOINT knee", "JOINT hips"), 6, "appears twice"),
        (("  }\n}\nMOTION", "MOTION"), 14, "2 joints are still open"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path, change, line, words):
    assert change[0] in BVH
    with pytest.raises(DataError) as caught:
        read_motion(write(tmp_path, "leg.bvh", BVH.replace(*change, 1)), options={"units": "cm"})
    assert f"leg.bvh:{line}: " in str(caught.value)
    assert words in str(caught.value)


def test_unknown_units_and_rates_are_asked_for(tmp_path):
    path = write(tmp_path, "leg.bvh", BVH)
    with pytest.raises(DataError, match=r"no unit, .* at most 15 units large: give units="):
        read_motion(path)
    path = write(tmp_path, "still.bvh", BVH.replace("0.0083333", "0"))
    with pytest.raises(DataError, match="how fast it was recorded"):
        read_motion(path, options={"units": "cm"})
    assert read_motion(path, options={"units": "cm", "fps": "25"}).fps == 25.0


def test_the_release_of_cmu_is_recognised_and_its_lost_bones_are_put_in(tmp_path):
    """Spine1 ends 2 + 2.1 above the hips; the thorax is like the bone below it, the wrist half a forearm."""
    path = write(tmp_path, "30_01.bvh", cmu_bvh([[0, 17, 0, 0, 0, 0], [0, 17, 0, 0, 0, 0]]))
    mended, left = read_motion(path), read_motion(path, options={"bones": "leave"})
    assert mended.source.format == "bvh (cmu-motionbuilder)"
    assert mended.source.metres_per_unit == pytest.approx(UNIT)

    def at(motion, name):
        return motion.positions_m[0, motion.index(name)] / UNIT

    np.testing.assert_allclose(at(left, "LeftArm"), [3, 17 + 4.1 + 0.5, 0], atol=1e-9)
    np.testing.assert_allclose(at(mended, "LeftArm"), [3, 17 + 4.1 + 2.1 + 0.5, 0], atol=1e-9)
    np.testing.assert_allclose(at(mended, "Neck"), [0, 17 + 4.1 + 2.1, 0], atol=1e-9)
    np.testing.assert_allclose(at(left, "RightFingerBase"), at(left, "RightHand"))
    np.testing.assert_allclose(
        at(mended, "RightFingerBase") - at(mended, "RightHand"), [-1.5, 0, 0], atol=1e-9
    )
    np.testing.assert_allclose(at(mended, "RightFoot"), at(left, "RightFoot"))
    mends = [n.split(";")[0] for n in mended.source.notes]
    assert mends == [f"the bone {bone} was missing" for bone in ("thorax", "lwrist", "rwrist")]
    assert all("is missing" in n for n in left.source.notes)
    unlike = cmu_bvh(WALK).replace("JOINT LeftHand\n", "JOINT LeftPalm\n")
    notes = " ".join(read_motion(write(tmp_path, "30_02.bvh", unlike)).source.notes)
    assert "the bone lwrist is missing, and so is LeftHand" in notes
    np.testing.assert_allclose(
        body(mended, points="hands").positions_m[0, 0] / UNIT, at(mended, "LeftFingerBase")
    )


def test_a_t_pose_before_the_recording_is_dropped(tmp_path):
    """The first frame has no rotation and lies 1 unit (5.6 cm) or 10 units (56 cm) off."""
    far = write(tmp_path, "30_01.bvh", cmu_bvh([[0, 17, -10, 0, 0, 0], *WALK]))
    motion = read_motion(far)
    assert (motion.n_frames, motion.source.first_frame) == (10, 1)
    assert motion.source.notes[-1] == "the first frame is a T-pose put before the recording; dropped"
    np.testing.assert_allclose(motion.positions_m[0, 0], np.array([0, 17, 0]) * UNIT)
    kept = read_motion(far, options={"t_pose": "keep"})
    assert (kept.n_frames, kept.source.first_frame) == (11, 0)
    assert "kept" in kept.source.notes[-1]
    assert read_motion(write(tmp_path, "30_02.bvh", cmu_bvh([[0, 17, -1, 0, 0, 0], *WALK]))).n_frames == 11
    turned = write(tmp_path, "30_03.bvh", cmu_bvh([[0, 17, -10, 0, 1, 0], *WALK]))
    assert read_motion(turned).n_frames == 11
    steps = [[0, 17, 5 * t, 0, 0, 0] for t in range(10)]  # a root that never turns
    assert read_motion(write(tmp_path, "30_01.bvh", cmu_bvh(steps))).n_frames == 10


def test_a_way_out_of_the_t_pose_is_dropped_too(tmp_path):
    """After the jump the root goes on by 2 units (11 cm) a frame for two frames, then by 0.1."""
    easing = [[0, 17, z, 1, 2, 3] for z in (0, 2, 4)]
    steady = [[0, 17, 4 + 0.1 * t, 1, 2, 3] for t in range(1, 60)]
    motion = read_motion(write(tmp_path, "30_01.bvh", cmu_bvh([[0, 17, -10, 0, 0, 0], *easing, *steady])))
    assert motion.source.first_frame == 3
    assert motion.n_frames == 60
    assert "2 more lead out of it; dropped" in motion.source.notes[-1]


def test_a_subject_recorded_at_60_is_not_believed_at_120(tmp_path):
    text = cmu_bvh(WALK)
    motion = read_motion(write(tmp_path, "60_05.bvh", text))
    assert (motion.fps, round(motion.source.fps_claimed)) == (60.0, 120)
    assert "the file claims 120; subject 60 was recorded at 60" in motion.source.fps_note
    assert read_motion(write(tmp_path, "62_05.bvh", text)).fps == 120.0
    given = read_motion(tmp_path / "60_05.bvh", options={"fps": "120"})
    assert (given.fps, given.source.fps_note) == (120.0, "")
    other = BVH.replace("ROOT hips", "ROOT pelvis")
    elsewhere = read_motion(write(tmp_path, "60_06.bvh", other), options={"units": "cm"})
    assert elsewhere.fps == 120.0, "the table is for files of CMU only"


def test_a_body_with_the_bones_of_another_subject_is_scaled_back(tmp_path):
    text = cmu_bvh(WALK).replace("OFFSET 1.5 -1.8 0", "OFFSET 1.36306 -1.79463 0.83929")
    fitted = read_motion(write(tmp_path, "02_01.bvh", text))
    assert fitted.source.metres_per_unit == pytest.approx(UNIT / 1.063)
    assert "bones of subject 1" in " ".join(fitted.source.notes)
    own = read_motion(write(tmp_path, "01_01.bvh", text))
    assert own.source.metres_per_unit == pytest.approx(UNIT)


def test_a_body_has_not_thousands_of_joints(tmp_path, monkeypatch):
    """20,000 joints took 40 s, and a frame of three numbers 0.5 MB."""
    joint = "  JOINT j{} {{ OFFSET 0 0 0 CHANNELS 0 }}\n".replace(" {{ ", "\n{{\n").replace(" }}", "\n}}")
    joints = "".join(joint.replace("0 CHANNELS", "0\nCHANNELS").format(i) for i in range(1_000))
    with pytest.raises(DataError, match=r"leg\.bvh:\d+: .*more than 1,000 joints; a body has some dozen"):
        read_motion(write(tmp_path, "leg.bvh", BVH.replace("  JOINT knee", joints + "  JOINT knee")))
    monkeypatch.setattr(bvh, "_MOST_PLACES", 5)
    with pytest.raises(DataError, match=r"3 joints in 2 frames are 6 places; expected at most 5"):
        read_motion(write(tmp_path, "leg.bvh", BVH), options={"units": "cm"})


def test_a_skeleton_that_lacks_bones_and_joints_is_refused(tmp_path):
    asf = write(tmp_path, "leg.asf", ASF.format(length="0.45"))
    options = {"skeleton": str(asf)}
    with pytest.raises(UsageError, match="no known release"):
        read_motion(write(tmp_path, "leg.bvh", BVH), options={"units": "cm", "skeleton": str(asf)})
    with pytest.raises(DataError, match="the skeleton of this BVH has no joint LeftToeBase, RightToeBase"):
        read_motion(write(tmp_path, "30_01.bvh", cmu_bvh(WALK)), options=options)
    toe = r"JOINT \1ToeBase\n{\nOFFSET 0 0 1\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 0 1\n}\n}\n"
    whole = re.sub(r"(?<=JOINT )(Left|Right)(Foot\n.*\n.*\n.*\n)", r"\1\2" + toe, cmu_bvh(WALK))
    with pytest.raises(DataError, match=r"leg\.asf has no bone head, lclavicle"):
        read_motion(write(tmp_path, "30_02.bvh", whole), options=options)


def test_a_body_can_be_scaled_to_a_stature(tmp_path):
    """From the ankles to the head are 0.896 of the stature (Winter's table)."""
    path = write(tmp_path, "30_01.bvh", cmu_bvh(WALK))
    figure = body(read_motion(path, options={"units": "stature:1.8"}))
    ankles = (
        figure.positions_m[0, figure.index("left_ankle")] + figure.positions_m[0, figure.index("right_ankle")]
    ) / 2
    tall = np.linalg.norm(figure.positions_m[0, figure.index("head")] - ankles)
    assert tall == pytest.approx(1.8 * 0.896, rel=1e-6)
    with pytest.raises(DataError, match="no head by which"):
        read_motion(write(tmp_path, "leg.bvh", BVH), options={"units": "stature:1.8"})
