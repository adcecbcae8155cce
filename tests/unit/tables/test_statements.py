"""The numbers of diagnostics in words."""

import math

import pytest

from vidence.records import Estimate
from vidence.tables.findings import Entry, Heading, Sheet, Value
from vidence.tables.statements import cell_of, table_of

PLAIN, SHARE = Heading(key="x", title="x"), Heading(key="x", title="x", is_share=True)
P = Heading(key="p", title="p", is_p=True)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0000999, "< 0.001"), (0.001, "0.001"), (0.0421, "0.042"), (0.4567, "0.46"), (1.0, "1.00")],
)
def test_small_p_values_are_never_printed_as_nothing(value: float, text: str) -> None:
    assert cell_of(value, P).text == text
    assert cell_of(value, P).value == value  # files get it in full


def test_a_p_value_that_does_not_apply_is_a_dash() -> None:
    assert cell_of(math.nan, P).text == cell_of(None, P).text
    assert cell_of(math.nan, P).value is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (0.0004, "0.0004"),
        (-0.0004, "-0.0004"),
        (0.005, "0.01"),
        (2.345, "2.35"),
        (12345.6, "12,346"),
    ],
)
def test_numbers_have_two_digits_where_they_say_something(value: float, text: str) -> None:
    assert cell_of(value, PLAIN).text == text


def test_ends_of_an_interval_are_printed_like_its_value() -> None:
    estimate = Estimate(value=0.001, low=-0.0002, high=2.0, level=0.95, n=9, n_clusters=9, method="t")
    cell = cell_of(estimate, PLAIN)
    assert (cell.text, cell.detail) == ("0.001", "-0.0002 to 2.00")


def test_values_keep_their_kind() -> None:
    values: tuple[Value, ...] = (0.123, 1234, "words", None)
    headings = (SHARE, PLAIN, PLAIN, PLAIN)
    keyed = tuple(Heading(key=str(i), title=h.title, is_share=h.is_share) for i, h in enumerate(headings))
    sheet = Sheet(
        name="s", title="S", label="l", headings=keyed, entries=(Entry(key="a", label="A", values=values),)
    )
    (line,) = table_of(sheet).lines
    assert [cell.text for cell in line.cells[:4]] == ["A", "12.3", "1,234", "words"]
