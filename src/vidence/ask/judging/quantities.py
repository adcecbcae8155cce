r"""Numbers with units in one form: ``1/2`` and ``0.5``, ``3e8`` and ``3*10^8``, ``3 cm`` and ``30 mm``.

A text that is no single quantity has no form here. Values are exact fractions, so that nothing is rounded.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Kind = Literal["plain", "fraction", "percent", "power"]

# Symbols by what they measure, as multiples of its first unit. Case matters: mW is no MW.
_SYMBOLS: dict[str, dict[str, str]] = {
    "length": {"m": "1", "nm": "1e-9", "µm": "1e-6", "mm": "1e-3", "cm": "1e-2", "dm": "1e-1", "km": "1e3"},
    "area": {"m²": "1", "mm²": "1e-6", "cm²": "1e-4", "km²": "1e6"},
    "volume": {"m³": "1", "L": "1e-3", "l": "1e-3", "mL": "1e-6", "ml": "1e-6", "cm³": "1e-6"},
    "mass": {"g": "1", "µg": "1e-6", "mg": "1e-3", "kg": "1e3"},
    "time": {"s": "1", "ns": "1e-9", "µs": "1e-6", "ms": "1e-3", "min": "60", "h": "3600"},
    "frequency": {"Hz": "1", "kHz": "1e3", "MHz": "1e6", "GHz": "1e9"},
    "speed": {"m/s": "1", "cm/s": "1e-2", "km/s": "1e3"},
    "energy": {"J": "1", "kJ": "1e3", "MJ": "1e6"},
    "power": {"W": "1", "mW": "1e-3", "kW": "1e3", "MW": "1e6"},
    "voltage": {"V": "1", "mV": "1e-3", "kV": "1e3"},
    "force": {"N": "1", "mN": "1e-3", "kN": "1e3"},
    "pressure": {"Pa": "1", "hPa": "1e2", "kPa": "1e3", "MPa": "1e6"},
    "energy of a particle": {"eV": "1", "meV": "1e-3", "keV": "1e3", "MeV": "1e6", "GeV": "1e9"},
    "angle": {"°": "1"},
    "Celsius": {"°C": "1"},
    "Fahrenheit": {"°F": "1"},
}
_UNITS = {
    symbol: (what, Fraction(size)) for what, units in _SYMBOLS.items() for symbol, size in units.items()
}
# Names of the symbols, in any case; a plural s is taken off before.
_NAMES_OF = {
    "mm": "millimeter millimetre", "cm": "centimeter centimetre", "m": "meter metre",
    "km": "kilometer kilometre", "nm": "nanometer nanometre", "µm": "micrometer micrometre",
    "mg": "milligram", "g": "gram", "kg": "kilogram",
    "ms": "millisecond", "s": "second sec", "min": "minute min", "h": "hour hr", "Hz": "hertz",
    "kHz": "kilohertz",
    "L": "liter litre", "mL": "milliliter millilitre", "J": "joule", "kJ": "kilojoule", "W": "watt",
    "kW": "kilowatt", "V": "volt", "N": "newton", "Pa": "pascal", "kPa": "kilopascal", "°": "degree deg",
    "°C": "celsius degree_celsius degrees_celsius", "°F": "fahrenheit degree_fahrenheit degrees_fahrenheit",
    "m/s": "meter_per_second metre_per_second meters_per_second metres_per_second",
}  # fmt: skip
_NAMES = {name.replace("_", " "): symbol for symbol, names in _NAMES_OF.items() for name in names.split()}
_SPELLINGS = (
    (re.compile(r"\\\(|\\\)|\\[,;!: ]"), " "),
    (re.compile(r"\\(?:text|mathrm|textrm|mathbf)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\d?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"\1/\2"),
    (re.compile(r"\^\s*\{?\s*\\circ\s*\}?|\\degree"), "°"),
    (re.compile(r"\\times|\\cdot|×|·"), "*"),  # noqa: RUF001 - the sign of multiplication
    (re.compile(r"\\%"), "%"),
    (re.compile("℃|°\\s*C\\b"), "°C"),
    (re.compile("℉|°\\s*F\\b"), "°F"),
    (re.compile("[\u00b5\u03bc](?=[a-zA-Z])"), "µ"),
    (re.compile(r"(?<=m)\^?2\b"), "²"),
    (re.compile(r"(?<=m)\^?3\b"), "³"),
)
_IN_DOLLARS = re.compile(r"\A\$(?P<inside>[^$]+)\$(?P<unit>[^$]*)\Z")
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_QUANTITY = re.compile(
    r"(?P<sign>-?)\s*(?:(?P<over>\d+)\s*/\s*(?P<under>\d+)|10\s*\^\s*\{?\s*(?P<alone>[-+]?\d{1,3})\s*\}?"
    rf"|(?P<number>{_NUMBER})\s*(?:[eE](?P<e>[-+]?\d{{1,3}})|\*\s*10\s*(?:\^\s*\{{?\s*(?P<power>[-+]?\d{{1,3}})\s*\}}?"
    r"|(?P<raised>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})))?)"
    r"\s*(?P<unit>[^\d\s].*)?"
)


@dataclass(frozen=True)
class Quantity:
    """A number and what it measures; `value` is in the first unit of that, `kind` how it was written."""

    value: Fraction
    what: str
    kind: Kind


def quantity_of(text: str) -> Quantity | None:
    """The quantity that a text is; None where it is anything else, or its unit is not in the table.

    >>> quantity_of("3 cm") == quantity_of("30 mm"), quantity_of("3 apples")
    (True, None)
    """
    found = _QUANTITY.fullmatch(_spelt(text))
    if found is None or (found["under"] is not None and not int(found["under"])):
        return None
    unit = _unit_of(found["unit"] or "")
    if unit is None:
        return None
    what, size = unit
    value, kind = _number(found)
    if what == "percent":
        return Quantity(value / 100, "", "percent") if kind == "plain" else None
    return Quantity(-value * size if found["sign"] else value * size, what, kind)


def is_same_quantity(one: str, other: str) -> bool:
    """Whether two texts are surely the same quantity.

    Two fractions with other terms (*6/8* and *3/4* may be measures of music), and a fraction or a percentage
    beside a whole number, are left open.

    >>> is_same_quantity("1/2", "0.5"), is_same_quantity("6/8", "3/4"), is_same_quantity("100 %", "1")
    (True, False, False)
    """
    a, b = quantity_of(one), quantity_of(other)
    if a is None or b is None or (a.value, a.what) != (b.value, b.what):
        return False
    kinds = {a.kind, b.kind}
    if kinds & {"fraction", "percent"}:
        return len(kinds) > 1 and a.value.denominator > 1
    return True


def _spelt(text: str) -> str:
    text = text.strip().removesuffix(".").strip()
    wrapped = _IN_DOLLARS.match(text)
    text = wrapped["inside"] + wrapped["unit"] if wrapped else text
    for pattern, spelling in _SPELLINGS:
        text = pattern.sub(spelling, text)
    return text.replace("\u2212", "-").replace("\u00a0", " ").strip()


def _unit_of(text: str) -> tuple[str, Fraction] | None:
    text = " ".join(text.split())
    if not text:
        return "", Fraction(1)
    if text in {"%", "percent", "per cent"}:
        return "percent", Fraction(1)
    name = text.casefold()
    return _UNITS.get(_NAMES.get(name) or _NAMES.get(name.removesuffix("s")) or text)


def _number(found: re.Match[str]) -> tuple[Fraction, Kind]:
    if found["over"] is not None:
        return Fraction(int(found["over"]), int(found["under"])), "fraction"
    if found["alone"] is not None:
        return Fraction(10) ** int(found["alone"]), "power"
    value = Fraction(found["number"].replace(",", ""))
    raised = found["raised"].translate(_RAISED) if found["raised"] else None
    exponent = found["e"] or found["power"] or raised
    return (value * Fraction(10) ** int(exponent), "power") if exponent else (value, "plain")
