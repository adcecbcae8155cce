"""Candidate rules of learned selectors against values worked out by hand."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence.ask.selection import candidates
from vidence.ask.selection.candidates import grid
from vidence.errors import UsageError
from vidence.media.clip import Clip


def test_each_rule_rounds_in_its_own_way() -> None:
    # int(23.976) = 23 and 100 // 23 = 4: frame 92 is left out.
    assert candidates.aks_1fps(100, 23.976).tolist() == [0, 23, 46, 69]
    assert candidates.aks_1fps(0, 30.0).tolist() == []
    # 100 / 23.976 * 1 = 4.17: frames at 0, 1, 2, 3 s are 0, 23.976, 47.952, 71.928.
    assert candidates.bolt(100, 23.976, rate=1).tolist() == [0, 24, 48, 72]
    # One frame per second read at 2: 0, 0.5, 1, 1.5, 2, 2.5 rounded half to even.
    assert candidates.bolt(3, 1.0, rate=2).tolist() == [0, 0, 1, 2, 2, 2]
    assert candidates.bolt(0, 30.0, rate=1).tolist() == []
    assert candidates.herbench_blip_2fps(40, 23.976).tolist() == [0, 11, 22, 33]
    assert candidates.herbench_blip_2fps(3, 2.0).tolist() == [0, 1, 2]


@pytest.mark.parametrize("fps", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize(
    "rule", [candidates.aks_1fps, candidates.herbench_blip_2fps, lambda n, f: candidates.bolt(n, f, rate=1)]
)
def test_a_rate_that_makes_no_sense_is_refused(rule: Callable[[int, float], object], fps: float) -> None:
    with pytest.raises(UsageError, match="positive rate"):
        rule(10, fps)


def test_counts_and_rates_that_a_rule_cannot_take_are_refused() -> None:
    with pytest.raises(UsageError, match="-1 frames"):
        candidates.aks_1fps(-1, 30.0)
    with pytest.raises(UsageError, match="0 frames per second"):
        candidates.bolt(10, 30.0, rate=0)
    slow = timed_clip(np.arange(9) * 2.0, fps=0.5)
    with pytest.raises(UsageError, match="use another rule"):
        grid("aks-1fps").positions(slow)
    with pytest.raises(UsageError, match=r"int\(0.9\) is 0"):
        candidates.aks_1fps(50, 0.9)


CLIP = timed_clip(np.arange(60) / 29.97, fps=29.97)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("herbench-2fps", [0, 14, 28, 42, 56]), ("aks-1fps", [0, 29]), ("bolt-1fps", [0, 30]),
        ("fps:1", [0, 30]), ("fps:0.1", [0]), ("uniform:4", [0, 15, 30, 45]), ("uniform:1", [30]),
        ("all", list(range(60))),
    ],
)  # fmt: skip
def test_each_rule_has_a_name(name: str, expected: list[int]) -> None:
    assert grid(name).positions(CLIP).tolist() == expected


@pytest.mark.parametrize("name", ["", "aks", "fps:0", "fps:-1", "fps:nan", "uniform:0", "uniform:x"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="expected one of herbench-2fps"):
        grid(name)


def test_each_medium_has_candidates_of_its_own_at_its_own_rate() -> None:
    # 3 s at 10 fps, 4 s at 5 fps, and an image.
    clip = Clip(
        times_s=np.concatenate([np.arange(31) / 10, np.arange(21) / 5, [0.0]]),
        media_indices=np.repeat([0, 1, 2], [31, 21, 1]),
        frame_indices=np.concatenate([np.arange(31), np.arange(21), [0]]),
        fps=0.0,
    )
    assert grid("aks-1fps").positions(clip).tolist() == [0, 10, 20, 31, 36, 41, 46, 52]
