"""Values of rows by name, by path, and in words."""

import math

import pytest

from vidence.ask.files import FieldError
from vidence.ask.mapping.columns import as_text, getter, listed, seconds_of, span_of, value_at, words_of

ROW = {"a": 1, "b.c": "dotted", "d": {"e": [{"f": "deep"}]}, "none": None, "n/a": "N/A"}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("a", 1), ("b.c", "dotted"), ("d.e.0.f", "deep"), ("d.e.1.f", None), ("d.x", None), ("a.x", None),
        ("absent", None), ("x{a}y{d.e.0.f}z", "x1ydeepz"), ("x{none}", None), ("none|{absent}|a", 1),
        ("none|absent", None),
    ],
)  # fmt: skip
def test_a_source_finds_its_value(source: str, value: object) -> None:
    assert getter(source)(ROW) == value


def test_texts_that_stand_for_nothing_are_nothing_and_lists_none() -> None:
    assert getter("n/a", absent=("N/A",))(ROW) is None
    assert getter("{n/a}.mp4", absent=("N/A",))(ROW) is None
    assert value_at(ROW, "n/a") == "N/A"
    with pytest.raises(FieldError, match="c: list found; expected a text or a number"):
        as_text([], "c")
    with pytest.raises(FieldError, match="2 replies in one row"):
        words_of(["A", "B"], "resps")
    assert listed({f"c{i}": 0 for i in range(32)} | {"@row": 0}).endswith("c29 and 2 more")


@pytest.mark.parametrize(
    ("value", "text"),
    [("x", "x"), (None, ""), (True, "true"), (7, "7"), (7.0, "7"), (7.5, "7.5"), (math.nan, "")],
)
def test_numbers_are_the_texts_that_they_stand_for(value: object, text: str) -> None:
    assert as_text(value, "c") == text


def test_words_are_taken_out_of_messages() -> None:
    messages = [
        {"role": "user", "content": [{"type": "image", "image": "x"}, {"type": "text", "text": "Hi"}]}
    ]
    assert words_of(messages, "input") == "Hi"
    assert words_of([["B"]], "resps") == "B"
    assert words_of([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "B"}], "c") == "B"
    assert words_of([{"type": "reasoning", "reasoning": "hm"}], "c", kind="reasoning") == "hm"
    assert words_of("B", "c", kind="reasoning") == ""


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("", None), (None, None), (3, 3.0), ("12.5", 12.5), ("00:13:51.966", 831.966), ("2:04", 124.0)],
)
def test_seconds_are_numbers_or_clock_times(value: object, seconds: float | None) -> None:
    assert seconds_of(value, "c") == seconds


@pytest.mark.parametrize(
    "value", ["1:05-1:20", " 1:05 - 1:20", "1:05\N{EN DASH}1:20", "65,80", [65, 80], (65.0, "1:20")]
)
def test_spans_are_written_in_many_ways(value: object) -> None:
    assert span_of(value, "c") == (65.0, 80.0)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("1:05", "'1:05' found; expected a span"), ("1-2-3", "expected a span"), (7, "expected a span"),
        ([1], "expected a span"), ([1, None], "expected a span"), ({"a": 1}, "expected a span"),
        ("8:17-None", "'None' found; expected seconds"), ([[1], 2], "expected a text or a number"),
    ],
)  # fmt: skip
def test_what_is_no_span_is_said(value: object, said: str) -> None:
    with pytest.raises(FieldError, match=said):
        span_of(value, "c")
