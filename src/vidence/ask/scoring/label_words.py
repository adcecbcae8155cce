"""Words for labels (names and features of an action), and where a text uses them.

The words are in ``label_words.toml``. A name matches with its words in order and inflected ("sweeps the
floor" names ``sweep_floor``); the words of a feature match in one sentence in any order.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from vidence.installation import packaged
from vidence.records import Record

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_VOWEL = re.compile(r"[aeiouy]")
# "sitting" has one t too many for "sit", "mimicking" a k too many for "mimic".
_DOUBLED = re.compile(r"([bcdfghjklmnpqrstvwxz])\1\Z|(?<=c)k\Z")
_ENDING = re.compile(r"(?:ie|y|e)\Z")
# Words that may stand between the words of a form.
_FILLERS = frozenset((
    "a", "an", "the", "his", "her", "their", "its", "one's", "this", "that", "these", "those", "some",
    "something", "someone", "another", "other", "of", "on", "onto", "to", "in", "into", "up", "down",
    "at", "from", "with", "by", "over", "him", "them",
))  # fmt: skip
_MOST_FILLERS = 3
_ARTICLES = frozenset(("a", "an", "the"))
# A label that is a word of negation says nothing where it stands in a sentence.
_NO_FORM = frozenset(("no", "not", "none"))
_INTENTION = re.compile(r"\A(?:\([^)]*\)\s*)?(?:to\s+)?", re.IGNORECASE)


class LabelWords(Record, omit_defaults=True):
    """A label as shown, with synonyms and features.

    `text` is the label as shown. `forms` are synonyms, `features` describe what the action looks like.
    """

    text: str
    forms: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


class _Words(Record):
    """``label_words.toml``: irregular stems, and `forms` and `features` by label."""

    irregular: dict[str, str]
    labels: dict[str, dict[Literal["forms", "features"], tuple[str, ...]]]


@cache
def _words() -> _Words:
    return packaged("vidence.ask.scoring", "label_words.toml", _Words)


@cache
def known_words() -> Mapping[str, LabelWords]:
    """Return the known words by label."""
    return {
        label: LabelWords(text=label, forms=words.get("forms", ()), features=words.get("features", ()))
        for label, words in _words().labels.items()
    }


def with_known(label: LabelWords) -> LabelWords:
    """Add the known words for a label to its own.

    Source: ActPLD, appendix A.3 (synonyms, descriptors).
    Departs: most of the words are ours; the paper relies on its judge model.

    >>> with_known(LabelWords(text="pickthisup")).forms
    ('pick this up', 'pick it up', 'pick up')
    """
    known = known_words().get(label.text.strip().lower().replace(" ", "_"))
    if known is None:
        return label
    return LabelWords(
        text=label.text,
        forms=tuple(dict.fromkeys((*label.forms, *known.forms))),
        features=tuple(dict.fromkeys((*label.features, *known.features))),
    )


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return a word without its inflection; equal for ``sitting``, ``sits`` and ``sat``.

    >>> [stem(w) for w in ("sitting", "sat", "dances", "dancing", "swing")]
    ['sit', 'sit', 'danc', 'danc', 'swing']
    """
    word = word.removesuffix("'s")
    word = _words().irregular.get(word, word)
    for suffix, shortest in (("ing", 5), ("ed", 5)):
        base = word.removesuffix(suffix)
        if base != word and len(word) >= shortest and _VOWEL.search(base):
            word = base
            break
    else:
        if word.endswith(("ses", "xes", "zes", "ches", "shes")):
            word = word[:-2]
        elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    word = _DOUBLED.sub(lambda m: m[1] or "", word)
    return _ENDING.sub("i" if word.endswith(("y", "ie")) else "", word) if len(word) > 3 else word


@dataclass(frozen=True)
class StemmedWord:
    """A word of a text: its stem and its character span ``[start, end)``."""

    stem: str
    start: int
    end: int


@dataclass(frozen=True)
class Mention:
    """A place that names a label; `label` is its index in the list of labels."""

    label: int
    start: int
    end: int


def words_of(text: str) -> list[StemmedWord]:
    """Return the words of a text with their spans."""
    return [StemmedWord(stem(m[0].casefold()), m.start(), m.end()) for m in _TOKEN.finditer(text)]


@lru_cache(maxsize=4096)
def _stems(form: str) -> tuple[str, ...]:
    return tuple(word.stem for word in words_of(form) if word.stem not in _ARTICLES)


def forms_of(label: LabelWords) -> frozenset[tuple[str, ...]]:
    """Return the stems of everything that names a label: its text, its synonyms, and these without spaces.

    Source: ActPLD, appendix A.3 (synonyms and wording changes are normalised).
    Departs: no.
    """
    own = _INTENTION.sub("", label.text)
    forms = [form.replace("_", " ").casefold() for form in (own, *label.forms)]
    entries = {_stems(form) for form in forms} | {(stem("".join(_TOKEN.findall(form))),) for form in forms}
    return frozenset(form for form in entries if any(form) and not set(form) <= _NO_FORM)


def _end_of(form: tuple[str, ...], words: Sequence[StemmedWord], first: int) -> int | None:
    """Return where the form that starts at word `first` ends, as index into `words`; None without a match."""
    fillers = _filler_stems()
    at = first
    for expected in form[1:]:
        at += 1
        n_fillers = 0
        while at < len(words) and words[at].stem != expected:
            if words[at].stem not in fillers or n_fillers == _MOST_FILLERS:
                return None
            n_fillers += 1
            at += 1
        if at == len(words):
            return None
    return at


@cache
def _filler_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in _FILLERS)


def mentions(labels: Sequence[LabelWords], words: Sequence[StemmedWord]) -> list[Mention]:
    """Return every place that names one of the labels, in order; longer names hide those inside them.

    ``jumping jacks`` is not a mention of *jump* if both are labels. Words that two labels share count for the
    first in `labels`.

    Source: ActPLD, appendix A.3.
    Departs: the paper leaves the definition of a mention to its judge model.
    """
    by_first: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for i, label in enumerate(labels):
        for form in forms_of(label):
            by_first.setdefault(form[0], []).append((i, form))
    mentions: list[Mention] = []
    for first, word in enumerate(words):
        for i, form in by_first.get(word.stem, ()):
            if (last := _end_of(form, words, first)) is not None:
                mentions.append(Mention(i, word.start, words[last].end))
    mentions.sort(key=lambda m: (m.start - m.end, m.label, m.start))
    kept: list[Mention] = []
    is_taken = bytearray(words[-1].end if words else 0)
    for mention in mentions:
        if not any(is_taken[mention.start : mention.end]):
            is_taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
            kept.append(mention)
    return sorted(kept, key=lambda m: m.start)
