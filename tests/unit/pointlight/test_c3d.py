import gzip
import struct

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.pointlight.body import body
from vidence.pointlight.reading import read_motion

ezc3d = pytest.importorskip("ezc3d", reason="the test group has ezc3d")
MARKERS = [
    *("LFHD", "RFHD", "LBHD", "RBHD", "C7", "CLAV", "LSHO", "RSHO", "LELB", "RELB", "LWRA", "LWRB"),
    *("RWRA", "RWRB", "LFWT", "RFWT", "LBWT", "RBWT", "LKNE", "RKNE", "LANK", "RANK"),
]


def write(path, labels, points, *, rate=120.0, unit="mm"):
    """Write a C3D; `points` has the shape (n_frames, n_points, 3)."""
    made = ezc3d.c3d()
    made["parameters"]["POINT"]["RATE"]["value"] = [rate]
    made["parameters"]["POINT"]["UNITS"]["value"] = [unit]
    made["parameters"]["POINT"]["LABELS"]["value"] = list(labels)
    data = np.ones((4, len(labels), len(points)))
    data[:3] = np.moveaxis(points, 2, 0).swapaxes(1, 2)
    made["data"]["points"] = data
    made.write(str(path))
    return path


def cloud(n_points, n_frames=10):
    """Points at (1000 + point, 2000 + frame, 3000) mm."""
    points = np.empty((n_frames, n_points, 3))
    points[..., 0] = 1000 + np.arange(n_points)
    points[..., 1] = 2000 + np.arange(n_frames)[:, None]
    points[..., 2] = 3000
    return points


def test_millimetres_and_z_up_become_metres_and_y_up(tmp_path):
    motion = read_motion(write(tmp_path / "a.c3d", [f"Ann:{m}" for m in MARKERS], cloud(len(MARKERS))))
    assert motion.names == tuple(MARKERS)
    assert (motion.kind, motion.fps, motion.source.fps_claimed) == ("markers", 120.0, 120.0)
    assert "'Ann'" in " ".join(motion.source.notes)
    np.testing.assert_allclose(motion.positions_m[3, 2], [2.003, 3.0, 1.002], atol=1e-6)


def test_a_gzipped_file_is_read(tmp_path):
    plain = write(tmp_path / "a.c3d", MARKERS, cloud(len(MARKERS)))
    packed = tmp_path / "b.c3d.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    np.testing.assert_array_equal(read_motion(packed).positions_m, read_motion(plain).positions_m)


def test_markers_are_chosen_by_label_among_many(tmp_path):
    """330 points, as in CMU's 49_04: computed joints and surface points before and after the markers."""
    labels = [f"S:LFE{i}" for i in range(154)] + [f"S:{m}" for m in MARKERS] + [f"S:*{i}" for i in range(154)]
    assert len(labels) == 330
    path = write(tmp_path / "a.c3d", labels, cloud(330))
    motion = read_motion(path)
    assert motion.names == tuple(MARKERS)
    assert "330 points in the file; 22 taken by their labels" in motion.source.notes
    np.testing.assert_allclose(motion.positions_m[0, 0, 2], 1.154, atol=1e-6)
    assert len(read_motion(path, options={"points": "all"}).names) == 330


def test_hidden_markers_are_told_from_places(tmp_path):
    points = cloud(len(MARKERS))
    points[4, 1], points[5:, 2] = np.nan, 0.0
    motion = read_motion(write(tmp_path / "a.c3d", MARKERS, points))
    assert motion.is_valid.sum() == motion.is_valid.size - 1 - 5
    assert np.isnan(motion.positions_m[4, 1]).all()
    assert "exactly at the origin" in " ".join(motion.source.notes)


def test_a_hidden_marker_of_four_does_not_make_the_head_jump(tmp_path):
    points = cloud(len(MARKERS))
    points[4:6, 0] = np.nan
    figure = body(read_motion(write(tmp_path / "a.c3d", MARKERS, points)))
    head = figure.positions_m[:, figure.index("head")]
    assert figure.is_valid[:, 0].all()
    np.testing.assert_allclose(head[:, 2], (1.000 + 1.001 + 1.002 + 1.003) / 4, atol=1e-6)


def test_never_seen(tmp_path):
    path = write(tmp_path / "a.c3d", MARKERS, np.full((10, len(MARKERS), 3), np.nan))
    with pytest.raises(DataError, match="no point is seen in any of 10 frames"):
        read_motion(path)


def test_two_subjects_must_be_told_apart(tmp_path):
    labels = [f"{who}:{m}" for who in ("Ann", "Bob") for m in MARKERS]
    path = write(tmp_path / "a.c3d", labels, cloud(len(labels)))
    with pytest.raises(DataError, match=r"several subjects: Ann, Bob; give subject=NAME"):
        read_motion(path)
    bob = read_motion(path, options={"subject": "Bob"})
    np.testing.assert_allclose(bob.positions_m[0, 0, 2], 1.0 + len(MARKERS) / 1000, atol=1e-6)
    with pytest.raises(DataError, match="no subject 'Eve'"):
        read_motion(path, options={"subject": "Eve"})


def test_units(tmp_path):
    metres = write(tmp_path / "m.c3d", MARKERS, cloud(len(MARKERS)) / 1000, unit="m")
    np.testing.assert_allclose(read_motion(metres).positions_m[0, 0], [2.0, 3.0, 1.0], atol=1e-6)
    strange = write(tmp_path / "s.c3d", MARKERS, cloud(len(MARKERS)), unit="cubit")
    with pytest.raises(DataError, match=r"its unit is 'cubit'.*Give units="):
        read_motion(strange)
    assert read_motion(strange, options={"units": "0.5"}).source.metres_per_unit == 0.5


def test_no_rate(tmp_path):
    path = write(tmp_path / "a.c3d", MARKERS, cloud(len(MARKERS)), rate=120.0)
    data = path.read_bytes()
    assert data.count(struct.pack("<f", 120.0)) >= 2, "in the header and among the parameters"
    path.write_bytes(data.replace(struct.pack("<f", 120.0), struct.pack("<f", 0.0)))
    with pytest.raises(DataError, match="how fast it was recorded"):
        read_motion(path)


def test_no_c3d(tmp_path):
    path = tmp_path / "a.c3d"
    path.write_bytes(b"HIERARCHY" * 100)
    with pytest.raises(DataError, match="is no C3D"):
        read_motion(path, format="c3d")
    whole = write(tmp_path / "b.c3d", MARKERS, cloud(len(MARKERS))).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"a\.c3d is cut off: \d+ bytes, but its header announces 10 frames"):
        read_motion(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match="empty"):
        read_motion(path)
