"""OpenCV's people detector finds the people of a street drawn by us."""

import sys

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.seeing.boxes import iou
from vidence.seeing.detectors.hog import inside_larger
from vidence.seeing.following import open_detector
from videos.walkers import HEIGHT, WIDTH, Walker, picture

pytest.importorskip("cv2", reason="needs the extra 'build'")

WALKERS = (Walker(left_px=30, top_px=60), Walker(left_px=200, top_px=90, coat=(20, 120, 40)))


@pytest.fixture(scope="module")
def hog():
    return open_detector("hog")


def test_each_person_is_found_once_and_boxes_fit_the_person(hog):
    (found,) = hog.find([picture(WALKERS, 0)])
    truth = np.array([walker.box(0) for walker in WALKERS])
    overlaps = iou(truth[:, None], found.boxes_px[None])
    assert overlaps.shape == (2, 2)
    assert sorted(overlaps.argmax(axis=1).tolist()) == [0, 1]
    assert overlaps.max(axis=1).min() > 0.7
    assert found.confidences.min() > 0.5
    assert set(found.class_names.values()) == {"person"}
    edge, empty, small = hog.find(
        [picture((Walker(left_px=290, top_px=60),), 0), picture((), 0), np.full((20, 12, 3), 90, np.uint8)]
    )
    assert np.all(edge.boxes_px >= 0)
    assert np.all(edge.boxes_px <= [WIDTH, HEIGHT, WIDTH, HEIGHT])
    assert empty.boxes_px.shape == small.boxes_px.shape == (0, 4)


def test_small_people_are_found_when_asked_for():
    small = (Walker(left_px=100, top_px=80, size_px=(20.0, 48.0)),)
    usual = open_detector("hog").find([picture(small, 0)])[0]
    closer = open_detector("hog?least_px=40").find([picture(small, 0)])[0]
    truth = np.array(small[0].box(0))
    assert not np.any(iou(truth, usual.boxes_px) > 0.5)
    assert np.max(iou(truth, closer.boxes_px)) > 0.6


def test_a_person_who_fills_the_frame_is_one_person(hog):
    """The detector's window is a third higher than the person: it must look beyond the edges."""
    near = Walker(left_px=100, top_px=2, size_px=(98.0, 236.0))
    (found,) = hog.find([picture((near,), 0)])
    overlaps = iou(np.array(near.box(0)), found.boxes_px)
    assert overlaps.max() > 0.6
    assert overlaps.argmax() == found.confidences.argmax() == 0


def test_parts_of_a_person_are_left_out_and_people_beside_one_are_not():
    """Inside a sure box twice as large: out. Half inside, or inside an unsure one: stays."""
    boxes = np.array(
        [[0.0, 0, 40, 100], [5, 50, 25, 98], [30, 50, 50, 98], [100, 0, 140, 100], [105, 50, 125, 98]]
    )
    sure = np.array([0.9, 0.5, 0.5, 0.6, 0.5])
    assert inside_larger(boxes, sure).tolist() == [False, True, False, False, False]


def test_wrong_options_are_named():
    with pytest.raises(UsageError, match="'hog' takes no argument"):
        open_detector("hog:0.4")
    with pytest.raises(UsageError, match=r"least_px='2'.*16 or above"):
        open_detector("hog?least_px=2")


def test_opencv_five_without_the_detector_is_said(monkeypatch):
    monkeypatch.delattr(sys.modules["cv2"], "HOGDescriptor")
    with pytest.raises(UsageError, match="OpenCV 5 dropped it"):
        open_detector("hog")
