"""Framing: a belt under walkers that does not shake, standing feet that stand, one heading, one scale."""

from dataclasses import replace

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.pointlight.figures import staged
from vidence.pointlight.framing import belt, extent, heading_deg, planted_feet, turned
from vidence.pointlight.specs import StimulusSpec, View
from vidence.pointlight.stimulus import make_stimulus
from vidence.pointlight.walker import ACTIONS

ON_THE_SPOT = tuple(action for action in ACTIONS if action not in {"walk", "run"})


def figure(words):
    return staged([f"walker:{words}"])[0]


def ankles(motion):
    return np.stack([motion.positions_m[:, motion.index(f"{s}_ankle")] for s in ("left", "right")], axis=1)


@pytest.mark.parametrize("action", ON_THE_SPOT)
def test_actions_on_the_spot_are_the_same_on_the_belt(action):
    assert np.allclose(np.ptp(belt(figure(action)), axis=0), 0.0)


@pytest.mark.parametrize(("words", "speed_m_s"), [("walk?duration_s=6", 1.3), ("run?duration_s=6", 3.2)])
def test_the_belt_of_a_gait_runs_evenly_and_planted_feet_go_with_it(words, speed_m_s):
    moving = figure(words)
    path, feet = belt(moving), ankles(moving)
    speed = np.linalg.norm(np.diff(path, axis=0), axis=1) * moving.fps
    assert speed == pytest.approx(speed_m_s, rel=0.02)
    planted = planted_feet(feet, moving.fps)
    assert 0.1 < planted.mean() < 0.7
    on_belt = feet[:, :, [0, 2]] - path[:, None]
    for side in range(2):
        back = np.diff(on_belt[:, side], axis=0)[planted[1:, side] & planted[:-1, side]] * moving.fps
        # The ankle goes on a little over the foot that stands.
        assert np.median(back, axis=0) == pytest.approx([0.0, -speed_m_s], abs=0.15)


def test_who_walks_and_then_stands_and_bows_has_feet_that_stand():
    walking, bowing = figure("walk?duration_s=4"), figure("bow?duration_s=4")
    after = bowing.positions_m - bowing.positions_m[:1] + walking.positions_m[-1:]
    places, is_valid = np.concatenate([walking.positions_m, after]), np.ones((480, 13), bool)
    both = replace(walking, positions_m=places, is_valid=is_valid)
    path = belt(both)
    assert np.ptp(path[240 + 15 :], axis=0).max() < 0.01
    assert np.linalg.norm(path[200] - path[40]) > 2.0


@pytest.mark.parametrize("degrees", [0.0, 37.0, -120.0, 180.0])
def test_whoever_is_turned_faces_the_viewer_again(degrees):
    plain = figure("wave")
    away = replace(plain, positions_m=turned(plain.positions_m, degrees))
    assert (heading_deg([away]) + degrees + 180) % 360 - 180 == pytest.approx(0.0, abs=2.0)
    shown = make_stimulus([away], StimulusSpec(heading="viewer")).centres_px
    assert np.allclose(shown, make_stimulus([plain], StimulusSpec(heading="viewer")).centres_px, atol=1e-6)


def test_of_two_the_first_stands_on_the_left():
    plain = figure("wave")
    behind = replace(plain, positions_m=plain.positions_m + np.array([0.0, 0.0, -1.5]))
    shown = make_stimulus([plain, behind], StimulusSpec(heading="viewer")).centres_px
    assert (shown[:, 13:, 0] - shown[:, :13, 0]).mean() > 100
    with pytest.raises(UsageError, match="one place"):
        make_stimulus([plain, plain], StimulusSpec(heading="viewer"))
    with pytest.raises(UsageError, match="needs both hips or both shoulders"):
        make_stimulus(staged(["walker:wave"], points="feet"), StimulusSpec(heading="viewer"))


@pytest.mark.parametrize("framing", ["fixed", "follow"])
@pytest.mark.parametrize("action", ["run", "wave"])
def test_scale_and_centre_are_the_same_from_all_sides_and_all_fits(action, framing):
    moving = figure(action)
    scales = set()
    for yaw_deg in range(0, 360, 30):
        made = make_stimulus([moving], StimulusSpec(framing=framing, view=View(yaw_deg=yaw_deg)))
        scales.add(round(made.px_per_m, 9))
        assert made.centres_px.min() > 50
        assert made.centres_px.max() < 462
    assert len(scales) == 1


@pytest.mark.parametrize("pitch_deg", [0, 30, 90])
@pytest.mark.parametrize("roll_deg", [0, 45])
def test_what_is_tilted_or_near_fits_too(pitch_deg, roll_deg):
    for yaw_deg in (0, 45, 90):
        view = View(
            projection="perspective", yaw_deg=yaw_deg, pitch_deg=pitch_deg, roll_deg=roll_deg, distance_m=4
        )
        made = make_stimulus([figure("wave")], StimulusSpec(view=view))
        assert made.centres_px.min() > 50
        assert made.centres_px.max() < 462
    with pytest.raises(DataError, match="larger distance_m"):
        extent(np.array([[3.0, 0.0, 0.0]]), View(projection="perspective", distance_m=3.0))


def test_points_that_are_left_out_change_neither_scale_nor_path():
    whole = make_stimulus([figure("walk")], StimulusSpec(framing="follow"))
    less = make_stimulus([figure("walk")], StimulusSpec(framing="follow", leave_out=("left_hip", "head")))
    assert less.px_per_m == whole.px_per_m
    kept = [i for i, n in enumerate(figure("walk").names) if n not in {"left_hip", "head"}]
    assert np.array_equal(less.centres_px, whole.centres_px[:, kept])
