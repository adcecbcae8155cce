"""Uniform rules against values worked out by hand."""

import numpy as np
import pytest

from vidence.ask.selection import _rules
from vidence.errors import UsageError
from vidence.media.clip import Clip


@pytest.mark.parametrize(
    ("rule", "n_total", "k", "expected"),
    [
        # Segments of 10 / 4 = 2.5 frames with middles 1.25, 3.75, 6.25, 8.75.
        ("midpoints", 10, 4, [1, 3, 6, 8]),
        ("midpoints", 10, 1, [5]),
        ("midpoints", 3, 3, [0, 1, 2]),
        ("midpoints", 3, 9, [0, 1, 2]),
        ("midpoints", 1, 1, [0]),
        ("left_edges", 10, 4, [0, 2, 5, 7]),
        ("left_edges", 10, 1, [0]),
        ("left_edges", 3, 9, [0, 1, 2]),
        ("inclusive", 10, 4, [0, 3, 6, 9]),
        ("inclusive", 10, 1, [0]),
        ("inclusive", 2, 4, [0, 0, 0, 1]),
        ("inclusive", 1, 3, [0, 0, 0]),
        ("inclusive_distinct", 10, 4, [0, 3, 6, 9]),
        ("inclusive_distinct", 2, 4, [0, 1]),
        ("strided", 10, 4, [0, 2, 5, 7]),
        ("strided", 9, 1, [4]),
        ("strided", 1, 5, [0]),
        ("strided", 3, 5, [0, 1, 2]),
    ],
)
def test_rule_gives_the_positions_worked_out_by_hand(
    rule: str, n_total: int, k: int, expected: list[int]
) -> None:
    positions = getattr(_rules, rule)(n_total, k)
    assert positions.tolist() == expected
    assert positions.dtype == np.int64


def test_left_edges_round_as_the_released_code_does() -> None:
    # 85 / 35 is stored a little too small: 21 steps end just below 51 and are cut to 50.
    positions = _rules.left_edges(85, 35)
    assert positions[[20, 21, 22]].tolist() == [48, 50, 53]


def test_strided_gives_one_frame_more_where_the_released_code_does() -> None:
    assert len(_rules.strided(1799, 50)) == 51
    assert _rules.strided(1799, 50)[-1] == 1798


def test_strided_never_leaves_the_clip() -> None:
    # 15 / 13 is stored too small: the fourteenth step is 14.999..., the last frame.
    assert _rules.strided(15, 13)[-1] == 14


@pytest.mark.parametrize("n_frames", [0, -1])
def test_a_budget_that_is_not_positive_is_refused(n_frames: int) -> None:
    with pytest.raises(UsageError, match="selector 'none'"):
        _rules.check_budget(n_frames)


def test_choose_gives_nothing_for_a_clip_without_frames_but_checks_the_budget() -> None:
    empty = Clip.of_times(np.empty(0), fps=0.0)
    assert _rules.choose(_rules.midpoints, empty, n_frames=4).tolist() == []
    with pytest.raises(UsageError):
        _rules.choose(_rules.midpoints, empty, n_frames=0)


def test_an_argument_is_refused_with_its_text() -> None:
    _rules.refuse_argument("all", "")
    with pytest.raises(UsageError, match="'all' takes no argument, got '3'"):
        _rules.refuse_argument("all", "3")
