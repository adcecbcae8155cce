"""AKS on scores whose bins can be worked out by hand."""

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection import aks
from vidence.contracts import ScoringSelector
from vidence.errors import DataError, UsageError
from vidence.records import Item

DEFAULTS = aks.Settings()
# Two bursts of different height in 16 candidates; the halves are 0-7 and 8-15, the quarters 0-3, 4-7, ...
BURSTS = np.array([0, 0, 9, 8, 0, 0, 0, 1, 0, 0, 0, 0, 5, 6, 7, 0], np.float64)
ITEM = Item(item_id="q1", question="?", answer="A")


def make(options: dict[str, str]) -> ScoringSelector:
    return catalog.create("selector", catalog.Spec(name="aks", argument="blip-itm:w", options=options))


def test_the_defaults_and_candidates_are_those_of_the_released_code() -> None:
    assert (DEFAULTS.t1, DEFAULTS.t2, DEFAULTS.all_depth, DEFAULTS.ratio) == (0.8, -100, 5, 1)
    rules = make({}).score_rules
    assert (rules.embedder, rules.query, rules.max_tokens) == ("blip-itm:w", "question", 35)
    clip = timed_clip(np.arange(100) / 29.97, fps=29.97)
    assert make({}).candidates(clip).tolist() == [0, 29, 58]
    assert make({"grid": "all"}).candidates(clip).tolist() == list(range(100))


def test_a_flat_video_is_cut_into_bins_and_a_peaky_segment_is_kept_whole() -> None:
    # 4 of 16 at depth 2: one frame of each quarter.
    chosen = aks.official(BURSTS, 4, aks.Settings(all_depth=2))
    assert chosen.tolist() == [2, 7, 8, 14]
    # The best two of all have mean 8.5 / 9; the mean of all is 2.25 / 9: a gap of 0.69.
    assert aks.official(BURSTS, 2, aks.Settings(t1=0.65)).tolist() == [2, 3]
    assert aks.official(BURSTS, 2, aks.Settings(t1=0.7, all_depth=1)).tolist() == [2, 14]
    assert aks.official(BURSTS, 2, aks.Settings(t1=0.65, t2=0.9, all_depth=1)).tolist() == [2, 14]
    scores = np.array([0, 1, 1, 0, 2, 2, 2, 2], np.float64)
    assert aks.official(scores, 2, aks.Settings(all_depth=1)).tolist() == [1, 4]


def test_the_released_code_gives_nothing_for_many_bins_and_all_of_few_candidates() -> None:
    scores = np.arange(100.0)
    assert aks.official(scores, 16, DEFAULTS).tolist() == []
    assert len(aks.official(scores, 5, aks.Settings(all_depth=2))) == 4
    # More halvings than there are candidates change nothing.
    assert aks.official(scores, 16, aks.Settings(all_depth=10_000)).tolist() == []
    assert aks.official(np.full(3, 0.5), 4, DEFAULTS).tolist() == [0, 1, 2]
    assert aks.official(np.arange(9.0), 4, aks.Settings(ratio=3)).tolist() == [0, 3, 6]
    # Only with fewer candidates are all taken: 4 of 4 are halved to single frames, and int(4 / 2^3) is 0.
    assert aks.official(np.arange(4.0), 4, DEFAULTS).tolist() == []
    assert aks.official(np.arange(4.0), 5, DEFAULTS).tolist() == [0, 1, 2, 3]


def test_scores_that_are_all_the_same_are_refused_by_the_released_rule_alone() -> None:
    clip = timed_clip(np.arange(80) / 10, fps=10.0)
    scores = np.full(8, 0.25)
    with pytest.raises(DataError, match=r"item 'q1': all 8 scores are 0.25.*mode=repaired"):
        make({"mode": "official"}).select(clip, ITEM, n_frames=4, scores=scores)
    uniform = make({}).select(clip, ITEM, n_frames=4, scores=scores)
    assert uniform.tolist() == [10, 30, 50, 70]


def test_the_repaired_rule_limits_the_depth_and_ranks_what_smaller_budgets_choose() -> None:
    # Depth 2 for 5 frames: one of each quarter (2, 7, 8, 14), and the fifth where the next is best: 3.
    assert sorted(aks.repaired(BURSTS, 5, DEFAULTS).tolist()) == [2, 3, 7, 8, 14]
    # Seven frames: each quarter with a next frame in turn (3 with 8, 13 with 6, then 4 and 9 with 0).
    assert sorted(aks.repaired(BURSTS, 7, DEFAULTS).tolist()) == [2, 3, 4, 7, 8, 13, 14]
    assert len(aks.repaired(np.arange(100.0), 16, DEFAULTS)) == 16
    # Five candidates in four bins, the last with two; a budget of 5 takes them all.
    assert sorted(aks.repaired(np.arange(5.0), 5, DEFAULTS).tolist()) == [0, 1, 2, 3, 4]
    # Budget 1: the best (2). Budget 2: the best of each half (2, 14). Budget 4: 2, 7, 8, 14.
    # Budget 6 adds 3 and 13, the next of the two bursts.
    assert aks.repaired(BURSTS, 6, DEFAULTS).tolist() == [2, 14, 7, 8, 3, 13]
    scores = np.array([0, 9, 1, 9, 2, 9, 3, 9], np.float64)
    assert sorted(aks.repaired(scores, 2, aks.Settings(ratio=2)).tolist()) == [2, 6]
    # What is left may be all the same, or a single one.
    assert aks.repaired(np.array([1.0, 2.0, 1.0]), 2, aks.Settings(ratio=2)).tolist() == [2, 0]
    assert aks.repaired(np.array([1.0, 2.0]), 2, aks.Settings(ratio=2)).tolist() == [0]


@pytest.mark.parametrize(
    "options",
    [{"mode": "best"}, {"t1": "nan"}, {"all_depth": "-1"}, {"ratio": "0"}, {"grid": "often"}, {"t3": "1"}],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        make(options)
