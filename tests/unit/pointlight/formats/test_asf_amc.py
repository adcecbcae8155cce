import numpy as np
import pytest

from subjects.mocap_files import AMC, ASF, write
from vidence.errors import DataError, UsageError
from vidence.pointlight import checks
from vidence.pointlight.reading import read_motion

UNIT = 25.4 / 0.45 / 1000  # metres: one unit is 1 / 0.45 inch


@pytest.fixture
def amc(tmp_path):
    write(tmp_path, "07.asf", ASF.format(length="0.45"))
    return write(tmp_path, "07_01.amc", AMC)


def test_points_are_where_paper_says(amc, tmp_path):
    """Frame 1: the leg hangs from (1, 2, 3). Frame 2: root turned by 90° about y, shin by 90° about x."""
    motion = read_motion(amc)
    assert motion.names == ("root", "thigh", "shin")
    assert motion.parents == (-1, 0, 1)
    expected = [[[1, 2, 3], [1, -6, 3], [1, -13, 3]], [[1, 2, 3], [1, -6, 3], [1 - 7, -6, 3]]]
    np.testing.assert_allclose(motion.positions_m / UNIT, expected, atol=1e-9)
    assert motion.source.metres_per_unit == pytest.approx(0.0564444, abs=1e-7)
    assert motion.source.fps_claimed is None
    assert "120" in motion.source.fps_note
    swapped = AMC.replace("thigh 0 0 0\nshin 0\n", "shin 0\nthigh 0 0 0\n")
    np.testing.assert_array_equal(
        read_motion(write(tmp_path, "07_02.amc", swapped)).positions_m, motion.positions_m
    )
    turned = AMC.replace(":DEGREES", ":RADIANS").replace("0 90 0", "0 1.5707963267949 0")
    other = read_motion(write(tmp_path, "07_02.amc", turned.replace("shin 90", "shin 1.5707963267949")))
    np.testing.assert_allclose(other.positions_m, motion.positions_m, atol=1e-12)
    amc.write_text(":FULLY-SPECIFIED\n:DEGREES\n")
    with pytest.raises(DataError, match="no frames"):
        read_motion(amc)


def test_the_axes_of_a_bone_turn_its_angles(tmp_path):
    """The x axis of the thigh is the y axis of the world: 90° about it leave a hanging bone where it is."""
    write(tmp_path, "07.asf", ASF.format(length="0.45"))
    about_x = AMC.replace("thigh 0 0 0", "thigh 90 0 0", 1)
    about_y = AMC.replace("thigh 0 0 0", "thigh 0 90 0", 1)
    first = read_motion(write(tmp_path, "07_01.amc", about_x)).positions_m[0, 1] / UNIT
    second = read_motion(write(tmp_path, "07_02.amc", about_y)).positions_m[0, 1] / UNIT
    np.testing.assert_allclose(first, [1, -6, 3], atol=1e-9)
    np.testing.assert_allclose(second, [1, 2, 3 + 8], atol=1e-9)


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (
            ("root 1 2 3 0 90 0\nthigh 0 0 0\nshin 90\n", "root 1 2 3 0 90 0\nthi"),
            10,
            "'thi' is not a moving bone",
        ),
        (("shin 90\n", ""), 10, "frame 2 ends without shin"),
        (("shin 90\n", "shin 90 4\n"), 11, "shin has 2 numbers, the skeleton wants 1 (rx)"),
        (("thigh 0 0 0", "shin 0 0 0"), 6, "shin has 3 numbers"),
        (("shin 0\n", "shin 0\nshin 0\n"), 8, "shin appears twice in frame 1"),
        (("shin 90", "shin nan"), 11, "not finite"),
        (("shin 90", "shin ninety"), 11, "cannot read the numbers of shin"),
        (("\n2\n", "\n4\n"), 8, "frame 4 follows frame 1"),
        (("\n1\nroot", "\nroot"), 4, "expected the number of a frame"),
        (("shin 90", "tail 90"), 11, "'tail' is not a moving bone"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(amc, change, line, words):
    amc.write_text(AMC.replace(*change, 1))
    with pytest.raises(DataError) as caught:
        read_motion(amc)
    assert f"07_01.amc:{line}: " in str(caught.value)
    assert words in str(caught.value)


def test_a_missing_skeleton_says_what_was_looked_for(tmp_path):
    path = write(tmp_path, "07_01.amc", AMC)
    with pytest.raises(DataError, match=r"skeleton is missing; looked beside it for 07_01\.asf .* no \.asf"):
        read_motion(path)
    other = write(tmp_path, "other.asf", ASF.format(length="0.45"))
    with pytest.raises(DataError, match=r"found other\.asf"):
        read_motion(path)
    assert read_motion(path, options={"skeleton": str(other)}).n_frames == 2


@pytest.mark.parametrize(
    ("asf", "amc"), [("walk.asf", "walk2.amc"), ("7.asf", "07_03.amc"), ("a.asf", "a.amc")]
)
def test_the_skeleton_is_found_by_name_and_subject(tmp_path, asf, amc):
    write(tmp_path, asf, ASF.format(length="0.45"))
    assert read_motion(write(tmp_path, amc, AMC)).source.notes == ()


def test_a_stand_in_is_flagged(tmp_path):
    write(tmp_path, "12.asf", ASF.format(length="0.45"))
    motion = read_motion(write(tmp_path, "13_29.amc", AMC))
    notes = motion.source.notes
    assert checks.skeleton(motion).message == "the bones, or the angles, are those of 12.asf"
    assert checks.skeleton(read_motion(write(tmp_path, "12_01.amc", AMC))).verdict == "fine"
    assert "no skeleton of subject 13: 12.asf stands in" in notes[0]
    with pytest.raises(DataError, match="skeleton is missing"):
        read_motion(write(tmp_path, "15_01.amc", AMC))


def test_an_unknown_unit_is_asked_for(tmp_path):
    write(tmp_path, "07.asf", ASF.format(length="1.0"))
    path = write(tmp_path, "07_01.amc", AMC)
    with pytest.raises(DataError, match="how fast"):
        read_motion(path)
    with pytest.raises(DataError, match=r"length 1; nothing tells how long one unit is.*15 units"):
        read_motion(path, options={"fps": "100"})
    motion = read_motion(path, options={"fps": "100", "units": "cm"})
    assert motion.source.metres_per_unit == 0.01
    assert motion.fps == 100.0
    with pytest.raises(UsageError, match="furlong"):
        read_motion(path, options={"units": "furlong"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("    length 8\n", ""), "lacks its measures"),
        (("length 8", "length eight"), "cannot read"),
        (("thigh shin", "calf shin"), "has children before"),
        (("root thigh", "root tail"), "no entry in :bonedata"),
        (("    thigh shin\n", ""), "the bones shin have no place"),
        (("angle deg", "angle gon"), "deg or rad"),
        (("dof rx ry rz", "dof rx tx"), "not supported"),
        (("axis 0 0 90 XYZ", "axis 0 0 90 XYY"), "no order of the axes"),
    ],
)
def test_a_damaged_skeleton(tmp_path, change, words):
    write(tmp_path, "07.asf", ASF.format(length="0.45").replace(*change, 1))
    with pytest.raises(DataError, match=words) as caught:
        read_motion(write(tmp_path, "07_01.amc", AMC))
    assert "07.asf" in str(caught.value)
