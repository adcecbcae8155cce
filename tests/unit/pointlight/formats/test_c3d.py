"""C3D files: markers, units, subjects, and damage."""

import gzip
import random
import struct
import warnings

import numpy as np
import pytest

from subjects.mocap_files import write_c3d
from vidence.errors import DataError
from vidence.pointlight.body import body
from vidence.pointlight.checks import inspect
from vidence.pointlight.formats.c3d import read_c3d
from vidence.pointlight.reading import UnpackedFile, read_motion, read_motions

pytest.importorskip("ezc3d", reason="the test group has ezc3d")
MARKERS = [
    *("LFHD", "RFHD", "LBHD", "RBHD", "C7", "CLAV", "LSHO", "RSHO", "LELB", "RELB", "LWRA", "LWRB"),
    *("RWRA", "RWRB", "LFWT", "RFWT", "LBWT", "RBWT", "LKNE", "RKNE", "LANK", "RANK"),
]


def cloud(n_points, n_frames=10):
    """Points at (1000 + point, 2000 + frame, 3000) mm."""
    points = np.empty((n_frames, n_points, 3))
    points[..., 0] = 1000 + np.arange(n_points)
    points[..., 1] = 2000 + np.arange(n_frames)[:, None]
    points[..., 2] = 3000
    return points


def test_millimetres_and_z_up_become_metres_and_y_up(tmp_path):
    motion = read_motion(write_c3d(tmp_path / "a.c3d", [f"Ann:{m}" for m in MARKERS], cloud(len(MARKERS))))
    assert motion.names == tuple(MARKERS)
    assert (motion.kind, motion.fps, motion.source.fps_claimed) == ("markers", 120.0, 120.0)
    assert "'Ann'" in " ".join(motion.source.notes)
    np.testing.assert_allclose(motion.positions_m[3, 2], [2.003, 3.0, 1.002], atol=1e-6)
    packed = tmp_path / "b.c3d.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.c3d").read_bytes()))
    np.testing.assert_array_equal(read_motion(packed).positions_m, motion.positions_m)


def test_markers_are_chosen_by_label_among_many(tmp_path):
    """330 points, as in CMU's 49_04: computed joints and surface points before and after the markers."""
    labels = [f"S:LFE{i}" for i in range(154)] + [f"S:{m}" for m in MARKERS] + [f"S:*{i}" for i in range(154)]
    assert len(labels) == 330
    path = write_c3d(tmp_path / "a.c3d", labels, cloud(330))
    motion = read_motion(path)
    assert motion.names == tuple(MARKERS)
    assert "330 points in the file; 22 taken by their labels" in motion.source.notes
    np.testing.assert_allclose(motion.positions_m[0, 0, 2], 1.154, atol=1e-6)
    assert len(read_motion(path, options={"points": "all"}).names) == 330


def test_hidden_markers_are_told_from_places(tmp_path):
    points = cloud(len(MARKERS))
    points[4, 1], points[5:, 2] = np.nan, 0.0
    motion = read_motion(write_c3d(tmp_path / "a.c3d", MARKERS, points))
    assert motion.is_valid.sum() == motion.is_valid.size - 1 - 5
    assert np.isnan(motion.positions_m[4, 1]).all()
    assert "exactly at the origin" in " ".join(motion.source.notes)
    # A hidden marker of four does not make the head jump.
    points = cloud(len(MARKERS))
    points[4:6, 0] = np.nan
    figure = body(read_motion(write_c3d(tmp_path / "a.c3d", MARKERS, points)))
    head = figure.positions_m[:, figure.index("head")]
    assert figure.is_valid[:, 0].all()
    np.testing.assert_allclose(head[:, 2], (1.000 + 1.001 + 1.002 + 1.003) / 4, atol=1e-6)
    with pytest.raises(DataError, match="no point is seen in any of 10 frames"):
        read_motion(write_c3d(tmp_path / "a.c3d", MARKERS, np.full((10, len(MARKERS), 3), np.nan)))


def test_two_subjects_must_be_told_apart(tmp_path):
    labels = [f"{who}:{m}" for who in ("Ann", "Bob") for m in MARKERS]
    path = write_c3d(tmp_path / "a.c3d", labels, cloud(len(labels)))
    with pytest.raises(DataError, match=r"several subjects: Ann, Bob; give subject=NAME"):
        read_motion(path)
    bob = read_motion(path, options={"subject": "Bob"})
    np.testing.assert_allclose(bob.positions_m[0, 0, 2], 1.0 + len(MARKERS) / 1000, atol=1e-6)
    with pytest.raises(DataError, match="no subject 'Eve'"):
        read_motion(path, options={"subject": "Eve"})


