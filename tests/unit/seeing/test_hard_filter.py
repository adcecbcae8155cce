"""The hard filter: each limit on both sides, and the reason that is given."""

import pytest

from subjects.tracks import track, walk
from vidence.seeing.cleaning import FilterSettings, why_dropped

PAPER = FilterSettings()


def reason(one, settings=PAPER, *, size=(1000, 1000)):
    why = why_dropped(one, settings, width_px=size[0], height_px=size[1])
    return "" if why is None else why.reason


def standing(n=20, *, centre=(500, 500), size=(55, 100), kind="person"):
    return walk("a", [centre] * n, size=size, kind=kind)


def test_the_limits_of_the_paper():
    assert (PAPER.class_name, PAPER.least_boxes, PAPER.least_area_px) == ("person", 20, 5500)
    assert (PAPER.margin, PAPER.least_frames_in_middle) == (0.1, 5)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (standing(), ""),
        (standing(kind="dog"), "not-a-person"),
        (standing(n=19), "too-short"),
        (standing(size=(55, 99.9)), "too-small"),
        (standing(centre=(99, 500)), "not-in-the-middle"),
        (standing(centre=(901, 500)), "not-in-the-middle"),
        (standing(centre=(500, 99)), "not-in-the-middle"),
        (standing(centre=(500, 901)), "not-in-the-middle"),
        (standing(centre=(100, 900)), ""),
        (standing(n=3, size=(1, 1), kind="dog"), "not-a-person"),
        (standing(n=3, size=(1, 1)), "too-short"),
    ],
    ids=str,
)
def test_each_limit_drops_with_its_own_reason_and_the_first_one_counts(one, expected):
    assert reason(one) == expected


def test_five_frames_in_the_middle_are_enough_wherever_they_are():
    def passing(n):
        centres = [(50, 500)] * 20
        for i in range(n):
            centres[3 * i] = (500, 500)
        return walk("a", centres)

    assert reason(passing(5)) == ""
    assert reason(passing(4)) == "not-in-the-middle"


def test_the_area_is_a_mean_over_the_boxes():
    # 10 boxes of 10,000 and 10 of 1,000 square pixels: 5,500.
    boxes = [(450, 450, 550, 550)] * 10 + [(490, 450, 500, 550)] * 10
    assert reason(track("a", boxes)) == ""
    assert reason(track("a", [*boxes[:9], *boxes[10:], boxes[-1]])) == "too-small"


def test_the_account_names_the_track_the_stage_and_what_was_seen():
    why = why_dropped(standing(n=7), PAPER, width_px=1000, height_px=1000)
    assert why is not None
    assert (why.what, why.stage, why.detail) == ("a", "hard-filter", "7 frames, at least 20")


def test_limits_are_parameters():
    small = FilterSettings(
        class_name="dog", least_boxes=2, least_area_px=4, margin=0.0, least_frames_in_middle=1
    )
    assert reason(standing(n=2, centre=(1, 1), size=(2, 2), kind="dog"), small) == ""
    assert reason(standing(), small) == "not-a-person"
