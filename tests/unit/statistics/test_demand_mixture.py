"""Demands that are planted under guesses that stick, and slips, are found again."""

import dataclasses
import math

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.statistics.demand_mixture import MISSING, NONE, RIGHT, Mixture, Vectors, demand, draw, fit

X = 16


def mixture(
    low: int, high: int, *, never: float, rho: float, slips: float = 0.03, declines: float = 0.0
) -> Mixture:
    shares = np.zeros(X + 1)
    shares[low - 1 : high] = (1 - never) / (high - low + 1)
    shares[-1] = never
    return Mixture(shares=shares, rho=rho, slips=slips, declines=declines)


def like(n: int, n_choices: int = 5) -> Vectors:
    return Vectors(codes=np.zeros((n, X), np.int64), n_choices=np.full(n, n_choices))


def drawn(planted: Mixture, n: int, seed: int = 0) -> Vectors:
    return draw(planted, like(n), rng=np.random.default_rng(seed))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
@pytest.mark.parametrize(("low", "high"), [(1, 8), (8, 8)])
def test_planted_mixtures_are_found(low: int, high: int, rho: float) -> None:
    found = fit(drawn(mixture(low, high, never=0.3, rho=rho), 2000))
    assert found.mean == pytest.approx((low + high) / 2, abs=0.3)
    assert found.known == pytest.approx(0.7, abs=0.04)
    assert found.rho == pytest.approx(rho, abs=0.03)
    assert found.slips == pytest.approx(0.03, abs=0.01)
    assert found.declines < 0.02


def test_replies_without_a_letter_have_a_share_of_their_own() -> None:
    found = fit(drawn(mixture(1, 8, never=0.3, rho=0.5, declines=0.4), 2000))
    assert found.declines == pytest.approx(0.4, abs=0.03)
    assert found.rho == pytest.approx(0.5, abs=0.03)
    assert found.mean == pytest.approx(4.5, abs=0.3)
    silent = fit(drawn(mixture(1, 8, never=0.3, rho=0.0, declines=1.0, slips=0.0), 400))
    assert (silent.declines, silent.known) == (pytest.approx(1, abs=0.01), pytest.approx(0.7, abs=0.06))
    assert silent.mean == pytest.approx(4.5, abs=0.4)


