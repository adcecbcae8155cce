"""Eq. 3: weights, division by the largest, and two whole rankings by hand."""

import numpy as np
import pytest

from subjects.tracks import things, track, video, walk
from vidence.errors import DataError, UsageError
from vidence.seeing.trackrank import TERMS, RankSettings, Weights, order_by, over_largest, rank, weighted

PAPER = {
    "duration": 2.0,
    "size": 1.0,
    "associated_objects": 2.0,
    "centre_distance": 2.4,
    "motion": 1.0,
    "appearance": 2.2,
    "scene_coverage": 1.5,
    "confidence": 0.8,
    "smoothness": 0.7,
    "aspect_stability": 0.5,
}


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


def test_a_column_without_anything_above_0_is_0():
    found = over_largest(np.array([[2.0, 0, -1], [4.0, 0, -2]]))
    assert found.tolist() == [[0.5, 0, 0], [1, 0, 0]]


def test_the_weighted_mean():
    terms = np.array([[1.0, 0.5], [0.0, 1.0]])
    assert weighted(terms, np.array([3.0, 1.0])).tolist() == [3.5 / 4, 1 / 4]


def test_a_whole_ranking_by_hand():
    """Two people in 21 frames at 10 per second.

    still: 2.0 s, box 10x20 = 200, stands at (100, 100).
    goes: frames 0 to 10, 1.0 s, box 20x20 = 400, 10 px a frame to the right: 100 px away and long, hull
    120 x 20 = 2400; a dog on it (IoU 1) in frame 3.
    """
    still = track("still", [(95, 90, 105, 110)] * 21, confidences=[0.4] * 21)
    goes = track("goes", [(10.0 * i, 0, 10.0 * i + 20, 20) for i in range(11)], confidences=[0.8] * 11)
    looks = {"still": np.array([1.0, 0.0]), "goes": np.array([0.0, 1.0])}
    found = rank(video([still, goes], detections=things([(3, "dog", (30, 0, 50, 20))])), appearances=looks)
    row = found.track_ids.index
    # duration, size, objects, centre distance, motion, appearance (both 1 from the mean), coverage (200 and
    # 2400), confidence, smoothness (no acceleration: 1), aspect stability (never changes: 1)
    assert found.terms[row("still")].tolist() == pytest.approx([1, 0.5, 0, 0, 0, 1, 200 / 2400, 0.5, 1, 1])
    assert found.terms[row("goes")].tolist() == pytest.approx([0.5, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    # All but one of duration in the one; in the other 2 + 0.5 + 2.2 + a twelfth of 1.5 + 0.4 + 0.7 + 0.5.
    assert found.scores[row("still")] == pytest.approx(6.425 / 14.1)
    assert found.scores[row("goes")] == pytest.approx(13.1 / 14.1)
    assert found.best_first == ("goes", "still")
    assert found.absent == ()


def test_what_was_not_given_is_named_and_0():
    found = rank(video([walk("a", [(50, 50), (60, 50)])]))
    assert found.absent == ("associated_objects", "appearance")
    assert found.terms[0, [TERMS.index(name) for name in found.absent]].tolist() == [0, 0]


def test_no_tracks_and_one_track():
    none = rank(video([]), appearances={})
    assert (none.best_first, none.scores.shape, none.terms.shape) == ((), (0,), (0, 10))
    # One track has 1 in every term that is not 0 by itself.
    one = rank(video([walk("a", [(50, 50), (60, 50), (70, 50)])]))
    assert one.scores[0] == pytest.approx((2 + 1 + 2.4 + 1 + 1.5 + 0.8 + 0.7 + 0.5) / 14.1)


def test_the_steadier_track_is_the_smoother_one():
    even, shaky = [(10 * i, 0) for i in range(9)], [(10 * i, 5 * (i % 2)) for i in range(9)]
    found = rank(video([walk("even", even), walk("shaky", shaky)]), settings=only(smoothness=1.0))
    assert dict(zip(found.track_ids, found.scores.tolist(), strict=True)) == {"even": 1.0, "shaky": 0.0}


def test_a_wildly_changing_shape_is_cut_off_at_0():
    # Width over height 1 and 9: standard deviation 4, 1 - 4 = -3.
    wild = track("wild", [(0, 0, 10, 10), (0, 0, 90, 10)])
    calm = track("calm", [(0, 0, 10, 10)] * 2)
    column = TERMS.index("aspect_stability")
    clipped = rank(video([calm, wild]))
    assert clipped.terms[:, column].tolist() == [1, 0]
    free = rank(video([calm, wild]), settings=RankSettings(least_aspect_stability=-10))
    assert free.terms[:, column].tolist() == [1, -3]


def test_motion_as_printed_is_a_second_centre_distance():
    back = walk("back", [(0, 0), (30, 0), (0, 0)])
    away = walk("away", [(0, 0), (5, 0), (10, 0)])
    motion, distance = TERMS.index("motion"), TERMS.index("centre_distance")
    as_printed = rank(video([back, away]), settings=RankSettings(motion="displacement"))
    assert np.array_equal(as_printed.terms[:, motion], as_printed.terms[:, distance])
    ours = rank(video([back, away]))
    assert dict(zip(ours.track_ids, ours.terms[:, motion], strict=True)) == {"back": 1, "away": 10 / 60}


def test_duration_can_count_boxes():
    gap, full = track("gap", [(0, 0, 9, 9)] * 2, frames=[0, 100]), track("full", [(0, 0, 9, 9)] * 50)
    seconds = rank(video([gap, full]), settings=only(duration=1.0))
    assert seconds.best_first == ("gap", "full")
    boxes = RankSettings(weights=only(duration=1.0).weights, duration="boxes")
    assert rank(video([gap, full]), settings=boxes).best_first == ("full", "gap")


def test_small_things_count_by_their_own_area_where_wanted():
    person = walk("a", [(100, 100)] * 3, size=(50, 100))
    phone = things([(1, "phone", (95, 95, 105, 105))])
    column = TERMS.index("associated_objects")
    assert rank(video([person], detections=phone)).terms[0, column] == 0
    wanted = RankSettings(object_overlap="object-area")
    assert rank(video([person], detections=phone), settings=wanted).terms[0, column] == 1


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


def test_a_track_of_which_no_picture_could_be_read_has_no_rarity():
    tracks = [walk("a", [(50, 50)] * 5), walk("b", [(50, 50)] * 5)]
    looks = {"a": np.array([1.0, 0.0])}
    found = rank(video(tracks), appearances=looks, corpus_mean=np.array([0.0, 1.0]))
    assert found.terms[:, TERMS.index("appearance")].tolist() == [1, 0]


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
