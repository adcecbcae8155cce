"""BOLT's draws on scores whose shares can be worked out by hand."""

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection import bolt
from vidence.contracts import ScoringSelector
from vidence.errors import DataError, UsageError
from vidence.records import Item

ITEM = Item(item_id="q1", question="?", answer="A")
# Shares 0, 1/6, 4/6, 1/6 without a power.
SCORES = np.array([0.0, 1.0, 4.0, 1.0])


def make(options: dict[str, str]) -> ScoringSelector:
    return catalog.create("selector", catalog.Spec(name="bolt", argument="clip:w", options=options))


def test_frames_are_drawn_where_the_shares_reach_the_points_and_a_power_sharpens() -> None:
    # Points 1/4, 5/12, 7/12, 3/4; the shares reach 1/6, 5/6, 1.
    assert bolt.official(SCORES, 4, -1).tolist() == [2, 2, 2, 2]
    # Points 1/8 ... 7/8.
    assert bolt.official(SCORES, 8, -1).tolist() == [1, 2, 2, 2, 2, 2, 2, 3]
    # Shares 0, 1/18, 16/18, 1/18: the points from 1/8 to 7/8 all fall on the third.
    assert bolt.official(SCORES, 8, 2).tolist() == [2] * 8
    assert bolt.official(SCORES + 100, 8, 2).tolist() == [2] * 8
    assert bolt.official(SCORES, 2, -1).tolist() == [2, 2]
    assert bolt.official(np.full(5, 3.0), 3, 3).tolist() == [0, 0, 0]


def test_the_released_rule_keeps_repeats_and_is_refused_where_it_draws_no_frame() -> None:
    clip = timed_clip(np.arange(4) * 1.0, fps=1.0)
    selector = make({"mode": "official", "power": "-1"})
    assert selector.select(clip, ITEM, n_frames=8, scores=SCORES).tolist() == [1, 2, 2, 2, 2, 2, 2, 3]
    assert selector.rank(clip, ITEM, n_frames=8, scores=SCORES).tolist() == [2, 1, 3]
    # In floating point these shares add up to less than 1, so that a draw at 1 falls behind the last.
    scores = np.array([0, 1, 1, 1, 1, 1, 1], np.float64)
    assert np.cumsum(np.full(6, 1 / 6))[-1] < 1
    clip = timed_clip(np.arange(7) * 1.0, fps=1.0)
    with pytest.raises(DataError, match=r"item 'q1'.*draws candidate 7 of 7.*mode=repaired"):
        make({"mode": "official", "power": "1"}).select(clip, ITEM, n_frames=1, scores=scores)
    assert make({"power": "1"}).select(clip, ITEM, n_frames=1, scores=scores).tolist() == [3]


def test_one_or_two_draws_are_the_middles_of_equal_shares() -> None:
    assert bolt.repaired(np.array([0.0, 1.0, 4.0, 1.0]), 1, -1).tolist() == [2]
    assert bolt.repaired(np.array([1.0, 0.0, 0.0, 1.0]), 2, -1).tolist() == [0, 3]
    but_one = np.ones(121)
    but_one[0] = 0.0
    for n_frames, shares in ((1, (1 / 2,)), (2, (1 / 4, 3 / 4)), (3, (1 / 3, 1 / 2, 2 / 3))):
        found = np.sort(bolt.repaired(but_one, n_frames, 1.0))
        assert found.tolist() == pytest.approx([120 * share for share in shares], abs=2)


def test_repeats_are_dropped_or_go_to_the_nearest_free_frame() -> None:
    peak = np.array([0, 0, 0, 0, 1, 0, 0, 0], np.float64)
    assert sorted(bolt.repaired(peak, 3, 3).tolist()) == [3, 4, 5]
    assert sorted(bolt.repaired(peak, 4, 3).tolist()) == [2, 3, 4, 5]
    at_the_end = np.array([0, 0, 0, 0, 1], np.float64)
    assert sorted(bolt.repaired(at_the_end, 3, 3).tolist()) == [2, 3, 4]
    assert bolt.repaired(SCORES, 4, -1, drop_repeats=True).tolist() == [2]
    clip = timed_clip(np.arange(4) * 1.0, fps=1.0)
    selector = make({"power": "-1", "duplicates": "drop"})
    assert selector.select(clip, ITEM, n_frames=4, scores=SCORES).tolist() == [2]
    # Shares 3/8, 0, 0, 4/8, 1/8; points 1/4, 1/2, 3/4: the first, then the fourth twice.
    scores = np.array([3, 0, 0, 4, 1], np.float64)
    assert bolt.repaired(scores, 3, -1).tolist() == [3, 0, 2]
    assert sorted(bolt.repaired(np.full(8, 2.0), 4, 3).tolist()) == [1, 3, 5, 7]


def test_candidates_are_nearest_to_whole_seconds() -> None:
    clip = timed_clip(np.arange(100) / 29.97, fps=29.97)
    assert make({}).candidates(clip).tolist() == [0, 30, 60]
    slow = timed_clip(np.arange(4) * 2.0, fps=0.5)
    assert make({}).candidates(slow).tolist() == [0, 1, 2, 3]
    assert make({"mode": "official"}).candidates(slow).tolist() == [0, 0, 1, 2, 2, 2, 3, 3]


@pytest.mark.parametrize("power", ["0", "-2", "inf", "x"])
def test_a_power_must_sharpen(power: str) -> None:
    with pytest.raises(UsageError, match="power"):
        make({"power": power})
