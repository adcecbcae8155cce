"""Which frames of a track show best who it is."""

import numpy as np

from subjects.tracks import track
from vidence.make.herbench.cards.portraits import portrait_frames

SIZE = {"width_px": 640, "height_px": 480}


def boxes(n, *, size=(40, 80), left=100.0):
    return [(left, 100.0, left + size[0], 100.0 + size[1]) for _ in range(n)]


def test_one_frame_of_each_part_and_the_largest_box_there():
    some = boxes(10)
    some[2] = (100.0, 100.0, 160.0, 220.0)
    some[7] = (100.0, 100.0, 160.0, 220.0)
    assert portrait_frames(track("1", some, first=5), n=2, **SIZE) == (7, 12)


def test_a_track_of_one_box_and_one_outside_the_frame():
    assert portrait_frames(track("1", boxes(1), first=3), n=2, **SIZE) == (3,)
    assert portrait_frames(track("1", boxes(4, left=2000.0)), n=2, **SIZE) == ()


def test_a_detected_box_comes_before_one_that_was_filled_in():
    detected = [False, True, False, False]
    some = boxes(4)
    some[0] = (100.0, 100.0, 160.0, 220.0)
    assert portrait_frames(track("1", some, detected=detected), n=1, **SIZE) == (1,)


def test_where_somebody_stands_in_front_another_moment_is_taken():
    here = track("1", boxes(3))
    front = track("2", [(90.0, 90.0, 150.0, 190.0)] * 2, frames=[0, 1])
    assert portrait_frames(here, n=1, others=[front], **SIZE) == (2,)
    assert np.array_equal(portrait_frames(here, n=1, **SIZE), (0,))
