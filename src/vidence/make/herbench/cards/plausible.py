"""Plausible replacements of a detail: from true cards of other videos, and general facts.

A word in a description is a slot: a colour before its noun, a noun behind its preposition or verb, a verb
before what follows. Another word fits the slot where a true card of another video has it there, or where the
lists here do. Words that are part of a compound (bow tie, revolving door) have no slot.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise, takewhile
from typing import Final, Literal, TypeAlias

from vidence.installation import packaged
from vidence.make.pipeline.lexicon import listed
from vidence.make.pipeline.material import SceneCard
from vidence.records import Record

Kind: TypeAlias = Literal["modifier", "noun", "verb", "number", "side", "person"]
Key: TypeAlias = tuple[Kind, str]

_TOKEN: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*|[.,;:!?()]")


class _Tables(Record):
    """``plausible.toml``: lines of words that stand for each other, plain facts, and further lists."""

    kinds: dict[Kind, tuple[str, ...]]
    facts: dict[Kind, tuple[str, ...]]
    lists: dict[str, str]


@cache
def _tables() -> _Tables:
    return packaged("vidence.make.herbench.cards", "plausible.toml", _Tables)


@cache
def kinds() -> Mapping[Kind, tuple[tuple[str, ...], ...]]:
    """Lines of words of one kind: of them one may stand where another does, if the slot allows it."""
    return {kind: tuple(tuple(line.split()) for line in lines) for kind, lines in _tables().kinds.items()}


@cache
def _kind_of() -> Mapping[str, Kind]:
    return {word: kind for kind, lines in kinds().items() for line in lines for word in line}


@cache
def _plain() -> Mapping[Key, frozenset[str]]:
    """The words that plain facts have in a slot."""
    values: dict[Key, frozenset[str]] = defaultdict(frozenset)
    for kind, lines in _tables().facts.items():
        for heads, _, words in (line.partition(" : ") for line in lines):
            for head in heads.split():
                values[kind, head] |= frozenset(words.split())
    return dict(values)


@cache
def _listed(name: str) -> frozenset[str]:
    """A list, with the words of the kind of its name; prepositions with all that hold sentences together."""
    own = {word for kind, lines in kinds().items() if kind == name for line in lines for word in line}
    more = listed("function") if name == "preposition" else frozenset()
    return more | own | frozenset(_tables().lists[name].split())


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A word of a text, the kind of its place there, and the key by which other texts have such a place.

    `modifiers` are the words before a noun that say more of it. Of slots with one `phrase`
    only one can change, since the others were held against it.
    """

    start: int
    end: int
    word: str
    key: Key
    phrase: int
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SlotCounts:
    """How often words were seen in which slots, in true cards of other videos."""

    seen: Mapping[tuple[Key, str], int] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], int] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, cards: Iterable[SceneCard]) -> "SlotCounts":
        """What true cards say; false ones are left out."""
        seen: Counter[tuple[Key, str]] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        words: Counter[str] = Counter()
        for card in cards:
            if not card.is_faithful:
                continue
            tokens = [token.casefold() for token in _TOKEN.findall(card.text)]
            words.update(tokens)
            pairs.update(pairwise(tokens))
            seen.update((slot.key, slot.word) for slot in slots_of(card.text))
        return cls(seen=seen, pairs=pairs, words=words)

    def is_compound(self, first: str, second: str) -> bool:
        """Whether two words are one thing: by the list, or since cards hardly have one without the other."""
        both = self.pairs.get((first, second), 0)
        least = 0.8 * max(self.words.get(first, 0), self.words.get(second, 0))
        return f"{first}_{second}" in _listed("compound") or (both >= 3 and both >= least)

    def weight(self, key: Key, word: str) -> int:
        """Return how often a word was seen in a slot, plus one for a general fact; 0 if never."""
        seen = max(self.seen.get((key, word), 0), self.seen.get(((key[0], _single(key[1])), word), 0))
        return seen + (word in _plain().get(key, ()) or word in _plain().get((key[0], _single(key[1])), ()))

    def fits(self, modifier: str, noun: str) -> bool:
        """Return whether an adjective is attested with a noun."""
        plain = modifier in _listed("anything") or self.pairs.get((modifier, noun), 0) > 0
        return plain or self.weight(("modifier", noun), modifier) > 0


def _single(word: str) -> str:
    """A noun in the singular, where it ends as plurals do."""
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def slots_of(text: str) -> Iterator[Slot]:
    """Every word of a known kind that has a slot, in the order of the text; compounds have none."""
    matches = list(_TOKEN.finditer(text))
    words = [match[0].casefold() for match in matches]
    phrase = 0
    for i, word in enumerate(words):
        # A phrase ends with a word that holds sentences together, a verb or a sign.
        phrase += _parts_phrases(word)
        kind = _kind_of().get(word)
        if kind is None:
            continue
        if head := _HEADS[kind](words, i):
            yield Slot(
                start=matches[i].start(),
                end=matches[i].end(),
                word=word,
                key=(kind, head),
                phrase=-1 - i if kind == "number" else phrase,  # a number goes with any word beside it
                modifiers=tuple(takewhile(_listed("modifier").__contains__, reversed(words[:i])))
                if kind == "noun"
                else (),
            )


def _parts_phrases(word: str) -> bool:
    return not word[0].isalnum() or word in _listed("preposition") or word in _listed("verb")


def _ends(words: list[str], i: int) -> bool:
    """Whether a phrase has ended before place i."""
    return i >= len(words) or _parts_phrases(words[i])


def _head_of_modifier(words: list[str], i: int) -> str:
    """The last word of the phrase; none where a word that the lists do not know comes before the modifier."""
    last = i
    while not _ends(words, last + 1):
        last += 1
    before = words[i - 1] if i else "."
    is_free = _parts_phrases(before) or before in _listed("modifier") | _listed("number")
    return words[last] if last > i and is_free else ""


def _governor(words: list[str], i: int) -> str:
    """The preposition or verb that a noun depends on; none for a part of a compound, or a noun without."""
    if not _ends(words, i + 1) or words[i + 1 : i + 2] == ["of"]:
        return ""
    at = i - 1
    while at >= 0 and words[at] in _listed("modifier") | _listed("number") | _listed("article"):
        at -= 1
    governors = _listed("preposition") | _listed("verb") | _listed("holding")
    is_governor = at >= 0 and words[at] in governors
    return words[at] if is_governor and words[at] not in ("and", "or", "of") else ""


def _follower(words: list[str], i: int) -> str:
    """Return the verb's subject slot; None if things are never its subject."""
    persons = _listed("person")
    who = next((word for word in words[:i] if word in persons or _kind_of().get(word) == "noun"), "")
    if who not in persons:
        return ""
    return words[i + 1] if i + 1 < len(words) and words[i + 1][0].isalnum() else ""


def _counted(words: list[str], i: int) -> str:
    """What a number counts; none for what comes in pairs."""
    head = _head_of_modifier(words, i)
    is_counted = (head.endswith("s") and head not in _listed("paired")) or head in ("people", "men", "women")
    return head if is_counted else ""


_HEADS: Final = {"modifier": _head_of_modifier, "noun": _governor, "verb": _follower, "number": _counted}
