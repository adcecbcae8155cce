"""T*: a search for the frames that show what the question is about: ``tstar?scores=FILE``."""

import hashlib
from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.contracts import ScoringSelector
from vidence.errors import DataError
from vidence.records import Item
from vidence.selection import _options, _rules, _scored
from vidence.selection._tstar_search import Found, Look, Objects, SearchSettings, Seen, run_search, search

# Scores are of one thing: whatever they were computed for.
SOUGHT = Objects(targets=("what is sought",))
_DEFAULTS = _scored.Defaults(grid="fps:1", max_tokens={})
_OWN = {
    "side": _options.positive_whole,
    "ratio": _options.share,
    "threshold": _options.share,
    "seed": _options.whole_from_zero,
    "pick": _options.one_of("best", "drawn"),
}


class Tstar:
    """T*'s search over scores that are known beforehand, each the confidence of a detector, 0 to 1.

    The search sees the score of a frame only when it looks at it, spends no more looks than the paper's,
    and spreads what it saw; the frames with the highest scores are chosen, or drawn in proportion.

    Source: T*, released code.
    Departs: here every candidate has its score before the search begins, so that the search saves no
        work; the paper's detector looks at mosaics of about a tenth of them (`_tstar_search.search` and
        `_tstar_mosaic.looking` do that for a detector). One confidence stands for targets and cues, and a
        frame alone has the score that it has in a mosaic. The highest scores are chosen unless
        ``pick=drawn``, with a seed.
    """

    version = 1
    repeats = False
    takes_constant = False

    def __init__(self, settings: SearchSettings, *, seed: int, draws: bool) -> None:
        self.settings = settings
        self.seed = seed
        self.draws = draws

    def found(self, scores: NDArray[np.float64], rng: np.random.Generator, *, item: Item) -> Found:
        """What the search ends with.

        Args:
            scores: confidences from 0 to 1, shape (n_candidates,).
            rng: draws where to look.
            item: the question, for messages.

        Raises:
            DataError: a score outside [0, 1].
        """
        if scores.min() < 0 or scores.max() > 1:
            raise DataError(
                f"item {item.item_id!r}: scores from {scores.min():g} to {scores.max():g}; T* takes the "
                "confidences of a detector, 0 to 1. Rescale them, or use a selector that takes any scores: "
                "similarity, aks, bolt"
            )
        label = SOUGHT.targets[0]

        def look(wanted: Look) -> Seen:
            return [{label: float(scores[frame])} for frame in wanted.frames]

        return run_search(search(len(scores), SOUGHT, settings=self.settings, rng=rng), look)

    def ranked(self, scores: NDArray[np.float64], n_frames: int, *, item: Item) -> _rules.Positions:
        """Positions, best first or in the order drawn; the same question gives the same ones."""
        # The same seed for every question would draw the same places in all of them.
        digest = hashlib.sha256(item.item_id.encode()).digest()
        rng = np.random.default_rng([self.seed, int.from_bytes(digest[:8], "big")])
        found = self.found(scores, rng, item=item)
        return found.drawn(n_frames, rng) if self.draws else found.best(n_frames)

    def shown(self, scores: NDArray[np.float64], n_frames: int, *, item: Item) -> _rules.Positions:
        """The same in the order of time."""
        return np.sort(self.ranked(scores, n_frames, item=item))


def create(argument: str, options: Mapping[str, str]) -> ScoringSelector:
    """The selector; the argument gives the scores, which must be from 0 to 1, such as ``blip-itm:WEIGHTS``.

    Source: see `Tstar`.
    Departs: see `Tstar`.

    Raises:
        UsageError: an unknown option, a bad value, or not exactly one source of scores.
        DataError: a file of scores that cannot be used.
    """
    wishes = _scored.read_wishes("tstar", argument, options, defaults=_DEFAULTS, own=_OWN)
    own = dict(wishes.own)
    seed, pick = int(str(own.pop("seed", 0))), own.pop("pick", "best")
    settings = msgspec.convert(own, SearchSettings)
    return _scored.ByScores(Tstar(settings, seed=seed, draws=pick == "drawn"), wishes)
