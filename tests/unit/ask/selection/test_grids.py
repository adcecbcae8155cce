"""Which frames get a score."""

import numpy as np
import pytest

from vidence.ask.selection._grids import grid
from vidence.errors import UsageError
from vidence.media.clip import Clip

CLIP = Clip.of_times(np.arange(60) / 29.97, fps=29.97)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("herbench-2fps", [0, 14, 28, 42, 56]),
        ("aks-1fps", [0, 29]),
        ("bolt-1fps", [0, 30]),
        ("fps:1", [0, 30]),
        ("fps:0.1", [0]),
        ("uniform:4", [0, 15, 30, 45]),
        ("uniform:1", [30]),
        ("all", list(range(60))),
    ],
)
def test_each_rule_has_a_name(name: str, expected: list[int]) -> None:
    assert grid(name).name == name
    assert grid(name).positions(CLIP).tolist() == expected


@pytest.mark.parametrize(
    "name", ["", "aks", "fps:0", "fps:-1", "fps:nan", "fps:inf", "uniform:0", "uniform:x"]
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"expected one of|invalid literal|could not convert"):
        grid(name)


@pytest.mark.parametrize("name", ["aks-1fps", "bolt-1fps"])
def test_a_video_shorter_than_a_step_gives_its_first_frame(name: str) -> None:
    short = Clip.of_times(np.arange(5) / 30, fps=30.0)
    assert grid(name).positions(short).tolist() == [0]


def test_each_medium_has_candidates_of_its_own_at_its_own_rate() -> None:
    # 3 s at 10 fps, 4 s at 5 fps, and an image.
    clip = Clip(
        times_s=np.concatenate([np.arange(31) / 10, np.arange(21) / 5, [0.0]]),
        media_indices=np.repeat([0, 1, 2], [31, 21, 1]),
        frame_indices=np.concatenate([np.arange(31), np.arange(21), [0]]),
        fps=0.0,
    )
    assert grid("aks-1fps").positions(clip).tolist() == [0, 10, 20, 31, 36, 41, 46, 52]


def test_a_rate_that_a_rule_cannot_take_is_refused() -> None:
    slow = Clip.of_times(np.arange(9) * 2.0, fps=0.5)
    with pytest.raises(UsageError, match="use another rule"):
        grid("aks-1fps").positions(slow)
