"""The share of empty frames on which a detector sees people."""

import numpy as np

from vidence.seeing.false_people import false_people, peopled
from vidence.seeing.tracks import Detections


def test_only_boxes_of_people_make_a_frame_peopled():
    detections = Detections(
        frame_indices=np.array([0, 1, 1, 5]),
        boxes_px=np.tile(np.array([0.0, 0.0, 4.0, 8.0]), (4, 1)),
        confidences=np.ones(4),
        class_ids=np.array([0, 1, 0, 1]),
        class_names={0: "person", 1: "dog"},
    )
    assert peopled(detections) == {0, 1}


def test_nothing_is_measured_without_an_empty_frame():
    words = false_people("hog", {"a": (0, 0)}, judge="people")
    assert words == "false people of hog: not measured, no frame is empty by people"


def test_one_video_has_no_interval():
    words = false_people("hog", {"a": (1, 4)}, judge="people")
    assert words.startswith(
        "false people of hog in 25.0 % (no interval from one video) of 4 frames of 1 video "
    )
