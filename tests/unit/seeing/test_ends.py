"""How tracks begin and end: motion by hand, and which edges lie ahead."""

import numpy as np
import pytest

from subjects.tracks import track, walk
from vidence.seeing.ends import EndMotion

SIZE = (1000, 800)


def test_the_motion_at_both_ends_by_hand():
    # 10 frames a second: 6 frames are 0.6 s. The first half walks right with 50 px/s, the second stands.
    who = walk("a", [*((100 + 5 * i, 400) for i in range(10)), *[(150, 400)] * 10])
    start, end = (EndMotion.of(who, at=at, fps=10.0) for at in (0, -1))
    assert start.ahead_px_per_s.tolist() == pytest.approx([-50, 0])
    assert end.ahead_px_per_s.tolist() == pytest.approx([0, 0])
    assert start.height_px == 200


def test_two_boxes_say_nothing_of_motion():
    assert not EndMotion.of(walk("a", [(100, 400), (110, 400)]), at=-1, fps=10.0).ahead_px_per_s.any()


def test_a_shaking_box_keeps_its_way():
    rng = np.random.default_rng(0)
    who = walk("a", [(100 + 5 * i + rng.normal(0, 1), 400) for i in range(30)])
    assert EndMotion.of(who, at=-1, fps=10.0).ahead_px_per_s[0] == pytest.approx(50, abs=10)


def test_when_edges_are_touched_and_nothing_is_left():
    # The box ends at 840 to 940 of 1000, moving right with 30 and down with 20 px/s; its feet are at 700.
    boxes = [(810 + 3 * i, 480 + 2 * i, 910 + 3 * i, 680 + 2 * i) for i in range(11)]
    end = EndMotion.of(track("a", boxes), at=-1, fps=10.0)
    assert end.touches_in_s(size_px=SIZE) == pytest.approx({"right": 60 / 30, "bottom": 100 / 20})
    assert end.is_out_in_s(size_px=SIZE) == pytest.approx({"right": 160 / 30, "bottom": 300 / 20})
    start = EndMotion.of(track("a", boxes), at=0, fps=10.0)
    assert set(start.touches_in_s(size_px=SIZE)) == {"left", "top"}


def test_who_is_slower_than_a_twentieth_of_the_height_in_a_second_stands():
    for pace, edges in ((0.9, set()), (1.1, {"right"})):
        who = walk("a", [(100 + pace * i, 400) for i in range(11)])
        assert set(EndMotion.of(who, at=-1, fps=10.0).is_out_in_s(size_px=SIZE)) == edges
