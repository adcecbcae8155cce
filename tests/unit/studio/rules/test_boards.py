"""What boards compute: meetings, neighbours, reasons to look, drawn orders."""

import numpy as np
import pytest

from vidence.make.review.people.rows import CountRow
from vidence.seeing.tracks import Track, TrackedVideo
from vidence.studio.rules.boards import (
    MOST_CROPS,
    Moment,
    agreement,
    crop_frames,
    drawn,
    meetings,
    moments,
    neighbours,
    suspicions,
)


def track(name, frames, *, left=0.0, step=0.0, detected=True):
    """A track whose box moves evenly to the right."""
    frames = np.array(frames, np.int64)
    lefts = left + step * np.arange(len(frames))
    boxes = np.stack([lefts, np.full(len(frames), 10.0), lefts + 20, np.full(len(frames), 50.0)], axis=1)
    return Track(
        track_id=name,
        class_name="person",
        frame_indices=frames,
        boxes_px=boxes,
        confidences=np.ones(len(frames)),
        is_detected=np.full(len(frames), detected),
    )


def video(*tracks, looks=None):
    return TrackedVideo(
        width_px=320, height_px=240, times_s=np.arange(200) / 10, tracks=tracks, looks=looks or {}
    )


def test_who_meets_once_or_twice():
    one, other = track("1", range(40), step=2.0), track("2", range(40), left=78.0, step=-2.0)
    far = track("3", range(40), left=250.0)
    (met,) = meetings(one, [one, other, far])
    assert (met.other, met.frame) == ("2", 19)
    assert meetings(far, [one, other]) == ()
    one, other = track("1", range(60)), track("2", [*range(5), *range(40, 60)], left=2.0)
    assert [met.other for met in meetings(one, [other])] == ["2", "2"]


def test_neighbours_are_near_in_time_or_alike_and_never_at_once():
    early, later, at_once, far = (
        track("1", range(20)),
        track("2", range(30, 60)),
        track("3", range(10, 40)),
        track("4", range(150, 180)),
    )
    same = np.array([1.0, 0.0], np.float32)
    shown = video(early, later, at_once, far, looks={"1": same, "4": same})
    found = neighbours(early, shown, shown.tracks)
    assert [(one.track_id, one.likeness) for one in found] == [("4", 1.0), ("2", None)]
    assert [one.gap_s for one in found] == pytest.approx([13.1, 1.1])


def test_reasons_to_look_first():
    plain = track("1", range(40))
    shown = video(plain)
    assert suspicions(plain, shown, met=()) == ()
    short = track("2", range(5), detected=False)
    assert suspicions(short, shown, met=(), left_out="too-small") == (
        "left out by a program: too-small",
        "only 0.4 s long",
        "100% of its boxes were filled in",
    )
    met = meetings(plain, [track("3", range(40), left=2.0)])
    assert suspicions(plain, shown, met=met) == ("meets 3",)
    assert suspicions(track("4", [*range(10), *range(30, 50)]), shown, met=()) == ("away for 20 frames",)


def test_crops_show_both_ends_and_both_sides_of_meetings_within_a_bound():
    one = track("1", range(100))
    met = meetings(one, [track("2", range(50, 53), left=1.0)])
    assert crop_frames(one, met=met, usual=(30, 70)) == (0, 30, 45, 55, 70, 99)
    assert len(crop_frames(one, met=met * 40, usual=range(0, 100, 10))) <= MOST_CROPS


def test_an_order_is_drawn_by_its_seed_alone():
    names = [str(number) for number in range(12)]
    assert drawn(names, seed="a") == drawn(names[::-1], seed="a")
    assert drawn(names, seed="a") != drawn(names, seed="b")
    assert sorted(drawn(names, seed="a")) == sorted(names)


def said(name, n, low, high, frames=()):
    return CountRow(
        video_id="v",
        check="",
        window="whole",
        place="",
        n=n,
        n_low=low,
        n_high=high,
        counter=name,
        frames=frames,
    )


def test_counters_agree_as_far_as_their_ranges_do():
    assert agreement([said("a", 5, 5, 5)]) == "counted once; a second count is missing"
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
    found = moments([said("a", 1, 1, 1, (10,)), said("b", 2, 2, 2)], within=5)
    assert found == (Moment(frame=10, counters=("a",), missed_by=()),)
    assert moments([said("a", 2, 2, 2, (10, 10))], within=5) == (
        Moment(frame=10, counters=("a",), missed_by=()),
        Moment(frame=10, counters=("a",), missed_by=()),
    )
