"""The frames that best match the question: ``similarity:blip-itm:WEIGHTS``."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from vidence.ask.selection import ranking
from vidence.ask.selection.scored import ByScores, GridName, ScoredSettings, Scores
from vidence.ask.selection.uniform import Positions
from vidence.contracts import ScoringSelector
from vidence.records import Item


class Settings(ScoredSettings):
    """Options of the selector."""

    # The released code cuts the question at as many tokens.
    cuts: ClassVar[Mapping[str, int]] = MappingProxyType({"blip-itm": 512, "blip-itc": 512})

    grid: GridName = "herbench-2fps"


class Best(ByScores):
    """The `n_frames` candidates with the highest scores, in time order.

    Source: HERBench, section 5.1 and released code (Vanilla-BLIP: 2 candidates per second, question cut
        at 512 tokens); the paper says cosine similarity (``blip-itc``), the code takes the probability
        of a match (``blip-itm``).
    Departs: where scores are equal the earlier frame wins; the released code leaves it to an unstable
        sort. Scores that are all the same give uniform frames.
    """

    def ranked(self, scores: Scores, n_frames: int, *, item: Item) -> Positions:
        """Return at most `n_frames` positions by decreasing score."""
        return ranking.by_score(scores)[:n_frames]


def create(settings: Settings) -> ScoringSelector:
    """Create the selector; the argument names the scores, such as ``blip-itm:WEIGHTS``.

    Raises:
        UsageError: an unknown grid, or not exactly one source of scores.
        DataError: a file of scores that cannot be used.
    """
    return Best("similarity", settings)
