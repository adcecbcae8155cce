"""The most likely letter of stored log-probabilities."""

import math

import pytest

from vidence.ask.scoring import logp
from vidence.errors import UsageError
from vidence.records import Answered, Item, Refused, Reply, Unreadable

ITEM = Item(item_id="q1", question="?", choices=("red", "blue", "green"), answer="B")


def read(logps: dict[str, float] | None, text: str = "A"):
    return logp.create().read(ITEM, Reply(text=text, choice_logps=logps))


def test_the_most_likely_letter_is_read_whatever_the_words_say() -> None:
    assert read({"A": -2.0, "B": -0.2, "C": -4.0}) == Answered(answer="B", rule="choice-logps/first-token")
    assert read({"C": -3.0}, text="B") == Answered(answer="C", rule="choice-logps/first-token")


@pytest.mark.parametrize(
    ("logps", "part"),
    [
        (None, "--choice-logps"),
        ({}, "none of the choice letters"),
        ({"D": -0.1}, "none of the choice letters"),
        ({"A": -math.inf}, "none of the choice letters"),
        ({"A": math.nan}, "none of the choice letters"),
        ({"A": -1.0, "B": -1.0}, "A, B are equally likely"),
    ],
)
def test_a_reason_says_why_there_is_no_letter(logps, part: str) -> None:
    outcome = read(logps)
    assert isinstance(outcome, Unreadable)
    assert part in outcome.reason


def test_probabilities_are_over_the_reported_letters() -> None:
    likely = logp.letter_probabilities({"A": math.log(0.6), "B": math.log(0.2)}, ITEM.letters)
    assert likely == pytest.approx({"A": 0.75, "B": 0.25})
    assert logp.letter_probabilities({"A": -2000.0}, ITEM.letters) == {"A": 1.0}
    assert logp.letter_probabilities(None, ITEM.letters) == {}


def test_refusals_and_open_answers_are_as_with_other_parsers() -> None:
    scorer = logp.create()
    assert isinstance(scorer.read(ITEM, Reply(text="", refusal="no", choice_logps={"A": -1.0})), Refused)
    opened = Item(item_id="q2", question="?", answer="a cat", answer_kind="text")
    with pytest.raises(UsageError, match="'logp' reads letters"):
        scorer.read(opened, Reply(text="A"))
    scorer = logp.create()
    assert scorer.mark(ITEM, scorer.read(ITEM, Reply(text="A", choice_logps={"B": -1.0}))).value == 1.0
    assert not scorer.reads_letters
    assert "reads log-probabilities and no words" in logp.create().read_text(ITEM, "A").reason
