"""Whether a path card says again what the appearance card says, so that the one gives the other away."""

from dataclasses import dataclass
from typing import Final

from vidence.make.events.lexicon import appearance_words, content_words, words_in
from vidence.records import Record

LIMIT: Final = 0.15


class Leakage(Record, kw_only=True):
    """How alike the two cards of a track are, 0 to 1.

    `raw` is the Jaccard similarity of all words as they are written, `content` that of the words in small
    letters without those that say nothing alone. `shared` are the words of the second kind in both cards,
    `repeated` those of them that say what somebody looks like.
    """

    raw: float
    content: float
    shared: tuple[str, ...]
    repeated: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class LeakRule:
    """When cards leak: a similarity above `limit` by either way of counting, or appearance said again."""

    limit: float = LIMIT

    def is_leak(self, leakage: Leakage) -> bool:
        """Whether the cards must not be used together."""
        return max(leakage.raw, leakage.content) > self.limit or bool(leakage.repeated)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of all words that both have; 0 where there is no word.

    >>> jaccard(frozenset("ab"), frozenset("bc"))
    0.3333333333333333
    """
    both = one | other
    return len(one & other) / len(both) if both else 0.0


def leakage(a_text: str, b_text: str) -> Leakage:
    """Compare the appearance card of a track with its path card.

    Source: HERBench, section 7.2: token-level Jaccard similarity, at most 0.15.
    Departs: the paper does not say what a token is; both readings are given. The words are those of English.

    >>> leakage("A tall man in a red coat.", "The man walks to the left.").shared
    ('man',)
    """
    one, other = content_words(a_text), content_words(b_text)
    shared = one & other
    return Leakage(
        raw=jaccard(frozenset(words_in(a_text)), frozenset(words_in(b_text))),
        content=jaccard(one, other),
        shared=tuple(sorted(shared)),
        repeated=tuple(sorted(shared & appearance_words(a_text) & appearance_words(b_text))),
    )
