"""Replies in sentences: which choice they say, and where they leave it open."""

import pytest

from vidence.ask.scoring import robust
from vidence.ask.scoring.free_form import read_sentences, said_in
from vidence.records import Answered, Item

COLOURS = ("red", "blue", "green")
ORANGE = ("peeling an orange", "slicing an orange", "juicing an orange")
TURNS = ("left", "right", "not moving")
COUNTS = ("2", "3", "5")


def asked(choices: tuple[str, ...], question: str = "What?") -> Item:
    return Item(item_id="q", question=question, choices=choices, answer="A")


@pytest.mark.parametrize(
    ("choices", "text", "letter"),
    [
        (ORANGE, "The woman is peeling an orange. She stands at a table.", "A"),
        (ORANGE, "She stands at a table. She peels an orange.", "A"),
        (ORANGE, "The woman is not peeling an orange.", None),
        (ORANGE, "The woman is peeling an orange, then slicing an orange.", None),
        (ORANGE, "The woman is peeling an orange. Later she is slicing an orange.", None),
        (ORANGE, "Perhaps she is peeling an orange.", None), (ORANGE, "Is she peeling an orange?", None),
        (ORANGE, "An orange is on the table.", None),
        (("eating", "fighting"), "The monkey is fighting another monkey.", "B"),
        (("eating", "fighting"), "The monkey fights another monkey.", "B"),
        (("eating", "fighting"), "The monkey is not fighting.", None),
        (("building", "tree"), "The man enters the building at noon.", None),
        (COLOURS, "The coat is blue.", "B"), (COLOURS, "The coat is clearly blue in the video.", "B"),
        (COLOURS, "A blue car passes.", None), (COLOURS, "The man in blue walks.", None),
        (COLOURS, "The coat is red or blue.", None), (TURNS, "The car moves to the left.", "A"),
        (TURNS, "The car on the left stops.", None), (TURNS, "The car is not moving.", "C"),
        (TURNS, "That is right.", None), (COUNTS, "There are three people.", "B"),
        (COUNTS, "There are 3 people in frame 2.", None), (COUNTS, "In 3 frames I see people.", None),
    ],
)  # fmt: skip
def test_the_only_choice_that_a_sentence_says_is_read(choices, text, letter) -> None:
    outcome = robust.read_text(asked(choices), text)
    assert (outcome.answer if isinstance(outcome, Answered) else None) == letter


def test_the_rule_names_the_sentence() -> None:
    item = asked(ORANGE)
    assert read_sentences(item, "She is peeling an orange. It is noon.") == ("first-sentence", 0)
    assert read_sentences(item, "It is noon. She is peeling an orange.") == ("last-sentence", 0)


def test_what_the_question_says_or_a_sentence_denies_is_no_answer() -> None:
    assert said_in(asked(ORANGE, "When is she slicing an orange?"), "She is slicing an orange.") is None
    assert (
        said_in(asked(ORANGE, "Is she peeling an orange or slicing an orange?"), "She is slicing an orange.")
        == 1
    )
    assert said_in(asked(COLOURS), "It is not red but red.") is None
    assert read_sentences(asked(COLOURS), "---") is None
    item = asked(("Yes", "No"))
    for reply, read in (("No, he does not.", "B"), ("Nobody falls.", None)):
        outcome = robust.read_text(item, reply)
        assert (outcome.answer if isinstance(outcome, Answered) else None) == read
    assert not isinstance(robust.read_text(asked(COLOURS), "Red, blue and white balloons"), Answered)


def test_letters_and_probabilities_count_before_sentences() -> None:
    outcome = robust.read_text(asked(ORANGE), "The woman is juicing an orange.\n\nSo the answer is B.")
    assert outcome == Answered(answer="B", rule="statement/letter")
    for text in ("A: 0.7\nB: 0.2\nC: 0.1", "A (0.7), B (0.2), C (0.1)", "A: 70%\nB: 20%\nC: 10%"):
        outcome = robust.create().read_text(asked(COLOURS), text)
        assert isinstance(outcome, Answered), text
        assert outcome.answer == "A"
