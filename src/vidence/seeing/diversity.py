"""Tracks picked in turns from rankings with other weights, so that they stand out in different ways."""

import numpy as np

from vidence.errors import UsageError
from vidence.records import Record
from vidence.seeing.trackrank import TERMS, Ranking, Weights, order_by, weighted


class DiversitySettings(Record, kw_only=True):
    """How many tracks are picked, from how many rankings, and between which factors weights are changed.

    The paper picks 6 to 10 tracks; it does not say how many rankings.
    """

    n_tracks: int = 8
    n_rankings: int = 8
    least_factor: float = 0.5
    most_factor: float = 1.5

    def __post_init__(self) -> None:
        if self.n_tracks < 1 or self.n_rankings < 1 or not 0 < self.least_factor <= self.most_factor:
            raise UsageError(
                f"picking {self.n_tracks} tracks from {self.n_rankings} rankings with factors "
                f"{self.least_factor} to {self.most_factor}: expected counts of 1 or above, and factors "
                "above 0, the smaller one first (the paper has 6 to 10 tracks and 0.5 to 1.5)"
            )


class Pick(Record, kw_only=True):
    """A track that was picked: its score with the weights unchanged, and where it was found.

    `ranking` is the number of the ranking that it was picked from, `turn` the round, both from 0.
    """

    track_id: str
    score: float
    ranking: int
    turn: int


def pick_diverse(
    ranking: Ranking,
    *,
    rng: np.random.Generator,
    weights: Weights | None = None,
    settings: DiversitySettings | None = None,
) -> tuple[Pick, ...]:
    """Pick tracks in turns from several rankings whose weights are each multiplied by chance.

    In each ranking every weight is multiplied by a factor of its own. The rankings then take turns; each
    picks its best track that was not picked yet, until there are enough or no more.

    Returns:
        The picks by their unchanged score, best first; all tracks where there are not more than asked for.

    Source: HERBench, section 7.1 (diversity sampling: round-robin over perturbed weights, U(0.5, 1.5)).
    Departs: the number of rankings is not given (ours 8), nor how many of 6 to 10 tracks (ours 8). The
    ranking with unchanged weights takes no turn.
    """
    settings, weights = settings or DiversitySettings(), weights or Weights()
    factors = rng.uniform(settings.least_factor, settings.most_factor, size=(settings.n_rankings, len(TERMS)))
    orders = [iter(order_by(weighted(ranking.terms, np.array(weights.values) * row))) for row in factors]
    n_wanted = min(settings.n_tracks, len(ranking.track_ids))
    picked: dict[int, Pick] = {}
    turn = 0
    while len(picked) < n_wanted:
        for number, order in enumerate(orders):
            row = next((row for row in order if row not in picked), None)
            if row is not None and len(picked) < n_wanted:
                picked[row] = Pick(
                    track_id=ranking.track_ids[row],
                    score=float(ranking.scores[row]),
                    ranking=number,
                    turn=turn,
                )
        turn += 1
    return tuple(picked[row] for row in order_by(ranking.scores) if row in picked)
