"""Statements of a final answer, sentence by sentence."""

import pytest

from vidence.ask.scoring.statements import Rank, Reader, probabilities, split
from vidence.records import Item

ITEM = Item(item_id="q", question="?", choices=("red", "blue", "green", "black", "white"), answer="A")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One", "Two", "Three", "Four"]),
        ("It is 1.5 m, e.g. here. So.", ["It is 1.5 m, e.g. here", "So"]),
        ("1. first\n2. second", ["1. first", "2. second"]),
        ("一。二", ["一。二"]),
        ("是.二", ["是", "二"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [text[s.start : s.end] for s in split(text)] == sentences


def test_a_stop_behind_a_lone_letter_is_its_mark_where_text_follows() -> None:
    text = "The action is C. squeezing. It is B. The end. D. It stands"
    lone = frozenset((text.index("C.") + 1, text.index("B.") + 1, text.index("D.") + 1))
    found = [text[s.start : s.end] for s in split(text.replace("D.", "\ue000."), lone)]
    assert found == ["The action is C. squeezing", "It is B", "The end", "D. It stands"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The answer is B. Wait, it is C.", [("statement", Rank.STATED, 1), ("alone", Rank.ALONE, 2)]),
        ("Not A, but B", [("correction", Rank.STATED, 1)]),
        ("Answer: none", [("marker", Rank.MARKED, -1)]),
        ("\ue003C\ue002", [("answer-tag", Rank.FINAL, 2)]),
        ("This matches option B here", [("match", Rank.HINT, 1)]),
        ("B is correct", [("verdict", Rank.STATED, 1)]),
    ],
)
def test_the_rule_and_its_rank(text: str, found: list[tuple[str, Rank, int]]) -> None:
    assert [(s.rule, s.rank, s.choice) for s in Reader(ITEM, text).statements()] == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C (0.2), B (0.8)", (1, "")),
        ("A: 10%\nB: 85%\nC: 5%", (1, "")),
        ("P(A)=0.1, P(B)=0.9", (1, "")),
        ("A (0.5), B (0.5)", (-1, "several letters have numbers that single out none")),
        ("A (0.8), B (0.6)", (-1, "several letters have numbers that single out none")),
        ("A (0.64), B (0.4)", (0, "")),
        ("A: 3, B: 4", (-1, "several letters have numbers that single out none")),
        ("A: 0.4, Z: 0.6", (-1, "a letter beyond the choices has a probability")),
        ("B (0.8)", None),
        ("A (0.2) is less than B (0.8)", None),
    ],
)
def test_the_likelier_letter_is_read(text: str, expected: tuple[int, str] | None) -> None:
    assert probabilities(ITEM, text) == expected


def test_numbers_that_are_choices_are_no_probabilities() -> None:
    item = Item(item_id="q", question="?", choices=("15", "20"), answer="A")
    assert probabilities(item, "A: 15, B: 20") is None
