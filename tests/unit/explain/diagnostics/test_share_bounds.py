"""How far shares may be off where a server does not report every letter."""

import math

import numpy as np
import pytest

from vidence.explain.diagnostics.frame_shares import of_logps, share_out


def test_what_was_not_reported_is_bounded() -> None:
    # A has 0.6 and B 0.3; C and D have 0.1 at most, together.
    over = of_logps({"A": math.log(0.6), "B": math.log(0.3)}, "ABCD")
    assert over is not None
    assert np.exp(over.high) == pytest.approx([0.6 / 0.9, 0.3 / 0.9, 0.1, 0.1])
    assert np.exp(over.low) == pytest.approx([0.6, 0.3, 0, 0])
    # The floor of B is what counts where more is left: 0.05 for each of the two.
    over = of_logps({"A": math.log(0.2), "B": math.log(0.05)}, "ABCD")
    assert over is not None
    assert np.exp(over.low) == pytest.approx([0.2 / 0.35, 0.05 / 0.35, 0, 0])


def test_the_top_share_is_bounded_by_the_deltas() -> None:
    # A is chosen with 0.8 of the letters. Without the first frame it is not reported: less than 0.1.
    full = of_logps({"A": math.log(0.8), "B": math.log(0.2)}, "AB")
    gone = of_logps({"B": math.log(0.9)}, "AB")
    half = of_logps({"A": math.log(0.4), "B": math.log(0.6)}, "AB")
    shared = share_out(full, [gone, half])
    assert shared.deltas == pytest.approx([math.log(8), math.log(2)])
    assert shared.shares.max() == pytest.approx(0.75)
    assert shared.least == pytest.approx([math.log(8), math.log(2)])
    assert shared.most.tolist() == pytest.approx([math.inf, math.log(2)])
    assert shared.top_bounds == pytest.approx((0.75, 1.0))


def test_where_nothing_can_be_positive_there_are_no_bounds() -> None:
    full = of_logps({"A": math.log(0.5), "B": math.log(0.5)}, "AB")
    more = of_logps({"A": math.log(0.7), "B": math.log(0.3)}, "AB")
    assert share_out(full, [more, more]).top_bounds is None


def test_where_no_frame_must_add_anything_all_may_add_the_same() -> None:
    # A has 0.5 of 0.9 and C at most 0.1: without a frame it may be less or more.
    full = of_logps({"A": math.log(0.5), "B": math.log(0.4)}, "ABC")
    found = share_out(full, [full, full, full])
    assert found.shares is None
    assert found.top_bounds == pytest.approx((1 / 3, 1.0))
