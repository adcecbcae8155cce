"""Texts that say nearly the same, found exactly and without comparing every pair; images that look alike."""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record
from vidence.text import normal_form

SHINGLE = 5
LEAST = 0.8
_PART = 4


class Near(Record):
    """Two texts, by their positions (`first` < `second`), and how much they resemble each other."""

    first: int
    second: int
    resemblance: float


def shingles(text: str) -> frozenset[str]:
    """Every piece of five characters of the normal form; of a shorter text the whole.

    Source: Broder, On the resemblance and containment of documents (1997), section 2; pieces of five
        characters for short texts after Leskovec, Rajaraman & Ullman, Mining of Massive Datasets, 3.2.2.
    Departs: characters in place of words.

    >>> sorted(shingles("A cat is"))
    [' cat ', 'a cat', 'at is', 'cat i']
    """
    plain = normal_form(text)
    return frozenset(plain[i : i + SHINGLE] for i in range(max(1, len(plain) - SHINGLE + 1)))


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
    sets = [shingles(text) for text in texts]
    counts = Counter(itertools.chain.from_iterable(sets))
    ranks = {shingle: i for i, shingle in enumerate(sorted(counts, key=lambda s: (counts[s], s)))}
    rows = [np.array(sorted(ranks[shingle] for shingle in entry), np.int64) for entry in sets]
    sizes = np.array([len(row) for row in rows], np.int64)
    # The slack keeps ceil from rounding up what is whole but for rounding errors.
    common = np.ceil(least * sizes - 1e-9).astype(np.int64)
    shared = np.maximum(1, common // _PART)
    prefixes = [row[:n] for row, n in zip(rows, (sizes - common + shared).tolist(), strict=True)]
    cells = np.concatenate([*prefixes, np.empty(0, np.int64)])
    owners = np.repeat(np.arange(len(rows)), [len(prefix) for prefix in prefixes])
    holders = owners[np.argsort(cells, kind="stable")]
    starts = np.searchsorted(np.sort(cells), np.arange(len(ranks) + 1))
    nears: list[Near] = []
    holds = np.zeros(len(ranks), bool)  # which shingles the second text has
    for second, prefix in enumerate(prefixes):
        met = [holders[starts[rank] : starts[rank + 1]] for rank in prefix]
        n_met = np.bincount(np.concatenate(met), minlength=second)[:second]
        candidates = np.flatnonzero((n_met > 0) & (n_met >= np.minimum(shared[:second], shared[second])))
        if len(candidates):
            holds[rows[second]] = True
            ends = np.cumsum(sizes[candidates])
            has = holds[np.concatenate([rows[first] for first in candidates])]
            holds[rows[second]] = False
            n_alike = np.add.reduceat(has, ends - sizes[candidates], dtype=np.int64)
            values = n_alike / (sizes[candidates] + sizes[second] - n_alike)
            nears += [
                Near(first=int(first), second=second, resemblance=float(value))
                for first, value in zip(candidates, values, strict=True)
                if value >= least
            ]
    return tuple(sorted(nears, key=lambda near: (near.first, near.second)))


_HASH_ROWS, _HASH_COLUMNS = 8, 9


def difference_hash(image: NDArray[np.uint8]) -> int:
    """64 bits of an RGB picture: whether each of 8 by 8 patches is darker than the one to its right.

    Source: Krawetz, Kind of Like That (2013), the hash dHash.
    Departs: patches are means, not samples of a reduced picture.

    Raises:
        UsageError: a picture of fewer than 9 by 8 pixels.

    >>> bin(difference_hash(np.tile(np.arange(90, dtype=np.uint8)[None, :, None], (80, 1, 3)))).count("1")
    64
    """
    height, width = image.shape[:2]
    if height < _HASH_ROWS or width < _HASH_COLUMNS:
        raise UsageError(f"a picture of {width}x{height} px; expected {_HASH_COLUMNS}x{_HASH_ROWS} or more")
    grey = image.astype(np.float64).mean(axis=2)
    rows = np.arange(_HASH_ROWS) * height // _HASH_ROWS
    columns = np.arange(_HASH_COLUMNS) * width // _HASH_COLUMNS
    sums = np.add.reduceat(np.add.reduceat(grey, rows, axis=0), columns, axis=1)
    sizes = np.outer(np.diff([*rows, height]), np.diff([*columns, width]))
    patches = sums / sizes
    bits = (patches[:, :-1] < patches[:, 1:]).reshape(-1)
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def gather(pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Return the groups of two or more that pairs join, directly or through others, sorted.

    >>> gather([(3, 5), (0, 1), (1, 2)])
    ((0, 1, 2), (3, 5))
    """
    heads: dict[int, int] = {}

    def head(other: int) -> int:
        heads.setdefault(other, other)
        while heads[other] != other:
            heads[other] = heads[heads[other]]
            other = heads[other]
        return other

    for first, second in pairs:
        low, high = sorted((head(first), head(second)))
        heads[high] = low
    groups: dict[int, list[int]] = {}
    for number in sorted(heads):
        groups.setdefault(head(number), []).append(number)
    return tuple(tuple(group) for group in groups.values())
