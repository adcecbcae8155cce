"""The judge of MMVU's code: what it asks, and what it makes of the verdict."""

import json
import re

import pytest

from vidence.ask.judging.verdicts import CONTRADICTION, n_contradictions
from vidence.records import Answered, Failed, Refused, Score, Unreadable


def scored(outcome, value=0.0):
    return Score(outcome=outcome, value=value, scorer="rules", scorer_version=1)


UNUSABLE = [Unreadable(reason="empty"), Refused(reason="no"), Failed(stage="model", error="E", message="m")]


def verdict(extracted, correct):
    def says(prompt):
        marked = re.search(r'<reply id="(\w+)">', prompt.text)[1]
        return json.dumps({"id": marked, "extracted_answer": extracted, "correct": correct})

    return says


def test_mmvu_asks_as_its_code_does(bench):
    judge = bench.judge("mmvu-official")
    assert (judge.sampling.temperature, judge.sampling.max_tokens, judge.scale) == (1.0, 128, 0.0)
    (choice,) = bench.put(judge, bench.choice, "B", verdict("B", correct=True)).prompts
    (open_,) = bench.put(judge, bench.open, "B", verdict("B", correct=False)).prompts
    assert choice.system != open_.system
    assert "Options:\nA: cat\nB: dog\n" in choice.text
    assert "Options" not in open_.text
    assert list(choice.reply_schema["properties"]) == ["id", "extracted_answer", "correct"]
    places = [choice.text.index(w) for w in ("Question:", "Options:", "Ground truth answer: B", "<reply id")]
    assert places == sorted(places)


@pytest.mark.parametrize("outcome", UNUSABLE)
def test_mmvu_judges_an_empty_reply_like_any_other(bench, outcome):
    judge, says = bench.judge("mmvu-official"), verdict("", correct=False)
    judged = bench.put(judge, bench.open, "", says, rules=scored(outcome))
    assert len(judged.prompts) == 1
    assert judged.score.value == 0.0
    assert judged.score.outcome == Unreadable(reason="the judge found no answer in the reply")


def test_mmvu_makes_letters_of_choices_and_nothing_else(bench):
    judge = bench.judge("mmvu-official")
    wrong = bench.put(judge, bench.choice, "a hen", verdict("a hen", correct=False)).score
    assert wrong.outcome == Unreadable(reason="the answer that the judge extracted is none of the choices")
    right = bench.put(judge, bench.choice, "the one that barks", verdict("it barks", correct=True)).score
    assert right.outcome == Answered(answer="B", rule="judge/correct")
    assert (wrong.value, right.value) == (0.0, 1.0)
    assert (wrong.verdicts[0].extracted, right.verdicts[0].extracted) == ("a hen", "it barks")
    (prompt,) = bench.put(
        bench.judge("mmvu-official"), bench.open, "<think>x</think>y", verdict("y", correct=False)
    ).prompts
    assert r"\u003cthink\u003ex\u003c/think\u003ey" in prompt.text
    ruled = scored(Answered(answer="A"))
    judged = bench.put(
        bench.judge("mmvu-official"), bench.choice, "A... no, B", verdict("B: dog", correct=True), rules=ruled
    )
    assert judged.score.outcome == Answered(answer="B", rule="judge/letter")
    assert judged.score.value == 1.0
    assert (judged.score.scorer, judged.score.scorer_version) == ("mmvu-official", 2)


def test_mmvu_flags_a_verdict_that_contradicts_itself(bench):
    judge = bench.judge("mmvu-official")
    judged = [
        bench.put(judge, bench.choice, "x", verdict(letter, correct=is_right)).score
        for letter, is_right in (("A", True), ("B", False), ("B", True), ("A", False))
    ]
    assert [s.outcome.rule == CONTRADICTION for s in judged] == [True, True, False, False]
    assert [s.value for s in judged] == [1.0, 0.0, 1.0, 0.0]
    assert judged[0].verdicts[0].contradiction == "extracted A, right B, correct true"
    assert n_contradictions(judged) == 2
