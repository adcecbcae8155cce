from dataclasses import replace

import msgspec
import numpy as np
import pytest

from subjects.standing import jumping, motion_of, standing, stepping
from vidence.pointlight import checks
from vidence.pointlight.body import body, mass_centre
from vidence.pointlight.checks import inspect, sides
from vidence.pointlight.walker import WalkerSpec, walker


def at_rate(motion, fps):
    """The same frames, said to be of another rate."""
    return replace(motion, fps=fps)


def test_height():
    """From the middle of the ankles to the head are 1.60 - 0.08 m, which is 0.896 of the body."""
    found = checks.height(standing())
    assert found.verdict == "fine"
    assert found.value == pytest.approx(1.52 / 0.896, abs=1e-6)
    small = motion_of(standing().positions_m * 0.0254)
    assert checks.height(small).verdict == "doubtful"
    assert "unit" in checks.height(small).message


def test_upright():
    body = standing()
    assert checks.upright(body).value == 1.0
    lying = motion_of(body.positions_m[..., [0, 2, 1]])
    assert checks.upright(lying).verdict == "doubtful"
    shuffled = motion_of(body.positions_m[:, ::-1])
    assert "order" in checks.upright(shuffled).message


def test_limbs():
    body = standing()
    assert checks.limbs(body).value == 0.0
    slipping = body.positions_m.copy()
    knee = body.index("left_knee")
    slipping[::2, knee, 1] += 0.2
    assert checks.limbs(motion_of(slipping)).verdict == "doubtful"
    joints = replace(body, kind="joints", parents=(-1, *range(12)))
    assert checks.limbs(joints).verdict == "fine"
    nudged = body.positions_m.copy()
    nudged[3, 5, 0] += 1e-4
    assert checks.limbs(replace(joints, positions_m=nudged)).verdict == "doubtful"


def test_gaps():
    body = standing(100)
    hidden = body.positions_m.copy()
    hidden[10:40, 2] = np.nan
    hidden[50:90, 2] = np.nan
    found = checks.gaps(motion_of(hidden))
    assert found.value == pytest.approx(70 / 1300, abs=1e-6)
    assert "left_elbow is hidden most: 70%" in found.message
    assert checks.longest_gap_s(motion_of(hidden)) == pytest.approx(40 / 60)
    assert checks.longest_gap_s(body) == 0.0


def test_frames_that_show_nobody_are_named_as_they_stand_in_the_file():
    """Someone who walks out of sight: 6 of 100 frames are too few for `gaps`, and show hardly a point."""
    body = standing(100)
    hidden = body.positions_m.copy()
    hidden[94:97, :7] = np.nan
    hidden[97:] = np.nan
    leaving = motion_of(hidden)
    leaving = replace(leaving, source=msgspec.structs.replace(leaving.source, first_frame=8))
    found = checks.presence(leaving)
    assert (checks.gaps(leaving).verdict, found.verdict, found.value) == ("fine", "doubtful", 6.0)
    assert found.message.startswith("frames 102 to 107 of the file show fewer than half of the points")
    half = body.positions_m.copy()
    half[50, :6] = np.nan
    assert checks.presence(motion_of(half)).verdict == "fine"


def test_first_step():
    body = standing()
    far = body.positions_m.copy()
    far[0, 4] += [0.0, 0.3, 0.0]
    found = checks.first_step(motion_of(far))
    assert (found.verdict, found.value) == ("doubtful", pytest.approx(0.3))
    fast = body.positions_m + (np.arange(120) * 0.3)[:, None, None] * [0, 0, 1]
    assert checks.first_step(motion_of(fast)).verdict == "fine", "a fast motion has no jump at its start"
    far = standing().positions_m.copy()
    far[7, 3] += 1.0
    found = checks.jumps(motion_of(far))
    assert found.value == pytest.approx(np.sqrt(3) * 60)
    assert found.message == "left_wrist jumps after frame 6"


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_gravity_tells_the_true_rate_from_double_and_half(fps):
    body = jumping(fps=fps)
    assert checks.gravity(body).value == pytest.approx(-9.81, rel=0.01)
    fast, slow = checks.gravity(at_rate(body, 2 * fps)), checks.gravity(at_rate(body, fps / 2))
    assert fast.value == pytest.approx(-4 * 9.81, rel=0.01)
    assert slow.value == pytest.approx(-9.81 / 4, rel=0.01)
    assert f"{fps:.0f} would be right" in fast.message
    assert f"{fps:.0f} would be right" in slow.message


def test_no_jump_no_gravity():
    assert checks.gravity(standing()).message == "no jump"
    assert checks.gravity(stepping(1.0)).verdict == "none"
    raised = standing().positions_m.copy()
    raised[60:, :, 1] += 0.5  # climbing a stool is no jump
    assert checks.gravity(motion_of(raised)).verdict == "none"


