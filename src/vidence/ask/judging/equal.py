"""Decide whether an open answer equals the right one, if a rule can be certain.

The rule only ever finds answers right; everything else is left to a judge. It therefore does not ignore what
may carry meaning: signs, brackets, the case of short words and formulas (*Co* and *CO*).
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

from vidence.installation import packaged
from vidence.records import Record

Kind = Literal["plain", "fraction", "percent", "power"]

_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_LOWERED = str.maketrans("₊₋₀₁₂₃₄₅₆₇₈₉", "+-0123456789")
_ARGUMENT = r"\s*\{([^{}]*)\}"
# Marks around words, from the inside out: as often as they are nested.
_NESTED = (
    (
        re.compile(r"\\(?:text|mathrm|textrm|textbf|mathbf|mathit|operatorname|boxed|fbox|ce)" + _ARGUMENT),
        r"\1",
    ),
    (re.compile(r"\\[dt]?frac\s*\{(-?\w+)\}\s*\{(\w+)\}"), r"\1/\2"),
    (re.compile(r"\\[dt]?frac" + _ARGUMENT * 2), r"(\1)/(\2)"),
    (re.compile(r"\\sqrt" + _ARGUMENT), r"√(\1)"),
    (re.compile(r"\^\s*\{\s*([-+]?\w+[-+]?)\s*\}"), r"^\1"),
    (re.compile(r"_\s*\{\s*(\d+)\s*\}"), r"\1"),
    (re.compile(r"(?<![A-Za-z]{3})_\s*(\d+)"), r"\1"),  # not in a name, such as frame_2
)
_SPELLINGS = (
    # Dollars around a formula, no prices: nothing but words touches them from the inside.
    (re.compile(r"\$(?!\s)([^$]*[^$\s])\$(?!\d)"), r"\1"),
    (re.compile(r"\\\(|\\\)|\\\[|\\\]|\\[,;!: ]|\\(?:left|right)(?![a-z])"), " "),
    (re.compile(r"\^\s*\{?\s*\\circ\s*\}?|\\degree"), "°"),
    (re.compile(r"\\times|\\cdot|[×·⋅∙]"), "*"),  # noqa: RUF001 - signs of multiplication
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\bsqrt\s*\("), "√("),
    (re.compile(r"√\s*(\d+(?:\.\d+)?|[A-Za-z])(?![\w.])"), r"√(\1)"),
    (re.compile(r"°\s*C\b|\b(?:degrees?\s+)?celsius\b|\bdegrees?\s+C\b", re.IGNORECASE), "°C"),
    (re.compile(r"°\s*F\b|\b(?:degrees?\s+)?fahrenheit\b|\bdegrees?\s+F\b", re.IGNORECASE), "°F"),
)
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_POWER = r"\^\s*(?P<{}>[-+]?\d{{1,3}})"
_QUANTITY = re.compile(
    rf"(?P<sign>-?)\s*(?:(?P<over>\d+)\s*/\s*(?P<under>\d+)|10\s*{_POWER.format('alone')}"
    rf"|(?P<number>{_NUMBER})\s*(?:[eE](?P<e>[-+]?\d{{1,3}})|\*\s*10\s*(?:{_POWER.format('power')})?)?)"
    r"\s*(?P<unit>[^\d\s].*)?"
)
_FACTOR = re.compile(
    r"(?P<before>square\s+|cubic\s+)?(?P<name>[^\W\d_]+|°[CF]?|%)"
    r"(?:\s*\^\s*(?P<power>[-+]?[1-9])|(?P<digit>-?[1-4])(?!\d)|\s+(?P<behind>squared|cubed))?"
)
_JOINT = re.compile(r"\s*(/|\bper\b|\*|\s|\Z)\s*")
_MACRO = re.compile(r"\\([A-Za-z]+)")
_POWERS = {"square": 2, "squared": 2, "cubic": 3, "cubed": 3}


def _greek(macro: re.Match[str]) -> str:
    """Return the letter of a LaTeX macro; other macros are unchanged."""
    size, name = "CAPITAL" if macro[1].istitle() else "SMALL", macro[1].replace("lambda", "lamda")
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name}")
    except KeyError:
        return macro[0]


def normal_form(text: str) -> str:
    """Return a text without LaTeX markup and with uniform signs; everything meaningful is kept.

    Subscript digits become plain (*H₂O* is *H2O*), superscripts stay distinct (*x²* is *x^2*, not *x2*).
    """
    text = re.sub(r"[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda result: f"^{result[0].translate(_RAISED)}", text)
    text = re.sub(r"(?<=\d)(?=[¼½¾⅓⅔])", " ", text.translate(_LOWERED))
    text = _MACRO.sub(_greek, text)
    text = unicodedata.normalize("NFKC", text).replace("\u2044", "/").replace("\u2212", "-")
    for pattern, spelling in _SPELLINGS:
        text = pattern.sub(spelling, text)
    before = ""
    while before != text:
        before = text
        for pattern, spelling in _NESTED:
            text = pattern.sub(spelling, text)
    return text.strip()


class _Tables(Record):
    """``units.toml``: symbols by quantity, and the names of symbols."""

    symbols: dict[str, dict[str, str]]
    names: dict[str, str]


@cache
def _tables() -> _Tables:
    return packaged("vidence.ask.judging", "units.toml", _Tables)


@cache
def _units() -> Mapping[str, tuple[str, Fraction]]:
    """Return the quantity of each symbol, and its factor to the base unit."""
    items = _tables().symbols.items()
    return {symbol: (what, Fraction(size)) for what, units in items for symbol, size in units.items()}


@cache
def _symbols() -> Mapping[str, str]:
    return {name: symbol for symbol, names in _tables().names.items() for name in names.split()}


def _symbol_named(name: str) -> str | None:
    """Return the symbol of a unit's name, singular or plural."""
    return _symbols().get(name) or _symbols().get(name.removesuffix("s"))


