"""Central windows of ActPLD and where retries look. Positions were worked out by hand."""

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection import actpld
from vidence.contracts import Selector
from vidence.errors import UsageError
from vidence.media.clip import Clip
from vidence.records import Item

ITEM = Item(item_id="q1", question="?", answer="A", choices=("x", "y", "z"))


def clip_of(n_frames: int) -> Clip:
    return timed_clip(np.arange(n_frames) / 30, fps=30.0 if n_frames > 1 else 0.0)


def make(argument: str = "") -> Selector:
    return catalog.create("selector", catalog.Spec(name="actpld", argument=argument))


def select(n_total: int, *, k: int = 8, argument: str = "") -> list[int]:
    return make(argument).select(clip_of(n_total), ITEM, n_frames=k).tolist()


def again(n_total: int, retry: int, *, k: int = 8, argument: str = "") -> list[int]:
    selector: Selector = make(argument)
    return selector.again(clip_of(n_total), ITEM, n_frames=k, retry=retry).tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("n_total", "first"),
    [
        (100, 46),  # 10..90, 80 frames: 10 + 72 // 2
        (101, 46),  # 10..91, 81 frames: 10 + 73 // 2
        (99, 45),  # 9..90, 81 frames: 9 + 73 // 2
        (10, 1),  # 1..9: exactly eight
        (9, 0),  # nothing is cut off a clip of nine
        (8, 0),
        (2490, 1241),
    ],
)
def test_eight_consecutive_frames_from_the_middle(n_total: int, first: int) -> None:
    assert select(n_total) == list(range(first, first + 8))


@pytest.mark.parametrize("n_total", [1, 3, 7])
def test_a_shorter_clip_is_shown_whole(n_total: int) -> None:
    assert select(n_total) == list(range(n_total))
    assert again(n_total, 1) == []


def test_a_clip_too_short_for_trims_or_stride_loses_less() -> None:
    # 11 frames without one at each end are 9; 28 frames for a window of 24 lose 2 and not 2.8 at each end.
    assert actpld.usable(11, 8) == (1, 10)
    assert actpld.usable(28, 24) == (2, 26)
    assert actpld.usable(28, 27) == (0, 28)
    assert select(20, argument="4") == [2, 4, 6, 8, 10, 12, 14, 16]
    assert select(9, argument="100") == list(range(8))
    assert select(100, k=1) == [49]
    assert select(100, k=1, argument="7") == [49]
    assert again(100, 1, k=1, argument="7") == [42]


def test_retries_go_earlier_and_later_inside_the_trimmed_part() -> None:
    assert select(100) == list(range(46, 54))
    assert [again(100, retry)[0] for retry in (1, 2, 3, 4)] == [38, 54, 30, 62]
    assert all(len(again(100, retry)) == 8 for retry in (1, 2, 3))
    # 30 frames: usable 3..27, first window 11..18, earliest start 3, latest 19.
    assert select(30)[0] == 11
    assert again(30, 1)[0] == 3
    assert again(30, 2)[0] == 19
    assert again(30, 3) == []  # clamped to 3, which was shown
    assert select(10) == list(range(1, 9))
    assert [again(10, retry) for retry in (1, 2, 3)] == [[], [], []]
    with pytest.raises(UsageError, match="0"):
        again(100, 1, k=0)


@pytest.mark.parametrize("argument", ["4"])
def test_a_stride_spreads_the_window(argument: str) -> None:
    # 8 frames, every fourth, reach over 29: 10 + (80 - 29) // 2 = 35; a shift is 32 frames.
    assert select(100, argument=argument) == list(range(35, 64, 4))
    assert again(100, 1, argument=argument)[0] == 10  # 35 - 32 is before the trimmed part
    assert again(100, 2, argument=argument)[0] == 61  # 35 + 32 is behind the last start
    assert again(400, 1, argument=argument)[0] == select(400, argument=argument)[0] - 32


@pytest.mark.parametrize("argument", ["0", "-1", "two", "stride=", "stride=0", "2.5", "4,2", "stride:4"])
def test_another_argument_is_refused(argument: str) -> None:
    with pytest.raises(UsageError, match="a whole number from 1 to 99999"):
        make(argument)
