"""The figure that needs no data obeys bodies, floors and gravity."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.pointlight.body import ARMS_AND_LEGS, body
from vidence.pointlight.walker import (
    ACTIONS,
    ANKLE_HEIGHT,
    SHANK,
    THIGH,
    WalkerSpec,
    bent_leg,
    stride_length_m,
    walker,
    walker_of,
)

RIGID = [pair for pair in ARMS_AND_LEGS if pair[0].split("_")[1] != "shoulder" or pair[1].endswith("elbow")]


def at(motion, name):
    return motion.positions_m[:, motion.index(name)]


@pytest.mark.parametrize("action", ACTIONS)
def test_limbs_keep_their_lengths_and_feet_stay_above_the_floor(action):
    motion = walker(WalkerSpec(action=action, duration_s=4.0))
    for a, b in RIGID:
        lengths = np.linalg.norm(at(motion, a) - at(motion, b), axis=1)
        assert np.ptp(lengths) < 1e-9, (a, b)
    ankles = np.minimum(at(motion, "left_ankle")[:, 1], at(motion, "right_ankle")[:, 1])
    assert ankles.min() > 0.9 * ANKLE_HEIGHT * 1.75
    assert body(motion, points="13").names[0] == "head"
    assert motion.positions_m[:, motion.index("head"), 1].max() < 2.4


@pytest.mark.parametrize("speed", [0.6, 1.3, 2.0])
def test_walking_goes_at_its_speed_with_one_foot_on_the_ground(speed):
    motion = walker(WalkerSpec(action="walk", speed_m_s=speed, duration_s=6.0))
    pelvis = at(motion, "pelvis")
    assert np.polyfit(np.arange(len(pelvis)) / 60.0, pelvis[:, 2], 1)[0] == pytest.approx(speed)
    lowest = np.minimum(at(motion, "left_ankle")[:, 1], at(motion, "right_ankle")[:, 1])
    assert np.abs(lowest - ANKLE_HEIGHT * 1.75).max() < 0.02


def test_legs_and_arms_swing_against_each_other():
    motion = walker(WalkerSpec(action="walk", duration_s=5.0))
    leg = (at(motion, "left_ankle") - at(motion, "right_ankle"))[:, 2]
    arm = (at(motion, "left_wrist") - at(motion, "right_wrist"))[:, 2]
    assert np.corrcoef(leg, arm)[0, 1] < -0.8
    # The foot on the ground keeps its place but for its roll.
    stride_m = stride_length_m(1.3, height_m=1.75, is_run=False)
    ankle, n_cycle = at(motion, "left_ankle"), round(stride_m / 1.3 * 60)
    assert np.ptp(ankle[: round(0.62 * n_cycle), 2]) < 0.2
    assert ankle[n_cycle, 2] - ankle[0, 2] == pytest.approx(stride_m, abs=0.02)
    # Adults walk 1.3 m/s with strides of 1.3 to 1.5 m (Perry & Burnfield 2010: 1.41 m at 82 m/min).
    assert 1.3 < stride_m < 1.5
    assert 1.1 < stride_length_m(3.2, height_m=1.75, is_run=True) / 2 < 1.25


@pytest.mark.parametrize(("action", "share_in_flight"), [("run", 0.22), ("jump", 0.495 / 2.5), ("bow", 0.0)])
def test_in_flight_the_body_follows_gravity(action, share_in_flight):
    fps = 240.0
    motion = walker(WalkerSpec(action=action, duration_s=5.0, fps=fps))
    falling = np.diff(at(motion, "pelvis")[:, 1], n=2) * fps**2
    share = np.mean(np.abs(falling + 9.81) < 0.01)
    assert share == pytest.approx(share_in_flight, abs=0.03)


def test_a_jump_lifts_the_body_as_high_as_was_asked():
    motion = walker(WalkerSpec(action="jump", jump_m=0.4, duration_s=3.0, fps=240.0))
    ankle = at(motion, "left_ankle")[:, 1]
    assert ankle.max() - ANKLE_HEIGHT * 1.75 == pytest.approx(0.4, abs=0.01)


def test_the_waving_hand_is_up_and_goes_from_side_to_side():
    motion = walker(WalkerSpec(action="wave", duration_s=4.0, rate_hz=2.0))
    hand = at(motion, "right_wrist")[60:]
    assert (hand[:, 1] > at(motion, "right_shoulder")[60:, 1]).all()
    spectrum = np.abs(np.fft.rfft(hand[:, 0] - hand[:, 0].mean()))
    assert np.fft.rfftfreq(len(hand), 1 / 60)[spectrum.argmax()] == pytest.approx(2.0, abs=0.35)


def test_a_bent_leg_reaches_as_far_as_was_asked():
    reach = np.array([0.45, 0.6, 0.8])
    hip, knee = (np.radians(a) for a in bent_leg(reach, height_m=1.75))
    down = THIGH * 1.75 * np.cos(hip) + SHANK * 1.75 * np.cos(hip - knee)
    aside = THIGH * 1.75 * np.sin(hip) + SHANK * 1.75 * np.sin(hip - knee)
    assert np.allclose(down, reach)
    assert np.allclose(aside, 0.0, atol=1e-9)


def test_specs_are_read_and_wrong_ones_refused():
    made = walker_of("run", {"speed_m_s": "4", "duration_s": "1", "fps": "30"})
    assert made.n_frames == 30
    for argument, options, words in (
        ("fly", {}, "cannot 'fly'"),
        ("walk", {"speed": "1"}, "no option 'speed'"),
        ("walk", {"fps": "many"}, "expected a number"),
        ("walk", {"speed_m_s": "9"}, "0.3 to 2.2"),
        ("walk", {"height_m": "9"}, "height_m"),
        ("walk", {"duration_s": "nan"}, "duration_s"),
    ):
        with pytest.raises(UsageError, match=words):
            walker_of(argument, options)
