"""Each simple selector does what its name says."""

import numpy as np
import pytest

from vidence import catalog
from vidence.contracts import Selector
from vidence.errors import UsageError
from vidence.media.clip import Clip
from vidence.records import Item

ITEM = Item(item_id="q1", question="?", answer="A", choices=("x", "y"))


def make(name: str, argument: str = "") -> Selector:
    selector: Selector = catalog.find("selector", name).create(argument)
    return selector


def clip_of(n_frames: int, *, fps: float = 10.0) -> Clip:
    return Clip.of_times(np.arange(n_frames) / fps, fps=fps if n_frames > 1 else 0.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("midpoints", [1, 3, 6, 8]),
        ("herbench-uniform", [0, 2, 5, 7]),
        ("mmvu-api", [0, 3, 6, 9]),
        ("mmvu-vllm", [0, 3, 6, 9]),
        ("perceptioncomp", [0, 3, 6, 9]),
        ("frag", [0, 2, 5, 7]),
        ("all", list(range(10))),
        ("central", [5]),
        ("none", []),
    ],
)
def test_the_name_stands_for_its_rule(name: str, expected: list[int]) -> None:
    assert make(name).select(clip_of(10), ITEM, n_frames=4).tolist() == expected


def test_only_mmvu_api_repeats_frames_of_a_short_clip() -> None:
    assert make("mmvu-api").select(clip_of(2), ITEM, n_frames=4).tolist() == [0, 0, 0, 1]
    assert make("mmvu-vllm").select(clip_of(2), ITEM, n_frames=4).tolist() == [0, 1]


@pytest.mark.parametrize("name", ["all", "central", "none"])
def test_a_budget_that_is_not_used_is_not_checked(name: str) -> None:
    at_zero = make(name).select(clip_of(10), ITEM, n_frames=0)
    assert at_zero.tolist() == make(name).select(clip_of(10), ITEM, n_frames=4).tolist()


WITH_ARGUMENTS = {"actpld", "aks", "bolt", "evidence", "fps", "frag-scores", "oracle", "similarity", "tstar"}


@pytest.mark.parametrize("name", sorted(set(catalog.names("selector")) - WITH_ARGUMENTS))
def test_an_argument_is_refused_where_none_is_taken(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name!r} takes no argument"):
        make(name, "2")


def test_images_of_one_question_are_one_sequence() -> None:
    images = Clip(
        times_s=np.zeros(3), media_indices=np.arange(3), frame_indices=np.zeros(3, np.int64), fps=0.0
    )
    assert make("midpoints").select(images, ITEM, n_frames=8).tolist() == [0, 1, 2]
    assert make("fps", "2").select(images, ITEM, n_frames=8).tolist() == [0, 1, 2]