@dataclass(frozen=True)
class Quantity:
    """A number and its dimension; `value` is in the base unit, `kind` is how it was written."""

    value: Fraction
    what: str
    kind: Kind


def quantity_of(text: str) -> Quantity | None:
    """The quantity that a text is; None if it is anything else, or its unit is not in the table.

    >>> quantity_of("3 cm") == quantity_of("30 mm"), quantity_of("3 apples")
    (True, None)
    """
    match = _QUANTITY.fullmatch(normal_form(text.strip().removesuffix(".")))
    if match is None or (match["under"] is not None and not int(match["under"])):
        return None
    unit = _unit_of(match["unit"] or "")
    if unit is None:
        return None
    what, size = unit
    value, kind = _number(match)
    if what == "percent":
        return Quantity(value / 100, "", "percent") if kind == "plain" else None
    return Quantity(-value * size if match["sign"] else value * size, what, kind)


def is_same_quantity(name: str, other: str) -> bool:
    """Whether two texts are certainly the same quantity.

    Two fractions with other terms (*6/8* and *3/4* may be measures of music), and a fraction or a percentage
    beside a whole number, are left open.

    >>> is_same_quantity("1/2", "0.5"), is_same_quantity("6/8", "3/4"), is_same_quantity("100 %", "1")
    (True, False, False)
    """
    a, b = quantity_of(name), quantity_of(other)
    if a is None or b is None or (a.value, a.what) != (b.value, b.what):
        return False
    kinds = {a.kind, b.kind}
    if kinds & {"fraction", "percent"}:
        return len(kinds) > 1 and a.value.denominator > 1
    return True


def _unit_of(text: str) -> tuple[str, Fraction] | None:
    """Return a unit's dimension and size: symbols or names with powers, multiplied or divided.

    None for an unknown symbol, or an ambiguous denominator (*J/mol K*).
    """
    text = re.sub(r"\bper cent\b", "percent", " ".join(text.split()))
    if text in {"%", "percent"}:
        return "percent", Fraction(1)
    powers: dict[str, int] = {}
    size, sign, end = Fraction(1), 1, 0
    while end < len(text):
        match = _FACTOR.match(text, end)
        if match is None:
            return None
        unit = _units().get(_symbol_named(match["name"].casefold()) or match["name"])
        if unit is None:
            return None
        power = sign * (
            int(match["power"] or match["digit"] or 0)
            or _POWERS.get((match["before"] or match["behind"] or "").strip(), 1)
        )
        what, _, own = unit[0].partition("^")
        powers[what] = powers.get(what, 0) + power * int(own or 1)
        size *= unit[1] ** power
        joint = _JOINT.match(text, match.end())
        if joint is None or (joint[1] and joint.end() == len(text)) or (sign < 0 and joint[1] in {"*", " "}):
            return None
        sign, end = (-1 if joint[1] in {"/", "per"} else 1), joint.end()
    named = ((what, power) for what, power in sorted(powers.items()) if power)
    return " ".join(what if power == 1 else f"{what}^{power}" for what, power in named), size


