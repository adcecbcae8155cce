"""From the fields of a row to a span, or to what is wrong with it."""

import pytest

from vidence.ask.files import FieldError
from vidence.make.sources.logs.rows import Span, span


def test_times_are_seconds_or_clock_times() -> None:
    assert span({"a": "00:01:02.50", "b": "63"}, "a", "b") == Span(start_s=62.5, end_s=63.0)


@pytest.mark.parametrize(
    ("start", "end", "field", "said"),
    [
        ("soon", "2", "a", "'soon' found; expected seconds"),
        ("1", "-2", "b", "'-2' found"),
        ("2", "2", "b", "2 is not after the start, 2"),
    ],
)
def test_what_is_no_span_is_said_of_its_column(start: str, end: str, field: str, said: str) -> None:
    with pytest.raises(FieldError) as caught:
        span({"a": start, "b": end}, "a", "b")
    found = caught.value
    assert (found.field, said in found.reason) == (field, True)
