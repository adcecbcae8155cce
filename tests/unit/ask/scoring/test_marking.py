"""Right, wrong, refused, cut off; and open answers."""

import pytest

from vidence.ask.scoring import needs_judge, robust
from vidence.errors import UsageError
from vidence.records import Answered, Failed, Item, Refused, Reply, Score, Unreadable

CHOICE = Item(item_id="q1", question="?", choices=("Red", "Blue"), answer="B")
OPEN = Item(item_id="q2", question="?", answer="a cat", answer_kind="text")


@pytest.mark.parametrize(
    ("outcome", "value"),
    [
        (Answered(answer="B"), 1.0),
        (Answered(answer="A"), 0.0),
        (Answered(answer="b"), 0.0),
        (Unreadable(reason="x"), 0.0),
        (Refused(reason="x"), 0.0),
        (Failed(stage="model", error="TransientModelError", message="x"), 0.0),
    ],
)
def test_a_choice_is_right_iff_its_letter_is_the_answer(outcome, value) -> None:
    scorer = robust.create()
    assert scorer.mark(CHOICE, outcome) == Score(
        outcome=outcome, value=value, scorer="robust", scorer_version=scorer.version
    )


@pytest.mark.parametrize("item", [CHOICE, OPEN])
def test_a_refusal_is_no_answer(item) -> None:
    scorer = robust.create() if item is CHOICE else needs_judge.create()
    assert scorer.read(item, Reply(text="B", refusal="I may not")) == Refused(reason="I may not")
    refused = scorer.read(item, Reply(text="B", finish="refusal"))
    assert isinstance(refused, Refused)
    assert "declined" in refused.reason


@pytest.mark.parametrize("item", [CHOICE, OPEN])
def test_a_cut_off_is_mentioned_where_nothing_was_read(item) -> None:
    scorer = robust.create() if item is CHOICE else needs_judge.create()
    cut = scorer.read(item, Reply(text="<think>so long", finish="length"))
    assert isinstance(cut, Unreadable)
    assert cut.reason.endswith("; the reply was cut off at its length limit")
    whole = scorer.read(item, Reply(text="<think>so long"))
    assert isinstance(whole, Unreadable)
    assert "cut off" not in whole.reason


def test_a_cut_off_reply_with_an_answer_is_read() -> None:
    read = robust.create().read(CHOICE, Reply(text="Answer: B", finish="length"))
    assert isinstance(read, Answered)
    assert read.answer == "B"


def test_reasoning_is_never_read_for_answers() -> None:
    assert isinstance(robust.create().read(CHOICE, Reply(text="", reasoning="Answer: B")), Unreadable)
    assert isinstance(needs_judge.create().read(OPEN, Reply(text=" ", reasoning="a cat")), Unreadable)


def test_letters_are_not_looked_for_in_open_answers() -> None:
    with pytest.raises(UsageError, match="'robust' reads letters, but item 'q2' has an open answer"):
        robust.create().read(OPEN, Reply(text="A"))


def test_an_open_answer_waits_for_its_judge() -> None:
    scorer = needs_judge.create()
    outcome = scorer.read(OPEN, Reply(text="<think>hm</think>\n It is a cat. \n"))
    assert outcome == Answered(answer="It is a cat.", rule="whole-reply")
    assert scorer.mark(OPEN, outcome) == Score(
        outcome=outcome, value=None, scorer="needs-judge", scorer_version=1
    )


def test_where_there_is_no_open_answer_there_is_nothing_to_judge() -> None:
    scorer = needs_judge.create()
    assert scorer.mark(OPEN, Unreadable(reason="x")).value == 0.0
    assert scorer.mark(OPEN, Refused(reason="x")).value == 0.0
