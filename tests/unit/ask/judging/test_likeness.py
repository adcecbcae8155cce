"""The ratings of free answers."""

import json

import pytest

from vidence import catalog
from vidence.records import Answered, Item, Reply, Score, Unreadable

ITEM = Item(item_id="q", question="What happens?", answer="A dog jumps.", answer_kind="text")
WAITS = Score(
    outcome=Answered(answer="A dog leaps.", rule="whole-reply"),
    value=None,
    scorer="needs-judge",
    scorer_version=1,
)


def judged(name, said):
    """The score that comes of a judge who says this, with the id that it was given."""
    judge = catalog.create("judge", name)
    flow = judge.judge(ITEM, Reply(text="A dog leaps."), ruled=WAITS)
    (ask,) = next(flow)
    prompt = getattr(ask, "prompt", ask)
    block = prompt.text.partition("lines with the id ")[2].split(".")[0].split()[0]
    with pytest.raises(StopIteration) as ended:
        flow.send([Reply(text=json.dumps({"id": block, **said}))])
    return ended.value.value


def test_the_rating_of_mmbench_video_is_a_share_of_three():
    score = judged("mmbench-video", {"score": 2})
    assert (score.value, score.points) == (pytest.approx(2 / 3), 2.0)


def test_activitynet_qa_marks_and_rates():
    score = judged("activitynet-qa", {"correctness": True, "score": 4})
    assert (score.value, score.points) == (1.0, 4.0)


@pytest.mark.parametrize("name", ["mmbench-video", "activitynet-qa"])
def test_choices_are_left_to_the_rules_and_no_answer_gets_nothing(name):
    judge = catalog.create("judge", name)
    choice = Item(item_id="c", question="Which?", choices=("a", "b"), answer="A")
    ruled = Score(outcome=Unreadable(reason="none"), value=0.0, scorer="robust", scorer_version=1)
    for item, points in ((choice, None), (ITEM, 0.0)):
        with pytest.raises(StopIteration) as ended:
            next(judge.judge(item, Reply(text=""), ruled=ruled))
        assert ended.value.value.points == points
