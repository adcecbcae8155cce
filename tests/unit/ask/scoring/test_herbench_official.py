"""The official letter rules on replies whose result follows from the released scripts by hand."""

import pytest

from vidence import catalog
from vidence.ask.scoring import perceptioncomp
from vidence.records import Answered, Item, Reply, Unreadable

ITEM = Item(item_id="q", question="?", choices=("a", "b", "c", "d", "e"), answer="A")

CASES = [
    # reply, perceptioncomp-api, perceptioncomp-gemini, perceptioncomp-custom, herbench-official
    ("<answer>C</answer>", "C", "C", "C", "C"),
    ("<answer>B: Black</answer>", "B", "A", "B", "B"),
    ("<answer>B: A bag</answer>", "A", "A", "A", "B"),
    ("<answer>D: A man walks a dog</answer>", "A", "A", "A", "D"),
    ("<answer>A</answer> or <answer>D</answer>", "D", "D", "D", "A"),
    ("<answer></answer> Answer: C", None, None, None, "C"),
    ("<answer>\n e \n</answer>", "E", "E", "E", "E"),
    ("<ANSWER>C: it</ANSWER>", "C", "C", "C", "C"),
    ("<answer>60°</answer>", None, None, None, None),
    ("<answer>White</answer>", None, "E", None, None),
    ("<answer>C", "C", "C", "C", "C"),
    ("answer a dog, then Answer: C", "A", "A", "A", "C"),
    ("Answer\n: B, answer: C", "B", "B", "B", "C"),
    ("Answers: C", "C", "C", "C", "C"),
    ("First A, then D; done", "D", "D", "D", "A"),
    ("It is D in a box", "D", "D", "A", "D"),
    ("ERROR: timed out", None, "D", None, None),
    ("ERROR UPLOADING: a bad thing", "A", None, "A", None),
    ("the Terror of C.", "C", "C", "C", None),
    ("", None, None, None, None),
    ("zzz", None, None, None, None),
    ("A man appears", "A", "A", "A", "A"),
    ("(C) it is", "C", "C", "C", "C"),
    ("Choice: D. No B.", "B", "B", "B", "D"),
    ("Perhaps E, or B", "B", "B", "B", "E"),
    ("take 1C2 now", None, "A", None, "C"),
    ("F", None, None, None, None),
]
NAMES = ("perceptioncomp-api", "perceptioncomp-gemini", "perceptioncomp-custom", "herbench-official")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [(name, case[0], case[1 + i]) for case in CASES for i, name in enumerate(NAMES)],
)
def test_official_rules(name: str, text: str, expected: str | None) -> None:
    outcome = catalog.create("parser", name).read(ITEM, Reply(text=text))
    if expected is None:
        assert isinstance(outcome, Unreadable)
        assert outcome.reason
    else:
        assert isinstance(outcome, Answered)
        assert outcome.answer == expected
        assert outcome.rule


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("api", "<answer>D</answer>", "answer-tag"), ("api", "The answer: D", "answer-word"),
        ("api", "First B, then C", "last-letter"), ("gemini", "none of it", "whole-reply"),
    ],
)  # fmt: skip
def test_the_rule_that_gave_the_letter(name: str, text: str, rule: str) -> None:
    assert perceptioncomp.create(f"perceptioncomp-{name}").read(ITEM, Reply(text=text)).rule == rule


@pytest.mark.parametrize("name", NAMES)
def test_official_rules_read_letters_beyond_the_choices(name: str) -> None:
    item = Item(item_id="q", question="?", choices=("yes", "no"), answer="A")
    assert catalog.create("parser", name).read(item, Reply(text="E")).answer == "E"
