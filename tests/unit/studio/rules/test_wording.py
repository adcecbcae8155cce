"""What is written as the fields of a form hold it."""

import pytest

from vidence.studio.rules.wording import seconds


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
