"""The rule that calls two open answers the same."""
# ruff: noqa: RUF001 - signs that look like others are what is tried

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


SAME = [
    ("\\boxed{12}", "12"),
    ("$\\boxed{12}$", "12"),
    ("The answer is \\boxed{12}.", "12"),
    ("So we get\n\\boxed{\\text{a cat}}", "a cat"),
    ("9.8 m/s²", "9.8 m/s^2"),
    ("9.8 meters per second squared", "9.8 m/s²"),
    ("9.8\\ \\text{m/s}^2", "9.8 m/s^2"),
    ("9.8 m s⁻²", "9.8 m/s²"),
    ("9.8\\,\\mathrm{m\\,s^{-2}}", "9.8 m/s²"),
    ("9.8 m·s⁻²", "9.8 m/s²"),
    ("9.8 m/s2", "9.8 m/s²"),
    ("H₂O", "H2O"),
    ("\\text{H}_2\\text{O}", "H2O"),
    ("$\\mathrm{CO_2}$", "CO2"),
    ("$H_2O$", "H2O"),
    ("\\ce{H2SO4}", "H₂SO₄"),
    ("x²", "x^2"),
    ("x^{2}", "x²"),
    ("\\sqrt{2}", "√2"),
    ("sqrt(2)", "√2"),
    ("2\\pi", "2π"),
    ("\\frac{1}{2}", "0.5"),
    ("½", "1/2"),
    ("\\dfrac{3}{4}", "3/4"),
    ("5 Ω", "5 ohms"),
    ("10 kΩ", "10\\,k\\Omega"),
    ("2 A", "2 amperes"),
    ("36 km/h", "10 m/s"),
    ("36 kilometers per hour", "36 km/h"),
    ("3 square meters", "3 m²"),
    ("3 m^2", "3 m²"),
    ("20 cm³", "20 mL"),
    ("300 K", "300 kelvin"),
    ("**Answer:** 12", "12"),
    ("**Answer**: 12 N", "12 N"),
    ("**12**", "12"),
    ("$12\\%$", "12%"),
    ("１２", "12"),
    ("10⁻³ m", "1 mm"),
    ("3×10^{8} m/s", "3e8 m/s"),
    ("3 × 10⁸ m/s", "3*10^8 m/s"),
    ("Ca²⁺", "\\text{Ca}^{2+}"),
    ("\\alpha-helix", "α-helix"),
    ("45^\\circ", "45 degrees"),
    ("25 degrees Celsius", "25 °C"),
    ("25℃", "25°C"),
    ("1 g/cm³", "1000 kg/m³"),
    ("$\\frac{1}{2}mv^2$", "1/2mv²"),
    ("**x^2**", "x²"),
    ("5 newtons", "5 N"),
    ("kg·m/s", "kg*m/s"),
    ("1,000 W", "1 kW"),
]
OTHER = [
    ("x2", "x²"),
    ("x**2", "x2"),
    ("$5", "5"),
    ("10 mW", "10 MW"),
    ("CO", "Co"),
    ("Ca2+", "Ca+2"),
    ("31/2", "3½"),
    ("5 m/s", "5 m/s²"),
    ("5 N·m", "5 J"),
    ("12", "-12"),
    ("\\boxed{12} or 13", "12"),
    ("\\boxed{12} \\boxed{13}", "12"),
    ("not \\boxed{12}? I think 13", "12"),
    ("5 J/mol K", "5 J/mol/K"),
    ("v_max", "vmax"),
    ("file_2", "file2"),
    ("5 m s", "5 m/s"),
    ("5 Hz", "5 /s"),
    ("10^2", "102"),
    ("10²", "102"),
    ("2^3", "23"),
    ("1 2", "12"),
    ("a/b", "ab"),
    ("\\frac{a}{b}", "ab"),
    ("(a)/(b)", "a/b"),
    ("5 °C", "5 °F"),
    ("5 m²", "5 m³"),
    ("5 K", "5 °C"),
    ("$5 and $6", "5 and 6"),
    ("3½", "3 1/3"),
    ("1/2", "2"),
    ("√2", "2"),
    ("x^2", "x^3"),
    ("5 mol", "5 m ol"),
    ("5 s-1", "5 s"),
]


@pytest.mark.parametrize(
    ("said", "answer", "is_same"), [*((*c, True) for c in SAME), *((*c, False) for c in OTHER)]
)
def test_marks_of_latex_lines_of_digits_and_units_have_one_form(said, answer, is_same):
    assert says_the_same(said, answer) is is_same


DECORATED = ("{}", "\\boxed{{{}}}", "The answer is ${}$.", "**Answer:** {}", "\\(\\text{{{}}}\\)")
UNITS = (("m/s²", "m/s^2"), ("kg", "kilograms"), ("Ω", "ohm"), ("km/h", "kilometers per hour"), ("", ""))


@given(
    st.integers(-50, 50),
    st.integers(-50, 50),
    st.sampled_from(DECORATED),
    st.sampled_from(UNITS),
    st.sampled_from(UNITS),
)
def test_a_decorated_quantity_is_right_exactly_where_number_and_unit_are(said, right, words, own, unit):
    """No decoration makes another number, sign or unit right."""
    answer = f"{right} {unit[0]}".strip()
    reply = words.format(f"{said} {own[1]}".strip())
    assert says_the_same(reply, answer) is (said == right and own == unit)


FORMULAS = st.lists(
    st.tuples(st.sampled_from(["H", "O", "C", "Co", "N", "Na"]), st.integers(1, 12)), min_size=2, max_size=4
)


@given(FORMULAS, FORMULAS)
def test_a_formula_is_right_exactly_where_its_letters_and_numbers_are(said, right):
    def written(formula, form):
        return "".join(name + (form(n) if n > 1 else "") for name, n in formula)

    low = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    latex = "$\\mathrm{" + written(said, lambda n: f"_{{{n}}}") + "}$"
    answer = written(right, lambda n: str(n).translate(low))
    is_same = written(said, str) == written(right, str)
    assert says_the_same(latex, answer) is says_the_same(written(said, str), answer) is is_same


@given(st.integers(2, 99), st.integers(2, 99), st.sampled_from("xn7"))
def test_a_power_is_no_product_and_no_digit_behind(power, other, base):
    up = str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    assert says_the_same(f"{base}^{{{power}}}", f"{base}{up}")
    assert not says_the_same(f"{base}{power}", f"{base}{up}")
    assert says_the_same(f"{base}^{other}", f"{base}{up}") is (power == other)
