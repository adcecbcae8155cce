"""Intervals of shares stay where shares are."""

import numpy as np

from vidence.explain.diagnostics.tables import Figures
from vidence.records import Item


def items(n: int) -> list[Item]:
    return [Item(item_id=f"q{i}", question="?", answer="x", answer_kind="text") for i in range(n)]


def test_a_share_has_no_interval_beyond_0_and_1():
    figures = Figures(rng=np.random.default_rng(0), level=0.95)
    few = figures.mean(np.array([1.0, 0.0, 0.0, 0.0]), items(4))
    # 0.25 with a clustered error of 0.25 and 3 degrees of freedom: 0.25 - 3.18 * 0.25 is below 0.
    assert (few.value, few.low) == (0.25, 0.0)
    assert 0.99 < few.high <= 1.0
    many = figures.mean(np.array([0.0, 1.0, 1.0, 1.0]), items(4))
    assert many.high == 1.0


def test_what_is_no_share_keeps_its_interval():
    figures = Figures(rng=np.random.default_rng(0), level=0.95)
    frames = figures.mean(np.array([1.0, 16.0, 1.0]), items(3))
    assert frames.low < 0 < frames.high


def test_one_video_has_no_interval_to_cut():
    figures = Figures(rng=np.random.default_rng(0), level=0.95)
    same = [Item(item_id=f"q{i}", media=items(1)[0].media, question="?", answer="x") for i in range(1)]
    assert np.isnan(figures.mean(np.array([1.0]), same).low)
