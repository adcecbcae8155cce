"""English words by the lists of ``lexicon.toml``: those that say nothing alone, those that cards must use."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from vidence.installation import packaged

_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def words_in(text: str) -> tuple[str, ...]:
    """The words of a text as they are written, without punctuation.

    >>> words_in("A red-haired woman's cap, twice.")
    ('A', 'red-haired', "woman's", 'cap', 'twice')
    """
    return tuple(_WORD.findall(text.replace("\u2019", "'")))


def stand_in(part: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether words stand side by side, in this order, in others."""
    return any(words[i : i + len(part)] == part for i in range(len(words) - len(part) + 1))


@cache
def listed(name: str) -> frozenset[str]:
    """The words of a list in ``lexicon.toml``."""
    return frozenset(_lists()[name].split())


@cache
def _lists() -> Mapping[str, str]:
    return packaged("vidence.make.pipeline", "lexicon.toml", dict[str, str])


def content_words(text: str) -> frozenset[str]:
    """The content words of a text, in lower case, without the possessive s.

    >>> sorted(content_words("The woman's cap is on the Cap stand"))
    ['cap', 'stand', 'woman']
    """
    small = (word.casefold().removesuffix("'s") for word in words_in(text))
    return frozenset(word for word in small if word not in listed("function"))


def appearance_words(text: str) -> frozenset[str]:
    """Return the words about appearance."""
    return (content_words(text) & (listed("garments") | listed("colours"))) - listed("often-innocent")


def action_words(text: str) -> frozenset[str]:
    """Return the words about action or position."""
    return content_words(text) & (listed("motions") | listed("places"))
