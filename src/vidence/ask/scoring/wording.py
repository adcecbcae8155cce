"""Take off what is not wording: reasoning, markup, punctuation; compare texts with choices."""

import re
import unicodedata
from collections.abc import Sequence

# Full-width forms, circled capitals, quotes, dashes and odd spaces as ASCII; invisible ones away.
# Look-alikes from other scripts (Cyrillic, Greek) stay as they are: they are no choice letters.
_ASCII = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **{0x24B6 + i: ord("A") + i for i in range(26)},
    **dict.fromkeys((0x2018, 0x2019, 0x02BC), "'"),
    **dict.fromkeys((0x201C, 0x201D, 0x300C, 0x300D), '"'),
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212), "-"),
    **{0x3001: ",", 0x3002: "."},
    **dict.fromkeys((0x00A0, 0x3000, 0x2009, 0x202F), " "),
    **dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF), None),
}
_LATEX_WORDS = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|mathsf)\s*\{([^{}]*)\}")
_LATEX_SIGNS = re.compile(r"\\[()\[\],;! ]|\$")
# Markup of chat models: special tokens, end of sequence, simple HTML, and a lone closing answer tag.
_SPECIAL = re.compile(r"<\|[^|<>]*\|>|</?(?:s|b|i|p|strong|em|br|code)\s*/?>", re.IGNORECASE)
_MARKDOWN = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|^[ \t]*(?:#+|>+)[ \t]*", re.MULTILINE)

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TOKEN = re.compile(r"(?<![\w)])-?(?:\d+(?:\.\d+)*|\.\d+)|[^\W\d_]+|\d+")


def plain(text: str) -> str:
    """The text in ASCII punctuation, without Markdown, LaTeX wrapping and special tokens.

    Line breaks and LaTeX boxes stay.
    """
    text = unicodedata.normalize("NFC", text).translate(_ASCII)
    text = _LATEX_SIGNS.sub(" ", _LATEX_WORDS.sub(r"\1", text))
    return _MARKDOWN.sub("", _SPECIAL.sub(" ", text))


def words(text: str) -> tuple[str, ...]:
    """Lower-case words and numbers; a number keeps its sign and its decimal point.

    >>> words("The B12-store, 7,190 m")
    ('the', 'b', '12', 'store', '7190', 'm')
    """
    return tuple(_TOKEN.findall(_THOUSANDS.sub("", text.casefold())))


def _tight(text: str) -> str:
    return " ".join(plain(text).casefold().split()).strip(" .,;:!\"'")


def _joined(text: str) -> str:
    """All words without the blanks between them, but numbers kept apart from each other."""
    return re.sub(r"(?<!\d) | (?!\d)", "", " ".join(words(plain(text))))


def _without_articles(text: str) -> str:
    said = words(plain(text))
    return " ".join(w for i, w in enumerate(said) if w != "the" and (i > 0 or w not in ("a", "an")))


def equal_choices(text: str, choices: Sequence[str], *, is_strict: bool = False) -> tuple[int, ...]:
    """Which choices say the same as the text.

    Compared are, until one comparison finds something: the texts but for case, space and outer
    punctuation; their words and numbers; their words without *the* and without a leading *a*.

    Args:
        text: words of a reply.
        choices: the texts of the choices.
        is_strict: only the first comparison.

    Returns:
        Positions in `choices`; several where the comparison cannot tell them apart.
    """
    for form in (_tight,) if is_strict else (_tight, _joined, _without_articles):
        wanted = form(text)
        found = tuple(i for i, choice in enumerate(choices) if wanted and form(choice) == wanted)
        if found:
            return found
    return ()
