"""Picking in turns from rankings with weights changed by chance."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.seeing.trackrank import TERMS, DiversitySettings, Ranking, Weights, pick_diverse, weighted


def ranking(terms):
    terms = np.asarray(terms, np.float64)
    return Ranking(
        track_ids=tuple(f"t{i}" for i in range(len(terms))),
        measured=terms,
        terms=terms,
        scores=weighted(terms, np.array(Weights().values)),
    )


class Fixed:
    """Chance that is written down: the factors, row by row."""

    def __init__(self, rows):
        self.rows = np.array(rows, np.float64)
        self.asked = []

    def uniform(self, low, high, size):
        self.asked.append((low, high, size))
        return self.rows


def two_terms(*rows):
    """Terms of which only duration (weight 2) and centre distance (2.4) are not 0."""
    terms = np.zeros((len(rows), len(TERMS)))
    terms[:, TERMS.index("duration")] = [row[0] for row in rows]
    terms[:, TERMS.index("centre_distance")] = [row[1] for row in rows]
    return ranking(terms)


def test_two_rankings_take_turns_by_hand():
    # Scores unchanged, times 14.1: t0 2.0 + 0.48 = 2.48, t1 1.8 + 0.72 = 2.52, t2 0.2 + 2.4 = 2.6,
    # t3 1.0 + 1.2 = 2.2. Factors 1.5 for duration and 0.5 for distance:
    # t0 3 + 0.24, t1 2.7 + 0.36, t2 0.3 + 1.2, t3 1.5 + 0.6: t0 3.24, t1 3.06, t3 2.1, t2 1.5.
    # The other way round: t0 1 + 0.72, t1 0.9 + 1.08, t2 0.1 + 3.6, t3 0.5 + 1.8: t2, t3, t1, t0.
    found = two_terms((1.0, 0.2), (0.9, 0.3), (0.1, 1.0), (0.5, 0.5))
    long, far = np.ones(10), np.ones(10)
    long[[TERMS.index("duration"), TERMS.index("centre_distance")]] = 1.5, 0.5
    far[[TERMS.index("duration"), TERMS.index("centre_distance")]] = 0.5, 1.5
    chance = Fixed([long, far])
    picks = pick_diverse(found, rng=chance, settings=DiversitySettings(n_tracks=3, n_rankings=2))
    assert chance.asked == [(0.5, 1.5, (2, 10))]
    # First turn: t0 by the one, t2 by the other; second turn: t1 by the one. Best first by unchanged score.
    assert [(p.track_id, p.ranking, p.turn) for p in picks] == [("t2", 1, 0), ("t1", 0, 1), ("t0", 0, 0)]
    assert [p.score * 14.1 for p in picks] == pytest.approx([2.6, 2.52, 2.48])


def test_a_ranking_passes_over_what_another_has_picked():
    # Both rankings like t0 best, then t1, then t2.
    found = two_terms((1, 1), (0.5, 0.5), (0.1, 0.1))
    picks = pick_diverse(
        found, rng=Fixed(np.ones((2, 10))), settings=DiversitySettings(n_tracks=3, n_rankings=2)
    )
    assert [(p.track_id, p.ranking, p.turn) for p in picks] == [("t0", 0, 0), ("t1", 1, 0), ("t2", 0, 1)]


def test_the_usual_numbers():
    usual = DiversitySettings()
    assert (usual.n_tracks, usual.n_rankings, usual.least_factor, usual.most_factor) == (8, 8, 0.5, 1.5)


@pytest.mark.parametrize(
    ("n", "n_wanted", "n_picked"), [(0, 8, 0), (1, 8, 1), (5, 8, 5), (20, 6, 6), (20, 10, 10)]
)
def test_as_many_as_asked_for_each_once(n, n_wanted, n_picked, rng):
    found = ranking(rng.uniform(size=(n, 10)))
    picks = pick_diverse(found, rng=rng, settings=DiversitySettings(n_tracks=n_wanted))
    assert len({p.track_id for p in picks}) == len(picks) == n_picked
    assert [p.score for p in picks] == sorted((p.score for p in picks), reverse=True)


def test_the_same_seed_picks_the_same_and_another_one_something_else():
    found = ranking(np.random.default_rng(1).uniform(size=(200, 10)))

    def picked(seed):
        return [p.track_id for p in pick_diverse(found, rng=np.random.default_rng(seed))]

    assert picked(5) == picked(5)
    assert any(picked(5) != picked(seed) for seed in range(6, 12))


def test_tracks_that_stand_out_in_one_term_are_found_where_the_plain_ranking_has_none_of_them():
    # Ten all-rounders, and one that only lasts long, just behind them all.
    rounders = np.full((10, 10), 0.8) - 0.001 * np.arange(10)[:, None]
    loner = np.zeros((1, 10))
    loner[
        0, [TERMS.index(t) for t in ("duration", "associated_objects", "centre_distance", "appearance")]
    ] = 1.0
    loner[0, [TERMS.index(t) for t in ("scene_coverage", "motion")]] = 1.0
    found = ranking(np.concatenate([rounders, loner]))
    assert found.best_first[-1] == "t10"
    hits = sum(
        "t10" in {p.track_id for p in pick_diverse(found, rng=np.random.default_rng(seed))}
        for seed in range(20)
    )
    assert hits >= 18


@pytest.mark.parametrize(
    "settings", [{"n_tracks": 0}, {"n_rankings": 0}, {"least_factor": 0}, {"least_factor": 2.0}]
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(UsageError, match="expected counts of 1 or above"):
        DiversitySettings(**settings)
