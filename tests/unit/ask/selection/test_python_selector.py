"""A function as a selector: what it may return."""

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.functions import give
from vidence.ask.selection.python import FunctionSelector
from vidence.errors import UsageError
from vidence.records import Item

CLIP = timed_clip(np.arange(10) / 5, fps=5.0)
ITEM = Item(item_id="q", question="Which?", choices=("x", "y"), answer="A")


def select(thing, n_frames: int = 3):
    return catalog.create("selector", give(thing, chance="1")).select(CLIP, ITEM, n_frames=n_frames)


def test_positions_come_in_the_order_of_time():
    assert select(lambda n_frames: [7, 2, 4][:n_frames]).tolist() == [2, 4, 7]
    assert select(lambda times_s, fps: np.flatnonzero(times_s > 1.5)).tolist() == [8, 9]
    assert select(lambda question, item, clip: []).tolist() == []
    assert select(lambda n_frames: [5][:n_frames], n_frames=1).tolist() == [5]
    with pytest.raises(UsageError, match="a budget of 0 frames; expected 1 or more"):
        select(lambda n_frames: [], n_frames=0)
    image = timed_clip(np.zeros(1), fps=0.0)
    selector = catalog.create("selector", give(lambda n_frames: [0], chance="1"))
    assert selector.select(image, ITEM, n_frames=3).tolist() == [0]
    assert selector.select(timed_clip(np.empty(0), fps=0.0), ITEM, n_frames=3).tolist() == []


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([0.5, 1.0], "expected positions among the frames"),
        (3, "expected positions among the frames"),
        ([1, 2, 3, 4], "returned 4 positions, 4 of them different; expected 3 at most"),
        ([1, 1], "returned 2 positions, 1 of them different"),
        ([10], "position 10 of a clip with 10 frames; expected 0 to 9"),
        ([-1], "position -1"),
    ],
)
def test_what_is_no_choice_of_frames_is_refused(returned, message):
    with pytest.raises(UsageError, match=message):
        select(lambda n_frames: returned)


def test_it_cannot_change_the_times_of_the_clip_and_a_selector_is_taken_as_it_is():
    def spoil(times_s):
        times_s[:] = 0
        return [0]

    select(spoil)
    assert CLIP.times_s[-1] == 9 / 5
    midpoints = catalog.create("selector", "midpoints")
    assert catalog.create("selector", give(midpoints, chance="1")) is midpoints
    assert isinstance(catalog.create("selector", give(lambda n_frames: [0], chance="1")), FunctionSelector)