def _number(match: re.Match[str]) -> tuple[Fraction, Kind]:
    if match["over"] is not None:
        return Fraction(int(match["over"]), int(match["under"])), "fraction"
    if match["alone"] is not None:
        return Fraction(10) ** int(match["alone"]), "power"
    value = Fraction(match["number"].replace(",", ""))
    exponent = match["e"] or match["power"]
    return (value * Fraction(10) ** int(exponent), "power") if exponent else (value, "plain")


_LIKE_ASCII = {
    **dict.fromkeys((0x2018, 0x2019, 0x02BC), "'"),
    **dict.fromkeys((0x201C, 0x201D), '"'),
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014), "-"),
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
_EMPHASIS = re.compile(r"(?<!\w)\*\*|\*\*(?!\w)")
_BOXED = re.compile(r"\\boxed\s*\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}")
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
    if before[:1].isdigit() and (symbol := _symbol_named(folded)):
        return symbol
    if folded in _NUMBERS:
        return _NUMBERS[folded]
    is_plain = word.islower() or word.isupper() or word.istitle()
    return folded if folded in _SMALL_WORDS or (len(word) >= _LONG_WORD and is_plain) else word


def _tokens(text: str) -> list[str]:
    """Return numbers, words and signs in uniform spelling, without commas."""
    text = _without_wrapping(normal_form(text).translate(_LIKE_ASCII))
    text = _THOUSANDS.sub(lambda m: m[0].replace(",", ""), text)
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
    """Remove *the*, and a leading *a* or *an*."""
    if len(tokens) > 1 and tokens[0] in _ARTICLES:
        tokens = tokens[1:]
    return [word for word in tokens if word != "the"]


def _is_equal(message: str, answer: str) -> bool:
    if max(len(message), len(answer)) > _MOST_CHARS:
        return False
    if is_same_quantity(_without_wrapping(message), _without_wrapping(answer)):
        return True
    ours, theirs = _tokens(answer), _tokens(message)
    if not any(token[0].isalnum() for token in theirs):
        return False
    # A capital A at the beginning of the right answer may be a name, as in "A major".
    kept = ours if answer.lstrip().startswith("A ") else _without_articles(ours)
    return theirs == ours or (bool(kept) and _without_articles(theirs) == kept)


def says_the_same(message: str, answer: str) -> bool:
    """Whether a reply, or the one line of it that is marked as the answer, equals the right answer.

    Equal are texts that differ in nothing but the marks of LaTeX (`normal_form`), case, space, articles, a
    full stop, quotation marks or emphasis around them, commas, hyphens between words, number words up to
    twenty, thousands separators, zeros behind the decimal point, and names of common units behind a number;
    and quantities of the same value (`is_same_quantity`). The marked answer may stand behind a sentence, and
    sentences that take nothing back may follow it; a box stands last. An empty text equals nothing.

    Args:
        message: the words of a reply, without reasoning in tags.
        answer: the right answer.

    Note: the rule of lmms-eval for MMVU finds the empty text right on every open question;
        this one on none.

    >>> says_the_same("Therefore, the final answer is: Answer: Three metres.", "3 m")
    True
    >>> says_the_same("CO", "Co"), says_the_same("-5", "5"), says_the_same("", "")
    (False, False, False)
    """
    message = _EMPHASIS.sub("", message)
    lines = [line for line in message.split("\n") if line.strip()]
    marked = [match for line in lines for match in _MARKED.finditer(line)]
    answers = [message.strip()]
    if len(marked) == 1 and marked[0].string == lines[-1]:
        answers.append(marked[0]["said"])
        first, *more = _SENTENCE_END.split(marked[0]["said"], maxsplit=1)
        if more and not (_TURNS.search(more[0]) or _MARKED.search(more[0])):
            answers.append(first)
    boxed = list(_BOXED.finditer(message))
    if len(boxed) == 1 and not re.search(r"\w", message[boxed[0].end() :]):
        answers.append(boxed[0][0])
    return any(_is_equal(name, answer) for name in answers)
