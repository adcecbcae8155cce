"""What forms send as numbers, and what scripts are answered."""

import json

import pytest


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0), (" 41 ", 41), ("999999999", 999_999_999), ("1000000000", None), ("", None), ("-1", None),
     ("1.5", None), ("٤", None), ("²", None), ("9" * 5000, None)],
)  # fmt: skip
def test_only_whole_numbers_of_a_usual_length_are_read(team, text, expected):
    from vidence.studio.pages.answers import whole_number

    assert whole_number(text) == expected


def test_scripts_are_answered_in_json(team):
    from vidence.studio.pages.answers import as_json

    answer = as_json({"version": 3}, 409)
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/json")
    assert json.loads(answer.content) == {"version": 3}