@pytest.mark.parametrize("rate", [0.7, 0.9, 1.4])
def test_stride(rate):
    found = checks.stride(stepping(rate))
    assert found.verdict == "fine"
    assert found.value == pytest.approx(rate, rel=0.03)
    walk = stepping(rate).positions_m.copy()  # a gap in a foot does not change its rate
    walk[100:105, stepping(rate).index("left_ankle")] = np.nan
    assert checks.stride(motion_of(walk)).value == pytest.approx(rate, rel=0.03)


def test_a_walk_at_double_rate_is_doubtful():
    found = checks.stride(at_rate(stepping(1.0), 120.0))
    assert found.value == pytest.approx(2.0, rel=0.03)
    assert found.verdict == "doubtful"
    assert "half of 120" in found.message
    slow = checks.stride(at_rate(stepping(0.8, seconds=16.0), 30.0))
    assert slow.verdict == "doubtful"
    assert "twice of 30" in slow.message


def test_what_is_no_gait():
    assert checks.stride(standing()).message == "no regular gait"
    assert checks.stride(standing(10)).message == "too short"
    body = stepping(1.0)
    jacks = body.positions_m.copy()
    jacks[:, body.index("right_ankle")] = jacks[:, body.index("left_ankle")]
    assert checks.stride(motion_of(jacks)).verdict == "none", "feet that swing together are no gait"


def test_the_centre_of_mass_of_a_standing_body():
    """By hand from Winter's table: head 0.081, trunk 0.497, limbs 0.028, 0.022, 0.100, 0.061 each side."""
    trunk = (1.40 + 0.90) / 2
    limbs = [
        (0.028, 1.40 + 0.436 * (1.10 - 1.40)),
        (0.022, 1.10 + 0.682 * (0.85 - 1.10)),
        (0.100, 0.90 + 0.433 * (0.50 - 0.90)),
        (0.061, 0.50 + 0.606 * (0.08 - 0.50)),
    ]
    expected = 0.081 * 1.60 + 0.497 * trunk + 2 * sum(m * y for m, y in limbs)
    np.testing.assert_allclose(mass_centre(standing())[0, :2], [0, expected], atol=1e-9)


def test_a_report_holds_every_check_and_says_what_is_too_short():
    report = inspect(standing(7))
    assert not report.is_usable
    assert [c.name for c in report.checks] == [
        "frames", "height", "upright", "sides", "skeleton", "limbs", "gaps", "presence",
        "first-step", "jumps", "gravity", "stride",
    ]  # fmt: skip
    assert [c.name for c in report.doubts] == ["frames"]
    assert inspect(standing(8)).is_usable
    assert inspect(standing(8)).points_missing == ()


def test_a_report_of_few_points_checks_what_it_can():
    few = motion_of(standing().positions_m[:, :2], names=("a", "b"), kind="markers")
    report = inspect(few)
    assert len(report.points_missing) == 13
    assert {c.name for c in report.checks if c.verdict == "none"} == {
        "height", "upright", "sides", "skeleton", "limbs", "gravity", "stride",
    }  # fmt: skip


def exchanged(figure, joints, frames=slice(None)):
    """A figure with the places of left and right points exchanged in some frames."""
    places = figure.positions_m.copy()
    for joint in joints:
        left, right = (figure.index(f"{side}_{joint}") for side in ("left", "right"))
        places[frames, left], places[frames, right] = (
            figure.positions_m[frames, right],
            figure.positions_m[frames, left],
        )
    return replace(figure, positions_m=places)


@pytest.mark.parametrize("action", ["walk", "run", "jump", "bow"])
def test_left_is_told_from_right_by_hips_shoulders_and_knees(action):
    figure = walker(WalkerSpec(action=action))
    assert sides(figure).verdict == "fine"
    arms, legs = ("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle")
    for joints in (arms, legs):
        assert "opposite sides" in sides(exchanged(figure, joints)).message
    everything = exchanged(figure, (*arms, *legs))
    mirrored = replace(figure, positions_m=figure.positions_m * [-1.0, 1.0, 1.0])
    if action in {"jump", "run"}:
        assert "knees bend backwards" in sides(everything).message
        assert sides(mirrored).verdict == "doubtful"


@pytest.mark.parametrize("joints", [("elbow",), ("knee",), ("ankle",), ("knee", "ankle"), ("elbow", "wrist")])
def test_parts_of_a_limb_that_are_exchanged_all_along_are_found(joints):
    wrong = exchanged(walker(WalkerSpec()), joints)
    assert sides(wrong).verdict == "doubtful"
    assert f"the left {joints[0]} is on the right" in sides(wrong).message
    assert sides(body(walker(WalkerSpec()), points="upper")).verdict == "none"
