"""The judge of HumanPCR: points, correctness, and what contradicts itself."""

import json
import re

import pytest

from vidence.records import Answered, Failed, Refused, Score, Unreadable


def nobody(prompt):
    raise AssertionError(f"nobody is to be asked: {prompt.text}")


def scored(outcome, value=0.0):
    return Score(outcome=outcome, value=value, scorer="rules", scorer_version=1)


UNUSABLE = [Unreadable(reason="empty"), Refused(reason="no"), Failed(stage="model", error="E", message="m")]


def marks(points, extracted="a pan"):
    return said({"extracted answer": extracted, "correctness": points >= 3, "score": points})


def says(left, prompt):
    return left.pop(0)(prompt)


def said(fields):
    """A judge that signs its verdict."""

    def says(prompt):
        marked = re.search(r'<reply id="(\w+)">', prompt.text)[1]
        return json.dumps({"id": marked, **fields})

    return says


@pytest.mark.parametrize("points", range(5))
@pytest.mark.parametrize("name", ["humanpcr", "humanpcr-printed"])
def test_humanpcr_gives_points_and_correctness(bench, name, points):
    judge = bench.judge(name)
    judged = bench.put(judge, bench.open, "a frying pan", marks(points))
    assert (judge.scale, judge.sampling.temperature) == (4.0, 0.0)
    assert judged.score.points == judged.score.verdicts[0].points == float(points)
    assert judged.score.value == (1.0 if points >= 3 else 0.0)
    assert judged.score.outcome == Answered(answer="a pan", rule="judge")
    assert judged.score.scorer == name
    keys = ["id", "extracted answer", "correctness", "score"]
    assert list(judged.prompts[0].reply_schema["properties"]) == keys


def test_humanpcr_gives_the_rationale_and_the_printed_prompt_does_not(bench):
    (given,) = bench.put(bench.judge("humanpcr"), bench.open, "x", marks(1)).prompts
    (printed,) = bench.put(bench.judge("humanpcr-printed"), bench.open, "x", marks(1)).prompts
    assert bench.open.rationale in given.text
    assert bench.open.rationale not in printed.text
    assert "evidence behind it, and" in given.system
    assert "evidence behind it, and" not in printed.system


def test_humanpcr_says_what_contradicts_itself_and_asks_once_more(bench):
    left = [said({"extracted answer": "x", "correctness": True, "score": 1}), marks(4)]
    judged = bench.put(bench.judge("humanpcr"), bench.open, "a frying pan", lambda prompt: says(left, prompt))
    assert "'correctness' is true and 'score' is 1, which contradict" in judged.prompts[1].text
    assert judged.score.points == 4.0


@pytest.mark.parametrize("outcome", UNUSABLE)
def test_humanpcr_gives_no_points_for_no_answer(bench, outcome):
    judged = bench.put(bench.judge("humanpcr"), bench.open, "", nobody, rules=scored(outcome))
    assert (judged.score.outcome, judged.score.value, judged.score.points) == (outcome, 0.0, 0.0)


def test_humanpcr_says_where_there_was_no_answer_in_the_words_and_leaves_choices(bench):
    judged = bench.put(bench.judge("humanpcr"), bench.open, "I see a kitchen.", marks(1, extracted=""))
    assert judged.score.outcome == Unreadable(reason="the judge found no answer in the reply")
    assert judged.score.points == 1.0
    ruled = scored(Answered(answer="B"), 1.0)
    assert bench.put(bench.judge("humanpcr"), bench.choice, "B", nobody, rules=ruled).score is ruled
