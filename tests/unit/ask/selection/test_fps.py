"""Frames per second of presentation time."""

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.contracts import Selector
from vidence.errors import UsageError
from vidence.media.clip import Clip
from vidence.records import Item

ITEM = Item(item_id="q1", question="?", answer="A")


def create(rate: str) -> Selector:
    return catalog.create("selector", catalog.Spec(name="fps", argument=rate))


def select(times_s: list[float], rate: str, n_frames: int = 1000) -> list[int]:
    clip = timed_clip(np.array(times_s), fps=10.0)
    return create(rate).select(clip, ITEM, n_frames=n_frames).tolist()


def test_the_clock_decides_and_not_the_count() -> None:
    times = [i / 30 for i in range(300)]
    assert select(times, "1") == list(range(0, 300, 30))
    assert select(times, "2") == list(range(0, 300, 15))
    assert select(times, "30") == list(range(300))
    # Second j is nearest to frame 29.97 j: every 30th at first, frame 1798 and not 1800 after a minute.
    times = [i * 1001 / 30000 for i in range(1800)]
    expected = [round(j * 30000 / 1001) for j in range(61)]
    assert expected[-1] == 1798
    assert select(times, "1") == expected
    # Fast at first, then one frame every 2 s: by count, frame 10 would be taken for second 1.
    times = [0.0, 0.1, 0.2, 0.3, 0.9, 1.2, 3.0, 5.0]
    # Points 0, 1, 2, 3, 4, 5: 1 -> 0.9; 2 -> 1.2 (0.8 away, 3.0 is 1.0 away); 4 -> halfway: the earlier, 3.0.
    assert select(times, "1") == [0, 4, 5, 6, 7]
    assert select([0.0, 0.1, 0.2], "1e9") == [0, 1, 2]
    # Points 7.3, 8.3, 9.3.
    assert select([7.3, 7.8, 8.2, 8.9, 9.3], "1") == [0, 2, 4]
    # 0.3 * 10 is 3.0000000000000004 and (0.1 + 0.2) differs from 0.3: all points are met.
    assert select([0.0, 0.1, 0.2, 0.1 * 3 - 1e-12], "10") == [0, 1, 2, 3]


def test_more_than_the_budget_is_thinned_to_middles_and_each_medium_has_its_grid() -> None:
    # Ten points at frames 0, 10, .., 90; the middles of four segments of ten are 1, 3, 6, 8.
    assert select([i / 10 for i in range(100)], "1", n_frames=4) == [10, 30, 60, 80]
    assert select([i / 10 for i in range(100)], "1", n_frames=10) == list(range(0, 100, 10))
    clip = Clip(
        times_s=np.array([0.0, 0.6, 1.0, 0.0, 0.5, 1.1]),
        media_indices=np.array([0, 0, 0, 1, 1, 1]),
        frame_indices=np.array([0, 1, 2, 0, 1, 2]),
        fps=2.0,
    )
    # Second medium: points 0 and 1; 1.1 is nearer to 1 than 0.5.
    assert create("1").select(clip, ITEM, n_frames=9).tolist() == [0, 2, 3, 5]
    assert select([i / 10 for i in range(30)], "") == [0, 10, 20]


@pytest.mark.parametrize("argument", ["0", "-2", "nan", "inf", "two", "2fps", " "])
def test_what_is_no_rate_is_refused(argument: str) -> None:
    with pytest.raises(UsageError, match="expected a number above 0"):
        create(argument)
