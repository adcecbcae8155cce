"""TrackRank: its terms, its scores, and diverse picks."""

from dataclasses import replace

import numpy as np
import pytest

from subjects.tracks import things, track, video, walk
from vidence.errors import DataError, UsageError
from vidence.seeing import trackrank as terms
from vidence.seeing.boxes import hull_area
from vidence.seeing.trackrank import (
    TERMS,
    DiversitySettings,
    Ranking,
    RankSettings,
    Weights,
    order_by,
    over_largest,
    pick_diverse,
    rank,
    weighted,
)

TIMES = np.arange(100) / 10


def test_duration_is_time_on_the_clock_and_not_a_count():
    one = track("a", [(0, 0, 1, 1)] * 3, frames=[2, 3, 12])
    assert terms.duration_s(one, TIMES) == pytest.approx(1.0)
    # The same frames of a video whose rate drops to one per second behind frame 3.
    uneven = np.concatenate([np.arange(4) / 10, 0.3 + np.arange(1, 20)])
    assert terms.duration_s(one, uneven) == pytest.approx(9.1)
    assert terms.duration_s(track("b", [(0, 0, 1, 1)]), TIMES) == 0


def test_size_shape_displacement_and_path():
    assert terms.mean_area_px(track("a", [(0, 0, 10, 20), (0, 0, 30, 20)])) == 400
    # 0.5 and 1.5: mean 1, standard deviation 0.5.
    assert terms.aspect_spread(track("a", [(0, 0, 5, 10), (0, 0, 15, 10)])) == 0.5
    # 3-4-5 out, then straight back: 10 long, 0 away.
    there_and_back = walk("a", [(0, 0), (3, 4), (0, 0)])
    assert terms.displacement_px(there_and_back) == 0
    assert terms.path_px(there_and_back) == 10
    corner = walk("b", [(0, 0), (30, 0), (30, 40)])
    assert terms.displacement_px(corner) == 50
    assert terms.path_px(corner) == 70


def test_the_hull_of_one_box_is_its_area_and_that_of_two_by_hand():
    assert terms.hull_area_px(track("a", [(5, 5, 15, 25)])) == pytest.approx(200)
    # 10x10 at the origin and at (20, 20): the 30x30 square without two triangles of 20x20 / 2.
    assert terms.hull_area_px(track("b", [(0, 0, 10, 10), (20, 20, 30, 30)])) == pytest.approx(500)
    # A row of boxes: 110 x 10.
    row = track("c", [(10 * i, 0, 10 * i + 10, 10) for i in range(11)])
    assert terms.hull_area_px(row) == pytest.approx(1100)
    # A 1x1 box moved by (5000, 5000): the hull is the two boxes' halves plus the strip, 1 + 2 * 5000.
    far = track("a", [(0, 0, 1, 1), (5000, 5000, 5001, 5001)])
    assert terms.hull_area_px(far) == pytest.approx(10001, rel=1e-9)
    for nothing in ([], [[5.0, 5, 5, 5]], [[0.0, 0, 9, 0], [20, 0, 30, 0]]):
        assert hull_area(np.array(nothing).reshape(-1, 4)) == 0


@pytest.mark.parametrize("box", [(5, 5, 5, 5), (0, 0, 10, 0)])
def test_boxes_without_area_are_refused_with_a_way_out(box):
    with pytest.raises(DataError, match="refine the tracks first"):
        terms.hull_area_px(track("a", [box]))


def test_confidence_counts_detected_boxes_only():
    one = track("a", [(0, 0, 1, 1)] * 3, confidences=[0.6, 0.0, 0.8], detected=[True, False, True])
    assert terms.mean_confidence(one) == pytest.approx(0.7)
    for score in (-1.0, float("nan")):  # files without scores
        assert terms.mean_confidence(track("a", [(0, 0, 1, 1)] * 2, confidences=[score] * 2)) == 0
    assert terms.mean_confidence(track("a", [(0, 0, 1, 1)], detected=[False])) == 0


def test_acceleration_by_hand():
    # Steps of 0, 10, 10, 0 px in 0.1 s: 0, 100, 100, 0 px/s; changes 100, 0, -100 in 0.1 s each:
    # 1000, 0, 1000 px/s2, on average 2000 / 3.
    one = walk("a", [(0, 0), (0, 0), (10, 0), (20, 0), (20, 0)])
    assert terms.mean_acceleration(one, TIMES) == pytest.approx(2000 / 3)
    # 0 px in 0.1 s, 20 px in 0.2 s: from 0 to 100 px/s in (0.1 + 0.2) / 2 = 0.15 s.
    one = walk("a", [(0, 0), (0, 0), (20, 0)])
    assert terms.mean_acceleration(one, np.array([0, 0.1, 0.3])) == pytest.approx(100 / 0.15)
    assert terms.mean_acceleration(walk("a", [(0, 0), (99, 0)]), TIMES) == 0