def test_units(tmp_path):
    metres = write_c3d(tmp_path / "m.c3d", MARKERS, cloud(len(MARKERS)) / 1000, unit="m")
    np.testing.assert_allclose(read_motion(metres).positions_m[0, 0], [2.0, 3.0, 1.0], atol=1e-6)
    strange = write_c3d(tmp_path / "s.c3d", MARKERS, cloud(len(MARKERS)), unit="cubit")
    with pytest.raises(DataError, match=r"its unit is 'cubit'.*Give units="):
        read_motion(strange)
    assert read_motion(strange, options={"units": "0.5"}).source.metres_per_unit == 0.5


def test_no_c3d(tmp_path):
    path = tmp_path / "a.c3d"
    path.write_bytes(b"HIERARCHY" * 100)
    with pytest.raises(DataError, match="is no C3D"):
        read_motion(path, format="c3d")
    whole = write_c3d(tmp_path / "b.c3d", MARKERS, cloud(len(MARKERS))).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"a\.c3d is cut off: \d+ bytes, but its header announces 10 frames"):
        read_motion(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match="empty"):
        read_motion(path)
    assert whole.count(struct.pack("<f", 120.0)) >= 2, "in the header and among the parameters"
    path.write_bytes(whole.replace(struct.pack("<f", 120.0), struct.pack("<f", 0.0)))
    with pytest.raises(DataError, match="how fast it was recorded"):
        read_motion(path)


INTEL, VAX, MIPS = 84, 85, 86
LABELS = ("S:LKNE", "S:RKNE", "S:LANK")


def float_bytes(value, processor):
    if processor == VAX:  # times 4, halves changed
        low, high = struct.unpack("<HH", struct.pack("<f", value * 4))
        return struct.pack("<HH", high, low)
    return struct.pack("<f" if processor == INTEL else ">f", value)


def parameter(number, name, kind, dims, data, *, order):
    body = bytes([kind & 0xFF, len(dims), *dims]) + data + b"\0"
    return (
        struct.pack("bb", len(name), number) + name.encode() + struct.pack(order + "h", 2 + len(body)) + body
    )


def group(number, name, *, order):
    return struct.pack("bb", len(name), -number) + name.encode() + struct.pack(order + "h", 3) + b"\0"


def made(points, *, processor=INTEL, scale=-0.1, n_analog=0, first=1, used=None, frames=None, trial=None):
    """A C3D of places (n_frames, n_points, 3); NaN is not seen. `scale` above 0 stores whole numbers."""
    order = ">" if processor == MIPS else "<"
    n_frames, n_points = points.shape[:2]
    last = min(first + n_frames - 1, 0xFFFF)

    def integer(v):
        return struct.pack(order + "H", v & 0xFFFF)

    def stored(v):
        return float_bytes(v, processor) if scale < 0 else struct.pack(order + "h", round(v))

    words = [integer(v) for v in (n_points, n_analog, first, last, 0)]
    head = bytes([2, 0x50]) + b"".join(words) + float_bytes(scale, processor) + integer(4) + integer(0)
    texts = b"".join(x.ljust(8).encode() for x in LABELS[:n_points])
    held = [
        group(1, "POINT", order=order),
        parameter(1, "USED", 2, [], integer(used or n_points), order=order),
        parameter(1, "FRAMES", 2, [], integer(frames or n_frames), order=order),
        parameter(1, "RATE", 4, [], float_bytes(60.0, processor), order=order),
        parameter(1, "UNITS", -1, [2], b"mm", order=order),
        parameter(1, "LABELS", -1, [8, n_points], texts, order=order),
    ]
    if trial:
        fields = [struct.pack(order + "HH", v & 0xFFFF, v >> 16) for v in trial]
        held += [group(2, "TRIAL", order=order)]
        held += [
            parameter(2, f"ACTUAL_{n}_FIELD", 2, [2], f, order=order)
            for n, f in zip(("START", "END"), fields, strict=True)
        ]
    section = bytes([1, 0x50, 2, processor]) + b"".join(held) + b"\0\0"
    rows = []
    for frame in points:
        for place in frame:
            seen = np.isfinite(place).all()
            values = [*(place if seen else (0, 0, 0)), 0.0 if seen else -1.0]
            rows += [stored(v / (scale if scale > 0 else 1)) for v in values[:3]] + [stored(values[3])]
        rows += [stored(7.0)] * n_analog
    return head.ljust(20, b"\0").ljust(512, b"\0") + section.ljust(1024, b"\0") + b"".join(rows)


