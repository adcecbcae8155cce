"""Joints in the legs from markers: what was put in comes out, also where skin slides or markers hide."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from vidence.pointlight.body import body, hip_centres, left_on_skin, leg_joints, whole
from vidence.pointlight.formats.format_options import KNOWN
from vidence.pointlight.motion import Motion

WAIST = np.array([[0.12, 1.0, 0.1], [-0.12, 1.0, 0.1], [0.06, 1.0, -0.08], [-0.06, 1.0, -0.08]])
STATURE_M = 1.70
THIGH_M, SHANK_M = 0.245 * STATURE_M, 0.246 * STATURE_M
OUT_KNEE_M, OUT_ANKLE_M = 0.0475 + 0.007, 0.035 + 0.007


def legs(n_frames=60, *, knee_deg=(5.0, 70.0), yaw_deg=30.0):
    """A body that walks on the spot, seen from `yaw_deg`: its true joints, and its markers."""
    phase = np.linspace(0, 4 * np.pi, n_frames)
    view = Rotation.from_euler("y", yaw_deg, degrees=True)
    waist = np.tile(WAIST, (n_frames, 1, 1))
    joints, markers = {}, {"knee": [], "ankle": []}
    for side, out, shift in (("left", 1.0, 0.0), ("right", -1.0, np.pi)):
        hip = hip_centres(waist)[0 if out > 0 else 1]
        swing = np.radians(25) * np.sin(phase + shift)
        low, high = np.radians(knee_deg)
        bend = low + (high - low) * (1 + np.cos(phase + shift)) / 2
        turn = Rotation.from_euler("y", out * 10, degrees=True)
        axis = turn.apply([out, 0.0, 0.0])
        left = axis * out  # both knees bend about the axis to the left
        thigh = Rotation.from_rotvec(-swing[:, None] * left)
        knee = hip + thigh.apply([0.0, -THIGH_M, 0.0])
        ankle = knee + (Rotation.from_rotvec(bend[:, None] * left) * thigh).apply([0.0, -SHANK_M, 0.0])
        joints |= {f"{side}_hip": hip, f"{side}_knee": knee, f"{side}_ankle": ankle}
        markers["knee"].append(knee + OUT_KNEE_M * axis)
        markers["ankle"].append(ankle + OUT_ANKLE_M * axis)

    def seen(points):
        return view.apply(np.reshape(points, (-1, 3))).reshape(np.shape(points))

    true = {name: seen(places) for name, places in joints.items()}
    return true, seen(waist), *(seen(np.stack(markers[j], axis=1)) for j in ("knee", "ankle"))


def errors_m(found, true, joint):
    return np.concatenate([np.linalg.norm(found[n] - true[n], axis=1) for n in true if n.endswith(joint)])


def test_knees_and_ankles_are_found_inside_of_their_markers():
    true, waist, knees, ankles = legs()
    found = leg_joints(waist, knees, ankles)
    assert list(found) == list(true)
    assert errors_m(found, true, "hip").max() < 1e-9
    assert errors_m(found, true, "knee").max() < 0.008, "the thigh is turned against the hips"
    assert errors_m(found, true, "ankle").max() < 0.006
    bent = leg_joints(*legs(knee_deg=(40.0, 90.0))[1:])
    assert errors_m(bent, legs(knee_deg=(40.0, 90.0))[0], "knee").max() < 0.003
    assert np.linalg.norm(knees[:, 0] - true["left_knee"], axis=1).min() > 0.054, "the markers do not"


def test_bones_keep_their_length_where_skin_slides_over_the_knee():
    true, waist, knees, ankles = legs(knee_deg=(15.0, 70.0))
    forward = Rotation.from_euler("y", 30, degrees=True).apply([0.0, 0.0, 1.0])
    slid = knees + 0.02 * np.sin(np.linspace(0, 12 * np.pi, len(knees)))[:, None, None] * forward
    found = leg_joints(waist, slid, ankles)
    thighs = np.linalg.norm(found["left_knee"] - found["left_hip"], axis=1)
    assert thighs.std() < 0.001
    off = errors_m(found, true, "knee")
    assert np.sqrt((off**2).mean()) < 0.007, "of 14 mm root mean square"


@pytest.mark.parametrize("bend_deg", [0.0, -8.0])
def test_a_leg_that_is_straight_or_seems_to_bend_forwards_has_its_knee_inside_too(bend_deg):
    true, waist, knees, ankles = legs(knee_deg=(bend_deg, bend_deg))
    found = leg_joints(waist, knees, ankles)
    assert errors_m(found, true, "knee").max() < 0.015


def test_one_hidden_marker_of_the_waist_is_put_where_the_others_have_it():
    _, waist, knees, ankles = legs()
    rng = np.random.default_rng(1)
    waist = waist + np.cumsum(rng.normal(scale=0.01, size=(len(waist), 1, 3)), axis=0)
    gappy = waist.copy()
    gappy[5, 2] = gappy[9, 0] = np.nan
    np.testing.assert_allclose(whole(gappy), waist, atol=1e-9)
    gappy[20, :2] = np.nan
    assert np.isnan(whole(gappy)[20, 0]).all()
    found = leg_joints(gappy, knees, ankles)
    assert all(np.isnan(places[20]).all() for places in found.values())
    assert all(np.isfinite(np.delete(places, 20, axis=0)).all() for places in found.values())
    gappy[:, 3] = np.nan
    np.testing.assert_array_equal(whole(gappy), gappy)
    assert np.isnan(leg_joints(gappy, knees, ankles)["left_knee"]).all()


def cloud(names):
    _, waist, knees, ankles = legs(n_frames=12)
    places = dict(zip(("LFWT", "RFWT", "LBWT", "RBWT"), np.moveaxis(waist, 1, 0), strict=True))
    places |= {"LKNE": knees[:, 0], "RKNE": knees[:, 1], "LANK": ankles[:, 0], "RANK": ankles[:, 1]}
    positions = np.stack([places.get(n, waist[:, 0] + 0.5) for n in names], axis=1)
    is_valid = np.asarray(np.isfinite(positions).all(axis=2))
    return Motion(positions_m=positions, is_valid=is_valid, names=names, fps=60.0, kind="markers")


def test_a_body_of_markers_has_joints_and_says_where_it_has_not():
    names = tuple(sorted(n for n in KNOWN if not n.endswith(("ASI", "PSI", "TIB"))))
    true = legs(n_frames=12)[0]
    figure = body(cloud(names), points="lower")
    assert np.linalg.norm(figure.positions_m[:, 1] - true["left_knee"], axis=1).max() < 0.007
    assert figure.source.notes == ()
    without = tuple(n for n in names if n != "RBWT")
    assert left_on_skin(without) == ("left_knee", "left_ankle", "right_knee", "right_ankle")
    shown = body(cloud(without), points="lower", allow_missing=True)
    np.testing.assert_array_equal(shown.positions_m[:, shown.index("left_knee")], legs(n_frames=12)[2][:, 0])
    assert "left_knee, left_ankle, right_knee, right_ankle: the markers themselves" in shown.source.notes[-1]
    one_leg = tuple(n for n in names if n != "LANK")
    assert left_on_skin(one_leg) == ("left_knee",)
    other = body(cloud(one_leg), points="lower", allow_missing=True)
    assert np.linalg.norm(other.positions_m[:, other.index("right_knee")] - true["right_knee"]).max() < 0.03
    assert left_on_skin(("left_knee", "left_ankle")) == ()


@pytest.mark.parametrize(
    ("hidden", "on_skin"),
    [("RBWT", ("left_knee", "left_ankle", "right_knee", "right_ankle")), ("LANK", ("left_knee",))],
)
def test_a_marker_that_no_frame_shows_is_a_missing_one_and_takes_no_leg_away(hidden, on_skin):
    motion = cloud(tuple(sorted(n for n in KNOWN if not n.endswith(("ASI", "PSI", "TIB")))))
    positions = motion.positions_m.copy()
    positions[:, motion.index(hidden)] = np.nan
    is_valid = np.asarray(np.isfinite(positions).all(axis=2))
    figure = body(replace(motion, positions_m=positions, is_valid=is_valid), points="lower")
    left_knee = figure.positions_m[:, figure.index("left_knee")]
    np.testing.assert_array_equal(left_knee, motion.positions_m[:, motion.index("LKNE")])
    assert f"{', '.join(on_skin)}: the markers themselves" in figure.source.notes[-1]
    assert np.isfinite(figure.positions_m[:, figure.index("right_knee")]).all()
