"""Whether an open answer says the same as the right one, where a rule can be sure of it.

The rule only ever finds answers right; whatever it does not find equal is for a judge. So it leaves alone
what may carry meaning: signs, brackets, the case of short words and formulas (*Co* and *CO*).
"""

import re
import unicodedata

from vidence.ask.judging.quantities import is_same_quantity

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
_UNITS = {name: symbol for symbol, names in _UNIT_NAMES.items() for name in names}
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
    if before[:1].isdigit() and folded in _UNITS:
        return _UNITS[folded]
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
