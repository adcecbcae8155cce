"""Cochran's Q and tau over groups of items, with errors and draws by cluster."""

import math

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.statistics.heterogeneity import Heterogeneity, heterogeneity


def drawn(effects, *, seed, n_clusters=40, per_cluster=1, noise=0.5, shared=0.0):
    """Values of groups with these means; every cluster has items in every group and a shift of its own."""
    rng = np.random.default_rng(seed)
    values, groups, clusters = [], [], []
    for cluster in range(n_clusters):
        shift = shared * rng.normal()
        for i, effect in enumerate(effects):
            for _ in range(per_cluster):
                values.append(effect + shift + noise * rng.normal())
                groups.append(f"g{i}")
                clusters.append(f"v{cluster}")
    return values, groups, clusters


def said(effects, *, seed=0, n_draws=500, **options) -> Heterogeneity:
    values, groups, clusters = drawn(effects, seed=seed, **options)
    found = heterogeneity(
        values, groups=groups, clusters=clusters, rng=np.random.default_rng(1), n_draws=n_draws
    )
    assert found is not None
    return found


def test_q_and_tau_worked_out_by_hand():
    # Means 0.5 and -0.5; residuals 0, -0.1, 0.1 of three clusters each: a variance of 0.02 / 9 * 3 / 2.
    values = [0.5, 0.4, 0.6, -0.5, -0.4, -0.6]
    found = heterogeneity(
        values, groups=list("aaabbb"), clusters=list("uvwxyz"), rng=np.random.default_rng(0)
    )
    assert found is not None
    variance = 0.02 / 9 * 1.5
    assert found.q == pytest.approx(2 * 0.5**2 / variance)
    assert found.dof == 1
    assert found.common == pytest.approx(0.0)
    w = 1 / variance
    assert found.tau == pytest.approx(math.sqrt((found.q - 1) / (2 * w - 2 * w**2 / (2 * w))))


def test_one_common_mean_is_kept_and_planted_differences_are_found():
    assert said([0.1] * 5, seed=2).p_value > 0.05
    spread = said([-0.3, -0.1, 0.1, 0.3, 0.5])
    assert spread.p_value < 0.01
    assert spread.tau == pytest.approx(np.std([-0.3, -0.1, 0.1, 0.3, 0.5], ddof=1), abs=0.1)


@pytest.mark.parametrize("options", [{}, {"per_cluster": 4, "shared": 0.5}])
def test_the_p_value_keeps_its_promise(options):
    found = [said([0.1] * 4, seed=seed, n_draws=200, n_clusters=15, **options).p_value for seed in range(200)]
    assert np.mean(np.array(found) < 0.05) < 0.11
    assert 0.4 < np.mean(np.array(found) < 0.5) < 0.62


def test_the_same_state_gives_the_same_result():
    assert said([0.0, 0.2]) == said([0.0, 0.2])


def test_groups_without_an_error_are_left_out():
    values = [0, 1, 0, 1, 1, 0, 5, 1, 1, 1]
    groups = list("aaabbbcddd")
    clusters = list("uvwuvwuuvw")
    found = heterogeneity(values, groups=groups, clusters=clusters, rng=np.random.default_rng(0))
    assert found is not None
    assert (found.groups, found.left_out) == (("a", "b"), ("c", "d"))
    alone = heterogeneity(values[:3], groups=groups[:3], clusters=clusters[:3], rng=np.random.default_rng(0))
    assert alone is None


def test_a_group_in_two_clusters_is_kept():
    values = [0.0, 1.0, 0.2, 0.9, 0.4]
    found = heterogeneity(values, groups=list("aabbb"), clusters=list("uvuvw"), rng=np.random.default_rng(0))
    assert found is not None
    assert (found.groups, found.left_out) == (("a", "b"), ())


@pytest.mark.parametrize(
    ("values", "groups", "said_of_it"),
    [([], [], "at least one"), ([1.0, math.nan], ["a", "b"], "not a finite"), ([1.0, 2.0], ["a"], "1 group")],
)
def test_values_that_make_no_sense_are_refused(values, groups, said_of_it):
    with pytest.raises(UsageError, match=said_of_it):
        heterogeneity(values, groups=groups, clusters=["v"] * len(values), rng=np.random.default_rng(0))


def plain_q(values, groups, clusters):
    """Q of values by its definition: errors of means by cluster, with the correction for few of them."""
    means, variances = [], []
    for name in sorted(set(groups)):
        own = [(v, c) for v, g, c in zip(values, groups, clusters, strict=True) if g == name]
        mean = sum(v for v, _ in own) / len(own)
        names = sorted({c for _, c in own})
        sums = [sum(v - mean for v, c in own if c == cluster) for cluster in names]
        m = len(names)
        variances.append(sum(s**2 for s in sums) / len(own) ** 2 * m / (m - 1))
        means.append(mean)
    weights = [1 / one for one in variances]
    common = sum(w * mean for w, mean in zip(weights, means, strict=True)) / sum(weights)
    q = sum(w * (mean - common) ** 2 for w, mean in zip(weights, means, strict=True))
    return q, common, means, weights


@pytest.mark.parametrize("shift", [0.0, 0.2, 0.3])
def test_q_p_and_tau_of_uneven_clusters_are_those_of_their_definitions(shift):
    """The null: residuals of a cluster times its sign, as sums spread evenly over its items of a group."""
    values = [0.9, 0.2, 0.4, 0.7, 0.1, *(v + shift for v in (0.3, 0.8, 0.0, 0.5)), 0.6, 0.4, 0.9]
    groups, clusters = list("aaaaabbbbccc"), list("uuvwxuvvwuwx")
    q, common, means, weights = plain_q(values, groups, clusters)
    found = heterogeneity(
        values, groups=groups, clusters=clusters, rng=np.random.default_rng(3), n_draws=1200
    )
    assert found is not None
    assert (found.q, found.common, found.dof) == (pytest.approx(q), pytest.approx(common), 2)
    w = np.array(weights)
    between = max(0.0, (q - 2) / (w.sum() - (w**2).sum() / w.sum()))
    assert found.tau == pytest.approx(math.sqrt(between))
    mean_of, sign_at = dict(zip("abc", means, strict=True)), {name: i for i, name in enumerate("uvwx")}
    cells = list(zip(groups, clusters, strict=True))
    left = [v - mean_of[g] for v, g in zip(values, groups, strict=True)]
    even = [np.mean([x for x, other in zip(left, cells, strict=True) if other == one]) for one in cells]
    signs = np.random.default_rng(3).choice([-1.0, 1.0], size=(1200, 4))
    n_as_large = 0
    for row in signs:
        drawn = [row[sign_at[cluster]] * x for (_, cluster), x in zip(cells, even, strict=True)]
        n_as_large += plain_q(drawn, groups, clusters)[0] >= q * (1 - 1e-9)
    assert 0 < n_as_large < 1200
    assert found.p_value == (1 + n_as_large) / 1201


def test_means_that_differ_by_less_than_their_errors_have_no_tau():
    values = [0.0, 1.0, 0.1, 1.1]
    found = heterogeneity(
        values, groups=list("aabb"), clusters=list("uvuv"), rng=np.random.default_rng(0), n_draws=20
    )
    assert found is not None
    assert found.q < found.dof
    assert found.tau == 0.0
