"""Frames of the annotated evidence, and as many well apart from them."""

from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.selection.evidence import AnnotatedEvidence, pieces
from vidence.ask.selection.uniform import Positions, check_budget, midpoints
from vidence.contracts import Selector
from vidence.media.clip import Clip
from vidence.records import Item, Record


class Settings(Record):
    """Options of the selector."""

    gap_s: Annotated[float, Meta(ge=0, description="seconds from all evidence, at least")] = 2.0


class EvidenceApart(Selector):
    """Half of the budget as in ``evidence:only``, and as many frames apart from all evidence.

    The frames apart are the middles of equal parts of those at least `gap_s` seconds from every frame of the
    evidence; if there are fewer, all of them. All are distinct, in time order. `frame-shares` withholds them
    as a placebo.
    """

    version = 1
    budget = "at most"

    def __init__(self, *, gap_s: float) -> None:
        self.gap_s = gap_s

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> Positions:
        """Return at most `n_frames` positions in `clip`, in time order; half of an odd budget rounds down.

        Raises:
            UsageError: `n_frames` is not positive.
            DataError: see `vidence.ask.selection.evidence.pieces`.
        """
        check_budget(n_frames)
        if not clip.n_frames:
            return np.empty(0, np.int64)
        chosen = AnnotatedEvidence(only=True).select(clip, item, n_frames=max(1, n_frames // 2))
        apart = self._apart(clip, item)
        n_apart = min(len(chosen), len(apart), n_frames - len(chosen))
        others = apart[midpoints(len(apart), n_apart)] if n_apart else apart[:0]
        return np.unique(np.concatenate([chosen, others]))

    def _apart(self, clip: Clip, item: Item) -> NDArray[np.int64]:
        """Return the positions far enough from every frame of the evidence."""
        of_evidence = np.concatenate([group for piece in pieces(clip, item) for group in piece])
        evidence_s = np.sort(clip.times_s[of_evidence])
        after = np.searchsorted(evidence_s, clip.times_s)
        last, first = np.maximum(after - 1, 0), np.minimum(after, len(evidence_s) - 1)
        away_s = np.abs(clip.times_s - evidence_s[np.array([last, first])])
        return np.flatnonzero(away_s.min(axis=0) >= self.gap_s).astype(np.int64)


def create(settings: Settings) -> EvidenceApart:
    """Create the selector."""
    return EvidenceApart(gap_s=settings.gap_s)
