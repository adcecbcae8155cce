"""The table and the contact sheet of tracks."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from vidence.seeing import track_files as table
from vidence.seeing.pictures import ContactSheet, Mark, colour_of, draw, write_sheet
from vidence.seeing.tracks import PERSON, Track, TrackedVideo
from videos.walkers import STREET, STREET_FRAMES


@pytest.fixture(scope="module")
def tracked(street):
    """The truth of the street as tracks; every fourth box counts as filled in."""
    tracks = []
    for number, walker in enumerate(STREET, start=1):
        frames = [f for f in range(STREET_FRAMES) if walker.box(f) is not None]
        tracks.append(
            Track(
                track_id=str(number),
                class_name=PERSON,
                frame_indices=np.array(frames, np.int64),
                boxes_px=np.clip([walker.box(f) for f in frames], 0, [320, 240, 320, 240]),
                confidences=np.full(len(frames), 0.75),
                is_detected=np.array(frames) % 4 != 0,
            )
        )
    return TrackedVideo(width_px=320, height_px=240, times_s=street.times_s, tracks=tuple(tracks))


COLUMNS = (
    *("track_id", "class", "frame_index", "time_s", "left_px", "top_px", "right_px", "bottom_px"),
    *("confidence", "is_detected"),
)


def test_the_same_table_as_csv(tracked, tmp_path):
    table.write_csv(tmp_path / "t.csv", tracked)
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert list(rows[4].values()) == ["1", "person", "4", "0.4", "30.0", "60.0", "70.0", "156.0", "0.75", "0"]
    table.write_csv(tmp_path / "t.csv", replace(tracked, tracks=()))
    assert (tmp_path / "t.csv").read_text() == ",".join(COLUMNS) + "\n"


def test_a_box_is_drawn_where_it_is_in_its_colour():
    image = np.zeros((100, 100, 3), np.uint8)
    mark = Mark(box_px=np.array([20.0, 30, 60, 80]), text="7", colour=(250, 0, 0))
    drawn = draw(image, [mark], scale=1.0)
    assert drawn[50, 20].tolist() == drawn[80, 40].tolist() == [250, 0, 0]
    assert drawn[50, 40].tolist() == [0, 0, 0]
    assert image.max() == 0
    filled_in = draw(image, [replace(mark, is_dashed=True)])
    edge = filled_in[35:78, 20, 0]
    assert 0 < (edge == 250).sum() < len(edge)
    top = draw(image, [replace(mark, box_px=np.array([10.0, 0, 60, 50]))])  # its name shows at the upper edge
    assert (top[2:10, 12:16] == 250).any()
    assert len({colour_of(place) for place in range(12)}) == 12


def test_the_sheet_shows_a_row_for_every_track_and_each_in_its_own_clothes(tracked, street):
    sheet = ContactSheet(tracked, title="street")
    street.read(sheet.wanted, sheet.see)
    picture = sheet.picture()
    rows = 3 * (104 + 18 + 6)
    for place, walker in enumerate(STREET):
        top = picture.shape[0] - 6 - rows + place * 128
        crops = picture[top : top + 104, 200:].reshape(-1, 3).astype(int)
        near = np.abs(crops - np.array(walker.coat)).max(axis=1) < 25
        assert near.mean() > 0.02, place


def test_the_sheet_asks_for_few_frames_and_says_what_it_leaves_out(tracked, street):
    sheet = ContactSheet(tracked, title="street", most=2)
    assert len(sheet.wanted) <= 2 * 14 + 3
    whole = ContactSheet(tracked, title="street")
    for one in (sheet, whole):
        street.read(one.wanted, one.see)
    assert whole.picture().shape[0] - sheet.picture().shape[0] == 128


def test_a_video_without_tracks_still_has_a_sheet_with_its_scenes(tracked, street, tmp_path):
    sheet = ContactSheet(replace(tracked, tracks=()), title="nobody")
    write_sheet(street, sheet, tmp_path / "s.jpg")
    picture = sheet.picture()
    assert picture.shape[0] > 400
    assert picture[100:200, 100:200].std() > 5
    assert (tmp_path / "s.jpg").read_bytes()[:3] == b"\xff\xd8\xff"
