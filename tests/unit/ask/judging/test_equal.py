"""The rule that calls two open answers the same."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.ask.judging.equal import Quantity, is_same_quantity, quantity_of, says_the_same

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", Quantity(Fraction(12), "", "plain")), ("$12$", Quantity(Fraction(12), "", "plain")),
        ("1,234.5", Quantity(Fraction(2469, 2), "", "plain")),
        ("1/2", Quantity(Fraction(1, 2), "", "fraction")),
        ("50 %", Quantity(Fraction(1, 2), "", "percent")),
        ("3e8", Quantity(Fraction(300_000_000), "", "power")),
        ("3*10^-2", Quantity(Fraction(3, 100), "", "power")),
        ("10^{3}", Quantity(Fraction(1000), "", "power")),
        ("3 cm", Quantity(Fraction(3, 100), "length", "plain")),
        ("90 minutes", Quantity(Fraction(5400), "time", "plain")),
        ("-5 °C", Quantity(Fraction(-5), "Celsius", "plain")), ("+5", None), ("3,5", None), ("1/0", None),
        ("3 apples", None), ("", None), ("$5", None),
    ],
)  # fmt: skip
def test_a_quantity_has_one_form(text: str, expected: Quantity | None) -> None:
    assert quantity_of(text) == expected


@given(st.integers(1, 10**6), st.sampled_from([("cm", "mm", 10), ("kg", "g", 1000), ("h", "min", 60)]))
def test_units_of_one_kind_are_converted(number: int, units: tuple[str, str, int]) -> None:
    large, small, times = units
    assert is_same_quantity(f"{number} {large}", f"{number * times} {small}")
    assert not is_same_quantity(f"{number} {large}", f"{number} {small}")
