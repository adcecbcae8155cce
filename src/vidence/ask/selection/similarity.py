"""The frames that match the question best: ``similarity:blip-itm:WEIGHTS``."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vidence.ask.selection import _rules, ranking, scored
from vidence.contracts import ScoringSelector
from vidence.records import Item

# The released code cuts the question at as many tokens.
_DEFAULTS = scored.Defaults(grid="herbench-2fps", max_tokens={"blip-itm": 512, "blip-itc": 512})


class Best:
    """The `n_frames` candidates with the highest scores, shown in the order of time.

    Source: HERBench, section 5.1 and released code (Vanilla-BLIP: 2 candidates per second, question cut
        at 512 tokens); the paper says cosine similarity (``blip-itc``), the code takes the probability
        of a match (``blip-itm``).
    Departs: where scores are equal the earlier frame wins; the released code leaves it to an unstable
        sort. Scores that are all the same give uniform frames.
    """

    version = 1
    repeats = False
    takes_constant = False

    def ranked(self, scores: NDArray[np.float64], n_frames: int, *, item: Item) -> _rules.Positions:
        """Positions by falling score, at most `n_frames`."""
        return ranking.by_score(scores)[:n_frames]

    def shown(self, scores: NDArray[np.float64], n_frames: int, *, item: Item) -> _rules.Positions:
        """The same in the order of time."""
        return np.sort(self.ranked(scores, n_frames, item=item))


def create(argument: str, options: Mapping[str, str]) -> ScoringSelector:
    """The selector; the argument gives the scores, such as ``blip-itm:WEIGHTS``.

    Raises:
        UsageError: an unknown option, a bad value, or not exactly one source of scores.
        DataError: a file of scores that cannot be used.
    """
    wishes = scored.read_wishes("similarity", argument, options, defaults=_DEFAULTS, own={})
    return scored.ByScores(Best(), wishes)
