"""Orders of models over settings, and parts of a set that say the same: planted and found."""

import math

import numpy as np
import pytest
from scipy.stats import kendalltau

from vidence.errors import UsageError
from vidence.statistics.rank_changes import Setting, rank_changes, redundancy
from vidence.statistics.resampling import Resampling, cluster_draws

FEW = Resampling(n_boot=400)


def setting(rng, shares, *, n=300, prefix="v"):
    values = (rng.random((n, len(shares))) < np.asarray(shares)).astype(float)
    return Setting(values=values, clusters=[f"{prefix}{i // 3}" for i in range(n)])


def test_a_planted_change_of_places_is_sure_and_others_are_not():
    rng = np.random.default_rng(0)
    found = rank_changes(
        [setting(rng, [0.2, 0.5, 0.8]), setting(rng, [0.5, 0.2, 0.8])], rng=rng, resampling=FEW
    )
    assert found.tau[0, 1] == pytest.approx(1 / 3)
    assert found.swaps[0, 1, 0, 1] > 0.99
    assert found.swaps[0, 1, 0, 2] < 0.01
    assert found.swaps[0, 1, 1, 1] == 0.0
    assert found.low[0, 1] <= found.tau[0, 1] <= found.high[0, 1]


def test_models_that_are_alike_change_places_in_half_of_the_draws():
    rng = np.random.default_rng(1)
    shares = [
        rank_changes([setting(rng, [0.5, 0.5]), setting(rng, [0.5, 0.5])], rng=rng, resampling=FEW).swaps[
            0, 1, 0, 1
        ]
        for _ in range(60)
    ]
    assert np.mean(shares) == pytest.approx(0.5, abs=0.1)


def test_a_setting_against_itself_never_changes_places():
    one = setting(np.random.default_rng(2), [0.4, 0.5, 0.6])
    found = rank_changes([one, one], rng=np.random.default_rng(0), resampling=FEW)
    assert found.tau[0, 1] == 1.0
    assert found.low[0, 1] == 1.0  # both are drawn together
    assert not found.swaps.any()


def test_a_draw_without_any_question_of_a_setting_is_left_out():
    two = [
        Setting(values=np.array([[1.0, 0.0]]), clusters=["a"]),
        Setting(values=np.array([[0.0, 1.0]]), clusters=["b"]),
    ]
    found = rank_changes(two, rng=np.random.default_rng(0), resampling=FEW)
    assert found.low[0, 1] == found.high[0, 1] == -1.0  # half of the draws have one setting only, and no mean
    assert found.swaps[0, 1, 0, 1] == 1.0


def test_what_cannot_be_ranked_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="1 settings"):
        rank_changes([setting(rng, [0.1, 0.2])], rng=rng, resampling=FEW)
    with pytest.raises(UsageError, match="2 parts"):
        redundancy([setting(rng, [0.1] * 3)] * 2, rng=rng)


def test_parts_that_say_the_same_are_at_the_ceiling_and_others_are_not():
    """Tasks 0 and 1 have the same profile over models, 2 and 3 each one of their own."""
    rng = np.random.default_rng(3)
    general = rng.uniform(0.4, 0.6, 12)
    profiles = [rng.uniform(-0.3, 0.3, 12) for _ in range(3)]
    parts = [
        setting(rng, np.clip(general + profiles[i], 0, 1), n=900, prefix=str(k))
        for k, i in enumerate((0, 0, 1, 2))
    ]
    found = redundancy(parts, rng=rng, n_splits=60)
    assert found.reliable.min() > 0.9
    assert found.r[0, 1] / found.ceiling[0, 1] > 0.85
    assert found.r[0, 2] < found.r[0, 1] - 0.5
    assert found.expected == pytest.approx(-1 / 3)


def test_parts_with_nothing_in_common_correlate_as_taking_off_the_mean_makes_them():
    rng = np.random.default_rng(4)
    means = []
    for _ in range(40):
        parts = [setting(rng, rng.uniform(0.1, 0.9, 12), prefix=str(k)) for k in range(5)]
        r = redundancy(parts, rng=rng, n_splits=2).r
        means.append(r[np.triu_indices(5, 1)].mean())
    assert np.mean(means) == pytest.approx(-1 / 4, abs=0.05)


