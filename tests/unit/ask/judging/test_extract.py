"""Which choice a caption supports, by the judge of TempCompass; replies to choices are in other files."""

import json
import re

import msgspec
import pytest

from vidence.records import Answered, Failed, Item, Reply, Unreadable

CAPTION = Item(
    item_id="q",
    question="Choose what fits the video and write a caption of it.",
    answer="B. peeling a carrot",
    answer_kind="text",
    rationale="What is the cook doing?\nA. stirring soup\nB. peeling a carrot\nC. washing up",
)


def says(choice):
    def reply(prompt):
        marked = re.search(r'<reply id="(\w+)">', prompt.text)[1]
        return json.dumps({"id": marked, "reason": "it says so", "choice": choice})

    return reply


@pytest.mark.parametrize(("choice", "value"), [("B", 1.0), ("A", 0.0), ("none", 0.0)])
def test_a_caption_is_right_where_it_supports_the_right_choice(bench, choice, value):
    judged = bench.put(bench.judge("tempcompass"), CAPTION, "A cook peels.", says(choice))
    assert judged.score.value == judged.score.verdicts[0].value == value
    assert judged.score.outcome == Answered(answer="A cook peels.")
    assert judged.score.verdicts[0].extracted == ("" if choice == "none" else choice)
    assert judged.score.points is None
    (prompt,) = judged.prompts
    assert "Question: What is the cook doing?" in prompt.text
    assert "B. peeling a carrot" in prompt.text.splitlines()
    assert CAPTION.question not in prompt.text
    assert "right answer" not in f"{prompt.system}{prompt.text}".lower()


def test_no_caption_is_wrong_and_nobody_is_asked(bench):
    judged = bench.put(bench.judge("tempcompass"), CAPTION, " ", says("B"))
    assert (judged.score.value, judged.prompts) == (0.0, [])
    assert isinstance(judged.score.outcome, Unreadable)


@pytest.mark.parametrize("fields", [{"rationale": "It peels."}, {"answer": "peeling"}, {"answer": "D. x"}])
def test_a_caption_without_its_question_is_a_judge_error(bench, fields):
    item = msgspec.structs.replace(CAPTION, **fields)
    judged = bench.put(bench.judge("tempcompass"), item, "A cook peels.", says("B"))
    assert isinstance(judged.score.outcome, Failed)
    assert judged.score.has_judge_error
    assert "no question with choices" in judged.score.outcome.message
    assert judged.prompts == []


def test_a_verdict_that_cannot_be_read_stays_a_judge_error(bench):
    judged = bench.put(bench.judge("tempcompass"), CAPTION, "A cook peels.", lambda _: "B, I think")
    assert judged.score.has_judge_error
    assert len(judged.prompts) == 2


def test_replies_to_choices_that_no_rule_read_are_asked_about(bench):
    judged = bench.put(bench.judge("tempcompass"), bench.choice, "the big dog", says("B"))
    assert (judged.score.value, judged.score.outcome) == (1.0, Answered(answer="B", rule="judge"))
    read = bench.ruled(bench.choice, Reply(text="B"))
    read = msgspec.structs.replace(read, outcome=Answered(answer="A"), value=0.0)
    assert bench.put(bench.judge("tempcompass"), bench.choice, "A", says("B"), rules=read).score == read
