"""Rows of results as replies, and the scores of other tools."""

import pytest

from vidence.ask.mapping.mapping import ReplyColumns
from vidence.ask.mapping.replies import Recorded, recorded, score_of


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (True, 1.0), (0, 0.0), (0.5, 0.5), (7, None), ("C", 1.0), ("I", 0.0), ("false", 0.0), ({}, None),
        ("words", None), (None, None), ({"pred_answer": "B", "answer": "B"}, 1.0), ({"rating": 0}, 0.0),
        ({"pred": 1, "ground_truth": "1"}, 1.0), ({"choice": {"value": "I", "answer": "A"}}, 0.0),
        # As lmms-eval writes MVBench and Video-MME: the whole reply beside the letter that is right.
        ({"pred_answer": "(B) milk", "gt_answer": "B", "score": 1}, 1.0),
        ({"question_id": "1-1", "duration": "short", "pred_answer": "C", "answer": "B", "score": 0.0}, 0.0),
        ({"pred_answer": "B", "answer": "B", "score": -1}, 1.0),
    ],
)  # fmt: skip
def test_the_score_of_another_tool_is_a_number(value: object, score: float | None) -> None:
    assert score_of(value) == score


def test_a_reply_is_taken_out_of_a_row() -> None:
    columns = ReplyColumns(text="r", finish="f", model="m", prompt="p", correct="c")
    row = {
        "r": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "B"}],
        "f": "stop",
        "m": "tiny",
    }
    assert recorded(row | {"p": "Where?", "c": 1}, columns, item_id="q", sample=2) == Recorded(
        item_id="q",
        sample=2,
        text="B",
        reasoning="hm",
        finish="stop",
        model="tiny",
        prompt="Where?",
        correct=1.0,
    )
    assert recorded({"r": None}, columns, item_id="q", sample=0) is None
