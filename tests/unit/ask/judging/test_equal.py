"""The rule that calls two open answers the same."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.ask.judging.equal import says_the_same

GOLDEN = Path(__file__).parents[3] / "golden" / "judges" / "equal.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['said']!r} for {case['answer']!r}")
def test_only_what_is_surely_the_same_is_called_so(case):
    assert says_the_same(case["said"], case["answer"]) is case["is_same"]


@given(st.text())
def test_nothing_is_never_an_answer(answer):
    assert not says_the_same("", answer)
    assert not says_the_same(" \n.", answer)


@given(st.from_regex(r"[A-Za-z0-9]{1,12}( [A-Za-z0-9]{1,12}){0,4}", fullmatch=True))
def test_an_answer_is_the_same_as_itself(answer):
    assert says_the_same(answer, answer)
    assert says_the_same(f"Therefore, the final answer is: {answer}.", answer)
