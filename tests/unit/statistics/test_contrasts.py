"""Contrasts of groups against plain formulas, and how often their intervals hold the truth."""

import math

import numpy as np
import pytest
from scipy import stats

from conftest import IS_THOROUGH
from vidence.errors import UsageError
from vidence.statistics.contrasts import LEAST_VIDEOS, contrast, trend_weights

DIFFERENCE = {"a": 1.0, "b": -1.0}


def test_without_shared_videos_and_one_item_each_it_is_the_test_of_welch():
    rng = np.random.default_rng(3)
    x, y = (rng.random(12) < 0.7).astype(float), (rng.random(9) < 0.4).astype(float)
    found = contrast(
        np.concatenate([x, y]),
        clusters=[f"v{i}" for i in range(21)],
        groups=["a"] * 12 + ["b"] * 9,
        weights=DIFFERENCE,
    )
    # Where every cluster has one item, CR2 is the unbiased variance of each group.
    error = math.sqrt(x.var(ddof=1) / 12 + y.var(ddof=1) / 9)
    assert found.estimate.value == pytest.approx(x.mean() - y.mean())
    half = stats.t.ppf(0.975, found.estimate.dof) * error
    assert found.estimate.high == pytest.approx(min(1, found.estimate.value + half))
    # The degrees of freedom are those of independent errors of one variance, not of the two that were seen.
    weights = np.array([1 / 12, 1 / 9])
    expected = weights.sum() ** 2 / (weights**2 / np.array([11, 8])).sum()
    assert found.estimate.dof == pytest.approx(expected)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.estimate.value) / error, expected))
    assert found.n_shared == 0


def test_where_every_video_has_one_item_of_each_it_is_the_paired_test():
    rng = np.random.default_rng(4)
    x, y = (rng.random((2, 20)) < [[0.8], [0.5]]).astype(float)
    clusters = [f"v{i}" for i in range(20)]
    found = contrast(
        np.concatenate([x, y]), clusters=clusters * 2, groups=["a"] * 20 + ["b"] * 20, weights=DIFFERENCE
    )
    error = (x - y).std(ddof=1) / math.sqrt(20)
    assert found.n_shared == 20
    assert found.estimate.value == pytest.approx((x - y).mean())
    assert found.estimate.dof == pytest.approx(19)
    assert found.p_value == pytest.approx(stats.ttest_rel(x, y).pvalue)
    assert found.estimate.low == pytest.approx(found.estimate.value - stats.t.ppf(0.975, 19) * error)


def test_the_error_and_its_freedom_are_those_of_cr2_written_with_matrices():
    """Cell means as regressors, independent errors: Pustejovsky & Tipton (2018), section 2, item by item."""
    rng = np.random.default_rng(5)
    n = 40
    clusters = rng.integers(0, 9, n)
    groups = rng.integers(0, 3, n)
    x = (rng.random(n) < 0.5).astype(float)
    weights = np.array([-0.5, 0.0, 0.5])
    design = (groups[:, None] == np.arange(3)).astype(float)
    bread = np.linalg.inv(design.T @ design)
    hat = np.eye(n) - design @ bread @ design.T
    pulls = []
    for one in range(9):
        own = np.flatnonzero(clusters == one)
        values, vectors = np.linalg.eigh(hat[np.ix_(own, own)])
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        pulls.append(hat[:, own] @ root @ design[own] @ bread @ weights)
    together = np.stack(pulls)
    products = together @ together.T
    found = contrast(
        x,
        clusters=[f"v{i}" for i in clusters],
        groups=[f"g{i}" for i in groups],
        weights={f"g{i}": float(w) for i, w in enumerate(weights)},
    )
    error = math.sqrt(((together @ x) ** 2).sum())
    assert found.estimate.dof == pytest.approx(np.trace(products) ** 2 / (products**2).sum())
    half = stats.t.ppf(0.975, found.estimate.dof) * error
    assert found.estimate.low == pytest.approx(max(-0.5, found.estimate.value - half))


def test_a_group_that_is_all_alike_does_not_count_as_known():
    # 3 of 30 wrong against 0 of 10: the test of Fisher says 0.56.
    x = [1.0] * 27 + [0.0] * 3 + [1.0] * 10
    found = contrast(
        x, clusters=[f"v{i}" for i in range(40)], groups=["a"] * 30 + ["b"] * 10, weights=DIFFERENCE
    )
    assert found.p_value > 0.2
    alike = contrast(
        [1.0] * 40, clusters=[f"v{i}" for i in range(40)], groups=["a", "b"] * 20, weights=DIFFERENCE
    )
    assert alike.estimate.low < 0 < alike.estimate.high
    assert alike.p_value == pytest.approx(1)


