"""Candidate rules of learned selectors against values worked out by hand."""

import math
from collections.abc import Callable

import pytest

from vidence.ask.selection import _candidates
from vidence.errors import UsageError


def test_aks_takes_whole_strides_of_the_floored_rate() -> None:
    # int(23.976) = 23 and 100 // 23 = 4: frame 92 is left out.
    assert _candidates.aks_1fps(100, 23.976).tolist() == [0, 23, 46, 69]
    assert _candidates.aks_1fps(0, 30.0).tolist() == []


def test_aks_says_that_it_cannot_read_slow_videos() -> None:
    with pytest.raises(UsageError, match=r"int\(0.9\) is 0"):
        _candidates.aks_1fps(50, 0.9)


def test_bolt_rounds_to_the_nearest_frame_and_repeats_when_too_slow() -> None:
    # 100 / 23.976 * 1 = 4.17: frames at 0, 1, 2, 3 s are 0, 23.976, 47.952, 71.928.
    assert _candidates.bolt(100, 23.976, rate=1).tolist() == [0, 24, 48, 72]
    # One frame per second read at 2: 0, 0.5, 1, 1.5, 2, 2.5 rounded half to even.
    assert _candidates.bolt(3, 1.0, rate=2).tolist() == [0, 0, 1, 2, 2, 2]
    assert _candidates.bolt(0, 30.0, rate=1).tolist() == []


def test_herbench_blip_takes_every_frame_of_slow_videos() -> None:
    assert _candidates.herbench_blip_2fps(40, 23.976).tolist() == [0, 11, 22, 33]
    assert _candidates.herbench_blip_2fps(3, 2.0).tolist() == [0, 1, 2]


@pytest.mark.parametrize("fps", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize(
    "rule",
    [_candidates.aks_1fps, _candidates.herbench_blip_2fps, lambda n, f: _candidates.bolt(n, f, rate=1)],
)
def test_a_rate_that_makes_no_sense_is_refused(rule: Callable[[int, float], object], fps: float) -> None:
    with pytest.raises(UsageError, match="positive rate"):
        rule(10, fps)


def test_a_negative_count_and_a_bad_wanted_rate_are_refused() -> None:
    with pytest.raises(UsageError, match="-1 frames"):
        _candidates.aks_1fps(-1, 30.0)
    with pytest.raises(UsageError, match="0 frames per second"):
        _candidates.bolt(10, 30.0, rate=0)
