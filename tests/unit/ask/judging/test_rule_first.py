"""What each judge asks, whom it asks, and what it makes of the verdict."""

import re

import pytest

from vidence.records import Answered, Failed, Refused, Reply, Score, Unreadable


def nobody(prompt):
    raise AssertionError(f"nobody is to be asked: {prompt.text}")


def scored(outcome, value=0.0):
    return Score(outcome=outcome, value=value, scorer="rules", scorer_version=1)


UNUSABLE = [Unreadable(reason="empty"), Refused(reason="no"), Failed(stage="model", error="E", message="m")]


# --- mmvu-official


def verdict(extracted, correct):
    return lambda _: f'{{"extracted_answer": "{extracted}", "correct": {str(correct).lower()}}}'


def test_mmvu_asks_as_its_code_does(bench):
    judge = bench.judge("mmvu-official")
    assert (judge.sampling.temperature, judge.sampling.max_tokens, judge.scale) == (1.0, 128, 0.0)
    (choice,) = bench.put(judge, bench.choice, "B", verdict("B", correct=True)).prompts
    (open_,) = bench.put(judge, bench.open, "B", verdict("B", correct=False)).prompts
    assert choice.system != open_.system
    assert "Options:\nA: cat\nB: dog\n" in choice.text
    assert "Options" not in open_.text
    assert list(choice.reply_schema["properties"]) == ["extracted_answer", "correct"]
    places = [choice.text.index(w) for w in ("Question:", "Options:", "Ground truth answer: B", "<reply id")]
    assert places == sorted(places)


def test_mmvu_judges_choices_that_a_rule_could_read(bench):
    ruled = scored(Answered(answer="A"))
    judged = bench.put(
        bench.judge("mmvu-official"), bench.choice, "A... no, B", verdict("B: dog", correct=True), rules=ruled
    )
    assert judged.score.outcome == Answered(answer="B", rule="judge/letter")
    assert judged.score.value == 1.0
    assert (judged.score.scorer, judged.score.scorer_version) == ("mmvu-official", 1)


@pytest.mark.parametrize("outcome", UNUSABLE)
def test_mmvu_judges_an_empty_reply_like_any_other(bench, outcome):
    judged = bench.put(
        bench.judge("mmvu-official"), bench.open, "", verdict("", correct=False), rules=scored(outcome)
    )
    assert len(judged.prompts) == 1
    assert judged.score.value == 0.0
    assert judged.score.outcome == Unreadable(reason="the judge found no answer in the reply")


def test_mmvu_makes_letters_of_choices_and_nothing_else(bench):
    judge = bench.judge("mmvu-official")
    wrong = bench.put(judge, bench.choice, "a hen", verdict("a hen", correct=False)).score
    assert wrong.outcome == Unreadable(reason="what the judge found in the reply is none of the choices")
    right = bench.put(judge, bench.choice, "the one that barks", verdict("it barks", correct=True)).score
    assert right.outcome == Answered(answer="B", rule="judge/correct")
    assert (wrong.value, right.value) == (0.0, 1.0)
    assert (wrong.verdicts[0].extracted, right.verdicts[0].extracted) == ("a hen", "it barks")


def test_mmvu_shows_the_whole_reply(bench):
    (prompt,) = bench.put(
        bench.judge("mmvu-official"), bench.open, "<think>x</think>y", verdict("y", correct=False)
    ).prompts
    assert r"\u003cthink\u003ex\u003c/think\u003ey" in prompt.text


# --- humanpcr


def marks(points, extracted="a pan"):
    correct = str(points >= 3)
    return lambda _: f"{{'extracted answer': '{extracted}', 'correctness': {correct}, 'score': {points}}}"


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
    assert list(judged.prompts[0].reply_schema["properties"]) == ["extracted answer", "correctness", "score"]


def test_humanpcr_gives_the_rationale_and_the_printed_prompt_does_not(bench):
    (given,) = bench.put(bench.judge("humanpcr"), bench.open, "x", marks(1)).prompts
    (printed,) = bench.put(bench.judge("humanpcr-printed"), bench.open, "x", marks(1)).prompts
    assert bench.open.rationale in given.text
    assert bench.open.rationale not in printed.text
    assert "evidence behind it, and" in given.system
    assert "evidence behind it, and" not in printed.system


def test_humanpcr_says_what_contradicts_itself_and_asks_once_more(bench):
    left = ["{'extracted answer': 'x', 'correctness': True, 'score': 1}", marks(4)(None)]
    judged = bench.put(bench.judge("humanpcr"), bench.open, "a frying pan", lambda _: left.pop(0))
    assert "'correctness' is true and 'score' is 1, which contradict" in judged.prompts[1].text
    assert judged.score.points == 4.0


def test_humanpcr_leaves_choices_to_the_rules(bench):
    ruled = scored(Answered(answer="B"), 1.0)
    assert bench.put(bench.judge("humanpcr"), bench.choice, "B", nobody, rules=ruled).score is ruled


@pytest.mark.parametrize("outcome", UNUSABLE)
def test_humanpcr_gives_no_points_for_no_answer(bench, outcome):
    judged = bench.put(bench.judge("humanpcr"), bench.open, "", nobody, rules=scored(outcome))
    assert (judged.score.outcome, judged.score.value, judged.score.points) == (outcome, 0.0, 0.0)


def test_humanpcr_says_where_there_was_no_answer_in_the_words(bench):
    judged = bench.put(bench.judge("humanpcr"), bench.open, "I see a kitchen.", marks(1, extracted=""))
    assert judged.score.outcome == Unreadable(reason="the judge found no answer in the reply")
    assert judged.score.points == 1.0


# --- rule-first


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


def test_rule_first_takes_none_for_unreadable(bench):
    judged = bench.put(
        bench.judge("rule-first"), bench.choice, "either", with_id('"reason": "", "choice": "none"')
    )
    assert judged.score.outcome == Unreadable(reason="the judge finds that the reply means no choice")
    assert judged.score.value == judged.score.verdicts[0].value == 0.0


def test_rule_first_shows_the_prompt_without_the_right_choice_in_the_repair_too(bench):
    judged = bench.put(bench.judge("rule-first"), bench.choice, "either", lambda _: "?")
    swapped = bench.put(bench.judge("rule-first"), bench.choice.with_order((1, 0)), "either", lambda _: "?")
    assert '"choice" (a letter or "none")' in judged.prompts[1].text
    assert judged.score.value == swapped.score.value == 0.0


def test_rule_first_needs_nobody_for_an_equal_answer(bench):
    judged = bench.put(bench.judge("rule-first"), bench.open, "The final answer is: A PAN.", nobody)
    assert judged.score.outcome == Answered(answer="a pan", rule="equal")
    assert (judged.score.value, judged.score.scorer, judged.score.verdicts) == (1.0, "rule-first", ())


@pytest.mark.parametrize("outcome", UNUSABLE)
def test_rule_first_does_not_judge_what_is_no_answer(bench, outcome):
    ruled = scored(outcome)
    assert bench.put(bench.judge("rule-first"), bench.open, "x", nobody, rules=ruled).score is ruled


def test_rule_first_keeps_a_mark_that_a_rule_gave_to_an_open_answer(bench):
    ruled = scored(Answered(answer="x"), 1.0)
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


def test_rule_first_judges_the_answer_without_its_reasoning(bench):
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
