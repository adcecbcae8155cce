"""The range of the true number of people behind a count of tracks."""

import numpy as np
import pytest

from vidence.make.herbench.tasks.thinning import true_count
from vidence.seeing.tracks import Recall


def recall(share: float, *, n: float, false_share: float = 0.0, n_tracks: float = 1e9) -> Recall:
    return Recall(
        share=share,
        low=0.0,
        high=1.0,
        confidence=0.95,
        n_people=int(min(n, 1e6)),
        n_frames=5,
        n_independent=n,
        false_share=false_share,
        n_independent_tracks=n_tracks,
    )


def test_who_finds_everybody_and_nobody_else_counts_right() -> None:
    assert true_count(12, 12, recall(1.0, n=1e9), confidence=0.95) == (12, 12)
    assert true_count(12, 15, recall(1.0, n=1e9), confidence=0.95) == (12, 15)


def test_few_people_counted_leave_much_open() -> None:
    highs = [true_count(10, 10, recall(1.0, n=n), confidence=0.95)[1] for n in (1000, 100, 10)]
    assert highs == sorted(highs)
    assert highs[-1] > highs[0] > 9


@pytest.mark.parametrize("scipy_name", ["betanbinom"])
def test_ends_are_those_of_the_distributions(scipy_name: str) -> None:
    from scipy import stats

    some = recall(0.8, n=50, false_share=0.1, n_tracks=30)
    low, high = true_count(20, 24, some, confidence=0.9)
    assert high - 24 == int(getattr(stats, scipy_name)(25, 41, 11).ppf(0.95))
    assert 20 - low == int(stats.betabinom(20, 4, 28).ppf(0.95))


def test_the_true_number_lies_in_the_range_as_often_as_said() -> None:
    """People, recall and counted frames drawn afresh; the count is a thinning with false tracks."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(2000):
        n, share, false_share = int(rng.integers(5, 120)), rng.uniform(0.5, 1), rng.uniform(0, 0.3)
        seen = rng.binomial(40, share) / 40
        wrong = rng.binomial(30, false_share) / 30
        counted = rng.binomial(n, share)
        counted += rng.negative_binomial(counted + 1, 1 - false_share) if false_share else 0
        some = recall(seen, n=40, false_share=wrong, n_tracks=30)
        low, high = true_count(int(counted), int(counted), some, confidence=0.95)
        held += low <= n <= high
    assert held / 2000 >= 0.95
