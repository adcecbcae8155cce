"""Uniform rules against values worked out by hand."""

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection import uniform
from vidence.contracts import Selector
from vidence.errors import UsageError
from vidence.media.clip import Clip
from vidence.records import Item


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
def test_rule_gives_the_positions_worked_out_by_hand(rule, n_total, k, expected):
    positions = getattr(uniform, rule)(n_total, k)
    assert positions.tolist() == expected
    assert positions.dtype == np.int64


def test_strided_and_left_edges_are_those_of_the_released_code() -> None:
    # 85 / 35 is stored a little too small: 21 steps end just below 51 and are cut to 50.
    positions = uniform.left_edges(85, 35)
    assert positions[[20, 21, 22]].tolist() == [48, 50, 53]
    assert len(uniform.strided(1799, 50)) == 51
    assert uniform.strided(1799, 50)[-1] == 1798
    # 15 / 13 is stored too small: the fourteenth step is 14.999..., the last frame.
    assert uniform.strided(15, 13)[-1] == 14


ITEM = Item(item_id="q1", question="?", answer="A", choices=("x", "y"))


def make(name: str, argument: str = "") -> Selector:
    return catalog.create("selector", catalog.Spec(name=name, argument=argument))


def clip_of(n_frames: int, *, fps: float = 10.0) -> Clip:
    return timed_clip(np.arange(n_frames) / fps, fps=fps if n_frames > 1 else 0.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("midpoints", [1, 3, 6, 8]), ("herbench-uniform", [0, 2, 5, 7]), ("mmvu-api", [0, 3, 6, 9]),
        ("mmvu-vllm", [0, 3, 6, 9]), ("perceptioncomp", [0, 3, 6, 9]), ("frag", [0, 2, 5, 7]),
        ("all", list(range(10))), ("central", [5]), ("none", []),
    ],
)  # fmt: skip
def test_the_name_stands_for_its_rule(name: str, expected: list[int]) -> None:
    assert make(name).select(clip_of(10), ITEM, n_frames=4).tolist() == expected


def test_only_mmvu_api_repeats_frames_of_a_short_clip_and_images_are_one_sequence() -> None:
    assert make("mmvu-api").select(clip_of(2), ITEM, n_frames=4).tolist() == [0, 0, 0, 1]
    assert make("mmvu-vllm").select(clip_of(2), ITEM, n_frames=4).tolist() == [0, 1]
    images = Clip(
        times_s=np.zeros(3), media_indices=np.arange(3), frame_indices=np.zeros(3, np.int64), fps=0.0
    )
    assert make("midpoints").select(images, ITEM, n_frames=8).tolist() == [0, 1, 2]
    assert make("fps", "2").select(images, ITEM, n_frames=8).tolist() == [0, 1, 2]


WITH_ARGUMENTS = {
    *("actpld", "aks", "bolt", "evidence", "fps"),
    *("frag-scores", "oracle", "python", "similarity", "tstar"),
}


@pytest.mark.parametrize("name", sorted(set(catalog.names("selector")) - WITH_ARGUMENTS))
def test_an_argument_is_refused_where_none_is_taken(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name!r} takes no argument"):
        make(name, "2")