def test_numbers_of_choices_may_differ_and_answers_may_be_missing() -> None:
    planted, n = mixture(1, 8, never=0.3, rho=0.5), 3000
    shape = Vectors(codes=np.zeros((n, X), np.int64), n_choices=np.arange(n) % 4 + 2)
    rng = np.random.default_rng(3)
    codes = draw(planted, shape, rng=rng).codes
    codes[rng.random((n, X)) < 0.1] = MISSING
    codes[: n // 4, 12:] = MISSING  # short videos
    found = fit(Vectors(codes=codes, n_choices=shape.n_choices))
    assert found.mean == pytest.approx(4.5, abs=0.5)
    assert found.rho == pytest.approx(0.5, abs=0.05)


def test_weights_count_questions_as_often_as_they_say() -> None:
    vectors = drawn(mixture(1, 8, never=0.3, rho=0.5), 60)
    twice = Vectors(
        codes=np.concatenate([vectors.codes[:20], vectors.codes[:40]]),
        n_choices=np.full(60, 5),
    )
    weights = np.where(np.arange(60) < 20, 2.0, np.where(np.arange(60) < 40, 1.0, 0.0))
    one, other = fit(vectors, weights=weights), fit(twice)
    assert one.mean == pytest.approx(other.mean)
    assert one.rho == pytest.approx(other.rho)


def test_a_mean_comes_with_its_interval_and_its_bias() -> None:
    vectors = drawn(mixture(1, 8, never=0.3, rho=0.8), 400)
    clusters = [str(i // 4) for i in range(400)]
    found = demand(vectors, clusters=clusters, rng=np.random.default_rng(0), n_draws=40, n_planted=20)
    again = demand(vectors, clusters=clusters, rng=np.random.default_rng(0), n_draws=40, n_planted=20)
    assert found.mean is not None
    assert found.known is not None
    assert found.mean == again.mean
    assert found.mean.low < 4.5 < found.mean.high
    assert found.known.low < 0.7 < found.known.high
    assert (found.mean.n, found.mean.n_clusters, found.why) == (400, 100, "")
    assert found.bias is not None
    assert found.mean.value == pytest.approx(found.mixture.mean - found.bias)
    assert found.mean.high - found.mean.value == pytest.approx(found.mean.value - found.mean.low)


def test_the_mean_of_a_guesser_is_not_said() -> None:
    guesser = drawn(mixture(1, 1, never=1.0, rho=0.5), 3000)
    clusters = [str(i // 4) for i in range(3000)]
    found = demand(guesser, clusters=clusters, rng=np.random.default_rng(0), n_draws=10, n_planted=5)
    assert found.mean is None
    assert "have a demand; expected 100 or more" in found.why or "may be as low as" in found.why


def test_a_share_that_may_be_nothing_gives_no_mean() -> None:
    planted = mixture(1, 8, never=0.93, rho=0.0)
    vectors = drawn(planted, 2400)
    clusters = [str(i // 200) for i in range(2400)]
    found = demand(vectors, clusters=clusters, rng=np.random.default_rng(0), n_draws=30, n_planted=5)
    assert found.known is not None
    assert (found.mean is None) == (found.known.low <= 0.05)
    rare = drawn(mixture(1, 8, never=0.95, rho=0.0), 3000)
    clusters = [str(i // 250) for i in range(3000)]
    found = demand(rare, clusters=clusters, rng=np.random.default_rng(0), n_draws=30, n_planted=5)
    assert found.known is not None
    assert found.known.low <= 0.05
    assert found.mean is None
    assert "may be as low as" in found.why


def test_a_fit_ends_after_so_many_steps() -> None:
    vectors = drawn(mixture(1, 8, never=0.3, rho=0.5), 300)
    short = fit(vectors, most_steps=1)
    assert short.mean != pytest.approx(fit(vectors).mean, abs=0.01)
    assert short.shares.sum() == pytest.approx(1)


def test_few_questions_and_one_video_give_no_mean() -> None:
    rng = np.random.default_rng(0)
    few = demand(drawn(mixture(1, 8, never=0.3, rho=0.5), 50), clusters=["a", "b"] * 25, rng=rng)
    assert few.mean is None
    assert few.why.endswith("questions have a demand; expected 100 or more")
    one = demand(drawn(mixture(1, 8, never=0.0, rho=0.5), 200), clusters=["a"] * 200, rng=rng)
    assert (one.mean, one.why) == (None, "all questions are about one video")


def test_drawn_answers_are_of_the_same_shape() -> None:
    shape = Vectors(codes=np.array([[RIGHT, NONE, MISSING], [1, 2, RIGHT]]), n_choices=np.array([2, 5]))
    made = draw(
        Mixture(shares=np.array([0.0, 0, 0, 1]), rho=0.0, slips=0.0), shape, rng=np.random.default_rng(0)
    )
    assert made.codes[0, 2] == MISSING
    assert (made.codes != MISSING).sum() == 5
    assert made.codes[0, :2].max() <= 1


@pytest.mark.parametrize(
    ("codes", "n_choices", "message"),
    [
        ([[]], [5], "none of them 0"),
        ([[0, 1]], [5, 5], "one number for each item"),
        ([[0, 1]], [1], "fewer than two choices"),
        ([[0, 5]], [5], "beyond the last one"),
    ],
)
def test_bad_vectors_are_refused(codes: list[list[int]], n_choices: list[int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Vectors(codes=np.array(codes, np.int64), n_choices=np.array(n_choices))


def test_clusters_must_fit() -> None:
    with pytest.raises(UsageError, match="2 clusters for 5 questions"):
        demand(drawn(mixture(1, 8, never=0.3, rho=0.5), 5), clusters=["a", "b"], rng=np.random.default_rng(0))


def log_likelihood(mixture: Mixture, codes: list[int], n_choices: int) -> float:
    """Of the answers to one question, by the definition: the sum over its demand."""
    total = 0.0
    for demanded, share in enumerate(mixture.shares, start=1):
        chance = share
        before = MISSING
        for n_frames, code in enumerate(codes, start=1):
            declines, slips = mixture.declines, mixture.slips
            if code == MISSING:
                pass
            elif n_frames >= demanded:
                wrong = (
                    mixture.slip_declines if code == NONE else (1 - mixture.slip_declines) / (n_choices - 1)
                )
                chance *= 1 - slips if code == RIGHT else slips * wrong
            else:
                anew = declines if code == NONE else (1 - declines) / n_choices
                kept = mixture.rho if before != MISSING else 0.0
                chance *= kept * (code == before) + (1 - kept) * anew
            before = code
        total += chance
    return math.log(total)


ANSWERS = [
    ([1, 1, 1, RIGHT], 3), ([1, NONE, 2, RIGHT], 3), ([RIGHT, RIGHT, 1, RIGHT], 2), ([NONE, NONE, 1, 1], 4),
    ([RIGHT, RIGHT, RIGHT, RIGHT], 5), ([2, 2, MISSING, 2], 3), ([MISSING, 1, RIGHT, RIGHT], 2),
    ([1, RIGHT, RIGHT, NONE], 3), ([1, 1, RIGHT, RIGHT], 3), ([3, 1, 1, 2], 5), ([1, 2, RIGHT, RIGHT], 4),
    ([RIGHT, 1, RIGHT, RIGHT], 3), ([2, 2, 2, 2], 3), ([NONE, RIGHT, RIGHT, 2], 3),
]  # fmt: skip


def test_a_fit_is_the_mixture_that_makes_the_answers_likeliest() -> None:
    """No other mixture near it, as seen by the plain sum over demands; nor by weights that count twice."""
    vectors = Vectors(
        codes=np.array([codes for codes, _ in ANSWERS]), n_choices=np.array([n for _, n in ANSWERS])
    )
    weights = np.where(np.arange(len(ANSWERS)) % 3 == 0, 2.0, 1.0)
    for given in (None, weights):
        found = fit(vectors, weights=given, tolerance=1e-14, most_steps=20_000)
        counts = np.ones(len(ANSWERS)) if given is None else given

        def likely(mixture: Mixture, counts: np.ndarray = counts) -> float:
            return sum(w * log_likelihood(mixture, *one) for w, one in zip(counts, ANSWERS, strict=True))

        best = likely(found)
        for name in ("rho", "slips", "declines", "slip_declines"):
            value = getattr(found, name)
            assert 0 <= value <= 1
            for other in (value - 0.01, value + 0.01):
                if 0 < other < 1 and not (name == "slips" and other > 0.45):
                    assert likely(dataclasses.replace(found, **{name: other})) < best + 1e-7, (name, other)
        for i in range(5):
            shares = 0.99 * found.shares
            shares[i] += 0.01
            assert likely(dataclasses.replace(found, shares=shares)) < best + 1e-7, i
        assert found.shares.sum() == pytest.approx(1)
        assert found.known == pytest.approx(found.shares[:4].sum())
        assert found.mean == pytest.approx(found.shares[:4] @ [1, 2, 3, 4] / found.known)


def test_where_a_fit_begins_makes_no_difference_where_it_ends() -> None:
    vectors = drawn(mixture(1, 8, never=0.3, rho=0.5), 300)
    plain = fit(vectors, tolerance=1e-12, most_steps=20_000)
    far = Mixture(shares=np.full(X + 1, 1 / (X + 1)), rho=0.9, slips=0.4, declines=0.6, slip_declines=0.6)
    other = fit(vectors, start=far, tolerance=1e-12, most_steps=20_000)
    assert plain.mean == pytest.approx(other.mean, abs=1e-3)
    assert plain.rho == pytest.approx(other.rho, abs=1e-3)


def test_intervals_are_students_t_around_the_value_with_the_error_of_the_draws() -> None:
    """Their ends follow from the fits of the same draws, made here one by one."""
    vectors = drawn(mixture(1, 8, never=0.3, rho=0.8), 200)
    clusters = [str(i // 4) for i in range(200)]
    found = demand(vectors, clusters=clusters, rng=np.random.default_rng(3), n_draws=12, n_planted=4)
    whole, rng = fit(vectors), np.random.default_rng(3)
    names, of = np.unique(clusters, return_inverse=True)
    fits = []
    for _ in range(12):
        times = np.bincount(rng.integers(50, size=50), minlength=50)
        fits.append(fit(vectors, weights=times[of].astype(float), start=whole, tolerance=1e-5))
    planted = [fit(draw(whole, vectors, rng=rng), start=whole, tolerance=1e-5).mean for _ in range(4)]
    bias = np.mean(planted) - whole.mean
    assert found.bias == pytest.approx(bias)
    assert found.mean is not None
    assert found.known is not None
    assert len(names) == 50
    t = 2.0095752371292392  # of 49 degrees of freedom, of a table
    half = t * math.hypot(np.std([one.mean for one in fits], ddof=1), bias / 2)
    assert found.mean.value == pytest.approx(whole.mean - bias)
    assert found.mean.low == pytest.approx(max(1.0, whole.mean - bias - half))
    assert found.mean.high == pytest.approx(whole.mean - bias + half)
    half = t * np.std([one.known for one in fits], ddof=1)
    assert found.known.low == pytest.approx(whole.known - half)
    assert found.known.high == pytest.approx(min(1.0, whole.known + half))


def test_a_fit_begins_where_half_of_the_questions_have_a_demand_evenly() -> None:
    vectors = drawn(mixture(1, 8, never=0.3, rho=0.5), 30)
    begun = fit(vectors, most_steps=0)
    assert begun.shares == pytest.approx(0.99 * np.array([0.5 / X] * X + [0.5]) + 0.01 / (X + 1))
    assert (begun.rho, begun.slips, begun.declines, begun.slip_declines) == (0.3, 0.05, 0.05, 0.05)
    # A share of 0 or 1 would stay there.
    ends = Mixture(shares=np.eye(X + 1)[0], rho=0.0, slips=1.0, declines=0.0, slip_declines=1.0)
    moved = fit(vectors, start=ends, most_steps=0)
    assert moved.shares.min() == pytest.approx(0.01 / (X + 1))
    assert (moved.rho, moved.slips, moved.declines, moved.slip_declines) == (0.005, 0.995, 0.005, 0.995)
