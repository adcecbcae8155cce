"""Boxes of a size that nobody can have where they stand; and where nothing can be said."""

import numpy as np

from vidence.seeing.limbs import out_of_scale
from vidence.seeing.tracks import PERSON, Detections

HEIGHT = 576


def seen(feet, heights, sure) -> Detections:
    feet, heights = np.asarray(feet, float), np.asarray(heights, float)
    n = len(feet)
    return Detections(
        frame_indices=np.arange(n),
        boxes_px=np.stack([np.zeros(n), feet - heights, 0.4 * heights, feet], axis=1),
        confidences=np.asarray(sure, float),
        class_ids=np.zeros(n, np.int64),
        class_names={0: PERSON},
    )


def street(n=200, *, slope=0.25, start=20.0, noise=0.05):
    rng = np.random.default_rng(0)
    feet = rng.uniform(200, 500, n)
    return feet, (start + slope * feet) * np.exp(rng.normal(0, noise, n))


def judged(more, *, sure=0.5, height_px=HEIGHT, **how):
    feet, heights = street(**how)
    extra_feet, extra_heights = zip(*more, strict=True)
    found = seen([*feet, *extra_feet], [*heights, *extra_heights], [0.95] * len(feet) + [sure] * len(more))
    is_out = out_of_scale(found, height_px=height_px)
    assert not is_out[: len(feet)].any()
    return is_out[len(feet) :].tolist()


def test_giants_and_dwarfs_are_out_and_children_are_not():
    # At 400 px a person is 120 px high.
    assert judged([(400, 120), (400, 70), (400, 200), (400, 55), (400, 260)]) == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_who_is_near_may_be_larger():
    assert judged([(220, 75), (500, 145), (220, 160)]) == [False, False, True]


def test_a_sure_box_and_one_that_the_frame_cuts_are_left_alone():
    assert judged([(400, 300)], sure=0.95) == [False]
    assert judged([(HEIGHT, 400)]) == [False]
    assert judged([(400, 400)]) == [False]


def test_nothing_is_said_of_few_boxes_or_where_sizes_do_not_follow_the_place():
    assert judged([(400, 260)], n=90) == [False]
    assert judged([(400, 500)], noise=0.4) == [False]


def test_all_at_one_place_have_one_height():
    feet = np.full(150, 400.0)
    found = seen([*feet, 400], [*(100 + np.arange(150) % 5), 300], [0.95] * 150 + [0.5])
    assert out_of_scale(found, height_px=HEIGHT).tolist() == [False] * 150 + [True]


def test_who_stands_still_does_not_tell_how_high_people_are_far_behind():
    rng = np.random.default_rng(0)
    feet, heights = 300 + rng.normal(0, 5, 150), 200 + rng.normal(0, 4, 150)
    # Somebody 70 px high: far behind the one who stands, and beside.
    found = seen([*feet, 220, 300], [*heights, 70, 70], [0.95] * 150 + [0.5, 0.5])
    assert out_of_scale(found, height_px=HEIGHT).tolist() == [False] * 150 + [False, True]


def test_no_boxes():
    assert out_of_scale(seen([], [], []), height_px=HEIGHT).tolist() == []