def test_one_cluster_and_flat_scores_have_no_reliability():
    rng = np.random.default_rng(5)
    flat = Setting(values=np.ones((6, 4)), clusters=["a"] * 6)
    found = redundancy(
        [flat, setting(rng, [0.2, 0.4, 0.6, 0.8]), setting(rng, [0.3] * 4)], rng=rng, n_splits=5
    )
    assert math.isnan(found.reliable[0])
    assert math.isnan(found.ceiling[0, 1])


def test_intervals_and_swaps_are_those_of_the_draws_that_have_both_settings():
    """Clusters u, v, w; the first setting has questions of u and v, the second of v and w."""
    rng = np.random.default_rng(6)
    first = Setting(values=rng.random((5, 3)), clusters=list("uuvvv"))
    second = Setting(values=rng.random((4, 3)), clusters=list("vwww"))
    found = rank_changes(
        [first, second], rng=np.random.default_rng(1), resampling=Resampling(n_boot=80, level=0.8)
    )
    (weights,) = cluster_draws(3, np.random.default_rng(1), 80, width=6)
    taus, opposed = [], np.zeros((3, 3))
    for times in weights:
        of = dict(zip("uvw", times, strict=True))
        repeats = [np.array([int(of[name]) for name in one.clusters]) for one in (first, second)]
        if not all(some.sum() for some in repeats):
            continue
        a, b = (
            np.repeat(one.values, some, axis=0).mean(axis=0)
            for one, some in zip((first, second), repeats, strict=True)
        )
        signs = [np.sign(np.subtract.outer(x, x)) for x in (a, b)]
        opposed += signs[0] * signs[1] < 0
        taus.append(kendalltau(a, b).statistic)
    assert len(taus) < 80
    assert found.swaps[0, 1] == pytest.approx(opposed / len(taus))
    assert found.swaps[1, 0] == pytest.approx(opposed / len(taus))
    assert not found.swaps[0, 0].any()
    ends = np.quantile(taus, [0.1, 0.9])
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx(tuple(ends))
    assert (found.low[1, 0], found.high[1, 0]) == pytest.approx(tuple(ends))
    assert found.means == pytest.approx(np.array([first.values.mean(axis=0), second.values.mean(axis=0)]))
    assert found.tau[0, 1] == pytest.approx(kendalltau(*found.means).statistic)
    assert (found.tau[0, 0], found.low[1, 1], found.high[0, 0]) == (1.0, 1.0, 1.0)


def test_correlations_and_reliabilities_of_parts_are_those_of_their_definitions():
    rng = np.random.default_rng(8)
    parts = [
        Setting(values=rng.random((n, 5)), clusters=[f"{part}{i // 2}" for i in range(n)])
        for part, n in zip("abc", (8, 12, 10), strict=True)
    ]
    found = redundancy(parts, rng=np.random.default_rng(2), n_splits=30)

    def centred(means):
        return np.array(means) - np.mean(means, axis=0)

    whole = centred([one.values.mean(axis=0) for one in parts])
    assert found.r == pytest.approx(np.corrcoef(whole))
    assert found.expected == -0.5
    draws, splits = np.random.default_rng(2), []
    for _ in range(30):
        halves = []
        for one in parts:
            names = sorted(set(one.clusters))
            chosen = {names[i] for i in draws.permutation(len(names))[: len(names) // 2]}
            is_first = np.array([name in chosen for name in one.clusters])
            halves.append([one.values[is_first].mean(axis=0), one.values[~is_first].mean(axis=0)])
        x, y = (centred([half[i] for half in halves]) for i in (0, 1))
        splits.append([np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)])
    means = np.mean(splits, axis=0)
    expected = [2 * r / (1 + r) if r > 0 else math.nan for r in means]
    assert found.reliable == pytest.approx(expected, nan_ok=True)
    assert found.ceiling[0, 2] == pytest.approx(math.sqrt(expected[0] * expected[2]), nan_ok=True)
