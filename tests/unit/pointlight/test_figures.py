from dataclasses import replace

import msgspec
import numpy as np
import pytest

from subjects.standing import motion_of, standing
from vidence.errors import DataError, UsageError
from vidence.pointlight.figures import align, pair
from vidence.pointlight.walker import WalkerSpec, walker


def facing(n_frames=120, *, first_frame=0, fps=60.0):
    """A body that looks along -z, 1 m before one that looks along +z."""
    other = standing(n_frames, fps=fps, file="b.bvh", first_frame=first_frame)
    return replace(other, positions_m=other.positions_m * [-1, 1, -1] + [0, 0, 1.0])


def shaking(offset=(0.0, 0.0, 0.0)):
    """Two who shake their right hands, wrists 20 cm apart, from 0.5 s to 1.5 s; the second is moved."""
    time = np.arange(120) / 60
    up = 1.0 + 0.1 * np.sin(2 * np.pi * 3 * time)
    is_held = (time >= 0.5) & (time < 1.5)
    first, second = standing(120, file="a.bvh"), facing()
    hand = first.index("right_wrist")
    for body, z in ((first, 0.4), (second, 0.6)):
        body.positions_m[is_held, hand] = np.stack([0 * up, up, z + 0 * up], axis=1)[is_held]
    return first, replace(second, positions_m=second.positions_m + np.array(offset))


def test_frames_are_matched_by_their_numbers():
    """The first lost one frame and the second five: both start at frame 5 and end at 100."""
    first = standing(99, file="a.bvh", first_frame=1)
    second = facing(95, first_frame=5)
    first.positions_m[:, 0, 2] = np.arange(1, 100)
    second.positions_m[:, 0, 2] = np.arange(5, 100)
    both = pair(first, second)
    assert both.n_frames == 95
    np.testing.assert_array_equal(both.first.positions_m[:, 0, 2], both.second.positions_m[:, 0, 2])
    assert both.first.source.first_frame == both.second.source.first_frame == 5
    assert both.notes == ("4 frames left out at the start of the other one too",)


def test_the_longer_one_is_cut_and_too_long_is_refused():
    both = pair(standing(120, file="a.bvh"), facing(117))
    assert both.n_frames == both.second.n_frames == 117
    assert both.notes == ("3 frames cut off at the end of the longer one",)
    with pytest.raises(DataError, match=r"a\.bvh ends after frame 120 and b\.bvh after frame 100"):
        pair(standing(120, file="a.bvh"), facing(100))
    assert pair(standing(120), facing(100), most_cut_s=1.0).n_frames == 100


def test_what_is_no_pair():
    with pytest.raises(UsageError, match=r"60 frames per second and b\.bvh 120; partners need one clock"):
        pair(standing(), facing(fps=120.0))
    with pytest.raises(DataError, match="share no frame"):
        pair(standing(5), facing(5, first_frame=5), most_cut_s=10)
    whole = standing()
    upper = motion_of(whole.positions_m[:, :7], names=whole.names[:7])
    lower = motion_of(whole.positions_m[:, 7:], names=whole.names[7:])
    with pytest.raises(DataError, match="no point of the body in common"):
        pair(upper, lower)


def test_points_that_one_lacks_are_left_out_of_both():
    headless = standing()
    headless = motion_of(headless.positions_m[:, 1:], names=headless.names[1:])
    both = pair(headless, facing())
    assert both.first.names == both.second.names == headless.names


@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.4), (0.2, 0.0, -0.3), (-0.5, 0.0, 0.1)])
def test_align_takes_back_what_was_moved(offset):
    moved = pair(*shaking(offset))
    aligned = align(moved)
    hands = [m.positions_m[40, m.index("right_wrist")] for m in (aligned.first, aligned.second)]
    assert np.linalg.norm(hands[1] - hands[0]) == pytest.approx(0.2, abs=0.03)
    np.testing.assert_allclose(np.array(aligned.offset_m) + offset, 0.0, atol=0.03)
    assert aligned.offset_m[1] == 0.0
    assert "second actor moved by" in aligned.notes[-1]


def test_those_who_never_touch_cannot_be_aligned():
    with pytest.raises(DataError, match="never hold each other"):
        align(pair(standing(), facing()))
    legs = pair(standing(), facing(), points="lower")
    with pytest.raises(DataError, match="no right_wrist"):
        align(legs)


def test_two_who_were_scaled_to_a_stature_get_one_scale():
    """One of them crouches all the time: by itself it would be made as tall as the other."""
    first = walker(WalkerSpec(action="wave"))
    source = {"scaled_to_m": 1.7}
    larger = replace(first, source=msgspec.structs.replace(first.source, metres_per_unit=0.01, **source))
    grown = replace(
        first,
        positions_m=first.positions_m * 1.5,
        source=msgspec.structs.replace(first.source, metres_per_unit=0.015, **source),
    )
    both = pair(larger, grown)
    np.testing.assert_allclose(both.second.positions_m, both.first.positions_m)
    assert "both at the scale of" in both.notes[0]
    known = replace(grown, source=msgspec.structs.replace(grown.source, scaled_to_m=None))
    np.testing.assert_allclose(pair(larger, known).second.positions_m, 1.5 * both.first.positions_m)


def test_two_figures_in_one_place_are_noted():
    one = walker(WalkerSpec())
    both = pair(one, one)
    assert any("dot on dot, as if they were not of one recording" in note for note in both.notes)
    beside = replace(one, positions_m=one.positions_m + np.array([1.0, 0.0, 0.0]))
    assert not any("dot on dot" in note for note in pair(one, beside).notes)
