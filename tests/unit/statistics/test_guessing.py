"""What luck alone gets, against closed forms and against answers that are drawn."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from conftest import IS_THOROUGH
from vidence.errors import UsageError
from vidence.statistics.guessing import Guesser, SamePairs, luck, stickiness


def smallest(most):
    """The smallest number that is right, where all frames are."""
    return lambda right: next(k for k in range(1, most + 1) if right(k)) if right(most) else None


def halving(most):
    def search(right):
        low, high = 1, most
        if not right(most):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if right(middle) else (middle + 1, high)
        return high

    return search


@pytest.mark.parametrize(("n_choices", "m"), [(2, 3), (4, 4), (5, 4), (5, 6)])
def test_independent_guesses_have_the_closed_forms(n_choices, m):
    x, g = 2**m, 1 / n_choices
    guesser = Guesser(n_choices=n_choices)
    found = luck(smallest(x), guesser)
    # Right with x: the smallest is j < x with g (1 - g)^(j - 1), otherwise x.
    assert found.mean == pytest.approx((1 - (1 - g) ** x) / g)
    assert found.chance == pytest.approx(g)
    # Each step of the bisection goes low with the chance g.
    assert luck(halving(x), guesser).mean == pytest.approx(1 + (x - 1) * (1 - g))


@pytest.mark.parametrize("search", [smallest, halving])
@pytest.mark.parametrize(("rho", "n_orders"), [(0.0, 1), (0.5, 1), (0.8, 1), (0.95, 1), (0.8, 2), (0.5, 3)])
def test_what_is_computed_is_what_drawn_guesses_get(search, rho, n_orders):
    rng, x, n_choices, n = np.random.default_rng(1), 8, 3, 40_000 if IS_THOROUGH else 10_000
    right = np.ones((n, x + 1), bool)
    for _ in range(n_orders):
        letters = rng.integers(n_choices, size=n)
        for k in range(1, x + 1):
            drawn = rng.integers(n_choices, size=n)
            letters = drawn if k == 1 else np.where(rng.random(n) < rho, letters, drawn)
            right[:, k] &= letters == 0
    needed = [search(x)(row.__getitem__) for row in right]
    known = [k for k in needed if k is not None]
    found = luck(search(x), Guesser(n_choices=n_choices, rho=rho, n_orders=n_orders))
    assert len(known) / n == pytest.approx(found.chance, abs=4 * math.sqrt(0.25 / n))
    error = 4 * float(np.std(known)) / math.sqrt(len(known)) + 1e-9
    assert float(np.mean(known)) == pytest.approx(found.mean, abs=error)


def test_chances_of_all_ways_add_up():
    guesser = Guesser(n_choices=4, rho=0.7, n_orders=2)
    ways = [{1: a, 4: b, 5: c} for a in (True, False) for b in (True, False) for c in (True, False)]
    assert sum(map(guesser.probability, ways)) == pytest.approx(1)
    assert guesser.probability({3: True}) == pytest.approx(guesser.chance) == pytest.approx(1 / 16)
    for search in (smallest(16), halving(16)):  # a guess that never changes is right at once or never
        assert luck(search, Guesser(n_choices=5, rho=1.0)).mean == pytest.approx(1)
    nothing = luck(lambda right: None, Guesser(n_choices=5))
    assert nothing.chance == 0
    assert math.isnan(nothing.mean)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8, 0.95])
def test_stickiness_is_recovered_from_wrong_pairs(rho):
    rng, pairs = np.random.default_rng(2), []
    for n_choices, distance in ((3, 1), (5, 1), (5, 4)):
        first = rng.integers(n_choices, size=20_000)
        last = first
        for _ in range(distance):
            last = np.where(rng.random(len(last)) < rho, last, rng.integers(n_choices, size=len(last)))
        wrong = (first != 0) & (last != 0)
        same = int((first == last)[wrong].sum())
        pairs.append(SamePairs(n_choices=n_choices, distance=distance, n_same=same, n=int(wrong.sum())))
    found = stickiness(pairs)
    assert found.rho == pytest.approx(rho, abs=0.015)
    assert found.low - 0.01 <= rho <= found.high + 0.01


@pytest.mark.parametrize("rho", [0.2, 0.8])
def test_the_interval_of_stickiness_holds_it(rho):
    rng, n_held = np.random.default_rng(5), 0
    same = (rho + (1 - rho) / 5) / (rho + (1 - rho) * 4 / 5)
    n = 400 if IS_THOROUGH else 100
    for _ in range(n):
        n_same = int(rng.binomial(100, same))
        found = stickiness([SamePairs(n_choices=5, distance=1, n_same=n_same, n=100)])
        n_held += found.low <= rho <= found.high
    assert n_held / n == pytest.approx(0.95, abs=0.04 if IS_THOROUGH else 0.06)


def test_pairs_that_say_nothing_say_nothing():
    assert stickiness([]) is None
    assert stickiness([SamePairs(n_choices=2, distance=1, n_same=9, n=9)]) is None
    alike = stickiness([SamePairs(n_choices=4, distance=1, n_same=9, n=9)])
    assert (alike.rho, alike.high) == (1.0, 1.0)
    assert alike.low < 0.9


@pytest.mark.parametrize("bad", [{"n_choices": 1}, {"rho": 1.2}, {"rho": math.nan}, {"n_orders": 0}])
def test_bad_guessers_are_refused(bad):
    with pytest.raises(UsageError, match="expected two choices or more"):
        Guesser(**{"n_choices": 5, **bad})


def test_the_likeliest_rho_and_its_interval_follow_from_the_share_that_agrees():
    """Pairs of one kind: the share that agrees says rho, and the likelihood ratio where it ends."""
    n, n_same, n_choices, distance = 200, 110, 4, 2

    def share(rho):
        kept = rho**distance
        return (kept + (1 - kept) / n_choices) / (kept + (1 - kept) * (n_choices - 1) / n_choices)

    def gain(rho):
        return n_same * math.log(share(rho)) + (n - n_same) * math.log1p(-share(rho))

    found = stickiness([SamePairs(n_choices=n_choices, distance=distance, n_same=n_same, n=n)], level=0.9)
    assert share(found.rho) == pytest.approx(n_same / n, abs=1e-3)
    best = brentq(lambda rho: share(rho) - n_same / n, 0.01, 0.99)
    # The 0.9 quantile of chi-square with one degree of freedom is 2.7055.
    ends = [brentq(lambda rho: gain(best) - gain(rho) - 2.705543454 / 2, *within)
            for within in ((0.01, best), (best, 0.99))]  # fmt: skip
    assert (found.rho, found.low, found.high) == pytest.approx((best, *ends), abs=6e-4)
    two = [
        SamePairs(n_choices=3, distance=1, n_same=40, n=60),
        SamePairs(n_choices=2, distance=1, n_same=50, n=50),
        SamePairs(n_choices=5, distance=1, n_same=0, n=0),
    ]
    assert stickiness(two) == stickiness(two[:1])
    none = stickiness([SamePairs(n_choices=4, distance=1, n_same=0, n=30)])
    assert (none.rho, none.low) == (0.0, 0.0)
    for figure in (found.rho, found.low, found.high, none.high):
        assert 2000 * figure == pytest.approx(round(2000 * figure), abs=1e-9)


def test_a_guess_that_is_kept_for_several_frames_is_kept_with_the_power_of_rho():
    """Right with 2 and with 5: kept thrice, or drawn right again; two orders, each on its own."""
    for rho, n_choices in ((0.6, 3), (0.25, 5)):
        g, kept = 1 / n_choices, rho**3
        one = Guesser(n_choices=n_choices, rho=rho)
        assert one.probability({5: True, 2: True}) == pytest.approx(g * (kept + (1 - kept) * g))
        assert one.probability({2: True, 5: False}) == pytest.approx(g * (1 - kept) * (1 - g))
        both = Guesser(n_choices=n_choices, rho=rho, n_orders=2)
        assert both.probability({2: True, 5: True}) == pytest.approx((g * (kept + (1 - kept) * g)) ** 2)
        assert both.chance == pytest.approx(g**2)
