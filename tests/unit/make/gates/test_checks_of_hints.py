"""What gives a question away: the answer, its letter, words in a row, half of a step."""

import pytest

from vidence.make.gates.checks import leak_in
from vidence.records import Item

ITEM = Item(
    item_id="q",
    question="Why does the ball fall?",
    choices=("It slipped", "It was pushed"),
    answer="B",
    rationale="A tall figure with a hat walks in from the left. Then the ball drops to the floor.",
)
FAIR = ("Look for a cause.", "Something else comes close.", "Mind what happens at the left edge.")


def refused(*hints: str, item: Item = ITEM) -> str:
    found = leak_in(hints, item)
    return "" if found is None else f"{found.reason}: {found.detail}"


def test_hints_that_only_point_pass():
    assert refused(*FAIR) == ""


@pytest.mark.parametrize(
    "hint", ["See whether it was PUSHED.", "Mind that it was pushed", "Think: \u201cit was pushed\u201d"]
)
def test_the_answer_in_a_hint_is_refused(hint):
    assert refused(FAIR[0], hint).startswith("answer: hint 2 holds the answer 'It was pushed'")


@pytest.mark.parametrize(
    ("answer", "hint", "is_told"),
    [
        ("three cups", "Count: 3 cups.", True),
        ("3", "You should find three.", True),
        ("a hat", "Mind the hats.", True),
        ("red", "It is r\u200bed.", True),
        ("red", "It is \uff32\uff25\uff24.", True),
        ("left", "Look at the left-hand side.", True),
        ("no", "There is no need to hurry.", False),
        ("no", "The answer is no.", True),
        ("gas", "Mind the glass.", False),
        ("one", "Someone comes.", False),
    ],
)
def test_the_answer_is_found_in_other_forms(answer, hint, is_told):
    item = Item(item_id="q", question="?", answer=answer, answer_kind="text")
    assert refused(hint, item=item).startswith("answer:") == is_told


@pytest.mark.parametrize(("hint", "is_named"), [
    ("The answer is B.", True), ("Look at choice (B).", True), ("option: B", True),
    ("The answer is A.", False), ("Plan B fails.", False), ("The option before it.", False),
])  # fmt: skip
def test_the_letter_is_refused_where_it_is_named_as_a_choice(hint, is_named):
    assert ("names the letter B" in refused(hint)) == is_named


def test_five_words_in_a_row_of_a_step_are_refused_and_four_are_not():
    assert "hint 1 has 'figure with a hat walks' of the rationale" in refused(
        "Mind: figure with a hat walks."
    )
    assert refused("Is there a hat walks in?") == ""


def test_half_of_the_telling_words_of_a_step_are_refused():
    # The second step tells: then, ball, drops, floor.
    assert refused("The ball matters.") == ""
    assert "has 2 of the 4 telling words of the step 'Then the ball drops to the floor.'" in refused(
        "Mind the floor below the ball."
    )


def test_words_of_two_steps_do_not_add_up():
    assert refused("Mind the ball and the hat.") == ""


def test_a_free_answer_is_looked_for_without_its_article():
    item = Item(
        item_id="q", question="Why?", answer="A push.", answer_kind="text", rationale="Two meet here."
    )
    assert refused("There was a push before.", item=item).startswith("answer:")
    assert refused("Push the question away.", item=item).startswith("answer:")  # whatever it means there
    assert refused("Look who comes close.", item=item) == ""
