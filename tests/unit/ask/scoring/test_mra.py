"""Numbers by how near they are."""

import pytest

from vidence.ask.scoring.mra import create, mean_relative_accuracy
from vidence.records import Answered, Item, Reply

ITEM = Item(item_id="q", question="How large?", answer="4", answer_kind="text")


@pytest.mark.parametrize(
    ("value", "truth", "score"),
    [(4, 4, 1.0), (3, 4, 0.6), (5, 4, 0.6), (6, 4, 0.1), (2, 4, 0.1), (1.9, 4, 0.0), (4.2, 4, 1.0),
     (0, 0, 1.0), (1, 0, 0.0)],
)  # fmt: skip
def test_the_mean_is_over_ten_limits(value, truth, score):
    limits = [0.5 + 0.05 * step for step in range(10)]
    if truth:
        expected = sum(abs(value - truth) / truth <= 1 - limit + 1e-9 for limit in limits) / 10
        assert score == pytest.approx(expected)
    assert mean_relative_accuracy(value, truth) == pytest.approx(score)


@pytest.mark.parametrize(
    ("text", "answer"),
    [("4", "4"), ("4.", "4"), ("about 3.5 metres", "3.5"), ("1,200 cm", "1200"), ("4 of the 6 chairs", "4"),
     ("<think>7?</think>5", "5"), ("four", None), ("between 3 and 5", None), ("chair2", None), ("", None)],
)  # fmt: skip
def test_the_only_number_is_read_or_the_first(text, answer):
    outcome = create().read(ITEM, Reply(text=text))
    assert (outcome.answer if isinstance(outcome, Answered) else None) == answer


def test_the_mark_is_between_nothing_and_all():
    scorer = create()
    assert scorer.mark(ITEM, Answered(answer="3", rule="number")).value == pytest.approx(0.6)
    words = Item(item_id="q", question="How large?", answer="large", answer_kind="text")
    assert scorer.mark(words, Answered(answer="3", rule="number")).value is None
