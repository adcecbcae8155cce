"""Short answers that are right if they have the same words or number."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from vidence.ask.scoring.needs_judge import NeedsJudge
from vidence.records import Answered, Item, Outcome, Score

_ANSWER: Final = re.compile(r"(?:final\s+)?answer\s*(?:is|:)\s*", re.IGNORECASE)
_AROUND: Final = re.compile(r"^[\W_]+|[^\w%]+$")
_ARTICLE: Final = re.compile(r"^(?:the|a|an)\s+")


def plain(text: str) -> str:
    """Normalise a text: no case, surrounding punctuation or article; numbers in one spelling.

    >>> plain("**The Red Car.**"), plain("1,200.0"), plain("The answer is: 3")
    ('red car', '1200', '3')
    """
    *_, last = _ANSWER.split(unicodedata.normalize("NFKC", text).strip())
    words = _ARTICLE.sub("", _AROUND.sub("", last).casefold())
    words = " ".join(words.split())
    try:
        return f"{float(words.replace(',', '')):g}" if len(words) < 40 else words
    except ValueError:
        return words


@dataclass(frozen=True, kw_only=True)
class SameText(NeedsJudge):
    """A `contracts.Scorer` by equality, as Video-MMMU's open questions are scored.

    Source: Video-MMMU, the authors' evaluation of open questions.
    Departs: the authors also accept a reply that contains the answer; here the whole reply must equal it, or
    what follows
        "answer is".
    """

    name: str = "same-text"

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """Return 1.0 for equal texts, else 0.0; no value if the answer is hidden."""
        is_same = isinstance(outcome, Answered) and plain(outcome.answer) == plain(item.answer)
        value = None if item.is_hidden else float(is_same)
        return Score(outcome=outcome, value=value, scorer=self.name, scorer_version=self.version)


def create() -> SameText:
    """Create the parser ``same-text``."""
    return SameText()
