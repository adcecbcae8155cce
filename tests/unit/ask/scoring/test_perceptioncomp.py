"""The letter rules of PerceptionComp's runners; each result follows from the released code by hand."""

import pytest

from vidence.ask.scoring.perceptioncomp import NAMES, create, read_api, read_custom, read_gemini
from vidence.records import Answered, Item, Reply, Unreadable

ITEM = Item(item_id="q", question="?", choices=("a", "b", "c", "d", "e"), answer="A")


@pytest.mark.parametrize(
    ("text", "api", "custom", "gemini"),
    [
        # reply, (letter, rule) of each runner; None where nothing is read
        ("<answer>C</answer>", ("C", "answer-tag"), ("C", "answer-tag"), ("C", "answer-tag")),
        (
            "<answer>B</answer> <answer>D</answer>",
            ("D", "answer-tag"),
            ("D", "answer-tag"),
            ("D", "answer-tag"),
        ),
        ("<answer>B: Black</answer>", ("B", "answer-tag"), ("B", "answer-tag"), ("A", "answer-tag")),
        ("The answer: D", ("D", "answer-word"), ("D", "answer-word"), ("D", "answer-word")),
        ("First B, then C", ("C", "last-letter"), ("C", "last-letter"), ("C", "last-letter")),
        ("It is D in a box", ("D", "last-letter"), ("A", "last-letter"), ("D", "last-letter")),
        ("none of it", None, None, ("E", "whole-reply")),
        ("12", None, None, None),
    ],
)
def test_the_letter_and_the_rule_that_gave_it(text, api, custom, gemini):
    for read, expected in ((read_api, api), (read_custom, custom), (read_gemini, gemini)):
        found = read(ITEM, text)
        if expected is None:
            assert isinstance(found, Unreadable)
        else:
            assert found == Answered(answer=expected[0], rule=expected[1])


def test_a_failed_upload_is_no_reply_to_the_gemini_runner_alone():
    text = "ERROR UPLOADING: answer B"
    assert isinstance(read_gemini(ITEM, text), Unreadable)
    assert read_api(ITEM, text) == Answered(answer="B", rule="answer-word")


@pytest.mark.parametrize(("name", "letter"), [*zip(NAMES, "DAD", strict=True)])
def test_each_name_makes_the_parser_of_its_runner(name, letter):
    outcome = create(name).read(ITEM, Reply(text="It is D in a box"))
    assert isinstance(outcome, Answered)
    assert outcome.answer == letter