def test_videos_that_differ_in_the_same_way_do_not_make_it_certain():
    """Every video has the same difference, so that the difference shows no variance."""
    clusters, x = [f"v{i}" for i in range(10)], [1.0, 0.0] * 5
    found = contrast(x * 2, clusters=clusters * 2, groups=["a"] * 10 + ["b"] * 10, weights=DIFFERENCE)
    assert found.estimate.value == 0
    assert found.estimate.low < 0 < found.estimate.high


def test_too_few_videos_in_a_group_have_no_interval():
    n = LEAST_VIDEOS - 1
    found = contrast(
        [1.0, 0.0] * 20,
        clusters=[f"v{i % n}" for i in range(20)] + [f"w{i}" for i in range(20)],
        groups=["a"] * 20 + ["b"] * 20,
        weights=DIFFERENCE,
    )
    assert math.isnan(found.estimate.low)
    assert found.estimate.reason == "too few videos (5) in a"
    assert (found.p_value, found.verdict) == (1.0, "too few videos")


def test_the_weights_of_a_trend_give_the_slope_of_the_means():
    means = [0.9, 0.6, 0.7, 0.2]
    weights = trend_weights(["w", "x", "y", "z"])
    slope = sum(weight * mean for weight, mean in zip(weights.values(), means, strict=True))
    assert slope == pytest.approx(np.polyfit(range(4), means, 1)[0])
    # Items of other groups are left out.
    clusters, groups = [f"v{i}" for i in range(30)], [*"a" * 10, *"b" * 10, *"c" * 10]
    x = [1.0, 0.0, 1.0, 1.0, 0.0] * 6
    found = contrast(x, clusters=clusters, groups=groups, weights=DIFFERENCE)
    assert found == contrast(x[:20], clusters=clusters[:20], groups=groups[:20], weights=DIFFERENCE)
    clear = contrast(
        [1.0] * 6 + [0.0] * 6, clusters=clusters[:12], groups=[*"aaaaaabbbbbb"], weights=DIFFERENCE
    )
    assert (clear.verdict, clear.estimate.high) == ("clear", 1.0)


@pytest.mark.parametrize(("n_videos", "icc", "shared"), [(12, 0.3, False), (12, 0.0, True), (40, 0.5, True)])
def test_the_interval_holds_the_truth(n_videos, icc, shared):
    rng, n_hits, n_runs = np.random.default_rng(6), 0, 400 if IS_THOROUGH else 120
    shares = (0.8, 0.5)
    groups = [group for _ in range(n_videos) for group in "aabb"]
    for _ in range(n_runs):
        x, clusters = [], []
        for video in range(n_videos):
            ease = rng.random()
            for i, group in enumerate("aabb"):
                share = shares["ab".index(group)]
                known = ease < share if rng.random() < math.sqrt(icc) else rng.random() < share
                x.append(float(known))
                clusters.append(f"v{video}" if shared else f"v{video}{group}{i if icc == 0 else ''}")
        found = contrast(x, clusters=clusters, groups=groups, weights=DIFFERENCE).estimate
        n_hits += found.low <= 0.3 <= found.high
    assert n_hits / n_runs >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / n_runs)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"weights": {"a": 1.0, "b": 1.0}}, "weights that add up to 0"),
        ({"weights": {"a": 0.0}}, "weights that add up to 0"),
        ({"weights": {"a": 1.0, "b": math.nan}}, "expected a finite number"),
        ({"weights": {"a": 1.0, "z": -1.0}}, "no item in 'z'"),
        ({"groups": ["a"]}, "1 groups for 4 values"),
        ({"clusters": ["v"]}, "1 clusters for 4 values"),
        ({"values": [0, 1, 2, 1]}, "scores from 0 to 2"),
        ({"level": 1.0}, "level 1.0"),
    ],
)
def test_what_is_no_contrast_is_refused(changed, said):
    usual = {
        "values": [1, 0, 1, 0], "clusters": [*"vwxy"], "groups": [*"aabb"], "weights": DIFFERENCE, **changed
    }  # fmt: skip
    values = usual.pop("values")
    with pytest.raises(UsageError, match=said):
        contrast(values, **usual)


@pytest.mark.parametrize("labels", [[], ["a"], ["a", "a"]])
def test_a_trend_needs_different_groups(labels):
    with pytest.raises(UsageError, match="expected two or more different groups"):
        trend_weights(labels)
