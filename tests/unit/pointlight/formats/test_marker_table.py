import numpy as np
import pytest

from subjects.mocap_files import write
from vidence.errors import DataError
from vidence.pointlight.body import POINTS_13, body
from vidence.pointlight.formats.expmap import JOINTS, N_COLUMNS
from vidence.pointlight.formats.leuven import POINTS as LEUVEN
from vidence.pointlight.reading import read_motion

HEADING = "Field\tTime\tAnn:C7:X\tAnn:C7:Y\tAnn:C7:Z\tAnn:RBAC:X\tAnn:RBAC:Y\tAnn:RBAC:Z\n"
ROWS = "1\t0.0000\t100\t200\t300\t1\t2\t3\n2\t0.0083\t110\t200\t300\t-9999.99\t-9999.99\t-9999.99\n"
ROWS += "3\t0.0167\t120\t200\t300\t1\t2\t3\n"
# Where a person stands in units of 5 mm, by x, y, z; the left side is at +x of somebody who looks along +z.
STANDING = {
    "head": (0, 320, 0),
    "shoulder": (40, 280, 0),
    "elbow": (50, 220, -5),
    "wrist": (50, 170, 10),
    "hip": (25, 180, 0),
    "knee": (25, 100, 5),
    "ankle": (25, 16, 0),
}


def place(name):
    """Where a point of the standing person is."""
    x, y, z = STANDING[name.split("_")[-1]]
    return (-x if name.startswith("right") else x, y, z)


def test_a_table_of_markers(tmp_path):
    motion = read_motion(write(tmp_path, "walk.txt", HEADING + ROWS))
    assert motion.source.format == "marker-table"
    assert motion.names == ("C7", "RBAC")
    assert motion.fps == 120.0
    np.testing.assert_allclose(motion.positions_m[1, 0], [0.2, 0.3, 0.11])
    assert motion.is_valid.tolist() == [[True, True], [True, False], [True, True]]


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("110\t", ""), 3, "7 numbers, the heading announces 8"),
        (("110\t", "much\t"), 3, "cannot read a number"),
        (("0.0083", "0.0000"), 3, "the time does not go on"),
        (("0.0167", "0.0501"), 3, "the time jumps"),
        (("Ann:C7:Z", "Ann:T10:Z"), 1, "columns 3 to 5 are not X, Y, Z of one marker"),
    ],
)
def test_a_damaged_table(tmp_path, change, line, words):
    with pytest.raises(DataError) as caught:
        read_motion(write(tmp_path, "walk.txt", (HEADING + ROWS).replace(*change, 1)))
    assert f"walk.txt:{line}: " in str(caught.value)
    assert words in str(caught.value)


def data3d(n_frames=3):
    rows = np.array([place(p) for p in POINTS_13], dtype=float).T
    return "\n".join("\t".join(f"{v:.2f}" for v in row) for _ in range(n_frames) for row in rows) + "\n"


def test_data3d(tmp_path):
    """Ankles at 16 and head at 320 units: 304 units (with the ankles 0 apart) are 0.896 of 1.7 m."""
    motion = read_motion(write(tmp_path, "60_06.data3d.txt", data3d()))
    assert (motion.kind, motion.names, motion.n_frames, motion.fps) == ("body", POINTS_13, 3, 60.0)
    metres = 1.7 * 0.896 / 304
    np.testing.assert_allclose(motion.positions_m[0, 1], np.array([40, 280, 0]) * metres, rtol=1e-9)
    assert "has no unit; scaled so that the body stands 1.7 m tall" in motion.source.notes[0]
    given = read_motion(tmp_path / "60_06.data3d.txt", options={"units": "0.005"})
    np.testing.assert_allclose(given.positions_m[0, 1], [0.2, 1.4, 0])
    path = write(tmp_path, "walker_data3d.txt", data3d())
    with pytest.raises(DataError, match="give fps="):
        read_motion(path)
    assert read_motion(path, options={"fps": "30"}).fps == 30.0


def test_a_damaged_data3d(tmp_path):
    cut = "\n".join(data3d().splitlines()[:-1])
    with pytest.raises(DataError, match=r"60_06\.data3d\.txt:8: 8 lines; three make a frame"):
        read_motion(write(tmp_path, "60_06.data3d.txt", cut))
    short = data3d().replace("\t0.00\n", "\n", 1)
    with pytest.raises(DataError, match=r":2: 12 numbers|:1: 12 numbers|:3: 12 numbers"):
        read_motion(write(tmp_path, "60_07.data3d.txt", short), format="data3d")


def leuven(n_frames=4, *, head="frames = 4 markers = 13 Hz = 30"):
    rows = [" ".join(str(v) for v in (x, z, y)) for x, y, z in (place(p) for p in LEUVEN)]
    return head + "\t\t\r\n" + "\r\n".join(rows * n_frames) + "\r\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8"])
def test_leuven(tmp_path, encoding):
    path = tmp_path / "stand.rex"
    path.write_bytes(leuven().encode(encoding))
    motion = read_motion(path)
    assert (motion.fps, motion.n_frames, motion.source.fps_claimed) == (30.0, 4, 30.0)
    figure = body(motion)
    expected = np.array([place(p) for p in POINTS_13]) * motion.source.metres_per_unit
    np.testing.assert_allclose(figure.positions_m[0], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (leuven(3), r":40: 39 points, but the heading announces 52"),
        (leuven(head="frames = 4 markers = 15 Hz = 30"), r":1: 15 markers"),
        (leuven().replace("0 0 320", "0 320", 1), r":2: 2 numbers, expected x, z and y"),
        (leuven().replace("0 0 320", "0 0 top", 1), r":2: cannot read a number"),
    ],
)
def test_a_damaged_leuven_file(tmp_path, text, words):
    with pytest.raises(DataError, match=words):
        read_motion(write(tmp_path, "stand.rex", text))


def expmap(n_frames=3):
    row = ["1.0", "17.0", "2.0", *(["0.1"] * 3), *(["-0"] * (N_COLUMNS - 6))]
    return "\n".join(",".join(row) for _ in range(n_frames)) + "\n"


def test_the_joints_of_exponential_maps_are_in_the_order_of_the_release():
    assert len(JOINTS) == 38
    names = [j for j, _, _ in JOINTS]
    assert names[:4] == ["Hips", "LeftHipJoint", "LeftUpLeg", "LeftLeg"]
    assert names[13:21] == [
        "LowerBack", "Spine", "Spine1", "Neck", "Neck1", "Head", "Head end", "LeftShoulder",
    ]  # fmt: skip
    assert all(parent == "" or parent in names[:i] for i, (_, parent, _) in enumerate(JOINTS))
