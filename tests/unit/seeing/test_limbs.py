"""Limbs that were taken for people, and boxes whose size does not fit their place."""

import numpy as np
import pytest

from subjects.tracks import track, walk
from vidence.seeing.limbs import out_of_scale, without_parts
from vidence.seeing.tracks import PERSON, Detections

WHOLE = walk("whole", [(200 + 3 * i, 300) for i in range(30)], size=(100, 300))


def names(*tracks):
    kept, dropped = without_parts(tracks)
    assert {t.track_id for t in kept} | {d.what for d in dropped} == {t.track_id for t in tracks}
    assert all(d.reason == "part-of-another" and "whole" in d.detail for d in dropped)
    return [t.track_id for t in kept]


def small(name, start, pace, frames, *, size=(24, 60)):
    """Somebody or something small, whose centre moves to the right by `pace` pixels a frame."""
    places = [(start[0] + pace * i, start[1]) for i in frames]
    return walk(name, places, size=size, first=max(frames[0], 0))


ARM = small("arm", (220, 260), 3, range(5, 25), size=(30, 80))


@pytest.mark.parametrize(
    ("tracks", "stay"),
    [
        ((ARM, WHOLE), ["whole"]),
        # Seen in frames 0 and 20 only: in between the person stands on a straight line.
        (
            (
                track("whole", [(0, 0, 100, 300), (40, 0, 140, 300)], frames=[0, 20]),
                small("arm", (40, 100), 2, range(20), size=(30, 80)),
            ),
            ["whole"],
        ),
        # A hand sticks out at the side.
        ((small("hand", (258, 300), 3, range(2, 28)), WHOLE), ["whole"]),
        # Who passes behind, and beside: never far outside the box, but not at one place of it.
        ((small("passer", (50, 260), 12, range(30), size=(30, 80)), WHOLE), ["passer", "whole"]),
        ((small("passer", (140, 300), 7.5, range(27)), WHOLE), ["passer", "whole"]),
        # Who was there before the other.
        (
            (
                small("early", (220, 260), 3, range(-20, 20), size=(30, 80)),
                walk("late", [(200 + 3 * i, 300) for i in range(20)], size=(100, 300), first=20),
            ),
            ["early", "late"],
        ),
        # Who stands clear of the box; half the size and sticking out; of one size; one alone; nobody.
        ((small("beside", (300, 300), 3, range(2, 28)), WHOLE), ["beside", "whole"]),
        ((small("child", (245, 360), 3, range(2, 28), size=(60, 170)), WHOLE), ["child", "whole"]),
        ((WHOLE, small("twin", (205, 302), 3, range(30), size=(90, 280))), ["whole", "twin"]),
        ((WHOLE,), ["whole"]),
        ((), []),
    ],
)
def test_limbs_of_a_person_go_and_people_stay(tracks, stay):
    assert names(*tracks) == stay


HEIGHT = 576


def seen(feet, heights, sure):
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


def judged(more, *, sure=0.5, height_px=HEIGHT, looks_per_s=30.0, **how):
    feet, heights = street(**how)
    extra_feet, extra_heights = zip(*more, strict=True)
    found = seen([*feet, *extra_feet], [*heights, *extra_heights], [0.95] * len(feet) + [sure] * len(more))
    is_out = out_of_scale(found, height_px=height_px, looks_per_s=looks_per_s)
    assert not is_out[: len(feet)].any()
    return is_out[len(feet) :].tolist()


def test_giants_and_dwarfs_are_out_and_children_are_not():
    # At 400 px a person is 120 px high.
    assert judged([(400, h) for h in (120, 70, 200, 55, 260)]) == [False] * 3 + [True] * 2


def test_who_is_near_may_be_larger():
    assert judged([(220, 75), (500, 145), (220, 160)]) == [False, False, True]


def test_a_sure_box_and_one_that_the_frame_cuts_are_left_alone():
    assert judged([(400, 300)], sure=0.95) == [False]
    assert judged([(HEIGHT, 400)]) == [False]
    assert judged([(400, 400)]) == [False]


def test_nothing_is_said_of_few_boxes_or_where_sizes_do_not_follow_the_place():
    assert judged([(400, 260)], n=90) == [False]
    assert judged([(400, 500)], noise=0.4) == [False]
    assert out_of_scale(seen([], [], []), height_px=HEIGHT, looks_per_s=30.0).tolist() == []
    # All at one place have one height.
    one = seen([400.0] * 151, [*(100 + np.arange(150) % 5), 300], [0.95] * 150 + [0.5])
    is_out = out_of_scale(one, height_px=HEIGHT, looks_per_s=30.0)
    assert is_out.tolist() == [False] * 150 + [True]


@pytest.mark.parametrize(("looks_per_s", "n"), [(60.0, 200), (30.0, 100), (10.0, 33), (3.0, 20), (0.0, 20)])
def test_so_many_seconds_of_sure_boxes_are_enough_however_often_somebody_looks(looks_per_s, n):
    assert judged([(400, 260)], n=n, looks_per_s=looks_per_s) == [True]
    assert judged([(400, 260)], n=n - 1, looks_per_s=looks_per_s) == [False]


def test_who_stands_still_does_not_tell_how_high_people_are_far_behind():
    rng = np.random.default_rng(0)
    feet, heights = 300 + rng.normal(0, 5, 150), 200 + rng.normal(0, 4, 150)
    # Somebody 70 px high: far behind the one who stands, and beside.
    found = seen([*feet, 220, 300], [*heights, 70, 70], [0.95] * 150 + [0.5, 0.5])
    assert out_of_scale(found, height_px=HEIGHT, looks_per_s=30.0).tolist() == [False] * 150 + [False, True]
