"""Calibration of probabilities; expected values by hand and by laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.errors import UsageError
from vidence.statistics.confidence import CalibrationBin, brier, calibration_bins, ece, ece_by_luck

ANSWERS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def test_bins_hold_their_upper_edge() -> None:
    found = calibration_bins([0.0, 0.5, 0.51, 1.0], [0, 1, 1, 0], n_bins=2)
    assert [(b.low, b.high, b.n) for b in found] == [(0.0, 0.5, 2), (0.5, 1.0, 2)]
    assert found[0] == CalibrationBin(low=0.0, high=0.5, n=2, confidence=0.25, accuracy=0.5)


def test_empty_bins_are_left_out() -> None:
    assert [b.n for b in calibration_bins([0.05, 0.95], [0, 1])] == [1, 1]


def test_values_worked_out_by_hand() -> None:
    # Two bins: (0.2, 0.4 | one of two right) and (0.8 | right): |0.5 - 0.3| * 2/3 + |1 - 0.8| / 3.
    assert ece([0.2, 0.4, 0.8], [1, 0, 1], n_bins=2) == pytest.approx(0.2)
    assert brier([0.2, 0.4, 0.8], [1, 0, 1]) == pytest.approx((0.64 + 0.16 + 0.04) / 3)


def test_a_calibrated_model_has_a_small_error_and_one_too_sure_a_large_one() -> None:
    rng = np.random.default_rng(0)
    stated = rng.random(20_000)
    right = (rng.random(20_000) < stated).astype(float)
    assert ece(stated, right) < 0.02
    assert ece(np.ones(20_000), right) == pytest.approx(1 - right.mean())


@given(ANSWERS, st.integers(1, 20))
def test_both_lie_between_0_and_1_and_bins_hold_all(answers, n_bins: int) -> None:
    stated, right = zip(*answers, strict=True)
    assert 0 <= ece(stated, right, n_bins=n_bins) <= 1
    assert 0 <= brier(stated, right) <= 1
    bins = calibration_bins(stated, right, n_bins=n_bins)
    assert sum(b.n for b in bins) == len(answers)
    assert all(b.low - 1e-12 <= b.confidence <= b.high + 1e-12 for b in bins)


@given(ANSWERS)
def test_one_bin_compares_the_means(answers) -> None:
    stated, right = (np.array(part, float) for part in zip(*answers, strict=True))
    assert ece(stated, right, n_bins=1) == pytest.approx(abs(stated.mean() - right.mean()))


@pytest.mark.parametrize(
    ("stated", "right", "part"),
    [
        ([], [], "at least one"),
        ([0.5], [1, 0], "one for each"),
        (0.5, 1, "one for each"),
        ([1.5], [1], "1.5 is no probability"),
        ([0.0, 1.0, 1.5], [1, 1, 1], "1.5 is no probability"),
        ([0.0, -0.1, 1.0], [1, 1, 1], "-0.1 is no probability"),
        ([float("nan")], [1], "no probability"),
        ([0.5], [0.5], "neither right"),
    ],
)
def test_what_cannot_be_used_is_refused(stated, right, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        brier(stated, right)


def test_no_bins_are_refused() -> None:
    with pytest.raises(UsageError, match="0 bins"):
        calibration_bins([0.5], [1], n_bins=0)


@pytest.mark.parametrize("n", [40, 400])
def test_a_calibrated_model_errs_by_luck(n: int) -> None:
    rng = np.random.default_rng(3)
    confidences = rng.uniform(0.2, 1.0, n)
    found = [ece(confidences, (rng.random(n) < confidences).astype(float)) for _ in range(2000)]
    assert ece_by_luck(confidences) == pytest.approx(float(np.mean(found)), rel=0.05)


def test_what_luck_gives_is_the_sum_of_what_each_bin_strays() -> None:
    """Edges belong to the bin below them, and 0 to the first."""
    stated = [0.0, 0.1, 0.2, 0.25, 0.5, 0.5, 0.55, 0.9, 1.0]
    bins = [stated[:4], stated[4:6], [0.55], stated[7:]]
    assert [b.n for b in calibration_bins(stated, [1] * 9, n_bins=4)] == [4, 2, 1, 2]
    expected = sum((2 / np.pi * sum(p * (1 - p) for p in some)) ** 0.5 for some in bins) / 9
    assert ece_by_luck(stated, n_bins=4) == pytest.approx(expected)


def test_edges_and_counts_of_ten_bins_are_those_of_comparing_each() -> None:
    rng = np.random.default_rng(5)
    stated, right = rng.random(300).round(2), (rng.random(300) < 0.5).astype(float)
    found = calibration_bins(stated, right)
    total = 0.0
    for i in range(10):
        inside = [
            (p, r)
            for p, r in zip(stated, right, strict=True)
            if (p > i / 10 + 1e-12 or i == 0) and p <= (i + 1) / 10 + 1e-12
        ]
        one = found[i]
        assert (one.low, one.high) == (pytest.approx(i / 10), pytest.approx((i + 1) / 10))
        assert one.n == len(inside)
        assert one.confidence == pytest.approx(np.mean([p for p, _ in inside]))
        assert one.accuracy == pytest.approx(np.mean([r for _, r in inside]))
        total += len(inside) * abs(one.accuracy - one.confidence)
    assert ece(stated, right) == pytest.approx(total / 300)
