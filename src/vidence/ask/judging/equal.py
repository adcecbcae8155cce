"""Whether an open answer says the same as the right one, where a rule can be sure of it.

The rule only ever finds answers right; whatever it does not find equal is for a judge. So it leaves alone
what may carry meaning: signs, brackets, the case of short words and formulas (*Co* and *CO*).
"""

import re
import unicodedata
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


_LIKE_ASCII = {
    **dict.fromkeys((0x2018, 0x2019, 0x02BC), "'"),
    **dict.fromkeys((0x201C, 0x201D), '"'),
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212), "-"),
    **dict.fromkeys((0x00A0, 0x2009, 0x202F), " "),
}
# "Answer: X", "Therefore, the final answer is: Answer: X": a line of its own, or behind a sentence.
_MARKED = re.compile(
    r"(?:\A\W*|(?<=[.!?:;])\s+|\b(?=therefore\b|so\b|thus\b|hence\b))"
    r"(?:therefore,?\s+|so,?\s+|thus,?\s+|hence,?\s+)?(?:the\s+|my\s+)?(?:final\s+|correct\s+)?answer"
    r"(?:\s+is\s*:?|\s*:)\s*(?:[\"']?answer\s*:)?(?P<said>.*)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"\.\s+(?=[A-Z])")
# Words that may take back or widen what stands before them.
_TURNS = re.compile(
    r"\b(?:no|not|wait|actually|however|but|or|instead|rather|unless|correction)\b|n't\b", re.IGNORECASE
)
# A longer text is never called the same as anything.
_MOST_CHARS = 1_000
_WRAPPED = re.compile(r"(\*\*|[\"'`*])(?P<said>(?:(?!\1).)+)\1", re.DOTALL)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_JOINING_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_TOKEN = re.compile(r"(?P<number>\d+(?:\.\d+)?)|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)*)|[^\s,]")

_UP_TO_TWENTY = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_NUMBERS = {word: str(number) for number, word in enumerate(_UP_TO_TWENTY)}
# Names of units as their symbols; only behind a number.
_UNIT_NAMES: dict[str, tuple[str, ...]] = {
    "%": ("percent",),
    "mm": ("millimeter", "millimetre", "millimeters", "millimetres"),
    "cm": ("centimeter", "centimetre", "centimeters", "centimetres"),
    "m": ("meter", "metre", "meters", "metres"),
    "km": ("kilometer", "kilometre", "kilometers", "kilometres"),
    "mg": ("milligram", "milligrams"),
    "g": ("gram", "grams"),
    "kg": ("kilogram", "kilograms"),
    "ms": ("millisecond", "milliseconds"),
    "s": ("second", "seconds", "sec", "secs"),
    "min": ("minute", "minutes", "mins"),
    "h": ("hour", "hours", "hr", "hrs"),
    "Hz": ("hertz",),
    "°": ("degree", "degrees"),
}
_SYMBOL_OF = {name: symbol for symbol, names in _UNIT_NAMES.items() for name in names}
# Short words whose case means nothing; of others with one or two letters it may, as in Mg and mg.
_SMALL_WORDS = frozenset({"a", "an", "no", "up", "on", "of", "to", "at", "by", "it", "is", "or", "we"})
_ARTICLES = ("a", "an", "the")
_LONG_WORD = 3


def _without_wrapping(text: str) -> str:
    text = text.strip().removesuffix(".").strip()
    wrapped = _WRAPPED.fullmatch(text)
    return wrapped["said"].strip().removesuffix(".") if wrapped else text


def _word(word: str, before: str) -> str:
    folded = word.casefold()
    if before[:1].isdigit() and folded in _SYMBOL_OF:
        return _SYMBOL_OF[folded]
    if folded in _NUMBERS:
        return _NUMBERS[folded]
    is_plain = word.islower() or word.isupper() or word.istitle()
    return folded if folded in _SMALL_WORDS or (len(word) >= _LONG_WORD and is_plain) else word


def _tokens(text: str) -> list[str]:
    """Numbers, words and signs of a text in one spelling; commas are left out."""
    text = unicodedata.normalize("NFC", text).translate(_LIKE_ASCII)
    text = _THOUSANDS.sub(lambda m: m[0].replace(",", ""), _without_wrapping(text))
    tokens: list[str] = []
    for match in _TOKEN.finditer(_JOINING_HYPHEN.sub(" ", text)):
        if match["number"]:
            whole, _, rest = match["number"].partition(".")
            rest = rest.rstrip("0")
            tokens.append(f"{whole}.{rest}" if rest else whole)
        elif match["word"]:
            tokens.append(_word(match["word"], tokens[-1] if tokens else ""))
        else:
            tokens.append(match[0])
    return tokens


def _without_articles(tokens: list[str]) -> list[str]:
    """Without *the*, and without *a* or *an* at the beginning."""
    if len(tokens) > 1 and tokens[0] in _ARTICLES:
        tokens = tokens[1:]
    return [word for word in tokens if word != "the"]


def _is_equal(said: str, answer: str) -> bool:
    if max(len(said), len(answer)) > _MOST_CHARS:
        return False
    if is_same_quantity(_without_wrapping(said), _without_wrapping(answer)):
        return True
    ours, theirs = _tokens(answer), _tokens(said)
    if not any(token[0].isalnum() for token in theirs):
        return False
    # A capital A at the beginning of the right answer may be a name, as in "A major".
    kept = ours if answer.lstrip().startswith("A ") else _without_articles(ours)
    return theirs == ours or (bool(kept) and _without_articles(theirs) == kept)


def says_the_same(said: str, answer: str) -> bool:
    """Whether a reply, or the one line of it that is marked as the answer, equals the right answer.

    Equal are texts that differ in nothing but case, space, articles, a full stop, quotation marks or
    emphasis around them, commas, hyphens between words, number words up to twenty, thousands separators,
    zeros behind the decimal point, and names of common units behind a number; and quantities of the same
    value (`is_same_quantity`). The marked answer may stand behind a sentence, and sentences that take nothing
    back may follow it. An empty text equals nothing.

    Args:
        said: the words of a reply, without reasoning in tags.
        answer: the right answer.

    Note: the rule of lmms-eval for MMVU finds the empty text right on every open question;
        this one on none.

    >>> says_the_same("Therefore, the final answer is: Answer: Three metres.", "3 m")
    True
    >>> says_the_same("CO", "Co"), says_the_same("-5", "5"), says_the_same("", "")
    (False, False, False)
    """
    lines = [line for line in said.split("\n") if line.strip()]
    marked = [match for line in lines for match in _MARKED.finditer(line)]
    answers = [said.strip()]
    if len(marked) == 1 and marked[0].string == lines[-1]:
        answers.append(marked[0]["said"])
        first, *more = _SENTENCE_END.split(marked[0]["said"], maxsplit=1)
        if more and not (_TURNS.search(more[0]) or _MARKED.search(more[0])):
            answers.append(first)
    return any(_is_equal(one, answer) for one in answers)
