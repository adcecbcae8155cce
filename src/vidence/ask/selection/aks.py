"""Adaptive keyframe sampling: relevance, and coverage by bins: ``aks:blip-itm:WEIGHTS?mode=repaired``."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from msgspec import Meta

from vidence.ask.selection import ranking
from vidence.ask.selection.scored import ByScores, GridName, ScoredSettings, Scores
from vidence.ask.selection.uniform import Positions
from vidence.contracts import ScoringSelector
from vidence.errors import DataError
from vidence.records import Item


class Settings(ScoredSettings):
    """Options of the selector; the parameters of the paper have the names of its code.

    A segment is kept whole when the mean of its best scores exceeds its mean by more than `t1` and its
    standard deviation exceeds `t2` (scores from 0 to 1 over the video); otherwise it is halved.

    Source: AKS, released code (defaults).
    Departs: no.
    """

    # LAVIS cuts the question at as many tokens; with other embedders the released code leaves it to them.
    cuts: ClassVar[Mapping[str, int]] = MappingProxyType({"blip-itm": 35})

    grid: GridName = "aks-1fps"
    mode: Annotated[
        Literal["official", "repaired"],
        Meta(description="official: the released code, bit for bit; repaired: the budget is always filled"),
    ] = "repaired"
    t1: Annotated[float, Meta(description="least gap of means of a segment that is kept whole")] = 0.8
    t2: Annotated[float, Meta(description="least standard deviation of such a segment")] = -100.0
    all_depth: Annotated[int, Meta(ge=0, description="how often a segment is halved, at most")] = 5
    ratio: Annotated[int, Meta(ge=1, description="every which candidate is scaled at")] = 1


@dataclass(frozen=True, kw_only=True)
class _Bin:
    """A segment of the video that is not split further; `order` holds its positions, best first."""

    depth: int
    order: Positions


@dataclass(frozen=True, kw_only=True)
class _Scaled:
    """Scores from 0 to 1 over the video, and their positions, best first: both shape (n,)."""

    scores: Scores
    order: Positions

    @classmethod
    def at(cls, scores: Scores) -> Self:
        lowest, highest = np.min(scores), np.max(scores)
        scaled = (scores - lowest) / (highest - lowest)
        return cls(scores=scaled, order=ranking.by_score(scaled))


def _halved(scaled: _Scaled, *, budget: int, settings: Settings, all_depth: int) -> list[_Bin]:
    """Return the bins in time order."""
    scores = scaled.scores
    bins: list[_Bin] = []

    def divide(start: int, end: int, *, depth: int, order: Positions) -> None:
        if depth >= all_depth or _is_peaky(scores[start:end], scores[order[:budget]], settings):
            bins.append(_Bin(depth=depth, order=order))
            return
        middle = start + (end - start) // 2
        divide(start, middle, depth=depth + 1, order=order[order < middle])
        divide(middle, end, depth=depth + 1, order=order[order >= middle])

    divide(0, len(scores), depth=0, order=scaled.order)
    return bins


def _is_peaky(segment: Scores, best: Scores, settings: Settings) -> bool:
    """Whether a segment, which is never empty, is kept whole because its best scores stand out."""
    return bool(np.mean(best) - np.mean(segment) > settings.t1 and np.std(segment) > settings.t2)


def official(scores: Scores, n_frames: int, settings: Settings) -> Positions:
    """Return what the released code chooses among the candidates: ascending, shape (n,).

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

    >>> official(np.array([0.1, 0.9, 0.2, 0.8]), 2, Settings()).tolist()
    []
    """
    kept = np.arange(len(scores) // settings.ratio, dtype=np.int64) * settings.ratio
    if len(kept) < n_frames:
        return kept
    among = scores[kept]
    if among.min() == among.max():
        raise DataError(
            f"all {len(among)} scores are {among[0]:g}, and AKS as released divides by their range; "
            "compute other scores, or use mode=repaired"
        )
    # Bins of this depth give nothing, and whatever they are halved into gives nothing either.
    all_depth = min(settings.all_depth, n_frames.bit_length())
    bins = _halved(_Scaled.at(among), budget=n_frames, settings=settings, all_depth=all_depth)
    chosen: Positions = np.concatenate([b.order[: n_frames // 2**b.depth] for b in bins])
    return kept[np.sort(chosen)]


def _filled(scaled: _Scaled, n_frames: int, settings: Settings) -> Positions:
    """Return exactly min(n_frames, n_candidates) positions, unordered."""
    scores = scaled.scores
    all_depth = min(settings.all_depth, n_frames.bit_length() - 1)
    bins = _halved(scaled, budget=n_frames, settings=settings, all_depth=all_depth)
    given = [min(n_frames // 2**b.depth, len(b.order)) for b in bins]
    missing = min(n_frames, len(scores)) - sum(given)
    while missing:
        waiting = [i for i, b in enumerate(bins) if given[i] < len(b.order)]
        waiting.sort(key=lambda i: -scores[bins[i].order[given[i]]])
        for i in waiting[:missing]:
            given[i] += 1
        missing -= len(waiting[:missing])
    return np.concatenate([b.order[:n] for b, n in zip(bins, given, strict=True)])


def repaired(scores: Scores, n_frames: int, settings: Settings) -> Positions:
    """Return a choice with every frame of the budget used, best first: shape (min(n_frames, n),).

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

    >>> np.sort(repaired(np.array([0.1, 0.9, 0.2, 0.8]), 2, Settings())).tolist()
    [1, 3]
    """
    kept = np.arange(0, len(scores), settings.ratio, dtype=np.int64)
    if len(kept) == 1 or (scores[kept] == scores[kept[0]]).all():
        return kept[ranking.evenly(len(kept), n_frames)]
    scaled = _Scaled.at(scores[kept])
    n_chosen = min(n_frames, len(kept))
    chosen = _filled(scaled, n_chosen, settings)
    first_budget = np.full(len(kept), n_chosen)
    budget = 1 << (n_chosen.bit_length() - 1)
    while budget:
        if budget < n_chosen:
            first_budget[_filled(scaled, budget, settings)] = budget
        budget //= 2
    return kept[chosen[np.lexsort((chosen, -scaled.scores[chosen], first_budget[chosen]))]]


class Aks(ByScores):
    """The paper's rule, always using the whole budget.

    Source: AKS; see `repaired`.
    Departs: see `repaired`. Scores that are all the same give uniform frames.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__("aks", settings)
        self._settings = settings

    def ranked(self, scores: Scores, n_frames: int, *, item: Item) -> Positions:
        """Return exactly min(n_frames, n_candidates) positions, best first."""
        return repaired(scores, n_frames, self._settings)


class AksOfficial(Aks):
    """The released code's result, bit for bit, including empty and short selections.

    Source: AKS, released code; see `official`.
    Departs: scores that are all the same are refused. The ranking, which the code does not have, is by
        score.
    """

    takes_constant = True

    def ranked(self, scores: Scores, n_frames: int, *, item: Item) -> Positions:
        """Return the positions of `shown` by decreasing score."""
        return ranking.by_score(scores, self.shown(scores, n_frames, item=item))

    def shown(self, scores: Scores, n_frames: int, *, item: Item) -> Positions:
        """Return positions in time order, possibly fewer than `n_frames`, or none.

        Raises:
            DataError: all scores are the same.
        """
        try:
            return official(scores, n_frames, self._settings)
        except DataError as error:
            raise DataError(f"item {item.item_id!r}: {error}") from None


def create(settings: Settings) -> ScoringSelector:
    """Create the selector; ``mode=official`` is the released code, ``mode=repaired`` fills the budget.

    Raises:
        UsageError: an unknown grid, or not exactly one source of scores.
        DataError: a file of scores that cannot be used.
    """
    return AksOfficial(settings) if settings.mode == "official" else Aks(settings)
