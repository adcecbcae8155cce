"""When tracks are visible, and the comparisons that questions rest on."""

import numpy as np
import pytest

from subjects.tracks import track, video, walk
from vidence.seeing import visibility as seen
from vidence.seeing.tracks import TrackedVideo
from vidence.seeing.visibility import Visible, visible


def span(name, start_s, end_s):
    return Visible(track_id=name, start_s=start_s, end_s=end_s)


def test_spans_run_from_the_first_frame_to_the_last_on_the_clock():
    clip = video([walk("b", [(5, 5)] * 21, first=10), walk("a", [(5, 5)], first=3)], fps=10)
    assert visible(clip) == (span("a", 0.3, 0.3), span("b", 1.0, 3.0))
    assert visible(clip)[1].duration_s == 2.0
    assert visible(video([])) == ()


def test_where_the_frame_rate_changes_the_clock_counts():
    # Ten frames in one second, then one frame a second: "slow" has fewer frames and is there for longer.
    times = np.concatenate([np.arange(10) / 10, np.arange(1, 11)])
    clip = TrackedVideo(
        width_px=100,
        height_px=100,
        times_s=times,
        tracks=(walk("fast", [(5, 5)] * 10), walk("slow", [(5, 5)] * 5, first=12)),
    )
    assert {v.track_id: pytest.approx(v.duration_s) for v in visible(clip)} == {"fast": 0.9, "slow": 4.0}
    assert seen.longest(visible(clip)) == ("slow",)


def test_open_gaps_part_stretches():
    one = track("a", [(0, 0, 5, 5)] * 5, frames=[2, 3, 4, 50, 51])
    assert seen.stretches_s(one, np.arange(100) / 10) == ((0.2, 0.4), (5.0, 5.1))


@pytest.mark.parametrize(
    ("other", "shared", "before"),
    [((2, 6), 2, False), ((4, 6), 0, False), ((4.1, 6), 0, True), ((1, 3), 2, False), ((0, 9), 4, False)],
)
def test_overlap_and_order(other, shared, before):
    one, two = span("a", 0, 4), span("b", *other)
    assert seen.overlap_s(one, two) == seen.overlap_s(two, one) == shared
    assert seen.is_before(one, two) is before
    assert not seen.is_before(two, one)


@pytest.mark.parametrize(("longer_s", "expected"), [(0, 0), (2.99, 0), (3, 1), (4, 1), (-2.99, 0), (-3, -1)])
def test_less_than_three_seconds_are_a_tie(longer_s, expected):
    assert seen.compare_durations(span("a", 0, 10 + longer_s), span("b", 50, 60)) == expected


def test_without_a_band_only_equal_durations_tie():
    assert seen.compare_durations(span("a", 0, 10), span("b", 5, 15), tie_s=0) == 0
    assert seen.compare_durations(span("a", 0, 10.01), span("b", 5, 15), tie_s=0) == 1


SPANS = (span("a", 0, 10), span("b", 1, 13.5), span("c", 1, 30), span("d", 4, 30), span("e", 20, 22))


def test_who_is_first_last_longest():
    assert seen.longest(SPANS) == ("c",)
    assert seen.longest(SPANS, tie_s=3.01) == ("c", "d")
    assert seen.shortest(SPANS) == ("e",)
    assert seen.first_to_enter(SPANS) == ("a",)
    assert seen.first_to_enter(SPANS, tie_s=3) == ("a", "b", "c")
    assert seen.last_to_enter(SPANS) == ("e",)
    assert seen.first_to_leave(SPANS) == ("a",)
    assert seen.first_to_leave(SPANS, tie_s=4) == ("a", "b")
    assert seen.last_to_leave(SPANS) == ("c", "d")


@pytest.mark.parametrize(
    "ask",
    [
        seen.longest,
        seen.shortest,
        seen.first_to_enter,
        seen.last_to_enter,
        seen.first_to_leave,
        seen.last_to_leave,
    ],
)
def test_of_nobody_there_is_nobody_and_of_one_it_is_that_one(ask):
    assert ask(()) == ()
    assert ask(SPANS[:1]) == ("a",)
