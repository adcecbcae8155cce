"""Rankings whose prefixes nest, for rules that rank and for rules that do not."""

import numpy as np
from numpy.typing import NDArray

from vidence.ask.selection.uniform import Positions, midpoints
from vidence.contracts import RankingSelector, ScoringSelector, Selector
from vidence.media.clip import Clip
from vidence.records import Item


def spread(n: int) -> Positions:
    """Return 0 to n - 1 in an order whose prefixes are spread over the range: middle, quarters, eighths, ...

    The van der Corput sequence (bits of 1, 2, 3, ... read backwards as a binary fraction) times n,
    rounded down, each number once; 0 comes last.

    Source: van der Corput, Verteilungsfunktionen (1935).
    Departs: no.

    >>> spread(8).tolist()
    [4, 2, 6, 1, 5, 3, 7, 0]
    """
    n_bits = max(n - 1, 0).bit_length()
    counting = np.arange(1, 2**n_bits + 1, dtype=np.int64) % 2**n_bits
    reversed_bits = np.zeros_like(counting)
    for bit in range(n_bits):
        reversed_bits |= (counting >> bit & 1) << (n_bits - 1 - bit)
    scaled = reversed_bits * n >> n_bits
    first_seen = np.sort(np.unique(scaled, return_index=True)[1])
    order: Positions = scaled[first_seen][:n]
    return order


def by_score(scores: NDArray[np.float64], among: Positions | None = None) -> Positions:
    """Return positions by decreasing score; the earlier first if scores are equal.

    Args:
        scores: shape (n_candidates,).
        among: the positions to order, ascending; None for all of them.
    """
    kept = np.arange(len(scores), dtype=np.int64) if among is None else among
    return kept[np.argsort(-scores[kept], kind="stable")]


def evenly(n_candidates: int, n_frames: int) -> Positions:
    """Return a ranking for uninformative scores: the middles of equal segments, ordered by `spread`.

    >>> evenly(100, 4).tolist()
    [62, 37, 87, 12]
    """
    middles = midpoints(n_candidates, n_frames)
    return middles[spread(len(middles))]


def ranked(
    selector: Selector, clip: Clip, item: Item, *, n_frames: int, scores: NDArray[np.float64] | None = None
) -> Positions:
    """Return any selector's choice under a budget, best first, without repeats, so that prefixes nest.

    A `RankingSelector` is asked for its own order. The choice of any other, which is in the
    order of time, is put in the order of `spread`: the first k are spread over all of it.

    Args:
        selector: the rule.
        clip: the frames.
        item: the question.
        n_frames: the budget, the longest prefix that will be wanted.
        scores: one for each candidate of a selector that goes by scores, shape (n_candidates,).

    Returns:
        Positions in `clip`, shape (n,).

    Source: HERBench, section 3.4 wants a ranking and its released code calls the rule again for
        every k.
    Departs: no.

    Raises:
        UsageError: `n_frames` is not positive, or the selector wants scores and has none.
        DataError: what the selector raises.
    """
    if scores is not None and isinstance(selector, ScoringSelector):
        return selector.rank(clip, item, n_frames=n_frames, scores=scores)
    if isinstance(selector, RankingSelector):
        return selector.rank(clip, item, n_frames=n_frames)
    chosen = np.unique(selector.select(clip, item, n_frames=n_frames))
    return chosen[spread(len(chosen))]