def test_an_even_pace_has_no_acceleration_however_the_frames_come():
    times = np.array([0, 0.1, 0.2, 0.7, 0.8, 2.0])
    pace = walk("a", [(100 * t, 50 * t) for t in times])
    assert terms.mean_acceleration(pace, times) == 0
    gap = track("b", [(float(f), 0, f + 1.0, 1) for f in (0, 1, 2, 50, 51)], frames=[0, 1, 2, 50, 51])
    assert terms.mean_acceleration(gap, TIMES) == 0


def test_kinds_of_things_are_counted_once_each_and_people_never():
    person = track("a", [(0, 0, 10, 10)] * 3)
    found = things(
        [
            (0, "bag", (0, 0, 10, 5)),  # IoU 0.5
            (1, "bag", (0, 0, 10, 9)),  # the same kind again
            (1, "dog", (5, 0, 15, 10)),  # IoU 1/3
            (2, "person", (0, 0, 10, 10)),
            (2, "phone", (4, 4, 6, 6)),  # IoU 0.04
            (50, "car", (0, 0, 10, 10)),  # when the person is gone
        ]
    )
    assert terms.count_objects([person], found, over=0.2).tolist() == [2]
    assert terms.count_objects([person], found, over=0.4).tolist() == [1]
    assert terms.count_objects([person], things([]), over=0.2).tolist() == [0]
    found = things([(0, "bag", (0, 0, 2, 1))])  # 2 of 10 square pixels: exactly 0.2, which is not more
    person = track("a", [(0, 0, 10, 1)])
    assert [terms.count_objects([person], found, over=at).tolist() for at in (0.2, 0.19)] == [[0], [1]]
    found = replace(
        things([(0, name, (0, 0, 10, 10)) for name in ("bag", "case")]), class_names={0: "bag", 1: "bag"}
    )
    assert terms.count_objects([track("a", [(0, 0, 10, 10)])], found, over=0.2).tolist() == [1]


PAPER = dict(zip(TERMS, (2.0, 1.0, 2.0, 2.4, 1.0, 2.2, 1.5, 0.8, 0.7, 0.5), strict=True))


def only(**weights):
    """Settings in which only these terms count."""
    return RankSettings(weights=Weights(**{name: weights.get(name, 0.0) for name in TERMS}))


def test_the_weights_are_those_of_the_paper():
    assert dict(zip(TERMS, Weights().values, strict=True)) == PAPER
    assert sum(Weights().values) == pytest.approx(14.1)


@pytest.mark.parametrize("weights", [{"motion": -1.0}, dict.fromkeys(PAPER, 0.0), {"size": float("nan")}])
def test_weights_that_make_no_sense_are_refused(weights):
    with pytest.raises(UsageError, match="expected numbers of 0 or above"):
        Weights(**weights)


def test_the_weighted_mean():
    terms = np.array([[1.0, 0.5], [0.0, 1.0]])
    assert weighted(terms, np.array([3.0, 1.0])).tolist() == [3.5 / 4, 1 / 4]
    # A column without anything above 0 is 0.
    assert over_largest(np.array([[2.0, 0, -1], [4.0, 0, -2]])).tolist() == [[0.5, 0, 0], [1, 0, 0]]


def test_no_tracks_and_one_track():
    none = rank(video([]), appearances={})
    assert (none.best_first, none.scores.shape, none.terms.shape) == ((), (0,), (0, 10))
    # One track has 1 in every term that is not 0 by itself.
    one = rank(video([walk("a", [(50, 50), (60, 50), (70, 50)])]))
    assert one.absent == ("associated_objects", "appearance")
    assert one.terms[0, [TERMS.index(name) for name in one.absent]].tolist() == [0, 0]
    assert one.scores[0] == pytest.approx((2 + 1 + 2.4 + 1 + 1.5 + 0.8 + 0.7 + 0.5) / 14.1)


def test_the_steadier_track_is_the_smoother_one():
    even, shaky = [(10 * i, 0) for i in range(9)], [(10 * i, 5 * (i % 2)) for i in range(9)]
    found = rank(video([walk("even", even), walk("shaky", shaky)]), settings=only(smoothness=1.0))
    assert dict(zip(found.track_ids, found.scores.tolist(), strict=True)) == {"even": 1.0, "shaky": 0.0}
    # Width over height 1 and 9: standard deviation 4, 1 - 4 = -3, cut off at 0.
    wild = track("wild", [(0, 0, 10, 10), (0, 0, 90, 10)])
    clipped = rank(video([track("calm", [(0, 0, 10, 10)] * 2), wild]))
    assert clipped.terms[:, TERMS.index("aspect_stability")].tolist() == [1, 0]


