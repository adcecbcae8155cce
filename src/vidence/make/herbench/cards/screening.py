"""Screen cards for words of the other card and for several people."""

import re
from typing import Final

from vidence.make.pipeline.lexicon import appearance_words, content_words, words_in
from vidence.make.pipeline.writer import Objection
from vidence.records import Record

LIMIT: Final = 0.15


class Leakage(Record):
    """How alike the two cards of a track are, 0 to 1.

    `raw` is the Jaccard similarity of all words as they are written, `content` that of the words in small
    letters without those that say nothing alone. `shared` are the words of the second kind in both cards,
    `repeated` those of them about appearance.
    """

    raw: float
    content: float
    shared: tuple[str, ...]
    repeated: tuple[str, ...]

    @property
    def similarity(self) -> float:
        """The larger of the two counts."""
        return max(self.raw, self.content)

    def is_leak(self, limit: float = LIMIT) -> bool:
        """Return whether two cards cannot be used together: too similar, or appearance repeated."""
        return self.similarity > limit or bool(self.repeated)


def jaccard(entry: frozenset[str], other: frozenset[str]) -> float:
    """The share of all words that both have; 0 if there is no word.

    >>> jaccard(frozenset("ab"), frozenset("bc"))
    0.3333333333333333
    """
    both = entry | other
    return len(entry & other) / len(both) if both else 0.0


def leakage(a_text: str, b_text: str) -> Leakage:
    """Compare the appearance card of a track with its path card.

    Source: HERBench, section 7.2: token-level Jaccard similarity, at most 0.15.
    Departs: the paper does not say what a token is; both readings are given. The words are those of English.

    >>> leakage("A tall man in a red coat.", "The man walks to the left.").shared
    ('man',)
    """
    entry, other = content_words(a_text), content_words(b_text)
    shared = entry & other
    return Leakage(
        raw=jaccard(frozenset(words_in(a_text)), frozenset(words_in(b_text))),
        content=jaccard(entry, other),
        shared=tuple(sorted(shared)),
        repeated=tuple(sorted(shared & appearance_words(a_text) & appearance_words(b_text))),
    )


NOT_ONE_PERSON: Final = "not-one-person"
MARK: Final = "DIFFERENT PEOPLE"
_MOST_SAID: Final = 160

_PICTURES: Final = r"(?:(?:the\s+)?(?:pictures?|images?|crops?|photos?)\s+)?"
# The numbers of pictures and nothing else: ``3, 4``, ``3 and 4)``.
_NUMBERS: Final = r"\d+(?:(?:\W|and|to)+\d+)*\W*\Z"
# The line that is asked for: nothing else stands before it, and what stands behind it says which pictures.
_LINE: Final = re.compile(
    r"\A\W*different\s+people(?:\s*[:.;\u2013\u2014-]|\s+(?=\d)|\W*\Z"
    rf"|(?:\s*[,(\[]|\s+in\b)\s*{_PICTURES}(?={_NUMBERS}))\W*(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_SEVERAL: Final = re.compile(
    r"\b(?:different|several|multiple|various|more than one|two|three) (?:different )?"
    r"(?:people|persons|individuals)\b"
    r"|\bnot (?:all )?(?:be )?(?:of )?(?:the same|one) (?:person|individual)\b",
    re.IGNORECASE,
)


def says_different_people(text: str) -> Objection | None:
    """What a writer objects to who says, by the line that templates ask for, that it is not one person.

    The line is ``DIFFERENT PEOPLE``, by itself or with the numbers of the pictures behind it.

    >>> says_different_people("DIFFERENT PEOPLE: 4, 5").detail
    'the writer sees different people in the pictures: 4, 5'
    >>> says_different_people("Different people (3 and 4).").detail
    'the writer sees different people in the pictures: 3 and 4'
    >>> says_different_people("Different people pass by. This person waits.") is None
    True
    """
    match = _LINE.match(text)
    if match is None:
        return None
    which = match[1].strip(" \n)].")[:_MOST_SAID]
    detail = "the writer sees different people in the pictures" + (f": {which}" if which else "")
    return Objection(reason=NOT_ONE_PERSON, detail=detail, is_final=True)


def several_in(text: str) -> str:
    """The words with which a text speaks of several people; empty if it does not."""
    match = _SEVERAL.search(text)
    return "" if match is None else match[0]


def describes_several(text: str) -> Objection | None:
    """What is wrong with a description that speaks of several people, and ought to be of one.

    >>> describes_several("Two different people: one in red, one in blue.").reason
    'not-one-person'
    """
    words = several_in(text)
    if not words:
        return None
    detail = (
        f"it speaks of several people ({words!r}); describe the one person in all pictures, or, "
        f"where they do not show one and the same, write the line that begins with {MARK} and nothing else"
    )
    return Objection(reason=NOT_ONE_PERSON, detail=detail)
