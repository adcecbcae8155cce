"""Repeats against hand calculation and simulation."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from vidence.errors import UsageError
from vidence.statistics.intervals import UNBOUNDED, clustered_error
from vidence.statistics.repeats import (
    best_of,
    components,
    over_repeats,
    pass_all,
    pass_at,
    summarise,
    vote_at,
)


def test_repeats_are_averaged_by_item():
    assert over_repeats([[1, 0, 0.5], [1, 1, 1]]).tolist() == [0.5, 1.0]
    assert over_repeats([1, 0, 0.5]).tolist() == [1.0, 0.0, 0.5]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.zeros((2, 0)), "items by repeats"),
        (np.zeros((2, 2, 2)), "one row with at least one value"),
        ([[1, math.nan]], "item 0, repeat 1"),
        ([], "at least one value"),
    ],
)
def test_what_is_no_table_of_repeats_is_refused(values, said):
    with pytest.raises(UsageError, match=said):
        over_repeats(values)


def test_the_summary_is_the_t_interval_over_repeats():
    # Mean 3, variance 1; Student's t at 0.975 with 2 degrees of freedom is 4.303 (any table).
    summary = summarise([2, 3, 4])
    assert summary.variance == pytest.approx(1.0)
    assert summary.mean.value == 3.0
    assert summary.mean.high == pytest.approx(3 + 4.3027 / math.sqrt(3), abs=1e-4)
    assert summary.mean.low == pytest.approx(3 - 4.3027 / math.sqrt(3), abs=1e-4)
    assert (summary.n_repeats, summary.mean.n) == (3, 3)
    assert "t with 2 degrees of freedom" in summary.mean.method
    wanted = stats.t.interval(0.9, 2, loc=3, scale=stats.sem([2, 3, 4]))
    wide = summarise([2, 3, 4], level=0.9)
    assert (wide.mean.low, wide.mean.high) == pytest.approx(wanted)
    summary = summarise([0.5])
    assert summary.mean.value == 0.5
    assert math.isnan(summary.mean.low)
    assert math.isnan(summary.variance)
    assert "single repeat" in summary.mean.method


def test_components_worked_out_by_hand():
    # Item means 0.5, 1, 0, 0.5 on two videos; variance within: 0.5, 0, 0, 0.5, so 0.25 on average.
    found = components([[1, 0], [1, 1], [0, 0], [0, 1]], clusters=["a", "a", "b", "b"])
    assert found.mean.value == 0.5
    assert found.repeat_variance == pytest.approx(0.25)
    assert found.repeat_error == pytest.approx(math.sqrt(0.25 / 8))
    # Deviations from 0.5 add up to 0.5 in video a and -0.5 in b: sqrt(2 * 0.5) / 4.
    assert found.total_error == pytest.approx(0.25)
    assert found.sampling_error == pytest.approx(math.sqrt(0.25**2 - 0.25 / 8))
    # Variance of the item means 0.5 / 3, less 0.25 / 2 of repeats.
    assert found.item_variance == pytest.approx(0.5 / 3 - 0.125)
    assert (found.n_items, found.n_clusters, found.n_repeats) == (4, 2, 2)


def test_one_video_or_one_item_leaves_unknown_what_cannot_be_known():
    alone = components([[1, 0], [1, 1]], clusters=["a", "a"])
    assert math.isnan(alone.sampling_error)
    assert alone.repeat_error > 0
    assert math.isnan(components([[1, 0]], clusters=["a"]).item_variance)
    # Both items have mean 0.5: nothing is left for the sample of questions.
    found = components([[1, 0], [0, 1]], clusters=["a", "b"])
    assert (found.sampling_error, found.item_variance, found.total_error) == (0.0, 0.0, 0.0)
    assert found.repeat_error == pytest.approx(math.sqrt(0.5 / 4))


def test_components_need_two_repeats_of_each_item():
    with pytest.raises(UsageError, match="two or more"):
        components([[1], [0]], clusters=["a", "b"])
    with pytest.raises(UsageError, match="items by repeats"):
        components([1, 0], clusters=["a", "b"])


def test_components_find_what_was_simulated():
    rng = np.random.default_rng(7)
    n_clusters, per_cluster, n_repeats = 300, 4, 3
    clusters = [f"v{i}" for i in range(n_clusters) for _ in range(per_cluster)]
    video = np.repeat(rng.normal(0, 2.0, n_clusters), per_cluster)
    item = video + rng.normal(0, 1.0, len(clusters))
    values = item[:, None] + rng.normal(0, 3.0, (len(clusters), n_repeats))
    found = components(values, clusters=clusters, bounds=UNBOUNDED)
    assert found.repeat_variance == pytest.approx(9.0, rel=0.1)
    assert found.item_variance == pytest.approx(5.0, rel=0.15)
    # Var of the mean: 4 / 300 + 1 / 1200 from the sample, 9 / 3600 from repeats.
    assert found.sampling_error == pytest.approx(math.sqrt(4 / 300 + 1 / 1200), rel=0.1)
    assert found.repeat_error == pytest.approx(math.sqrt(9 / 3600), rel=0.05)
    assert found.total_error == pytest.approx(clustered_error(values.mean(axis=1), clusters=clusters))


def test_components_of_a_mean_over_groups_count_each_group_alike():
    values = np.array([[1, 1], [1, 0], [0, 0], [0, 1]])
    groups, videos = ["a", "a", "a", "b"], ["u", "v", "w", "x"]
    found = components(values, clusters=videos, groups=groups)
    # Group a: (1 + 1/2 + 0) / 3; b: 1/2.
    assert found.mean.value == pytest.approx(0.5)
    # Variances within 0, 1/2, 0, 1/2; weights 1/6, 1/6, 1/6, 1/2; two repeats.
    assert found.repeat_error == pytest.approx(math.sqrt((0.5 / 36 + 0.5 / 4) / 2))
    alone = components(values, clusters=videos)
    assert alone == components(values, clusters=videos, groups=["all"] * 4)


def _by_subsets(marks, k):
    """The share of all ways to take k repeats in which one is right, and in which all are."""
    subsets = list(itertools.combinations(marks, k))
    return (
        sum(any(some) for some in subsets) / len(subsets),
        sum(all(some) for some in subsets) / len(subsets),
    )


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n_right", [0, 1, 2, 4, 5])
def test_pass_at_and_pass_all_are_shares_of_subsets(n_right, k):
    marks = (1,) * n_right + (0,) * (5 - n_right)
    found = pass_at([n_right], n_repeats=5, k=k)[0], pass_all([n_right], n_repeats=5, k=k)[0]
    assert found == pytest.approx(_by_subsets(marks, k))


@pytest.mark.parametrize(
    ("n_right", "k", "said"), [([1], 0, "0 of 3"), ([1], 4, "4 of 3"), ([4], 2, "0 to 3")]
)
def test_impossible_counts_of_repeats_are_refused(n_right, k, said):
    for chance in (pass_at, pass_all):
        with pytest.raises(UsageError, match=said):
            chance(n_right, n_repeats=3, k=k)


def test_the_best_of_k_is_the_mean_over_all_subsets():
    rng = np.random.default_rng(3)
    for _ in range(150):
        n = int(rng.integers(1, 9))
        ranks, values = rng.integers(-1, 4, n), rng.random(n).round(1)
        k = int(rng.integers(1, n + 1))
        found = [
            np.mean([values[i] for i in some if ranks[i] == max(ranks[j] for j in some)])
            for some in itertools.combinations(range(n), k)
        ]
        assert best_of(ranks, values, k=k) == pytest.approx(np.mean(found))


def test_the_vote_of_k_is_the_mean_over_all_subsets():
    rng = np.random.default_rng(4)
    for _ in range(150):
        n = int(rng.integers(1, 9))
        votes = [None if one == 0 else "-ABC"[one] for one in rng.integers(0, 4, n).tolist()]
        values = [float(vote == "A") for vote in votes]
        k = int(rng.integers(1, n + 1))
        found = []
        for some in itertools.combinations(range(n), k):
            counts = Counter(votes[i] for i in some if votes[i] is not None)
            first = [vote for vote, times in counts.items() if times == max(counts.values())]
            found.append(("A" in first) / len(first) if first else 0.0)
        assert vote_at(votes, values, k=k) == pytest.approx(np.mean(found))


@pytest.mark.parametrize(("k", "n", "said"), [(0, 3, "0 of 3"), (4, 3, "4 of 3"), (1, 2, "2 values for 3")])
def test_impossible_subsets_are_refused(k, n, said):
    with pytest.raises(UsageError, match=said):
        best_of([1, 2, 3], [1.0] * n, k=k)
    with pytest.raises(UsageError, match=said):
        vote_at(["A", "B", None], [1.0] * n, k=k)
