"""Rules for question texts: no answer, caption, reference to texts, or double question in them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby
from typing import Final

from vidence.make.pipeline.lexicon import content_words, listed, stand_in, words_in
from vidence.make.pipeline.writer import Objection
from vidence.make.sources.event_words import singular

LABEL_IN_QUESTION: Final = "label-in-question"
CAPTION_DETAIL: Final = "caption-detail"
NAMES_CAPTION: Final = "names-caption"
NOT_PLAIN: Final = "not-plain"
NOT_ONE_QUESTION: Final = "not-one-question"
IMAGINED: Final = "imagined"
POINTS_ELSEWHERE: Final = "points-elsewhere"
MOST_WORDS: Final = 60

_TEXTS: Final = re.compile(
    r"\b(?:captions?|descriptions?|annotations?|labels?|labell?ed|annotated|narrations?|narrated|"
    r"according to the text|the text (?:says|above|below)|as described|is described as|metadata)\b",
    re.IGNORECASE,
)
_MARKUP: Final = re.compile(
    r"\*\*|__|`|^\s*(?:#{1,6}\s|[-*+]\s|\d+[.)]\s|[\"\u201c'])|</?[a-z]+\s*/?>|\[[^\]]*\]\([^)]*\)|\n|\|"
    r"|^\s*(?:question|q)\s*\d*\s*:|\(\s*[A-E]\s*\)|\b[A-E][.)]\s",
    re.IGNORECASE,
)
_TWO: Final = re.compile(
    r"\b(?:and|or)\s+(?:also\s+)?(?:what|who|whom|whose|where|when|why|how|which|is|are|does|do|did)\b",
    re.IGNORECASE,
)
_COUNTED: Final = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS: Final = {str(i): word for i, word in enumerate(_COUNTED.split())}
_DOUBLED: Final = re.compile(r"([bdgklmnprt])\1$")


def stem(word: str) -> str:
    """Return a word without regular endings, for comparisons only.

    >>> [stem(word) for word in ("taking", "takes", "cut", "cutting", "dried", "dry", "pressed")]
    ['tak', 'tak', 'cut', 'cut', 'dri', 'dri', 'press']
    """
    stem = singular(word.casefold().removesuffix("'s"))
    for ending in ("ing", "ed"):
        if stem.endswith(ending) and len(stem) >= len(ending) + 3:
            stem = _DOUBLED.sub(r"\1", stem.removesuffix(ending))
            break
    stem = stem.removesuffix("e")
    return f"{stem[:-1]}i" if stem.endswith("y") and len(stem) > 2 else stem


@lru_cache(maxsize=65536)
def stems(text: str) -> tuple[str, ...]:
    """Return the stems of all words of a text, in order."""
    return tuple(stem(word) for part in words_in(text) for word in part.split("-"))


@lru_cache(maxsize=65536)
def content(text: str) -> frozenset[str]:
    """Return the stems of content words."""
    return frozenset(stem(word) for part in content_words(text) for word in part.split("-"))


@cache
def _free() -> frozenset[str]:
    """Return the stems of words that any question about a picture may use."""
    return frozenset(map(stem, listed("common")))


def says(text: str, phrase: str) -> bool:
    """Whether a text contains the words of a phrase consecutively, in any inflection.

    >>> says("What is the man cutting?", "cut"), says("Who sits on the left?", "left hand")
    (True, False)
    """
    wanted = stems(phrase)
    return bool(wanted) and stand_in(wanted, stems(text))


def same_words(name: str, other: str) -> bool:
    """Whether two phrases are equal except for function words, inflection and order.

    >>> same_words("Holding the cup", "holds a cup"), same_words("on", "off")
    (True, False)
    """
    ours, theirs = content(name), content(other)
    return ours == theirs if ours or theirs else stems(name) == stems(other)


@dataclass(frozen=True, kw_only=True)
class QuestionSource:
    """The basis of a question: label, synonyms, caption, and permitted words.

    It may name `n_named` things of the caption besides, each in words that stand together.
    """

    label: str
    synonyms: tuple[str, ...] = ()
    caption: str = ""
    owned: tuple[str, ...] = ()
    n_named: int = 0


def fault_of(question: str, asked: QuestionSource) -> Objection | None:
    """Return the first rule that a question breaks; None if it breaks none.

    Source: HumanPCR, appendix B.1 and figure 12 (seven rules for the model that writes).
    Departs: the paper tells the model; here each reply is checked. `imagined` and `points-elsewhere`, the
        other two of the seven, are looked at apart: `imagined_words`, `points_at`.
    """
    shape = _form(question) or _texts(question, asked.owned)
    return shape or _label(question, asked) or _caption(question, asked)


def form_of(question: str) -> Objection | None:
    """Return the formal fault of a question or template, whatever it is about."""
    return _form(question) or _texts(question)


def _form(question: str) -> Objection | None:
    if marks := _MARKUP.search(question):
        detail = f"it holds {marks[0]!r}; wanted is one line of plain words"
        return Objection(reason=NOT_PLAIN, detail=detail)
    n_marks = question.count("?")
    if n_marks != 1 or not question.rstrip().endswith("?"):
        detail = f"it has {n_marks} question marks; wanted is one, at its end"
        return Objection(reason=NOT_ONE_QUESTION, detail=detail)
    if two := _TWO.search(question):
        return Objection(reason=NOT_ONE_QUESTION, detail=f"{two[0]!r} asks for a second thing")
    n_words = len(words_in(question))
    if not 3 <= n_words <= MOST_WORDS:
        detail = f"it has {n_words} words; wanted are 3 to {MOST_WORDS}"
        return Objection(reason=NOT_ONE_QUESTION, detail=detail)
    return None


def _texts(question: str, owned: Iterable[str] = ()) -> Objection | None:
    named = _TEXTS.search(question)
    # A label of a bottle is a thing, where the record hands the word to the template.
    if named is None or content(named[0]) <= _owned(owned):
        return None
    return Objection(reason=NAMES_CAPTION, detail=f"it says {named[0]!r}; viewers see no text")


def _label(question: str, asked: QuestionSource) -> Objection | None:
    for phrase in (asked.label, *asked.synonyms, _NUMBERS.get(asked.label, "")):
        # A synonym of little or common words, such as "do" or "one", says nothing.
        is_telling = phrase == asked.label or (content(phrase) - _free())
        if phrase and is_telling and says(question, phrase):
            return Objection(reason=LABEL_IN_QUESTION, detail=f"it holds {phrase!r}, which is the answer")
    return None


def _caption(question: str, asked: QuestionSource) -> Objection | None:
    shared = (content(question) & content(asked.caption)) - _free() - _owned(asked.owned)
    runs = groupby(stem(part) in shared for word in words_in(question) for part in word.split("-"))
    if sum(is_taken for is_taken, _ in runs) <= asked.n_named:
        return None
    listed_ = ", ".join(sorted(shared))
    return Objection(reason=CAPTION_DETAIL, detail=f"it takes from the caption what is not asked: {listed_}")


def imagined_words(question: str, asked: QuestionSource) -> tuple[str, ...]:
    """Return stems of a question found in neither caption, label nor aspect, for people to check."""
    known = content(asked.caption) | content(asked.label) | _owned(asked.owned) | _free()
    return tuple(sorted(content(question) - known))


def points_at(reply: str, asked: QuestionSource) -> bool:
    """Whether an answer given the caption is the label or one of its synonyms."""
    points = reply.strip().strip("\"'.").strip()
    wanted = (asked.label, *asked.synonyms, _NUMBERS.get(asked.label, ""))
    return any(same_words(points, name) for name in wanted if name)


def _owned(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(name for text in texts for name in content(text))
