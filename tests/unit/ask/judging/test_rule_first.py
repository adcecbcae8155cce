"""The judge that lets rules stand: when it asks, and what it makes of the verdict."""

import re

import pytest

from vidence.records import Answered, Failed, Refused, Reply, Score, Unreadable


def nobody(prompt):
    raise AssertionError(f"nobody is to be asked: {prompt.text}")


def scored(outcome, value=0.0):
    return Score(outcome=outcome, value=value, scorer="rules", scorer_version=1)


UNUSABLE = [Unreadable(reason="empty"), Refused(reason="no"), Failed(stage="model", error="E", message="m")]


def with_id(fields):
    def says(prompt):
        marked = re.search(r'<reply id="(\w+)', prompt.text)
        return f'{{"id": "{marked[1]}", {fields}}}'

    return says


@pytest.mark.parametrize("outcome", [Answered(answer="A"), *UNUSABLE[1:]])
def test_rule_first_lets_stand_what_the_rules_read_in_choices(bench, outcome):
    ruled = scored(outcome)
    assert bench.put(bench.judge("rule-first"), bench.choice, "A", nobody, rules=ruled).score is ruled


@pytest.mark.parametrize("text", ["", " \n", "<think>A or B?</think>", "<think>A"])
def test_rule_first_does_not_ask_about_no_words(bench, text):
    ruled = scored(UNUSABLE[0])
    assert bench.put(bench.judge("rule-first"), bench.choice, text, nobody, rules=ruled).score is ruled


@pytest.mark.parametrize(("letter", "value"), [("A", 0.0), ("B", 1.0)])
def test_rule_first_asks_which_choice_is_meant_and_hides_the_right_one(bench, letter, value):
    judge = bench.judge("rule-first")
    says = with_id(f'"reason": "why", "choice": "{letter}"')
    judged = bench.put(judge, bench.choice, "<think>hm</think>the one with whiskers", says)
    (prompt,) = judged.prompts
    assert "Right answer" not in prompt.text
    assert "A. cat\nB. dog" in prompt.text
    assert "hm" not in prompt.text
    assert prompt.reply_schema["properties"]["choice"]["enum"] == ["A", "B", "none"]
    other = bench.put(judge, bench.choice.with_order((1, 0)), "<think>hm</think>the one with whiskers", says)
    assert other.score.value == 1.0 - value
    assert judged.score.outcome == Answered(answer=letter, rule="judge")
    assert judged.score.value == value
    assert judged.score.verdicts[0].reason == "why"


def test_rule_first_takes_none_for_unreadable_and_repairs_without_the_right_choice(bench):
    says = with_id('"reason": "", "choice": "none"')
    judged = bench.put(bench.judge("rule-first"), bench.choice, "either", says)
    assert judged.score.outcome == Unreadable(reason="the judge finds that the reply means no choice")
    assert judged.score.value == judged.score.verdicts[0].value == 0.0
    judged = bench.put(bench.judge("rule-first"), bench.choice, "either", lambda _: "?")
    swapped = bench.put(bench.judge("rule-first"), bench.choice.with_order((1, 0)), "either", lambda _: "?")
    assert '"choice" (a letter or "none")' in judged.prompts[1].text
    assert judged.score.value == swapped.score.value == 0.0


def test_rule_first_needs_nobody_for_an_equal_or_marked_answer(bench):
    judged = bench.put(bench.judge("rule-first"), bench.open, "The final answer is: A PAN.", nobody)
    assert judged.score.outcome == Answered(answer="a pan", rule="equal")
    assert (judged.score.value, judged.score.scorer, judged.score.verdicts) == (1.0, "rule-first", ())
    ruled = scored(Answered(answer="x"), 1.0)
    assert bench.put(bench.judge("rule-first"), bench.open, "x", nobody, rules=ruled).score is ruled
    ruled = scored(Answered(answer="a skillet"), None)
    judged = bench.put(
        bench.judge("rule-first"),
        bench.open,
        Reply(text="<think>pan</think>a skillet"),
        lambda _: "?",
        rules=ruled,
    )
    assert '"a skillet"' in judged.prompts[0].text
    assert "think" not in judged.prompts[0].text


@pytest.mark.parametrize("outcome", UNUSABLE)
def test_rule_first_does_not_judge_what_is_no_answer(bench, outcome):
    ruled = scored(outcome)
    assert bench.put(bench.judge("rule-first"), bench.open, "x", nobody, rules=ruled).score is ruled


@pytest.mark.parametrize(("correct", "value"), [("true", 1.0), ("false", 0.0)])
def test_rule_first_asks_whether_an_open_answer_means_the_same(bench, correct, value):
    says = with_id(f'"extracted_answer": "skillet", "reason": "why", "correct": {correct}')
    judged = bench.put(bench.judge("rule-first"), bench.open, "It is a skillet", says)
    assert "Right answer: a pan" in judged.prompts[0].text
    assert judged.score.outcome == Answered(answer="skillet", rule="judge")
    assert judged.score.value == value
    assert judged.score.verdicts[0].extracted == "skillet"
    assert judged.prompts[0].template.startswith("rule-first/question.txt sha256:")
