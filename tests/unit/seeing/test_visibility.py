"""When tracks are visible, and the comparisons that questions rest on."""

import numpy as np
import pytest

from subjects.tracks import video, walk
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


@pytest.mark.parametrize(
    ("other", "shared"), [((2, 6), 2), ((4, 6), 0), ((4.1, 6), 0), ((1, 3), 2), ((0, 9), 4)]
)
def test_overlap(other, shared):
    one, two = span("a", 0, 4), span("b", *other)
    assert seen.overlap_s(one, two) == seen.overlap_s(two, one) == shared


@pytest.mark.parametrize(("shorter_s", "tied"), [(0, True), (2.99, True), (3, False), (4, False)])
def test_less_than_three_seconds_are_a_tie(shorter_s, tied):
    assert (len(seen.longest((span("a", 0, 10), span("b", 50, 60 - shorter_s)))) == 2) is tied


SPANS = (span("a", 0, 10), span("b", 1, 13.5), span("c", 1, 30), span("d", 4, 30), span("e", 20, 22))


def test_who_stays_longest():
    assert seen.longest(SPANS) == ("c",)
    assert seen.longest(SPANS, tie_s=3.01) == ("c", "d")
    assert (seen.longest(()), seen.longest(SPANS[:1])) == ((), ("a",))
    assert seen.longest((span("a", 0, 10), span("b", 5, 15)), tie_s=0) == ("a", "b")
    assert seen.longest((span("a", 0, 10.01), span("b", 5, 15)), tie_s=0) == ("a",)
