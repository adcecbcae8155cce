"""The ratings of free answers."""

import json

import pytest

from vidence import catalog
from vidence.records import Answered, Failed, Item, Reply, Score, Unreadable

NAMES = ("mmbench-video", "activitynet-qa", "mlvu")
ITEM = Item(item_id="q", question="What happens?", answer="A dog jumps.", answer_kind="text")
POINTS = ("The stalls are opened.", "A woman buys pears.", "It rains.")
SCENE = Item(item_id="s", question="What happens?", answer="Much.", answer_kind="text", steps=POINTS)
WAITS = Score(
    outcome=Answered(answer="A dog leaps.", rule="whole-reply"),
    value=None,
    scorer="needs-judge",
    scorer_version=1,
)


def asked(name, item=ITEM):
    """A flow with its prompt, and the id of its block."""
    flow = catalog.create("judge", name).judge(item, Reply(text="A dog leaps."), ruled=WAITS)
    (prompt,) = next(flow)
    return flow, prompt, prompt.text.partition("lines with the id ")[2].split(".")[0].split()[0]


def judged(name, said, item=ITEM):
    """The score that comes of a judge who says this, with the id that it was given."""
    flow, _, marked = asked(name, item)
    with pytest.raises(StopIteration) as ended:
        flow.send([Reply(text=json.dumps({"id": marked, **said}))])
    return ended.value.value


def test_the_rating_of_mmbench_video_is_a_share_of_three():
    score = judged("mmbench-video", {"score": 2})
    assert (score.value, score.points) == (pytest.approx(2 / 3), 2.0)


def test_activitynet_qa_marks_and_rates():
    score = judged("activitynet-qa", {"correctness": True, "score": 4})
    assert (score.value, score.points) == (1.0, 4.0)


@pytest.mark.parametrize(("ratings", "points"), [((4, 3), 7.0), ((1, 1), 2.0), ((5, 5), 10.0)])
def test_a_summary_of_mlvu_has_two_ratings_that_are_added(ratings, points):
    said = {"reason": "so", "completeness": ratings[0], "reliability": ratings[1]}
    score = judged("mlvu", said)
    assert (score.points, score.value) == (points, (points - 2) / 8)
    assert score.verdicts[0].reason == "so"
    assert "A dog jumps." in asked("mlvu")[1].text


def test_a_scene_of_mlvu_is_rated_by_the_mean_of_its_points_and_by_relevance():
    said = {"reason": "so", "relevance": 4, "point 1": "5", "point 2": "3", "point 3": "1"}
    score = judged("mlvu", said, SCENE)
    assert (score.points, score.value) == (7.0, 5 / 8)
    odd = {**said, "point 2": "1"}  # (5 + 1 + 1) / 3 + 4
    assert judged("mlvu", odd, SCENE).points == pytest.approx(19 / 3)
    _, prompt, _ = asked("mlvu", SCENE)
    lines = [f'"point {i}": {text}' for i, text in enumerate(POINTS, 1)]
    assert "\n".join(lines) in prompt.text
    assert "Reference answer" not in prompt.text
    assert [key for key in prompt.reply_schema["properties"] if key.startswith("point")] == [
        "point 1",
        "point 2",
        "point 3",
    ]


@pytest.mark.parametrize("wrong", [{"point 2": "2"}, {"point 2": 3}, {"relevance": 0}, {"relevance": 6}])
def test_ratings_off_their_scale_are_no_verdict(wrong):
    said = {"reason": "so", "relevance": 4, "point 1": "5", "point 2": "3", "point 3": "1", **wrong}
    flow, _, marked = asked("mlvu", SCENE)
    (repair,) = flow.send([Reply(text=json.dumps({"id": marked, **said}))])
    assert "'relevance': a whole number from 1 to 5" in repair.text
    with pytest.raises(StopIteration) as ended:
        flow.send([Reply(text="no")])
    assert isinstance(ended.value.value.outcome, Failed)


@pytest.mark.parametrize("name", NAMES)
def test_choices_are_left_to_the_rules_and_no_answer_gets_nothing(name):
    judge = catalog.create("judge", name)
    choice = Item(item_id="c", question="Which?", choices=("a", "b"), answer="A")
    ruled = Score(outcome=Unreadable(reason="none"), value=0.0, scorer="robust", scorer_version=1)
    for item, points in ((choice, None), (ITEM, 0.0)):
        with pytest.raises(StopIteration) as ended:
            next(judge.judge(item, Reply(text=""), ruled=ruled))
        assert ended.value.value.points == points
