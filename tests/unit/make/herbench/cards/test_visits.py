"""Who goes out of view at an edge and comes back is no longer one track; gaps elsewhere do no harm."""

from dataclasses import replace

import numpy as np
import pytest

from subjects.tracks import video, walk
from vidence.make.herbench.cards.visits import part_visits
from vidence.seeing.cleaning import fill_gaps
from vidence.seeing.tracks import Track

EMPTY = video([])  # 1000x800 pixels, 400 frames at 10 a second


def seen(centres: dict[int, tuple[float, float]]) -> Track:
    """Somebody 100 pixels wide and 200 high, detected in these frames; gaps are filled as refining does."""
    whole = walk("a", list(centres.values()))
    return fill_gaps(replace(whole, frame_indices=np.array(list(centres))), most_frames=30)


def there_and_back(gap: int, *, edge_x: float) -> Track:
    """To `edge_x` until frame 20, and from there again behind a gap."""
    out = {frame: (edge_x - 10 * (20 - frame), 400.0) for frame in range(21)}
    again = {21 + gap + i: (edge_x - 10 * i, 400.0) for i in range(20)}
    return seen(out | again)


def test_a_gap_at_an_edge_makes_two_visits():
    track = there_and_back(10, edge_x=975)
    assert len(track.frame_indices) == 51  # the gap is filled
    stays, visits, dropped = part_visits([track], EMPTY, every=1, stage="tracks")
    assert stays == ()
    assert [(v.track_id, v.first_frame, v.last_frame) for v in visits] == [("a/1", 0, 20), ("a/2", 31, 50)]
    (one,) = dropped
    assert (one.what, one.stage, one.reason) == ("a", "tracks", "out-and-back")
    assert one.detail == "not seen from 2.00 s to 3.10 s, at an edge before and after"


@pytest.mark.parametrize(
    ("gap", "edge_x", "every"),
    [
        (8, 975, 1),  # a detector that misses somebody for less than a second
        (10, 880, 1),  # in the band of the edge, but not near to it
        (10, 600, 1),  # inside, behind something
        (10, 975, 6),  # only every sixth frame was looked at
    ],
)
def test_other_gaps_are_gaps(gap, edge_x, every):
    track = there_and_back(gap, edge_x=edge_x)
    stays, visits, dropped = part_visits([track], EMPTY, every=every, stage="tracks")
    assert (stays, visits, dropped) == ((track,), (), ())


def test_a_gap_that_was_not_filled_counts_too():
    track = there_and_back(60, edge_x=975)
    assert len(track.frame_indices) == 41
    _, visits, _ = part_visits([track], EMPTY, every=1, stage="tracks")
    assert [(v.first_frame, v.last_frame) for v in visits] == [(0, 20), (81, 100)]


def test_who_crosses_behind_a_gap_stays():
    """Lost at the right edge, found inside: the person turned round while nobody was looking."""
    out = {frame: (775.0 + 10 * frame, 400.0) for frame in range(21)}
    again = {31 + i: (700.0 - 10 * i, 400.0) for i in range(20)}
    track = seen(out | again)
    assert part_visits([track], EMPTY, every=1, stage="tracks")[0] == (track,)
