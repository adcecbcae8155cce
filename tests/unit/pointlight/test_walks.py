"""Walks as Fourier series: known walks come back, mixtures are linear, and what is no walk is refused."""

from dataclasses import replace

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.pointlight.body import ARMS_AND_LEGS, SETS, body
from vidence.pointlight.framing import turned
from vidence.pointlight.motion import Motion
from vidence.pointlight.walker import WalkerSpec, walker
from vidence.pointlight.walks import Walk, alike, morph, walk_of, walked


@pytest.fixture(scope="module")
def slow() -> Walk:
    return walk_of(walker(WalkerSpec(speed_m_s=0.9, height_m=1.6)))


@pytest.fixture(scope="module")
def fast() -> Walk:
    return walk_of(walker(WalkerSpec(speed_m_s=1.6, height_m=1.8)))


def lengths(motion: Motion) -> np.ndarray:
    """Of arms and legs over time, (n_frames, 8)."""
    at = {n: motion.positions_m[:, i] for i, n in enumerate(motion.names)}
    return np.stack([np.linalg.norm(at[a] - at[b], axis=1) for a, b in ARMS_AND_LEGS], axis=1)


@pytest.mark.parametrize("speed", [0.7, 1.3, 1.8])
@pytest.mark.parametrize("turn", [0.0, 130.0])
def test_speed_and_rate_of_a_known_walk(speed: float, turn: float):
    """The stride is 1.346 times the square root of the speed, both in leg lengths of 0.53 statures."""
    motion = walker(WalkerSpec(speed_m_s=speed))
    motion = replace(motion, positions_m=turned(motion.positions_m, turn) + np.array([3.0, 0.4, -2.0]))
    found = walk_of(motion)
    leg_m = 0.53 * 1.75
    assert found.speed_m_s == pytest.approx(speed, rel=1e-3)
    assert found.rate_hz == pytest.approx(speed / (1.346 * np.sqrt(speed / leg_m) * leg_m), rel=2e-3)
    assert found.explained > 0.995
    assert found.posture_m[found.names.index("left_hip"), 0] > 0


def test_a_walk_that_is_walked_again_is_itself(slow: Walk):
    again = walk_of(walked(slow, duration_s=4))
    assert again.rate_hz == pytest.approx(slow.rate_hz, rel=1e-3)
    np.testing.assert_allclose(again.waves_m, slow.waves_m, atol=2e-3)
    np.testing.assert_allclose(again.posture_m, slow.posture_m, atol=2e-3)
    ankles = [again.names.index(f"{side}_ankle") for side in ("left", "right")]
    start = walked(slow).positions_m[0]
    assert start[ankles[0], 2] > start[ankles[1], 2] + 0.2, "the left foot is foremost at time 0"


def test_a_morph_is_linear(slow: Walk, fast: Walk):
    for share, one in ((0.0, slow), (1.0, fast)):
        mixed = morph(slow, fast, share)
        np.testing.assert_allclose(mixed.waves_m, one.waves_m, atol=1e-15)
        assert (mixed.rate_hz, mixed.speed_m_s) == pytest.approx((one.rate_hz, one.speed_m_s))
    half = morph(slow, fast, 0.5)
    np.testing.assert_allclose(half.posture_m, (slow.posture_m + fast.posture_m) / 2)
    np.testing.assert_allclose(half.waves_m, (slow.waves_m + fast.waves_m) / 2)


def test_limbs_of_a_morph_keep_their_length(slow: Walk, fast: Walk):
    for share in (0.0, 0.5, 1.0, 1.5):
        made = lengths(walked(morph(slow, fast, share)))
        assert (made.std(axis=0) / made.mean(axis=0)).max() < 1e-9
    between = lengths(walked(morph(slow, fast, 0.5))).mean(axis=0)
    ends = [lengths(walked(one)).mean(axis=0) for one in (slow, fast)]
    np.testing.assert_allclose(between, (ends[0] + ends[1]) / 2)
    np.testing.assert_allclose(ends[0][:2], [0.186 * 1.6, 0.146 * 1.6], rtol=0.01)


def test_a_hybrid_has_the_body_of_one_and_the_motion_of_the_other(slow: Walk, fast: Walk):
    made = morph(slow, fast, 0.5, structure_share=0.0, motion_share=1.0)
    np.testing.assert_allclose(made.posture_m, slow.posture_m)
    np.testing.assert_allclose(made.waves_m, fast.waves_m)
    assert made.speed_m_s == fast.speed_m_s
    with pytest.raises(UsageError, match="gives a rate of -"):
        morph(slow, fast, -9.0)


@pytest.mark.parametrize("action", ["wave", "bow", "stand", "squat", "jumping-jack"])
def test_what_is_no_walk_is_refused(action: str):
    with pytest.raises(DataError, match=r"no steady walk of 1\.2 cycles or more"):
        walk_of(walker(WalkerSpec(action=action, duration_s=4)))


def test_a_walk_before_and_after_standing_is_found_where_it_is():
    walking = walker(WalkerSpec(duration_s=4))
    still = np.repeat(walking.positions_m[:1], 120, axis=0)
    both = np.concatenate([still, walking.positions_m])
    found = walk_of(replace(walking, positions_m=both, is_valid=np.ones(both.shape[:2], bool)))
    assert found.span_s[0] >= 1.9
    assert found.speed_m_s == pytest.approx(1.3, rel=0.01)


def test_points_that_not_all_have_are_left_out(slow: Walk):
    without = body(walker(WalkerSpec()), points="13")
    first, second = alike([slow, walk_of(without, n_harmonics=2)])
    assert first.names == second.names == SETS["13"]
    assert first.waves_m.shape == second.waves_m.shape == (2, 2, 13, 3)
    with pytest.raises(UsageError, match="expected 0 to 600 s"):
        walked(slow, duration_s=0)
