"""What is written as the fields of a form hold it; both texts can be read off what differs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.studio.rules.wording import field_diffs, seconds, word_diff


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("0", 0.0),
        (" 12.5 ", 12.5),
        ("2:03.25", 123.25),
        ("", None),
        ("-1", None),
        ("1e3", None),
        ("nan", None),
        ("1:2:3", None),
        ("\u0661", None),
        ("x:1", None),
        (".5", None),
        ("9" * 400, None),
    ],
)
def test_times_are_numbers_or_minutes_and_seconds(said, found):
    assert seconds(said) == found


@given(st.text(max_size=40), st.text(max_size=40))
def test_both_texts_can_be_read_off(before, after):
    found = list(word_diff(before, after))
    assert "".join(one.text for one in found if one.change != "in") == before
    assert "".join(one.text for one in found if one.change != "out") == after


def test_long_texts_are_shown_whole_and_only_fields_that_differ():
    found = list(word_diff("a " * 3000, "b " * 3000))
    assert [one.change for one in found] == ["out", "in"]
    found = field_diffs(
        {"question": "Who?", "step-0": "a", "answer": "x"}, {"question": "Who?", "answer": "y"}
    )
    assert [(one.name, one.before, one.after) for one in found] == [("step-0", "a", ""), ("answer", "x", "y")]
