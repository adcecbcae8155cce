"""The letter rule that HERBench released."""

import re

from vidence.ask.scoring.letters import LetterScorer
from vidence.records import Answered, Item, Unreadable

# In this order; the first that is found decides. Capital letters only.
_PATTERNS = (
    ("leading-letter", re.compile(r"\A([A-E])[\s.,)]")),
    ("leading-bracket", re.compile(r"\A\(([A-E])\)")),
    ("lone-letter", re.compile(r"\A([A-E])\Z")),
    ("answer-word", re.compile(r"[Aa]nswer:\s*([A-E])\b")),
    ("choice-word", re.compile(r"[Cc]hoice:\s*([A-E])\b")),
    ("punctuated-letter", re.compile(r"\b([A-E])\b[.,]")),
)


def _first_free_letter(upper: str) -> str | None:
    """Return the first A to E without an adjacent letter; digits and underscores may adjoin it."""
    padded = f" {upper} "
    for before, letter, after in zip(padded, padded[1:], padded[2:], strict=False):
        if letter in "ABCDE" and not before.isalpha() and not after.isalpha():
            return letter
    return None


def read_text(item: Item, text: str) -> Answered | Unreadable:
    """Return the letter by the released rule; the authors' ERROR is `Unreadable`.

    Prose is parsed too (``A man appears`` gives A), and a reply that contains *error*, as in *terror*, gives
    none, as released.

    Source: anonsubmission1/HERBench at 92eb929, the common model wrapper.
    Departs: no. Letters A to E are read whatever the number of choices.
    """
    stripped = text.strip()
    upper = stripped.upper()
    if not stripped or "ERROR" in upper:
        return Unreadable(reason="the reply is empty or has the word 'error' in it (official rule)")
    for rule, pattern in _PATTERNS:
        if match := pattern.search(stripped):
            return Answered(answer=match[1], rule=rule)
    letter = _first_free_letter(upper)
    if letter is None:
        return Unreadable(reason="no letter A to E stands free in the reply (official rule)")
    return Answered(answer=letter, rule="first-free-letter")


def create() -> LetterScorer:
    """Create the parser ``herbench-official``.

    Source: anonsubmission1/HERBench at 92eb929, the common model wrapper.
    Departs: no.
    """
    return LetterScorer(name="herbench-official", version=1, read_text=read_text)