def opened(data):
    return UnpackedFile(path=None, label="a.c3d", name="a.c3d", data=data)


def places(n_frames=12, n_points=3):
    points = np.arange(n_frames * n_points * 3, dtype=float).reshape(n_frames, n_points, 3) * 10
    points[4, 1] = np.nan
    return points


@pytest.mark.parametrize("processor", [INTEL, VAX, MIPS])
@pytest.mark.parametrize(("scale", "n_analog"), [(-0.1, 0), (0.5, 0), (-0.1, 5)])
def test_every_order_of_bytes(processor, scale, n_analog):
    file = read_c3d(opened(made(places(), processor=processor, scale=scale, n_analog=n_analog)))
    np.testing.assert_allclose(file.positions, places())
    assert (file.labels, file.unit, file.fps) == (LABELS, "mm", 60.0)


def test_more_frames_than_a_header_can_count():
    points = np.ones((66_000, 1, 3))
    by_trial = made(points, frames=0xFFFF, trial=(1, 66_000))
    assert read_c3d(opened(by_trial)).positions.shape == (66_000, 1, 3)
    with pytest.raises(DataError, match="is cut off"):
        read_c3d(opened(by_trial[:-2000]))
    backwards = made(places(), first=0xFFFF)  # it ends in frame 65535 as well: nothing is told
    assert read_c3d(opened(backwards[:8] + b"\0\0" + backwards[10:])).positions.shape == (12, 3, 3)


def changed(at, value):
    data = bytearray(made(places()))
    data[at : at + len(value)] = value
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (changed(0, b"\x7f"), "by its header, parameters begin in block 127"),
        (changed(515, b"\x09"), "at byte 515, 9 is no known order of bytes"),
        (changed(2, b"\x09\x00"), "its header has 9 points, its parameters have 3"),
        (changed(8, b"\x05\x00"), "its header has 5 frames, its parameters have 12"),
        (changed(16, b"\x01\x00"), "by its header, points begin before the parameters"),
        (changed(12, b"\0\0\0\0"), "its scale is 0"),
        (changed(523, b"\x00\x80"), "at byte 523, the next parameter would follow after -32768 bytes"),
        (changed(526, b"\x7f")[:600], "at byte 526, a parameter ends after the last"),
        (changed(534, b"\x09"), "at byte 526, a parameter of type 9 with 0 dimensions does not fit"),
        (changed(516, b"\0"), "it has no parameter POINT:USED"),
        (made(places(), used=4), "its header has 3 points, its parameters have 4"),
        (made(places()[:, :0]), "no points, or no frames"),
        (made(places(), first=0xFFFF, frames=0x10000), "neither its header nor its parameters tell"),
        (b"\x02\x50" + bytes(600), "is no known order of bytes"),
    ],
)
def test_damage_is_told_with_its_place(data, match):
    with pytest.raises(DataError, match=match):
        read_c3d(opened(data))


def test_random_bytes_end_with_an_error_or_a_motion(tmp_path):
    """In the header, in the parameters, in the points, everywhere, and cut off."""
    whole, path = made(places(40)), tmp_path / "a.c3d"
    ends = {"read": 0, "refused": 0}
    for seed in range(200):
        rng = random.Random(seed)
        low, high = [(0, 512), (512, 900), (1536, len(whole)), (0, len(whole))][seed % 4]
        data = bytearray(whole if seed % 8 < 6 else rng.randbytes(len(whole)))
        for _ in range(rng.randint(1, 12)):
            data[rng.randrange(low, high)] = rng.randrange(256)
        data[1] = 0x50
        path.write_bytes(bytes(data[: rng.randint(512, len(data))] if seed % 5 == 0 else data))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ((_, read),) = read_motions([path], format="c3d")
            if isinstance(read, DataError):
                assert "a.c3d" in str(read)
                ends["refused"] += 1
            else:
                inspect(read)
                ends["read"] += 1
    assert min(ends.values()) > 25, ends
