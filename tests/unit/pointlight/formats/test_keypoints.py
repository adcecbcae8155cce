"""Frames on one clock, and one person of several."""

from pathlib import Path

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.pointlight.formats.keypoints import (
    BODY_25,
    NOBODY,
    OPENPOSE_18,
    PersonFrame,
    chosen,
    on_one_clock,
)
from vidence.pointlight.reading import UnpackedFile

FILE = UnpackedFile(path=Path("a.json"), label="a.json", name="a.json", data=b"")
SEEN = PersonFrame(values=np.ones((17, 4)))


def test_the_names_are_those_of_openpose():
    """As its documentation draws them: 4 right wrist, 8 middle of the hips, 14 left ankle, 22 right toe."""
    assert [BODY_25[i] for i in (0, 1, 4, 8, 14, 17, 18, 22)] == [
        "nose", "neck", "right_wrist", "pelvis", "left_ankle", "right_ear", "left_ear", "right_big_toe",
    ]  # fmt: skip
    assert [OPENPOSE_18[i] for i in (7, 8, 13, 16)] == ["left_wrist", "right_hip", "left_ankle", "right_ear"]


def test_missing_pictures_are_put_in():
    frames, notes = on_one_clock(FILE, [SEEN, SEEN, SEEN], [3, 4, 7])
    assert [frame is NOBODY for frame in frames] == [False, False, True, True, False]
    assert notes == ("2 pictures without anybody are missing in the file; hidden",)
    assert on_one_clock(FILE, [SEEN, SEEN], [2, 4])[1] == (
        "every picture has a number 2 higher; the rate is that of these pictures",
    )
    assert on_one_clock(FILE, [SEEN, SEEN], [None, 4]) == ([SEEN, SEEN], ())


def test_numbers_that_are_none_of_a_video():
    with pytest.raises(DataError, match="are they frames of one video"):
        on_one_clock(FILE, [SEEN, SEEN, SEEN], [3, 4, 70_000])
    with pytest.raises(DataError, match="after picture 4 comes 3; sort"):
        on_one_clock(FILE, [SEEN, SEEN], [4, 3])


def test_one_of_several_people():
    people = [{"idx": 7, "keypoints": 1}, {"idx": 9, "keypoints": 2}]
    assert chosen(FILE, people, person="9", where="") == people[1]
    assert chosen(FILE, people, person="8", where="") is None
    assert chosen(FILE, ["a", "b"], person="1", where="") == "b"
    with pytest.raises(DataError, match="frame 3 has several people; give person=ID"):
        chosen(FILE, people, person="", where="frame 3")
