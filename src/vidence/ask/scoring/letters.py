"""Shared by parsers of letters: normalised text, refusals, scoring."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from vidence.errors import UsageError
from vidence.records import Answered, Item, Outcome, Reply, Score, Unreadable
from vidence.text import refusal_in

# Full-width forms, circled capitals, quotes, dashes and odd spaces as ASCII; invisible ones away.
# Look-alikes from other scripts (Cyrillic, Greek) stay as they are: they are no choice letters.
_ASCII = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **{0x24B6 + i: ord("A") + i for i in range(26)},
    **dict.fromkeys((0x2018, 0x2019, 0x02BC), "'"),
    **dict.fromkeys((0x201C, 0x201D, 0x300C, 0x300D), '"'),
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212), "-"),
    **{0x3001: ",", 0x3002: ".", 0x3010: "[", 0x3011: "]", 0x060C: ",", 0x061B: ";"},
    **dict.fromkeys((0x2705, 0x2713, 0x2714, 0x2611, 0xFE0F), " "),
    **dict.fromkeys((0x00A0, 0x3000, 0x2009, 0x202F), " "),
    **dict.fromkeys((0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x061C, 0x2060, 0xFEFF), None),
}
_LATEX_WORDS = re.compile(
    r"\\(?:text\w*|math\w+|bf|rm|operatorname)\s*\{([^{}]*)\}|(?<=\{)\{([^{}]*)\}(?=\})"
)
_LATEX_SIGNS = re.compile(r"\\[()\[\],;! ]|\$")
# Markup of chat models: special tokens, end of sequence, simple HTML, and a lone closing answer tag.
_SPECIAL = re.compile(
    r"<\|[^|<>]*\|>|</?(?:end_of_turn|s|b|i|u|p|strong|em|br|code|center|span|div)\s*/?>", re.IGNORECASE
)
_MARKDOWN = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|^[ \t]*(?:#+|>+)[ \t]*", re.MULTILINE)
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
TOKEN = re.compile(r"(?<![\w)])-?(?:\d+(?:\.\d+)*|\.\d+)|[^\W\d_]+|\d+")
# How a parser turns the words of a reply into an outcome.
ReadText: TypeAlias = Callable[[Item, str], Answered | Unreadable]


def plain(text: str) -> str:
    """Return the text with ASCII punctuation, without Markdown, LaTeX wrappers and special tokens.

    Line breaks and LaTeX boxes are kept.
    """
    text = unicodedata.normalize("NFC", text).translate(_ASCII)
    text = _LATEX_SIGNS.sub(" ", _LATEX_WORDS.sub(r"\1\2", text))
    return _MARKDOWN.sub("", _SPECIAL.sub(" ", text))


def words(text: str) -> tuple[str, ...]:
    """Return lower-case words and numbers; a number keeps its sign and decimal point.

    >>> words("The B12-store, 7,190 m")
    ('the', 'b', '12', 'store', '7190', 'm')
    """
    return tuple(TOKEN.findall(THOUSANDS.sub("", text.casefold())))


def with_cut_off(outcome: Answered | Unreadable, reply: Reply) -> Answered | Unreadable:
    """Add to an unreadable outcome that the reply was truncated, if it was."""
    if isinstance(outcome, Unreadable) and reply.finish == "length":
        return Unreadable(reason=f"{outcome.reason}; the reply was cut off at its length limit")
    return outcome


@dataclass(frozen=True, kw_only=True)
class LetterScorer:
    """A `contracts.Scorer` for multiple choice: a rule reads a letter, which is right or wrong.

    Only `Reply.text` is parsed, never `Reply.reasoning`.

    Note: refusals reported by the server are a separate outcome under every parser; the released scripts do
    not distinguish
        them.
    """

    name: str
    version: int
    reads_letters: bool = True
    read_text: ReadText

    def read(self, item: Item, reply: Reply) -> Outcome:
        """Return the letter in the reply, or why there is none.

        Raises:
            UsageError: the item has no choices.
        """
        if item.answer_kind != "choice":
            raise UsageError(
                f"parser {self.name!r} reads letters, but item {item.item_id!r} has an open answer; "
                "use the parser 'needs-judge' for it"
            )
        return refusal_in(reply) or self.letter(item, reply)

    def letter(self, item: Item, reply: Reply) -> Answered | Unreadable:
        """Return the letter in a reply that is not a refusal."""
        return with_cut_off(self.read_text(item, reply.text), reply)

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """Return 1.0 if the letter is the item's answer; 0.0 otherwise, also without a letter."""
        is_right = isinstance(outcome, Answered) and outcome.answer == item.answer
        return Score(outcome=outcome, value=float(is_right), scorer=self.name, scorer_version=self.version)
