"""What the board of counts computes: agreement, who was counted by whom, whom a dot is on."""

import numpy as np

from vidence.seeing.tracks import Track
from vidence.studio.rules.counts import Moment, PersonCount, agreement, moments, path_of, whose


def said(name, n, low, high, frames=()):
    return PersonCount(counter=name, n=n, n_low=low, n_high=high, frames=frames)


def test_counters_agree_as_far_as_their_ranges_do():
    assert agreement([said("a", 5, 5, 5)]) == "counted once; a second counter has not counted yet"
    assert agreement([said("a", 5, 5, 5), said("b", 5, 4, 6)]) == "both counted 5"
    assert (
        agreement([said("a", 5, 5, 7), said("b", 7, 6, 8)]) == "they differ by 2, and both ranges hold 6 to 7"
    )
    assert agreement([said("a", 5, 5, 5), said("b", 7, 7, 7), said("c", 6, 5, 7)]) == (
        "they differ by 2, and no number is in all ranges: look again together"
    )


def test_what_counters_noted_near_in_time_is_one_person():
    found = moments([said("a", 3, 3, 3, (10, 12, 90)), said("b", 3, 3, 3, (11, 13, 60))], within=5)
    assert found == (
        Moment(frame=10, counters=("a", "b"), missed_by=()),
        Moment(frame=12, counters=("a", "b"), missed_by=()),
        Moment(frame=60, counters=("b",), missed_by=("a",)),
        Moment(frame=90, counters=("a",), missed_by=("b",)),
    )


def test_who_noted_no_frames_misses_nobody():
    found = moments([said("a", 1, 1, 1, (10,)), said("b", 2, 2, 2)], within=5)
    assert found == (Moment(frame=10, counters=("a",), missed_by=()),)
    assert moments([said("a", 2, 2, 2, (10, 10))], within=5) == (
        Moment(frame=10, counters=("a",), missed_by=()),
        Moment(frame=10, counters=("a",), missed_by=()),
    )


def box_track(name, boxes, first=0):
    return Track(
        track_id=name,
        class_name="person",
        frame_indices=np.arange(first, first + len(boxes)),
        boxes_px=np.array(boxes, np.float64),
        confidences=np.ones(len(boxes)),
        is_detected=np.ones(len(boxes), bool),
    )


def test_a_dot_is_on_the_smallest_box_that_holds_the_point():
    big, small = (
        box_track("1", [[0, 0, 100, 100]] * 3),
        box_track("2", [[10, 10, 30, 40]] * 2, first=1),
    )
    assert whose([big, small], frame=1, x=20, y=20).track_id == "2"
    assert whose([big, small], frame=0, x=20, y=20).track_id == "1"
    assert whose([big, small], frame=1, x=200, y=20) is None
    assert whose([big, small], frame=9, x=20, y=20) is None
    assert path_of(small) == ((1, 20.0, 25.0), (2, 20.0, 25.0))
