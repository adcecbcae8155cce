"""Meanings of event words: near synonyms, implied actions, generic nouns."""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal

from vidence.installation import packaged
from vidence.make.pipeline.lexicon import listed
from vidence.records import Record

_WORD = re.compile(r"[a-z']+")
# Groups whose doings go with any handling of a thing, narrated or not: taking, putting, moving, looking.
_IMPLIED = (0, 1, 2, 3, 4)
_LOOKING = 3


class _Tables(Record):
    """``event_words.toml``: synonyms, groups of confusable words, and plurals."""

    same: dict[str, str]
    near: tuple[str, ...]
    alike: tuple[str, ...]
    plurals: dict[str, str]


@cache
def _tables() -> _Tables:
    return packaged("vidence.make.sources", "event_words.toml", _Tables)


@cache
def _groups(of: Literal["near", "alike"]) -> Mapping[str, frozenset[int]]:
    """For each word, the numbers of its groups."""
    groups: dict[str, frozenset[int]] = defaultdict(frozenset)
    for number, group in enumerate(_tables().near if of == "near" else _tables().alike):
        for word in group.split():
            groups[word] |= {number}
    return dict(groups)


@lru_cache(maxsize=4096)
def counted_verb(verb: str) -> str:
    """What a verb counts as in a log without classes: the first of its synonyms, or itself.

    >>> counted_verb("place"), counted_verb("place in"), counted_verb("put down"), counted_verb("pick up")
    ('put', 'put in', 'put down', 'take')
    """
    head, *rest = verb.split() if len(verb_said(verb)) == 1 else [verb]
    return " ".join((_tables().same.get(head, head), *rest))


# Where "on" and "in" belong to the verb: "turn on tap", but not "put on plate".
_WITH_ON = frozenset({"turn", "switch"})
_WITH_IN = frozenset({"plug"})


def words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, without articles and other function words.

    >>> words("Take the handle of the cupboard")
    ('take', 'handle', 'cupboard')
    """
    return tuple(word for word in _WORD.findall(text.lower()) if word not in listed("little"))


@lru_cache(maxsize=4096)
def groups_of(verb: str) -> frozenset[int]:
    """A verb's groups of near synonyms, by its first word; otherwise a group of its own.

    >>> groups_of("put down") == groups_of("place on")
    True
    """
    head, *rest = verb.split() or [""]
    if head in {"turn", "switch"} and rest and rest[0] in {"on", "off"}:
        return _groups("near")["start"]
    if head in {"take", "get", "pull"} and rest and rest[0] == "off":
        return _groups("near")["take"] | _groups("near")["open"]
    return _groups("near").get(head, frozenset())


@lru_cache(maxsize=4096)
def is_implied(verb: str) -> bool:
    """Whether handling a thing implies the action, so that logs mostly omit it.

    >>> is_implied("pick up"), is_implied("wash")
    (True, False)
    """
    return bool(groups_of(verb) & set(_IMPLIED))


@lru_cache(maxsize=4096)
def is_only_looking(verb: str) -> bool:
    """Whether an action leaves the thing untouched, or may.

    >>> is_only_looking("look at"), is_only_looking("wash")
    (True, False)
    """
    return _LOOKING in groups_of(verb)


@lru_cache(maxsize=4096)
def is_near(verb: str, other: str) -> bool:
    """Whether a viewer may confuse the two verbs.

    >>> is_near("rinse", "wash"), is_near("open", "close"), is_near("cut", "wash")
    (True, True, False)
    """
    return verb == other or verb.split()[:1] == other.split()[:1] or bool(groups_of(verb) & groups_of(other))


@lru_cache(maxsize=16384)
def is_vague(noun: str) -> bool:
    """Whether a noun says nothing about what the thing is.

    >>> is_vague("other part"), is_vague("hand")
    (True, False)
    """
    return all(singular(word) in listed("vague") for word in words(noun))


@lru_cache(maxsize=16384)
def is_anything(noun: str) -> bool:
    """Whether a noun names nearly anything, or something at hand in nearly every scene.

    >>> is_anything("food"), is_anything("top of worktop"), is_anything("milk container")
    (True, True, False)
    """
    return all(singular(word) in listed("vague") | listed("at-hand") for word in words(noun))


@lru_cache(maxsize=16384)
def likenesses(noun: str) -> frozenset[int]:
    """The groups of confusable things that a noun belongs to, by any word.

    >>> bool(likenesses("coffee mug") & likenesses("glass")), bool(likenesses("mug") & likenesses("pan"))
    (True, False)
    """
    return frozenset(group for word in words(noun) for group in _groups("alike").get(singular(word), ()))


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """A word without its plural ending, by rule.

    >>> [singular(w) for w in ("onions", "knives", "dishes", "berries", "glass", "tomatoes")]
    ['onion', 'knife', 'dish', 'berry', 'glass', 'tomato']
    """
    if word in _tables().plurals:
        return _tables().plurals[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@lru_cache(maxsize=4096)
def forms(head: str) -> frozenset[str]:
    """Possible forms of a verb in a narration; some may not exist.

    >>> {"slice", "slicing"} <= forms("slice"), {"cut", "cutting"} <= forms("cut")
    (True, True)
    """
    stem = head.removesuffix("e")
    return frozenset(
        {head, head + "s", head + "es"} | {f"{s}{e}" for s in (stem, stem + stem[-1:]) for e in ("ing", "ed")}
    )


@lru_cache(maxsize=8192)
def verb_said(verb: str) -> tuple[str, ...]:
    """The words of a verb, without prepositions that need a second object.

    >>> verb_said("pour into"), verb_said("put down"), verb_said("adjust on"), verb_said("turn on")
    (('pour',), ('put', 'down'), ('adjust',), ('turn', 'on'))
    """
    messages = verb.split()
    while len(messages) > 1 and (
        messages[-1] in listed("leading-on")
        or (messages[-1] == "on" and messages[0] not in _WITH_ON)
        or (messages[-1] == "in" and messages[0] not in _WITH_IN)
    ):
        messages.pop()
    return tuple(messages)


def is_direct(verb: str, noun: str, narration: str) -> bool:
    """Whether the noun follows the verb directly in a narration, as the object rather than the tool.

    >>> is_direct("cut", "knife", "use the knife to cut the onion")
    False
    >>> is_direct("pour into", "water", "pour hot water into the pan")
    True
    >>> is_direct("put in", "toaster", "put in toaster")
    False
    """
    entries, (head, *rest) = _WORD.findall(narration.lower()), verb.split()
    at = next((place for place, word in enumerate(entries) if word in forms(head)), None)
    if at is None:
        return False
    named = frozenset(singular(word) for word in words(noun))
    behind: list[str] = []
    to_another = (listed("leading-on") | {"in", "on"}) - {"of"}
    for word in entries[at + 1 :]:
        if word in to_another and word not in verb_said(verb):
            break
        behind.append(singular(word))
    content = [word for word in behind if word not in listed("little") and word not in rest]
    return bool(named) and named <= frozenset(content[: len(named) + 1])


def phrase_of(verb: str, noun: str) -> str:
    """An action in words.

    >>> phrase_of("pour into", "milk"), phrase_of("put down", "plate")
    ('pour milk', 'put down plate')
    """
    return " ".join((*verb_said(verb), noun))
