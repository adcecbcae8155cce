"""Orders whose prefixes nest."""

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection import ranking
from vidence.errors import UsageError
from vidence.records import Evidence, Item

CLIP = timed_clip(np.arange(80) / 10, fps=10.0)
ITEM = Item(item_id="q1", question="?", answer="A")


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (0, []),
        (1, [0]),
        (2, [1, 0]),
        # 1/2, 1/4, 3/4, then 0, of three: 1, 0, 2.
        (3, [1, 0, 2]),
        (4, [2, 1, 3, 0]),
        # 1/2 1/4 3/4 1/8 5/8 ... of five: 2, 1, 3, 0, (3), (1), 4.
        (5, [2, 1, 3, 0, 4]),
        (8, [4, 2, 6, 1, 5, 3, 7, 0]),
    ],
)
def test_the_spread_order_halves_what_is_left(n: int, expected: list[int]) -> None:
    assert ranking.spread(n).tolist() == expected


def test_a_choice_is_ranked_over_its_own_frames_once() -> None:
    selector = catalog.create("selector", "midpoints")
    # Middles of four segments: 10, 30, 50, 70.
    found = ranking.ranked(selector, CLIP, ITEM, n_frames=4)
    assert found.tolist() == [50, 30, 70, 10]
    # Scores say nothing to a selector that does not go by them.
    assert ranking.ranked(selector, CLIP, ITEM, n_frames=4, scores=np.arange(8.0)).tolist() == found.tolist()
    selector = catalog.create("selector", "mmvu-api")
    short = timed_clip(np.arange(3) / 10, fps=10.0)
    assert ranking.ranked(selector, short, ITEM, n_frames=5).tolist() == [1, 0, 2]
    selector = catalog.create("selector", "none")
    assert ranking.ranked(selector, CLIP, ITEM, n_frames=5).tolist() == []


def test_the_best_by_score_come_first_and_the_earlier_of_two() -> None:
    selector = catalog.create("selector", "similarity:blip-itm:w")
    assert selector.candidates(CLIP).tolist() == list(range(0, 80, 5))
    assert selector.score_rules.max_tokens == 512
    assert catalog.create("selector", "similarity:siglip:w").score_rules.max_tokens == 0
    selector = catalog.create("selector", "similarity:clip:w?grid=fps:1")
    scores = np.array([0.5, 0.7, 0.5, 0.7, 0.5, 0.1, 0.0, 0.0])
    assert selector.rank(CLIP, ITEM, n_frames=4, scores=scores).tolist() == [10, 30, 0, 20]
    assert selector.select(CLIP, ITEM, n_frames=4, scores=scores).tolist() == [0, 10, 20, 30]


def test_a_selector_with_a_ranking_of_its_own_is_asked_for_it() -> None:
    by_scores = catalog.create("selector", "similarity:clip:w?grid=fps:1")
    scores = np.array([0.1, 0.9, 0.3, 0.2, 0.8, 0.0, 0.0, 0.0])
    assert ranking.ranked(by_scores, CLIP, ITEM, n_frames=3, scores=scores).tolist() == [10, 40, 20]
    with pytest.raises(UsageError, match="given none"):
        ranking.ranked(by_scores, CLIP, ITEM, n_frames=3)
    item = Item(item_id="q1", question="?", answer="A", evidence=(Evidence(frames=(7,)),))
    oracle = catalog.create("selector", "oracle")
    assert ranking.ranked(oracle, CLIP, item, n_frames=3).tolist() == [7]
