"""Adaptive keyframe sampling: relevance, and coverage by bins: ``aks:blip-itm:WEIGHTS?mode=repaired``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence import option_readers
from vidence.ask.selection import _rules, ranking, scored
from vidence.contracts import ScoringSelector
from vidence.errors import DataError
from vidence.records import Item, Record

Scores = NDArray[np.float64]

# LAVIS cuts the question at as many tokens; with other embedders the released code leaves it to them.
_DEFAULTS = scored.Defaults(grid="aks-1fps", max_tokens={"blip-itm": 35})
_OWN = {
    "mode": option_readers.one_of("official", "repaired"),
    "t1": option_readers.number,
    "t2": option_readers.number,
    "all_depth": option_readers.whole_from_zero,
    "ratio": option_readers.positive_whole,
}


class AksSettings(Record, kw_only=True):
    """The paper's parameters, under the names of its code.

    A segment is kept whole when the mean of its best scores exceeds its mean by more than `t1` and its
    standard deviation exceeds `t2` (scores from 0 to 1 over the video); otherwise it is halved, at most
    `all_depth` times. Of the candidates every `ratio`-th is looked at.

    Source: AKS, released code (defaults).
    Departs: no.
    """

    t1: float = 0.8
    t2: float = -100.0
    all_depth: int = 5
    ratio: int = 1


@dataclass(frozen=True, kw_only=True)
class _Bin:
    """A segment of the video that is not halved further; `order` holds its positions, best first."""

    depth: int
    order: _rules.Positions


@dataclass(frozen=True, kw_only=True)
class _Looked:
    """Scores from 0 to 1 over the video, and their positions, best first: both shape (n,)."""

    scores: Scores
    order: _rules.Positions

    @classmethod
    def at(cls, scores: Scores) -> Self:
        lowest, highest = np.min(scores), np.max(scores)
        scaled = (scores - lowest) / (highest - lowest)
        return cls(scores=scaled, order=ranking.by_score(scaled))


def _halved(looked: _Looked, *, budget: int, settings: AksSettings, all_depth: int) -> list[_Bin]:
    """The bins, in the order of time."""
    scores = looked.scores
    bins: list[_Bin] = []

    def look(start: int, end: int, *, depth: int, order: _rules.Positions) -> None:
        if depth >= all_depth or _is_peaky(scores[start:end], scores[order[:budget]], settings):
            bins.append(_Bin(depth=depth, order=order))
            return
        middle = start + (end - start) // 2
        look(start, middle, depth=depth + 1, order=order[order < middle])
        look(middle, end, depth=depth + 1, order=order[order >= middle])

    look(0, len(scores), depth=0, order=looked.order)
    return bins


def _is_peaky(segment: Scores, best: Scores, settings: AksSettings) -> bool:
    """Whether a segment, which is never empty, is kept whole: its best scores stand out."""
    return bool(np.mean(best) - np.mean(segment) > settings.t1 and np.std(segment) > settings.t2)


def official(scores: Scores, n_frames: int, settings: AksSettings) -> _rules.Positions:
    """What the released code chooses among the candidates: ascending, shape (n,).

    A bin of depth d gives int(n_frames / 2^d) frames: none at all where that is 0, and fewer than
    `n_frames` in all where it is no whole number. The budget of the whole also decides in every segment
    what counts as its best scores. With fewer candidates than `n_frames` all are taken.

    Args:
        scores: shape (n_candidates,).
        n_frames: the budget.
        settings: the paper's parameters.

    Source: AKS, released code (frame selection).
    Departs: scores that are all the same are refused; the released code divides by zero there.

    Raises:
        DataError: all scores are the same.

    >>> official(np.array([0.1, 0.9, 0.2, 0.8]), 2, AksSettings()).tolist()
    []
    """
    kept = np.arange(len(scores) // settings.ratio, dtype=np.int64) * settings.ratio
    if len(kept) < n_frames:
        return kept
    looked_at = scores[kept]
    if looked_at.min() == looked_at.max():
        raise DataError(
            f"all {len(looked_at)} scores are {looked_at[0]:g}, and AKS as released divides by their range; "
            "compute other scores, or use mode=repaired"
        )
    # Bins of this depth give nothing, and whatever they are halved into gives nothing either.
    all_depth = min(settings.all_depth, n_frames.bit_length())
    bins = _halved(_Looked.at(looked_at), budget=n_frames, settings=settings, all_depth=all_depth)
    chosen: _rules.Positions = np.concatenate([b.order[: n_frames // 2**b.depth] for b in bins])
    return kept[np.sort(chosen)]


def _filled(looked: _Looked, n_frames: int, settings: AksSettings) -> _rules.Positions:
    """Exactly min(n_frames, n_candidates) positions, in no order."""
    scores = looked.scores
    all_depth = min(settings.all_depth, n_frames.bit_length() - 1)
    bins = _halved(looked, budget=n_frames, settings=settings, all_depth=all_depth)
    given = [min(n_frames // 2**b.depth, len(b.order)) for b in bins]
    missing = min(n_frames, len(scores)) - sum(given)
    while missing:
        waiting = [i for i, b in enumerate(bins) if given[i] < len(b.order)]
        waiting.sort(key=lambda i: -scores[bins[i].order[given[i]]])
        for i in waiting[:missing]:
            given[i] += 1
        missing -= len(waiting[:missing])
    return np.concatenate([b.order[:n] for b, n in zip(bins, given, strict=True)])


def repaired(scores: Scores, n_frames: int, settings: AksSettings) -> _rules.Positions:
    """The same with every frame of the budget given out, best first: shape (min(n_frames, n),).

    The depth is at most floor(log2 n_frames), so that no bin is left without a frame. What rounding
    leaves over goes one by one to the bins whose next frame has the best score, each bin once before any
    bin twice. First in the ranking are the frames that are also chosen under a budget of 1, then of 2,
    4, 8 and so on; among those, the higher score, then the earlier frame.

    Args:
        scores: shape (n_candidates,), not all the same.
        n_frames: the budget.
        settings: the paper's parameters.

    Source: AKS, sections on relevance and coverage; the released code.
    Departs: as above. For a budget that is a power of two and a depth that it allows, the chosen frames
        are those of the released code.

    >>> np.sort(repaired(np.array([0.1, 0.9, 0.2, 0.8]), 2, AksSettings())).tolist()
    [1, 3]
    """
    kept = np.arange(0, len(scores), settings.ratio, dtype=np.int64)
    if len(kept) == 1 or (scores[kept] == scores[kept[0]]).all():
        return kept[ranking.evenly(len(kept), n_frames)]
    looked = _Looked.at(scores[kept])
    n_chosen = min(n_frames, len(kept))
    chosen = _filled(looked, n_chosen, settings)
    first_budget = np.full(len(kept), n_chosen)
    budget = 1 << (n_chosen.bit_length() - 1)
    while budget:
        if budget < n_chosen:
            first_budget[_filled(looked, budget, settings)] = budget
        budget //= 2
    return kept[chosen[np.lexsort((chosen, -looked.scores[chosen], first_budget[chosen]))]]


class Official:
    """What the released code gives, bit for bit, empty and short choices included.

    Source: AKS, released code; see `official`.
    Departs: scores that are all the same are refused. The ranking, which the code does not have, is by
        score.
    """

    version = 1
    repeats = False
    takes_constant = True

    def __init__(self, settings: AksSettings) -> None:
        self.settings = settings

    def ranked(self, scores: Scores, n_frames: int, *, item: Item) -> _rules.Positions:
        """What `shown` gives, by falling score."""
        return ranking.by_score(scores, self.shown(scores, n_frames, item=item))

    def shown(self, scores: Scores, n_frames: int, *, item: Item) -> _rules.Positions:
        """Positions in the order of time, possibly fewer than `n_frames`, or none.

        Raises:
            DataError: all scores are the same.
        """
        try:
            return official(scores, n_frames, self.settings)
        except DataError as error:
            raise DataError(f"item {item.item_id!r}: {error}") from None


class Repaired:
    """The paper's rule with the budget always filled.

    Source: AKS; see `repaired`.
    Departs: see `repaired`. Scores that are all the same give uniform frames.
    """

    version = 1
    repeats = False
    takes_constant = False

    def __init__(self, settings: AksSettings) -> None:
        self.settings = settings

    def ranked(self, scores: Scores, n_frames: int, *, item: Item) -> _rules.Positions:
        """Exactly min(n_frames, n_candidates) positions, best first."""
        return repaired(scores, n_frames, self.settings)

    def shown(self, scores: Scores, n_frames: int, *, item: Item) -> _rules.Positions:
        """The same in the order of time."""
        return np.sort(self.ranked(scores, n_frames, item=item))


def create(argument: str, options: Mapping[str, str]) -> ScoringSelector:
    """The selector; ``mode=official`` is the released code, ``mode=repaired`` (the default) fills the budget.

    Source: see `Official` and `Repaired`.
    Departs: see `Official` and `Repaired`.

    Raises:
        UsageError: an unknown option, a bad value, or not exactly one source of scores.
        DataError: a file of scores that cannot be used.
    """
    wishes = scored.read_wishes("aks", argument, options, defaults=_DEFAULTS, own=_OWN)
    own = dict(wishes.own)
    is_official = own.pop("mode", "repaired") == "official"
    settings = msgspec.convert(own, AksSettings)
    return scored.ByScores(Official(settings) if is_official else Repaired(settings), wishes)
