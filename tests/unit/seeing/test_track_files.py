"""Files in the format of MOTChallenge, read and written."""

import csv
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.seeing.track_files import (
    frames_on_screen,
    read_mot,
    rows_of,
    track_numbers,
    write_csv,
    write_detections,
    write_tracks,
)
from vidence.seeing.tracks import PERSON, Detections, Track, TrackedVideo


def track(name, frames, *, left=0.0):
    n = len(frames)
    return Track(
        track_id=name,
        class_name=PERSON,
        frame_indices=np.array(frames, np.int64),
        boxes_px=np.tile([left, 10.0, left + 20, 60.0], (n, 1)),
        confidences=np.full(n, 0.5),
        is_detected=np.ones(n, bool),
    )


def test_frames_count_from_one_in_files_and_from_zero_here(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("2,7,10.5,20,30,40,0.9,-1,-1,-1\n1,7,10,20,30,40,0.8,-1,-1,-1\n")
    rows = read_mot(path)
    assert rows.frame_indices.tolist() == [0, 1]
    assert rows.ids.tolist() == [7, 7]
    assert rows.boxes_px.tolist() == [[10, 20, 40, 60], [10.5, 20, 40.5, 60]]
    assert rows.marks.tolist() == [0.8, 0.9]
    assert not rows.has_classes
    path.write_text("1,1,0,0,5,5,1,1,0.7\n1,2,0,0,5,5,0,8,1\n")  # ground truth since 2016
    rows = read_mot(path)
    assert (rows.class_ids.tolist(), rows.marks.tolist()) == ([1, 8], [1, 0])
    path.write_text("1 2 3 4 5 6\n\n2 2 3 4 5 6\n")
    assert read_mot(path).frame_indices.tolist() == [0, 1]
    path.write_text("")
    assert len(read_mot(path).ids) == 0
    with pytest.raises(DataError, match="cannot be read"):
        read_mot(tmp_path / "none.txt")


def test_the_first_of_several_times_in_one_frame_is_told_from_the_others():
    film = SimpleNamespace(index_at=lambda time_s: int(time_s * 10), times_s=np.arange(10) / 10)
    path = Path("boxes.csv")
    frames, is_first = frames_on_screen(np.array([0.25, 0.21, 0.0, 0.3, 0.21]), film, path=path)
    assert frames.tolist() == [2, 2, 0, 3, 2]
    assert is_first.tolist() == [False, True, True, True, True]
    assert [len(one) for one in frames_on_screen(np.zeros(0), film, path=path)] == [0, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,1,2,3,4,5,1\n", "line 1: frame 0"),
        ("1,1,2,3,4,5,1\n1,x,2,3,4,5,1\n", "line 2"),
        ("1,1,2,3,0,5,1\n", "0 x 5 pixels"),
        ("1,1,2,3\n", "4 numbers; expected 6 to 10"),
        ("1,1,2,3,4,nan,1\n", "not all finite"),
        ("1,2,500,158,29,73,251,219\n2,3,497,158,29,73,255,216,1\n", "line 2: 9 numbers, where the first"),
    ],
)
def test_lines_that_are_no_boxes_are_named(tmp_path, text, said):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_mot(path)


def test_tracks_come_back_as_they_were_written(tmp_path):
    tracks = (track("3", [0, 1, 5]), track("12", [1, 2], left=100.25))
    write_tracks(tmp_path / "t.txt", tracks)
    rows = read_mot(tmp_path / "t.txt")
    known = rows_of(tracks)
    assert rows.frame_indices.tolist() == known.frame_indices.tolist() == [0, 1, 1, 2, 5]
    assert rows.ids.tolist() == known.ids.tolist() == [3, 3, 12, 12, 3]
    np.testing.assert_allclose(rows.boxes_px, known.boxes_px)


def test_names_that_are_no_numbers_get_numbers():
    assert track_numbers((track("a", [0]), track("2", [0]))) == {"a": 1, "2": 2}
    assert track_numbers((track("7", [0]), track("2", [0]))) == {"7": 7, "2": 2}


def test_detections_have_no_id(tmp_path):
    found = Detections(
        frame_indices=np.array([4]),
        boxes_px=np.array([[1.0, 2, 3, 5]]),
        confidences=np.array([0.25]),
        class_ids=np.array([1]),
        class_names={1: PERSON},
    )
    write_detections(tmp_path / "d.txt", found)
    assert (tmp_path / "d.txt").read_text() == "5,-1,1.00,2.00,2.00,3.00,0.2500,-1,-1,-1\n"


COLUMNS = (
    *("track_id", "class", "frame_index", "time_s", "left_px", "top_px", "right_px", "bottom_px"),
    *("confidence", "is_detected"),
)


def test_the_same_table_as_csv(tmp_path):
    one = replace(track("1", range(8), left=30.25), is_detected=np.arange(8) % 4 != 0)
    tracked = TrackedVideo(width_px=320, height_px=240, times_s=np.arange(8) / 10, tracks=(one,))
    write_csv(tmp_path / "t.csv", tracked)
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert list(rows[4].values()) == ["1", "person", "4", "0.4", "30.25", "10.0", "50.25", "60.0", "0.5", "0"]
    write_csv(tmp_path / "t.csv", replace(tracked, tracks=()))
    assert (tmp_path / "t.csv").read_text() == ",".join(COLUMNS) + "\n"
