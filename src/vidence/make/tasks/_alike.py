"""Whether two descriptions could be of the same person or shot."""

import re
from collections.abc import Sequence

# Above this two descriptions do not tell their people, or shots, apart.
MOST_ALIKE = 0.6

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
# Words that every description has; they tell nobody apart.
_EMPTY_WORDS = (
    "a an the this that these those and or but with without of in on at by for from to into over under "
    "is are was were be been being has have had do does did it its he she they them his her hers their "
    "who which while as also some any there no not very appears appear seems seem appearing individual "
    "person people wearing wears wear dressed carrying carries one"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())


def content_words(text: str) -> frozenset[str]:
    """The words of a text that tell something, in small letters.

    >>> sorted(content_words("The person wears a red coat and a Red scarf."))
    ['coat', 'red', 'scarf']
    """
    return frozenset(_WORD.findall(text.casefold())) - _EMPTY


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of all words that both have, from 0 to 1; 1 where neither has any.

    Source: HERBench, sections 3.2 and 7.2 (token-level Jaccard similarity).
    Departs: the paper does not say how it cuts tokens; here words without those that every description has.
    """
    union = first | second
    return len(first & second) / len(union) if union else 1.0


def closest(text: str, others: Sequence[str]) -> float:
    """The likeness of a text to the one of the others that it is most like; 0 where there are none."""
    words = content_words(text)
    return max((jaccard(words, content_words(other)) for other in others), default=0.0)
