"""What an answer from words and hints says of the hints."""

import pytest

from vidence.records import Item
from vidence.studio.rules.hints import HintedQuestion, asked_in, asked_of, finding_of, judged, letters_of

OPEN = {"question": "Why does it smoke?", "answer": "The oil is too hot.", "hints": ["Look at the stove."]}
CHOICE = {"question": "Which?", "choices": ["red", "blue"], "answer": "B", "hints": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("content", "answer", "is_sure", "finding"),
    [
        (CHOICE, "B", True, "too-strong"),
        (CHOICE, "B", False, "guessed"),
        (CHOICE, "A", True, "not-enough"),
        (CHOICE, "", True, "not-enough"),
        (OPEN, "the oil is TOO hot", True, "too-strong"),
        (OPEN, "the oil is too hot", False, "guessed"),
        (OPEN, "it burns", True, "to-judge"),
        (OPEN, " ", False, "not-enough"),
    ],
)
def test_an_answer_says_whether_the_hints_are_enough(content, answer, is_sure, finding):
    assert finding_of(content, answer, is_sure=is_sure) == finding


def test_a_free_answer_is_what_whoever_gave_it_says():
    assert judged(is_same=True, is_sure=True) == "too-strong"
    assert judged(is_same=True, is_sure=False) == "guessed"
    assert judged(is_same=False, is_sure=True) == "not-enough"


def test_what_is_tried_are_words_and_hints_whatever_their_order():
    assert asked_of(OPEN) == HintedQuestion(question=OPEN["question"], hints=("Look at the stove.",))
    for nothing in ({**OPEN, "hints": []}, {**OPEN, "hints": [""]}, {"hints": ["a"]}, {**OPEN, "hints": 3}):
        assert asked_of(nothing) is None
    assert letters_of(("red", "blue")) == (("A", "red"), ("B", "blue"))
    now = asked_of(CHOICE)
    turned = Item(item_id="q", question="Which?", choices=("blue", "red"), answer="A", hints=("a", "b", "c"))
    assert now.is_same(asked_in(turned))
    for other in ({"question": "What?"}, {"choices": ["red", "green"]}, {"hints": ["a", "b"]}):
        assert not now.is_same(asked_of(CHOICE | other))