def test_equal_scores_go_by_first_frame_and_then_by_name():
    assert order_by(np.array([0.2, 0.7, 0.2, 0.7])) == [1, 3, 0, 2]
    twins = [walk(name, [(50, 50)] * 5, first=first) for name, first in (("b", 3), ("c", 0), ("a", 3))]
    assert rank(video(twins)).best_first == ("c", "a", "b")


def test_rarity_is_measured_from_the_corpus_where_it_is_given():
    looks = {"a": np.array([1.0, 0, 0]), "b": np.array([0, 1.0, 0]), "c": np.array([0, 1.0, 0])}
    tracks = [walk(name, [(50, 50)] * 5) for name in looks]
    column = TERMS.index("appearance")
    # Video mean (1/3, 2/3, 0): a is 2/3 + 2/3 away, b and c 1/3 + 1/3.
    ours = rank(video(tracks), appearances=looks)
    assert ours.measured[:, column].tolist() == pytest.approx([4 / 3, 2 / 3, 2 / 3])
    # In a corpus where everybody looks like a, b and c are the rare ones.
    corpus = rank(video(tracks), appearances=looks, corpus_mean=np.array([1.0, 0, 0]))
    assert corpus.measured[:, column].tolist() == [0, 2, 2]
    # Of one no picture could be read: no rarity.
    some = rank(video(tracks[:2]), appearances={"a": looks["a"]}, corpus_mean=looks["b"])
    assert some.terms[:, column].tolist() == [1, 0]


def test_histograms_made_differently_are_refused():
    tracks = [walk("a", [(50, 50)] * 5), walk("b", [(50, 50)] * 5)]
    with pytest.raises(UsageError, match="lengths"):
        rank(video(tracks), appearances={"a": np.zeros(3), "b": np.zeros(4)})
    with pytest.raises(UsageError, match="the corpus mean has 4 values"):
        rank(video(tracks), appearances={"a": np.zeros(3)}, corpus_mean=np.zeros(4))


@pytest.mark.parametrize("box", [(5, 5, 5, 9), (float("nan"), 0, 1, 1), (9, 9, 1, 1)])
def test_tracks_that_were_not_cleaned_are_refused(box):
    with pytest.raises(DataError, match=r"1 boxes of the track 'a' have no area.* in frame 1; refine"):
        rank(video([track("a", [(0, 0, 5, 5), box])]))


def ranking(terms):
    terms = np.asarray(terms, np.float64)
    names, scores = tuple(f"t{i}" for i in range(len(terms))), weighted(terms, np.array(Weights().values))
    return Ranking(track_ids=names, measured=terms, terms=terms, scores=scores)


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
    # Both rankings like t0 best, then t1, then t2: one passes over what the other has picked.
    usual = DiversitySettings(n_tracks=3, n_rankings=2)
    picks = pick_diverse(
        two_terms((1, 1), (0.5, 0.5), (0.1, 0.1)), rng=Fixed(np.ones((2, 10))), settings=usual
    )
    assert [(p.track_id, p.ranking, p.turn) for p in picks] == [("t0", 0, 0), ("t1", 1, 0), ("t2", 0, 1)]


@pytest.mark.parametrize(
    ("n", "n_wanted", "n_picked"), [(0, 8, 0), (1, 8, 1), (5, 8, 5), (20, 6, 6), (20, 10, 10)]
)
def test_as_many_as_asked_for_each_once(n, n_wanted, n_picked, rng):
    found = ranking(rng.uniform(size=(n, 10)))
    picks = pick_diverse(found, rng=rng, settings=DiversitySettings(n_tracks=n_wanted))
    assert len({p.track_id for p in picks}) == len(picks) == n_picked
    assert [p.score for p in picks] == sorted((p.score for p in picks), reverse=True)


def test_tracks_that_stand_out_in_one_term_are_found_where_the_plain_ranking_has_none_of_them():
    # Ten all-rounders, and one that only lasts long, just behind them all.
    rounders = np.full((10, 10), 0.8) - 0.001 * np.arange(10)[:, None]
    loner, high = np.zeros((1, 10)), ("duration", "associated_objects", "centre_distance", "appearance")
    loner[0, [TERMS.index(t) for t in (*high, "scene_coverage", "motion")]] = 1.0
    found = ranking(np.concatenate([rounders, loner]))
    assert found.best_first[-1] == "t10"
    picks = [pick_diverse(found, rng=np.random.default_rng(seed)) for seed in range(20)]
    assert sum("t10" in {p.track_id for p in some} for some in picks) >= 18
    assert picks[5] == pick_diverse(found, rng=np.random.default_rng(5))
    assert any(picks[5] != some for some in picks[6:12])


@pytest.mark.parametrize(
    "settings", [{"n_tracks": 0}, {"n_rankings": 0}, {"least_factor": 0}, {"least_factor": 2.0}]
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(UsageError, match="expected counts of 1 or above"):
        DiversitySettings(**settings)
