"""Short answers that are the same."""

import pytest

from vidence.ask.scoring.same_text import create
from vidence.records import Item, Reply


@pytest.mark.parametrize(
    ("reply", "answer", "is_right"),
    [
        ("The answer is: **a red car**.", "Red car", True),
        ("1,200", "1200.0", True),
        ("50%", "50 %", False),
        ("blue", "red", False),
        ("not a red car", "red car", False),
        ("final answer: 3.0", "3", True),
        ("Ümlaut", "ümlaut", True),
    ],
)
def test_case_marks_articles_and_spelling_of_numbers_do_not_count(reply, answer, is_right):
    item = Item(item_id="q", question="Which?", answer=answer, answer_kind="text")
    scorer = create()
    assert scorer.mark(item, scorer.read(item, Reply(text=reply))).value == float(is_right)
