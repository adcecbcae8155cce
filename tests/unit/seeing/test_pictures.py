"""Tables, the contact sheet and the annotated video of tracks."""

import csv
import importlib.util
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from vidence.errors import MediaError, UsageError
from vidence.media.video import open_video
from vidence.seeing import track_files as table
from vidence.seeing.pictures import ContactSheet, Mark, colour_of, draw, paint
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


def test_a_parquet_file_has_one_row_for_each_box_with_its_types(tracked, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra 'build'")
    table.write_parquet(tmp_path / "t.parquet", tracked)
    read = parquet.read_table(tmp_path / "t.parquet")
    assert read.column_names == list(COLUMNS)
    assert [str(t) for t in read.schema.types] == ["string", "string", "int64", *["double"] * 6, "bool"]
    rows = read.to_pylist()
    assert len(rows) == sum(len(track.frame_indices) for track in tracked.tracks)
    row = rows[3]
    assert (row["track_id"], row["class"], row["frame_index"], row["is_detected"]) == ("1", PERSON, 3, True)
    assert (row["time_s"], row["left_px"], row["right_px"]) == pytest.approx((0.3, 25, 65))


def test_the_same_table_as_csv(tracked, tmp_path):
    table.write_csv(tmp_path / "t.csv", tracked)
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert rows[4] == {
        "track_id": "1",
        "class": "person",
        "frame_index": "4",
        "time_s": "0.4",
        "left_px": "30.0",
        "top_px": "60.0",
        "right_px": "70.0",
        "bottom_px": "156.0",
        "confidence": "0.75",
        "is_detected": "0",
    }


def test_no_track_is_a_table_without_rows(tracked, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra 'build'")
    nobody = replace(tracked, tracks=())
    table.write_csv(tmp_path / "t.csv", nobody)
    table.write_parquet(tmp_path / "t.parquet", nobody)
    assert (tmp_path / "t.csv").read_text() == ",".join(COLUMNS) + "\n"
    read = parquet.read_table(tmp_path / "t.parquet")
    assert read.num_rows == 0
    assert [str(t) for t in read.schema.types] == ["string", "string", "int64", *["double"] * 6, "bool"]


def test_without_pyarrow_the_message_names_what_works_without(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="--table csv"):
        table.check_parquet()


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


def test_a_box_at_the_upper_edge_shows_its_name():
    mark = Mark(box_px=np.array([10.0, 0, 60, 50]), text="8", colour=(0, 250, 0))
    drawn = draw(np.zeros((60, 80, 3), np.uint8), [mark])
    assert (drawn[2:10, 12:16] == 250).any()


def test_neighbours_have_other_colours():
    colours = [colour_of(place) for place in range(12)]
    assert len(set(colours)) == 12


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


def test_a_video_without_tracks_still_has_a_sheet_with_its_scenes(tracked, street):
    sheet = ContactSheet(replace(tracked, tracks=()), title="nobody")
    street.read(sheet.wanted, sheet.see)
    picture = sheet.picture()
    assert picture.shape[0] > 400
    assert picture[100:200, 100:200].std() > 5


def test_the_annotated_video_keeps_every_frame_its_time_and_has_the_boxes(tracked, street, tmp_path):
    sheet = ContactSheet(tracked, title="street")
    paint(street, tracked, sheet=sheet, sheet_path=tmp_path / "s.jpg", film_path=tmp_path / "a.mp4")
    made = open_video(tmp_path / "a.mp4")
    np.testing.assert_allclose(made.times_s, street.times_s, atol=1e-3)
    plain, drawn = (v.frames([21])[0].astype(int) for v in (street, made))
    differs = np.abs(plain - drawn).max(axis=2) > 60
    left, top, right, bottom = (round(x) for x in STREET[0].box(21))
    assert differs[top : bottom - 4, left - 1 : left + 3].any(axis=1).mean() > 0.9
    assert not differs[top + 30 : bottom - 20, left + 15 : right - 15].any()
    with Image.open(tmp_path / "s.jpg") as picture:
        assert picture.format == "JPEG"
    assert not list(tmp_path.glob(".*"))


def test_sides_of_an_odd_number_of_pixels(tmp_path):
    for i in range(3):
        Image.new("RGB", (35, 21), (90, 90, 90)).save(tmp_path / f"{i}.png")
    frames = open_video(tmp_path, kind="frames")
    nobody = TrackedVideo(width_px=35, height_px=21, times_s=frames.times_s, tracks=())
    sheet = ContactSheet(nobody, title="grey")
    paint(frames, nobody, sheet=sheet, sheet_path=tmp_path / "s.jpg", film_path=tmp_path / "a.mp4")
    made = open_video(tmp_path / "a.mp4")
    assert (made.n_frames, made.probe.width_px, made.probe.height_px) == (3, 36, 22)


def test_a_folder_that_cannot_be_written_is_said(tracked, street, tmp_path):
    sheet = ContactSheet(tracked, title="street")
    with pytest.raises(MediaError, match=r"cannot be written.*--no-video"):
        paint(
            street,
            tracked,
            sheet=sheet,
            sheet_path=tmp_path / "s.jpg",
            film_path=tmp_path / "none" / "a.mp4",
        )
