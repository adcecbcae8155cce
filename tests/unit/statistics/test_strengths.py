"""Bradley and Terry with Davidson's ties: published values, other programs, clusters, no maximum."""

import math
from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize

from vidence.errors import UsageError
from vidence.statistics import strengths
from vidence.statistics.strengths import bradley_terry

# Wins of the row over the column. Journals by citations: Stigler (1994), Agresti (2002), table 10.10 has the
# values. Baseball: the American League of 1987, Agresti (2002), tables 10.10 and 10.11.
JOURNALS = {
    "Biometrika": {"Comm Statist": 730, "JASA": 498, "JRSS-B": 221},
    "Comm Statist": {"Biometrika": 33, "JASA": 68, "JRSS-B": 17},
    "JASA": {"Biometrika": 320, "Comm Statist": 813, "JRSS-B": 142},
    "JRSS-B": {"Biometrika": 284, "Comm Statist": 276, "JASA": 325},
}
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
BASEBALL = {
    team: dict(zip([t for t in TEAMS if t != team], wins, strict=True))
    for team, wins in zip(
        TEAMS,
        (
            (7, 9, 7, 7, 9, 11),
            (6, 7, 5, 11, 9, 9),
            (4, 6, 7, 7, 8, 12),
            (6, 8, 6, 6, 7, 10),
            (6, 2, 6, 7, 7, 12),
            (4, 4, 5, 6, 6, 6),
            (2, 4, 1, 3, 1, 7),
        ),
        strict=True,
    )
}
PUBLISHED = {
    "journals": (JOURNALS, "Biometrika", {"Comm Statist": -2.949, "JASA": -0.480, "JRSS-B": 0.269}),
    "baseball": (
        BASEBALL,
        "Baltimore",
        {
            "Milwaukee": 1.581,
            "Detroit": 1.436,
            "Toronto": 1.294,
            "New York": 1.248,
            "Boston": 1.108,
            "Cleveland": 0.684,
        },
    ),
}


def pairs_of(table):
    return [(a, b, 1.0) for a, row in table.items() for b, n in row.items() for _ in range(n)]


def drawn(seed, *, ties, n=300, n_names=5):
    """Pairs of names of random strengths, with Davidson's ties where wanted."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 0.8, n_names)
    found = []
    for _ in range(n):
        a, b = rng.choice(n_names, 2, replace=False)
        odds = np.exp(
            [strength[a], strength[b], math.log(ties) + (strength[a] + strength[b]) / 2 if ties else -99]
        )
        found.append((f"m{a}", f"m{b}", float(rng.choice([1.0, 0.0, 0.5], p=odds / odds.sum()))))
    return found


def fitted(pairs, clusters=None):
    first, second, outcomes = zip(*pairs, strict=True)
    return bradley_terry(
        first, second, outcomes=outcomes, clusters=clusters or [*map(str, range(len(pairs)))]
    )


def values(found, *, less):
    return {name: one.value - found.strengths[less].value for name, one in found.strengths.items()}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_strengths(name):
    table, base, expected = PUBLISHED[name]
    found = values(fitted(pairs_of(table)), less=base)
    assert {k: round(v, 3) for k, v in found.items() if k != base} == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize("seed", range(4))
def test_without_ties_it_is_the_logistic_regression_of_statsmodels(seed):
    pairs = drawn(seed, ties=0)
    names = sorted({one for a, b, _ in pairs for one in (a, b)})
    design = np.array([[float(a == n) - float(b == n) for n in names[1:]] for a, b, _ in pairs])
    glm = sm.GLM([y for *_, y in pairs], design, family=sm.families.Binomial()).fit()
    found = fitted(pairs)
    ours = values(found, less=names[0])
    assert [ours[n] for n in names[1:]] == pytest.approx(glm.params, abs=1e-6)
    order = list(found.strengths)
    for a, b in combinations(range(1, len(names)), 2):
        contrast = np.zeros(len(names))
        contrast[order.index(names[a])], contrast[order.index(names[b])] = 1, -1
        robust = sm.GLM([y for *_, y in pairs], design, family=sm.families.Binomial()).fit(cov_type="HC0")
        step = np.zeros(len(names) - 1)
        step[a - 1], step[b - 1] = 1, -1
        expected = step @ robust.cov_params() @ step * len(pairs) / (len(pairs) - 1)
        assert contrast @ np.array(found.covariance) @ contrast == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_with_ties_it_is_the_maximum_that_an_optimiser_finds(seed):
    """The likelihood as Davidson writes it, in strengths and nu, not in their logarithms."""
    pairs = drawn(seed, ties=(0.2, 0.5, 1.0, 2.0)[seed])
    names = sorted({one for a, b, _ in pairs for one in (a, b)})

    def loss(logs):
        strength = dict(zip(names, np.exp([0.0, *logs[:-1]]), strict=True))
        nu, total = math.exp(logs[-1]), 0.0
        for a, b, y in pairs:
            tie = nu * math.sqrt(strength[a] * strength[b])
            top = {1.0: strength[a], 0.0: strength[b], 0.5: tie}[y]
            total -= math.log(top / (strength[a] + strength[b] + tie))
        return total

    best = minimize(loss, np.zeros(len(names)), method="BFGS", options={"gtol": 1e-6})
    found = fitted(pairs)
    ours = values(found, less=names[0])
    assert [*(ours[n] for n in names[1:]), found.ties] == pytest.approx(best.x, abs=1e-4)


def test_intervals_count_sources():
    pairs = drawn(0, ties=0.5)
    by_pair = fitted(pairs)
    doubled = fitted(pairs * 2, clusters=[*map(str, range(len(pairs)))] * 2)
    for name, one in by_pair.strengths.items():
        twice = doubled.strengths[name]
        assert (twice.low, twice.high) == pytest.approx((one.low, one.high), abs=1e-6)
    few = fitted(pairs, clusters=["abcde"[i % 5] for i in range(len(pairs))])
    assert {one.reason for one in few.strengths.values()} == {"too few videos (5)"}


def test_a_side_that_never_loses_gets_a_bounded_strength():
    pairs = [("a", "b", 1.0)] * 10 + [("b", "c", 1.0), ("c", "b", 1.0)] * 3
    found = fitted(pairs)
    assert found.is_bounded
    assert 1 < found.strengths["a"].value < 5
    assert found.strengths["a"].low < found.strengths["a"].value < found.strengths["a"].high < 10


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([], "at least one pair"),
        ([("a", "b", 0.3)], "is 1 .*, 0 .* or 0.5"),
        ([("a", "a", 1.0)], "the same name twice"),
        ([("a", "b", 0.5)], "all 1 pairs are tied"),
        ([("a", "b", 1.0), ("c", "d", 0.5)], r"no pair links \{a, b\} and \{c, d\}"),
    ],
)
def test_what_has_no_strengths_says_why(pairs, said):
    with pytest.raises(UsageError, match=said):
        bradley_terry(
            [a for a, *_ in pairs],
            [b for _, b, _ in pairs],
            outcomes=[y for *_, y in pairs],
            clusters=["v"] * len(pairs),
        )


def test_a_fit_that_is_cut_short_is_near(monkeypatch):
    pairs = drawn(1, ties=0.5)
    whole = fitted(pairs)
    monkeypatch.setattr(strengths, "_STEPS", 2)
    for name, one in fitted(pairs).strengths.items():
        assert one.value == pytest.approx(whole.strengths[name].value, abs=0.2)
