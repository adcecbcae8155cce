"""The steps that clean one track, and the hard filter."""

import numpy as np
import pytest

from subjects.tracks import track, walk
from vidence.errors import UsageError
from vidence.seeing.cleaning import FilterSettings, fill_gaps, keep_usable, smooth, why_dropped

NAN = float("nan")


def test_boxes_are_cut_to_the_frame():
    cut = keep_usable(track("a", [(-10, -5, 20, 30), (90, 40, 130, 70)]), width_px=100, height_px=50)
    assert cut.boxes_px.tolist() == [[0, 0, 20, 30], [90, 40, 100, 50]]
    assert keep_usable(cut, width_px=100, height_px=50) is cut


@pytest.mark.parametrize(
    "box",
    [
        (NAN, 0, 10, 10),
        (0, 0, float("inf"), 10),
        (10, 10, 10, 20),
        (10, 10, 20, 10),
        (20, 0, 10, 10),
        (10, 10, 10.5, 30),
        (120, 0, 140, 20),
        (10, -40, 20, -1),
        (99.5, 0, 120, 20),
    ],
    ids=["nan", "inf", "no width", "no height", "turned", "thin", "right of", "above", "sliver inside"],
)
def test_a_box_that_cannot_be_used_goes_and_the_others_stay(box):
    found = keep_usable(track("a", [(0, 0, 5, 5), box, (1, 1, 6, 6)]), width_px=100, height_px=50)
    assert found.frame_indices.tolist() == [0, 2]
    assert found.boxes_px.tolist() == [[0, 0, 5, 5], [1, 1, 6, 6]]
    assert keep_usable(track("a", [box]), width_px=100, height_px=50) is None


def test_a_short_gap_is_filled_evenly():
    # Frames 2 and 6: three frames between; left edge 0 -> 8 by 2 a frame, bottom 10 -> 30 by 5.
    gap = track("a", [(0, 0, 10, 10), (8, 0, 18, 30)], frames=[2, 6], confidences=[0.5, 0.7])
    full = fill_gaps(gap)
    assert full.frame_indices.tolist() == [2, 3, 4, 5, 6]
    assert full.boxes_px[:, 0].tolist() == [0, 2, 4, 6, 8]
    assert full.boxes_px[:, 3].tolist() == [10, 15, 20, 25, 30]
    assert full.is_detected.tolist() == [True, False, False, False, True]
    assert full.confidences.tolist() == [0.5, 0, 0, 0, 0.7]
    gaps = track("a", [(0, 0, 9, 9)] * 3, frames=[0, 50, 52])  # of two only the short one
    assert fill_gaps(gaps).frame_indices.tolist() == [0, 50, 51, 52]


@pytest.mark.parametrize(("next_frame", "n_boxes"), [(31, 32), (32, 2), (1, 2)])
def test_thirty_missing_frames_are_filled_and_one_more_is_not(next_frame, n_boxes):
    gap = track("a", [(0, 0, 10, 10), (8, 0, 18, 30)], frames=[0, next_frame])
    assert len(fill_gaps(gap).frame_indices) == n_boxes


@pytest.mark.parametrize(("frames", "sigma"), [(4, 1.0), (0, 1.0), (-1, 1.0), (5, 0.0), (5, NAN)])
def test_a_window_that_makes_no_sense_is_refused(frames, sigma):
    with pytest.raises(UsageError, match="odd number of frames"):
        smooth(walk("a", [(5, 5)] * 9), window_frames=frames, sigma=sigma)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_smoothing_is_the_gaussian_written_out_and_mirrors_at_the_ends(n, rng):
    boxes = np.cumsum(rng.uniform(1, 5, size=(n, 4)), axis=1)
    weights = np.exp([-2.0, -0.5, 0.0, -0.5, -2.0])
    mirrored = np.concatenate([boxes, boxes[::-1]] * 4)
    expected = sum(w * mirrored[2 * n + k : 3 * n + k] for k, w in zip(range(-2, 3), weights, strict=True))
    expected /= weights.sum()
    found = smooth(track("a", boxes.tolist()))
    np.testing.assert_allclose(found.boxes_px, expected, rtol=1e-12)
    assert found.is_detected.all()


def test_boxes_on_both_sides_of_an_open_gap_do_not_mix():
    here, there = (0.0, 0, 10, 10), (500.0, 0, 510, 10)
    parted = track("a", [here] * 3 + [there] * 3, frames=[0, 1, 2, 40, 41, 42])
    np.testing.assert_allclose(smooth(parted).boxes_px, parted.boxes_px)
    assert smooth(parted, window_frames=1) is parted


PAPER = FilterSettings()


def reason(one, settings=PAPER, *, size=(1000, 1000)):
    why = why_dropped(one, settings, width_px=size[0], height_px=size[1])
    return "" if why is None else why.reason


def standing(n=20, *, centre=(500, 500), size=(55, 100), kind="person"):
    return walk("a", [centre] * n, size=size, kind=kind)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (standing(), ""),
        (standing(kind="dog"), "not-a-person"),
        (standing(n=19), "too-short"),
        (standing(size=(55, 99.9)), "too-small"),
        (track("half", [(450, 450, 550, 550)] * 10 + [(490, 450, 500, 550)] * 10), ""),
        (track("less", [(450, 450, 550, 550)] * 9 + [(490, 450, 500, 550)] * 11), "too-small"),
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
    why = why_dropped(standing(n=7), PAPER, width_px=1000, height_px=1000)
    assert (why.what, why.stage, why.detail) == ("a", "hard-filter", "7 frames, at least 20 (0.67 s)")


def test_five_frames_in_the_middle_are_enough_wherever_they_are():
    def passing(n):
        centres = [(50, 500)] * 20
        for i in range(n):
            centres[3 * i] = (500, 500)
        return walk("a", centres)

    assert reason(passing(5)) == ""
    assert reason(passing(4)) == "not-in-the-middle"


def test_limits_are_parameters():
    small = FilterSettings(
        class_name="dog", least_s=2 / 30, least_area_px=4, margin=0.0, least_in_middle_s=1 / 30
    )
    assert reason(standing(n=2, centre=(1, 1), size=(2, 2), kind="dog"), small) == ""
    assert reason(standing(), small) == "not-a-person"
