"""The ten terms by hand, each on its own."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from subjects.tracks import things, track, walk
from vidence.errors import DataError
from vidence.seeing import trackrank as terms
from vidence.seeing.boxes import hull_area

TIMES = np.arange(100) / 10


def test_duration_is_time_on_the_clock_and_not_a_count():
    one = track("a", [(0, 0, 1, 1)] * 3, frames=[2, 3, 12])
    assert terms.duration_s(one, TIMES) == pytest.approx(1.0)
    # The same frames of a video whose rate drops to one per second behind frame 3.
    uneven = np.concatenate([np.arange(4) / 10, 0.3 + np.arange(1, 20)])
    assert terms.duration_s(one, uneven) == pytest.approx(9.1)
    assert terms.duration_s(track("b", [(0, 0, 1, 1)]), TIMES) == 0


def test_size_is_the_mean_area():
    assert terms.mean_area_px(track("a", [(0, 0, 10, 20), (0, 0, 30, 20)])) == 400


def test_displacement_and_path():
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


def test_thin_boxes_far_along_a_diagonal_keep_their_area():
    # A 1x1 box moved by (5000, 5000): the hull is the two boxes' halves plus the strip, 1 + 2 * 5000.
    far = track("a", [(0, 0, 1, 1), (5000, 5000, 5001, 5001)])
    assert terms.hull_area_px(far) == pytest.approx(10001, rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 300])
def test_the_hull_is_that_of_qhull(n, rng):
    for way in (rng.uniform(0, 500, (n, 2)), np.cumsum(rng.normal(3, 2, (n, 2)), axis=0)):
        boxes = np.concatenate([way, way + rng.uniform(1, 80, (n, 2))], axis=1)
        corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
        assert hull_area(boxes) == pytest.approx(ConvexHull(corners).volume, rel=1e-12)


def test_no_box_encloses_nothing():
    assert hull_area(np.zeros((0, 4))) == 0
    assert hull_area(np.array([[5.0, 5, 5, 5]])) == 0
    assert hull_area(np.array([[0.0, 0, 9, 0], [20, 0, 30, 0]])) == 0


@pytest.mark.parametrize("box", [(5, 5, 5, 5), (0, 0, 10, 0)])
def test_boxes_without_area_are_refused_with_a_way_out(box):
    with pytest.raises(DataError, match="refine the tracks first"):
        terms.hull_area_px(track("a", [box]))


def test_confidence_counts_detected_boxes_only():
    one = track("a", [(0, 0, 1, 1)] * 3, confidences=[0.6, 0.0, 0.8], detected=[True, False, True])
    assert terms.mean_confidence(one) == pytest.approx(0.7)


@pytest.mark.parametrize("score", [-1.0, float("nan")])
def test_files_without_scores_have_confidence_0(score):
    assert terms.mean_confidence(track("a", [(0, 0, 1, 1)] * 2, confidences=[score] * 2)) == 0
    assert terms.mean_confidence(track("a", [(0, 0, 1, 1)], detected=[False])) == 0


def test_acceleration_by_hand():
    # Steps of 0, 10, 10, 0 px in 0.1 s: 0, 100, 100, 0 px/s; changes 100, 0, -100 in 0.1 s each:
    # 1000, 0, 1000 px/s2, on average 2000 / 3.
    one = walk("a", [(0, 0), (0, 0), (10, 0), (20, 0), (20, 0)])
    assert terms.mean_acceleration(one, TIMES) == pytest.approx(2000 / 3)


def test_acceleration_takes_the_time_between_the_middles_of_two_steps():
    # 0 px in 0.1 s, 20 px in 0.2 s: from 0 to 100 px/s in (0.1 + 0.2) / 2 = 0.15 s.
    one = walk("a", [(0, 0), (0, 0), (20, 0)])
    assert terms.mean_acceleration(one, np.array([0, 0.1, 0.3])) == pytest.approx(100 / 0.15)


def test_an_even_pace_has_no_acceleration_however_the_frames_come():
    times = np.array([0, 0.1, 0.2, 0.7, 0.8, 2.0])
    pace = walk("a", [(100 * t, 50 * t) for t in times])
    assert terms.mean_acceleration(pace, times) == 0
    gap = track("b", [(float(f), 0, f + 1.0, 1) for f in (0, 1, 2, 50, 51)], frames=[0, 1, 2, 50, 51])
    assert terms.mean_acceleration(gap, TIMES) == 0


def test_two_boxes_have_no_acceleration():
    assert terms.mean_acceleration(walk("a", [(0, 0), (99, 0)]), TIMES) == 0


def test_the_spread_of_width_over_height():
    # 0.5 and 1.5: mean 1, standard deviation 0.5.
    assert terms.aspect_spread(track("a", [(0, 0, 5, 10), (0, 0, 15, 10)])) == 0.5


def test_kinds_of_things_are_counted_once_each_and_people_never():
    person = track("a", [(0, 0, 10, 10)] * 3)
    found = things(
        [
            (0, "bag", (0, 0, 10, 5)),  # IoU 0.5
            (1, "bag", (0, 0, 10, 9)),  # the same kind again
            (1, "dog", (5, 0, 15, 10)),  # IoU 1/3
            (2, "person", (0, 0, 10, 10)),
            (2, "phone", (4, 4, 6, 6)),  # IoU 0.04, yet wholly inside
            (50, "car", (0, 0, 10, 10)),  # when the person is gone
        ]
    )
    assert terms.count_objects([person], found, over=0.2, overlap="iou").tolist() == [2]
    assert terms.count_objects([person], found, over=0.2, overlap="object-area").tolist() == [3]
    assert terms.count_objects([person], found, over=0.4, overlap="iou").tolist() == [1]


def test_the_overlap_must_be_more_than_the_limit():
    # 2 of 10 square pixels: exactly 0.2.
    person = track("a", [(0, 0, 10, 1)])
    found = things([(0, "bag", (0, 0, 2, 1))])
    assert terms.count_objects([person], found, over=0.2, overlap="iou").tolist() == [0]
    assert terms.count_objects([person], found, over=0.19, overlap="iou").tolist() == [1]


def test_no_things_at_all():
    assert terms.count_objects(
        [track("a", [(0, 0, 1, 1)])], things([]), over=0.2, overlap="iou"
    ).tolist() == [0]


def test_two_classes_of_one_name_are_one_kind():
    found = things([(0, "bag", (0, 0, 10, 10)), (0, "case", (0, 0, 10, 10))])
    renamed = type(found)(
        frame_indices=found.frame_indices,
        boxes_px=found.boxes_px,
        confidences=found.confidences,
        class_ids=found.class_ids,
        class_names={0: "bag", 1: "bag"},
    )
    one = track("a", [(0, 0, 10, 10)])
    assert terms.count_objects([one], renamed, over=0.2, overlap="iou").tolist() == [1]
