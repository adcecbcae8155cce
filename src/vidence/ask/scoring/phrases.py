"""How languages state an answer: the words of ``languages.toml`` as patterns; the rules know no language."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from vidence.installation import packaged
from vidence.records import Record

# What a sign of the file stands for; " " is another in scripts without blanks.
_SIGNS = {
    "[": "(?:",
    "]": ")?",
    "(": "(?:",
    ")": ")",
    "|": "|",
    "{": "(?:",
    "}": ")*",
    "*": r"\w*",
    "~": r"\w+",
}
_PIECE = re.compile(r"/(?P<pattern>[^/]+)/|<(?P<list>\w+)>|(?P<stop>(?<=.),\Z)|(?P<sign>.)")
_WORD = re.compile(r"[^\W\d_]+")


class Language(Record):
    """The words of a language by list name; see the head of ``languages.toml``."""

    lists: Mapping[str, tuple[str, ...]]
    signs: frozenset[str] = frozenset()
    script: str = ""
    is_spaced: bool = True

    def pattern(self, name: str) -> str:
        """Return a list's phrases as one regular expression; empty if there is no such list."""
        return "|".join("".join(self._pieces(phrase)) for phrase in self.lists.get(name, ()))

    def _pieces(self, phrase: str) -> Iterator[str]:
        for piece in _PIECE.finditer(phrase):
            if piece["pattern"]:
                yield piece["pattern"]
            elif piece["list"]:
                yield f"(?:{self.pattern(piece['list'])})"
            elif piece["stop"]:
                yield r"(?=\s*[,.;:!-])"
            elif piece["sign"] == " ":
                yield r"\s+" if self.is_spaced else r"\s*"
            else:
                yield _SIGNS.get(piece["sign"], re.escape(piece["sign"]))


@cache
def languages() -> Mapping[str, Language]:
    """Return the languages by code."""
    return packaged("vidence.ask.scoring", "languages.toml", dict[str, Language])


def any_of(name: str, codes: tuple[str, ...] = ()) -> str:
    """Return a regex group of a word list in some or all languages; whole words in spaced scripts."""
    parts = []
    for code in codes or languages():
        language = languages()[code]
        if phrases := language.pattern(name):
            parts.append(rf"(?<![^\W_])(?:{phrases})(?!\w)" if language.is_spaced else f"(?:{phrases})")
    return "(?:" + "|".join(parts) + ")" if parts else r"(?!)"


def spoken(text: str) -> tuple[str, ...]:
    """Return English, and the languages whose words or scripts occur in a text."""
    words = frozenset(_WORD.findall(text.casefold()))
    return tuple(
        code
        for code, language in languages().items()
        if code == "en" or words & language.signs or (language.script and re.search(language.script, text))
    )
