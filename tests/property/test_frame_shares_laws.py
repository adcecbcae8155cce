"""Laws of leave-one-out shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.explain.diagnostics.frame_shares import OverLetters, of_logps, share_out

LETTERS = "ABCD"
LOGPS = st.dictionaries(st.sampled_from(LETTERS), st.floats(-30, 0), min_size=1)


@st.composite
def runs(draw: st.DrawFn) -> list[OverLetters]:
    """With all frames, and without each of two or more."""
    reported = draw(st.lists(LOGPS, min_size=3, max_size=9))
    return [one for one in (of_logps(r, LETTERS) for r in reported) if one is not None]


@given(reported=LOGPS)
def test_probabilities_add_up_and_keep_the_order_of_what_was_reported(reported: dict[str, float]) -> None:
    over = of_logps(reported, LETTERS)
    assert over is not None
    assert np.exp(over.logps).sum() == pytest.approx(1)
    assert over.n_floored == len(LETTERS) - len(reported)
    by_letter = dict(zip(LETTERS, over.logps.tolist(), strict=True))
    for first, second in zip(sorted(reported), sorted(reported)[1:], strict=False):
        gap = reported[first] - reported[second]
        assert by_letter[first] - by_letter[second] == pytest.approx(gap, abs=1e-9)
    least = min(by_letter[a] for a in reported)
    assert all(by_letter[a] <= least + 1e-9 for a in set(LETTERS) - set(reported))


@given(over=runs())
def test_shares_are_a_distribution(over: list[OverLetters]) -> None:
    full, *without = over
    shared = share_out(full, without)
    assert full.logps[shared.chosen] == full.logps.max()
    if shared.shares is None:
        assert shared.deltas.max() <= 1e-9
        return
    assert shared.shares.sum() == pytest.approx(1)
    assert shared.shares.max() >= 1 / len(without) - 1e-12
    assert not shared.shares[shared.deltas <= 0].any()
    assert shared.entropy is not None
    assert -1e-12 <= shared.entropy <= 1 + 1e-12


@given(over=runs(), seed=st.integers(0, 99))
def test_shares_follow_their_frames(over: list[OverLetters], seed: int) -> None:
    full, *without = over
    order = np.random.default_rng(seed).permutation(len(without))
    straight = share_out(full, without)
    moved = share_out(full, [without[i] for i in order])
    assert moved.deltas == pytest.approx(straight.deltas[order])
    if straight.shares is not None:
        assert moved.shares == pytest.approx(straight.shares[order])
