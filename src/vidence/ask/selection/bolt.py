"""BOLT: frames sampled in proportion to their scores by inverse transform sampling: ``bolt:clip:WEIGHTS``."""

from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.selection import ranking
from vidence.ask.selection.scored import ByScores, GridName, ScoredSettings, Scores
from vidence.ask.selection.uniform import Positions
from vidence.contracts import ScoringSelector
from vidence.errors import DataError, UsageError
from vidence.records import Item

# The exponent that stands for none in the released code.
NO_POWER = -1.0
# With fewer draws the released grid has its points at the ends or on top of each other.
FEWEST_ON_RELEASED_GRID = 3


class Settings(ScoredSettings):
    """Options of the selector.

    Source: BOLT; power 3 as for Video-MME in the paper's runs.
    Departs: no.
    """

    grid: GridName = "bolt-1fps"
    mode: Annotated[
        Literal["official", "repaired"],
        Meta(description="official: the released code; repaired: no frame comes twice"),
    ] = "repaired"
    power: Annotated[
        float, Meta(description="exponent that sharpens the scores, above 0, or -1 for none")
    ] = 3.0
    duplicates: Annotated[
        Literal["replace", "drop"],
        Meta(description="what becomes of a frame sampled twice: the nearest free frame instead, or nothing"),
    ] = "replace"

    def __post_init__(self) -> None:
        if self.power <= 0 and self.power != NO_POWER:
            raise UsageError(f"bolt: power={self.power:g}; expected a number above 0, or -1 for none")


def _sampled(scores: Scores, points: NDArray[np.float64], power: float) -> Positions:
    """Return the first candidate at which the cumulative share of scores reaches each point."""
    weights = scores - scores.min()
    weights = weights / weights.max()
    if power != NO_POWER:
        weights = weights**power
    return np.searchsorted(np.cumsum(weights / weights.sum()), points, side="left").astype(np.int64)


def official(scores: Scores, n_frames: int, power: float) -> Positions:
    """Return what the released code samples, in float64: ascending, shape (n_frames,), with repeats.

    One draw may give n_candidates, which is no candidate; two draws give one frame twice; scores that are
    all the same give the first frame `n_frames` times; the frame with the lowest score is hardly sampled.

    Args:
        scores: shape (n_candidates,).
        n_frames: how many to draw.
        power: the exponent that sharpens the scores; -1 for none.

    Source: BOLT, released code (inverse transform sampling).
    Departs: no.

    >>> official(np.array([0.0, 1.0, 4.0, 1.0]), 4, 1.0).tolist()
    [2, 2, 2, 2]
    """
    points = np.linspace(1 / n_frames, 1 - 1 / n_frames, n_frames)
    if scores.min() == scores.max():
        # 0/0: the released code goes on with shares that are not numbers, which are above every point.
        return np.zeros(n_frames, np.int64)
    return _sampled(scores, points, power)


def _replaced_repeats(sampled: Positions, n_candidates: int) -> Positions:
    """Move every repeat to the closest free candidate, the earlier of two; unordered."""
    distinct, n_times = np.unique(sampled, return_counts=True)
    free = np.ones(n_candidates, np.bool_)
    free[distinct] = False
    counting = np.arange(n_candidates, dtype=np.int64)
    for wanted in np.repeat(distinct, n_times - 1):
        distances = np.where(free, np.abs(counting - wanted), n_candidates)
        free[np.argmin(distances)] = False
    return np.flatnonzero(~free).astype(np.int64)


def repaired(scores: Scores, n_frames: int, power: float, *, drop_repeats: bool = False) -> Positions:
    """Sample as the paper does, but distinct frames within the video, best first.

    Fewer than 3 draws are made at the middles of equal shares. A draw beyond the last candidate takes
    the last. A frame that is sampled again is replaced by the nearest that is free, the earlier of two.
    First in the ranking is what was sampled most often, then the higher score, then the earlier frame.

    Args:
        scores: shape (n_candidates,), not all the same.
        n_frames: how many to draw.
        power: the exponent that sharpens the scores; -1 for none.
        drop_repeats: put nothing in the place of what is sampled again.

    Returns:
        Shape (min(n_frames, n_candidates),), or less with `drop_repeats`; each position once.

    Source: BOLT, inverse transform sampling.
    Departs: as above.

    >>> repaired(np.array([0.0, 1.0, 4.0, 1.0]), 3, 1.0).tolist()
    [2, 1, 3]
    """
    n_candidates = len(scores)
    n_draws = min(n_frames, n_candidates)
    if scores.min() == scores.max():
        return ranking.evenly(n_candidates, n_draws)
    if n_draws < FEWEST_ON_RELEASED_GRID:
        points = (np.arange(n_draws) + 0.5) / n_draws
    else:
        points = np.linspace(1 / n_draws, 1 - 1 / n_draws, n_draws)
    sampled = np.minimum(_sampled(scores, points, power), n_candidates - 1)
    n_times = np.bincount(sampled, minlength=n_candidates)
    chosen = np.unique(sampled) if drop_repeats else _replaced_repeats(sampled, n_candidates)
    return chosen[np.lexsort((chosen, -scores[chosen], -n_times[chosen]))]


class Bolt(ByScores):
    """The paper's rule with distinct frames.

    Source: BOLT; see `repaired`.
    Departs: see `repaired`. Scores that are all the same give uniform frames.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__("bolt", settings)
        self._power, self._drops = settings.power, settings.duplicates == "drop"

    def ranked(self, scores: Scores, n_frames: int, *, item: Item) -> Positions:
        """Return positions, best first; min(n_frames, n_candidates) unless repeats are dropped."""
        return repaired(scores, n_frames, self._power, drop_repeats=self._drops)


class BoltOfficial(Bolt):
    """The released code's sample, including repeats; a sample beyond the video is an error.

    Source: BOLT, released code; see `official`.
    Departs: the code goes on with a frame after the last one, which cannot be shown. The ranking, which
        the code does not have, is by how often a frame is sampled, then by score.
    """

    repeats = True
    takes_constant = True

    def ranked(self, scores: Scores, n_frames: int, *, item: Item) -> Positions:
        """Return the positions of `shown`, each once: the most often sampled first, then by score."""
        distinct, n_times = np.unique(self.shown(scores, n_frames, item=item), return_counts=True)
        return distinct[np.lexsort((distinct, -scores[distinct], -n_times))]

    def shown(self, scores: Scores, n_frames: int, *, item: Item) -> Positions:
        """Return positions in time order, exactly `n_frames`, with repeats.

        Raises:
            DataError: the code draws a frame that does not exist.
        """
        sampled = official(scores, n_frames, self._power)
        if sampled[-1] >= len(scores):
            raise DataError(
                f"item {item.item_id!r}: BOLT as released draws candidate {sampled[-1]} of {len(scores)} "
                f"(they count from 0) for a budget of {n_frames}; use mode=repaired, or a budget of 2 or more"
            )
        return sampled


def create(settings: Settings) -> ScoringSelector:
    """Create the selector; ``mode=official`` is the released code, ``mode=repaired`` has no repeats.

    Raises:
        UsageError: an unknown grid, or not exactly one source of scores.
        DataError: a file of scores that cannot be used.
    """
    return BoltOfficial(settings) if settings.mode == "official" else Bolt(settings)
