"""The most that each search of MRFS tries is what the worst of all patterns of answers makes it try."""

from itertools import product

import pytest

from subjects.simulated import Simulated, drive, times_shown
from vidence import catalog
from vidence.explain.diagnostics.mrfs_steps import MOST_STEPS
from vidence.records import Item, Media, Reply

ITEM = Item(item_id="q", media=(Media(path="v.mp4"),), question="?", choices=("a", "b"), answer="A")


def n_tried(mode, low, high, pattern):
    options = {"mode": mode, "min": str(low), "max": str(high)}
    one = catalog.create("diagnostic", catalog.Spec(name="mrfs", options=options))
    subject = Simulated(
        ITEM, {key: tuple(map(float, range(high))) for key in one.views(selector="x", n_frames=1)}
    )
    driven = drive(one.examine(subject), lambda ask: Reply(text=pattern[len(times_shown(ask))]))
    assert len(driven.asks) <= one.most_asks(ITEM, n_frames=1)
    return len(driven.asks) - 2


@pytest.mark.parametrize("mode", MOST_STEPS)
@pytest.mark.parametrize(("low", "high"), [(1, 2), (1, 5), (1, 7), (1, 8), (3, 8), (2, 6)])
def test_some_pattern_of_answers_needs_as_many_and_none_more(mode, low, high):
    patterns = ("B" + "".join(some) + "A" for some in product("AB", repeat=high - 1))
    assert max(n_tried(mode, low, high, one) for one in patterns) == MOST_STEPS[mode](low, high)


def test_every_rotation_is_asked_as_often_and_a_question_without_letters_is_not():
    def most(item, **options):
        one = catalog.create("diagnostic", catalog.Spec(name="mrfs", options=options))
        return one.most_asks(item, n_frames=1)

    # Without frames, with all sixteen, and four halvings.
    assert most(ITEM) == 6
    assert most(ITEM, orders="2") == 12
    assert most(ITEM, text_only="false") == 5
    assert most(ITEM, check_repeat="true") == 7
    assert most(ITEM, mode="exhaustive", min="2", max="5") == 5
    free = Item(item_id="q", question="?", answer="a", answer_kind="text")
    assert most(free) == 6
    assert most(free, orders="2") == 0
