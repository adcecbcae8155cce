"""Texts that say nearly the same, found exactly and without comparing every pair."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record

SHINGLE = 5
LEAST = 0.8
_PART = 4
_NONE = np.zeros(0, np.int64)
_BETWEEN = re.compile(r"[\W_]+")


class Near(Record, kw_only=True):
    """Two texts, by their positions (`first` < `second`), and how much they resemble each other."""

    first: int
    second: int
    resemblance: float


def normal_form(text: str) -> str:
    r"""The text in small letters, with single blanks for whatever is neither a letter nor a digit.

    >>> normal_form("  What's the colour,\nthen? ")
    'what s the colour then'
    """
    return _BETWEEN.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def shingles(text: str, *, size: int = SHINGLE) -> frozenset[str]:
    """Every piece of `size` characters of the normal form; of a shorter text the whole.

    Source: Broder, On the resemblance and containment of documents (1997), section 2; pieces of five
        characters for short texts after Leskovec, Rajaraman & Ullman, Mining of Massive Datasets, 3.2.2.
    Departs: characters in place of words.

    >>> sorted(shingles("A cat!", size=4))
    [' cat', 'a ca']

    Raises:
        UsageError: a size below 1.
    """
    if size < 1:
        raise UsageError(f"shingles of {size} characters; expected 1 or more, for example {SHINGLE}")
    plain = normal_form(text)
    return frozenset(plain[i : i + size] for i in range(max(1, len(plain) - size + 1)))


def resemblance(first: str, second: str) -> float:
    """How many of the shingles of both texts they have in common, from 0 to 1.

    Source: Broder (1997), section 2 (the Jaccard index of the two sets).
    Departs: as for `shingles`.

    >>> resemblance("What colour is the car?", "what colour is the car")
    1.0
    """
    ours, theirs = shingles(first), shingles(second)
    return len(ours & theirs) / len(ours | theirs)


def near_pairs(texts: Sequence[str], *, least: float = LEAST) -> tuple[Near, ...]:
    """Every pair of texts with a resemblance of `least` or more, in the order of their positions.

    The result is exact. With the shingles of every text in one order, the rarest first, two sets that
    resemble each other by t or more have at least ``a = ceil(t n)`` shingles in common (n being the size of
    either), and the first l of these lie among the first ``n - a + l`` of both. So only texts that share l
    shingles there are compared; l is a quarter of a, or 1.

    Args:
        texts: the texts, best each once: of many equal ones every pair is found.
        least: above 0, at most 1.

    Raises:
        UsageError: `least` out of its range.

    Source: Chaudhuri, Ganti & Kaushik, A primitive operator for similarity joins (2006), section 4 (prefix
        filter); Wang, Li & Feng, Can we beat the prefix filtering? (2012), section 3 (prefixes that share l).
    Departs: l is not chosen for each set but a fixed share.
    """
    if not 0 < least <= 1:
        raise UsageError(f"resemblance {least}; expected a number above 0 and up to 1, for example {LEAST}")
    index = _Index.of([shingles(text) for text in texts], least=least)
    found: list[Near] = []
    for first in range(len(texts)):
        seconds = index.candidates(first)
        alike = index.resemblances(first, seconds)
        found += [
            Near(first=first, second=second, resemblance=value)
            for second, value in zip(seconds.tolist(), alike.tolist(), strict=True)
            if value >= least
        ]
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class _Index:
    """The sets as rows of numbers, and which rows have each number in their prefixes.

    Shapes, for n sets of m numbers in all over v different ones: `rows` (m,) with the ends of rows in
    `ends` (n + 1,), ascending within each; `holders` the rows of each number with their ends in `held`
    (v + 1,); `prefixes` and `shared` (n,).
    """

    rows: NDArray[np.int64]
    ends: NDArray[np.int64]
    holders: NDArray[np.int64]
    held: NDArray[np.int64]
    prefixes: NDArray[np.int64]
    shared: NDArray[np.int64]
    least: float

    @classmethod
    def of(cls, sets: Sequence[frozenset[str]], *, least: float) -> "_Index":
        numbered = _numbered(sets)
        sizes = np.array([len(one) for one in numbered], np.int64)
        # The slack keeps ceil from rounding up what is whole but for rounding errors.
        common = np.ceil(least * sizes - 1e-9).astype(np.int64)
        shared = np.maximum(1, common // _PART)
        prefixes = sizes - common + shared
        tops = [one[:n] for one, n in zip(numbered, prefixes.tolist(), strict=True)]
        numbers = np.concatenate([_NONE, *tops])
        owners = np.repeat(np.arange(len(tops)), prefixes)
        order = np.argsort(numbers, kind="stable")
        n_numbers = int(max((one[-1] + 1 for one in numbered), default=0))
        return cls(
            rows=np.concatenate([_NONE, *numbered]),
            ends=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            holders=owners[order],
            held=np.searchsorted(numbers[order], np.arange(n_numbers + 1)),
            prefixes=prefixes,
            shared=shared,
            least=least,
        )

    def row(self, i: int) -> NDArray[np.int64]:
        """The numbers of one set."""
        return self.rows[self.ends[i] : self.ends[i + 1]]

    def candidates(self, i: int) -> NDArray[np.int64]:
        """Later sets that may resemble this one enough, in order."""
        top = self.row(i)[: self.prefixes[i]].tolist()
        held = np.concatenate([self.holders[self.held[n] : self.held[n + 1]] for n in top])
        counts = np.bincount(held[held > i] - i - 1, minlength=len(self.prefixes) - i - 1)
        sizes = np.diff(self.ends)
        ours, theirs = sizes[i], sizes[i + 1 :]
        is_near = counts >= np.minimum(self.shared[i], self.shared[i + 1 :])
        is_near &= np.minimum(ours, theirs) >= self.least * np.maximum(ours, theirs) - 1e-9
        return np.flatnonzero(is_near) + i + 1

    def resemblances(self, i: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """How much this set resembles each of the others, shape (n_others,)."""
        ours = self.row(i)
        n_shared = np.array(
            [len(np.intersect1d(ours, self.row(j), assume_unique=True)) for j in others.tolist()], np.float64
        )
        sizes = (self.ends[others + 1] - self.ends[others]).astype(np.float64)
        return n_shared / (len(ours) + sizes - n_shared)


def _numbered(sets: Sequence[frozenset[str]]) -> list[NDArray[np.int64]]:
    """The shingles of each text as ascending numbers, the rarest shingle first."""
    counts: dict[str, int] = {}
    for one in sets:
        for shingle in one:
            counts[shingle] = counts.get(shingle, 0) + 1
    ranks = {shingle: i for i, shingle in enumerate(sorted(counts, key=lambda s: (counts[s], s)))}
    return [np.sort(np.array([ranks[shingle] for shingle in one], np.int64)) for one in sets]


def gather(pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """What pairs join, directly or through others: groups of two or more, each in order, the first first.

    >>> gather([(3, 5), (0, 1), (1, 2)])
    ((0, 1, 2), (3, 5))
    """
    heads: dict[int, int] = {}

    def head(one: int) -> int:
        heads.setdefault(one, one)
        while heads[one] != one:
            heads[one] = heads[heads[one]]
            one = heads[one]
        return one

    for first, second in pairs:
        low, high = sorted((head(first), head(second)))
        heads[high] = low
    groups: dict[int, list[int]] = {}
    for one in sorted(heads):
        groups.setdefault(head(one), []).append(one)
    return tuple(tuple(group) for group in groups.values())
