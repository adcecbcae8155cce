"""Names that a benchmark knows, however they are spelled, and the nearest one to a name that it does not."""

import difflib
import re
from collections.abc import Mapping, Sequence

from vidence.ask.benchmarks.checks import Fault

_WORDS = re.compile(r"[a-z0-9]+")
_IGNORED = frozenset({"and"})


def spelling(text: str) -> str:
    """What the spellings of one name have in common: its words without case, blanks, marks and ``and``.

    >>> spelling("Electric & Crafting") == spelling("electric_and_crafting")
    True
    """
    return "".join(word for word in _WORDS.findall(text.lower()) if word not in _IGNORED)


class KnownNames:
    """The names that a field may have.

    Args:
        spellings: each name as it is kept, and what else stands for it; case, blanks and marks never matter.
    """

    def __init__(self, spellings: Mapping[str, Sequence[str]]) -> None:
        self._names = tuple(spellings)
        texts = [(name, text) for name, others in spellings.items() for text in (name, *others)]
        self._by_spelling = {spelling(text): name for name, text in texts}
        self._text_of = {spelling(text): text if text == name else f"{text} ({name})" for name, text in texts}

    def find(self, text: str) -> str | None:
        """The name as it is kept, or None where there is none like it."""
        return self._by_spelling.get(spelling(text))

    def read(self, field: str, text: str) -> str | Fault:
        """The name as it is kept, or what is wrong: the nearest known name, and all of them."""
        return self.find(text) or Fault(field, f"{text!r} found; {self.expected(text)}")

    def expected(self, text: str) -> str:
        """The nearest known name and all of them, as words for a message about `text`."""
        near = difflib.get_close_matches(spelling(text), self._text_of, n=1)
        hint = f"did you mean {self._text_of[near[0]]}? " if near else ""
        return f"{hint}expected one of {', '.join(self._names)}"
