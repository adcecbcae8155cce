"""The best candidates by score."""

import numpy as np

from vidence import catalog
from vidence.contracts import ScoringSelector
from vidence.media.clip import Clip
from vidence.records import Item

ITEM = Item(item_id="q1", question="?", answer="A")
CLIP = Clip.of_times(np.arange(60) / 10, fps=10.0)


def make(spec: str) -> ScoringSelector:
    parsed = catalog.parse_spec(spec)
    return catalog.create("selector", parsed)


def test_the_best_are_shown_in_the_order_of_time_and_the_earlier_wins() -> None:
    selector = make("similarity:blip-itm:w?grid=fps:1")
    scores = np.array([0.1, 0.9, 0.3, 0.2, 0.8, 0.0])
    assert selector.rank(CLIP, ITEM, n_frames=3, scores=scores).tolist() == [10, 40, 20]
    assert selector.select(CLIP, ITEM, n_frames=3, scores=scores).tolist() == [10, 20, 40]
    selector = make("similarity:clip:w?grid=fps:1")
    scores = np.array([0.5, 0.7, 0.5, 0.7, 0.5, 0.1])
    assert selector.rank(CLIP, ITEM, n_frames=4, scores=scores).tolist() == [10, 30, 0, 20]


def test_it_asks_for_what_vanilla_blip_asks_for() -> None:
    selector = make("similarity:blip-itm:w")
    assert selector.candidates(CLIP).tolist() == list(range(0, 60, 5))
    assert selector.score_rules.max_tokens == 512
    assert make("similarity:siglip:w").score_rules.max_tokens == 0
