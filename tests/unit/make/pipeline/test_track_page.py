"""The page of a video's tracks: scenes with boxes, and a row of crops for each track."""

import base64
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageColor

from vidence.make.pipeline import track_page
from vidence.make.pipeline.report_pictures import PALETTE
from vidence.make.pipeline.track_page import write_track_page
from vidence.media.video import open_video
from vidence.seeing.refine import RefineSettings
from vidence.seeing.track_run import TrackRecord
from vidence.seeing.tracks import PERSON, Account, Track, TrackedVideo
from videos.walkers import STREET, STREET_FRAMES, film

RECORD = TrackRecord(
    video="films/<street>.mp4",
    n_frames=STREET_FRAMES,
    width_px=320,
    height_px=240,
    fps=10.0,
    rate=10.0,
    identities={"detector": "hog/3"},
    versions={},
    counts={"tracks_associated": 1234},
    settings=RefineSettings(),
    account=Account(),
    caution="the last resort",
)


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    return open_video(film(tmp_path_factory.mktemp("street") / "street.mp4", STREET, n_frames=STREET_FRAMES))


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


@pytest.fixture
def page_of(street, tmp_path):
    """Its text, and its pictures in order: frames with boxes, then a row for each track."""

    def write(tracked):
        write_track_page(tmp_path / "page.html", street, tracked=tracked, record=RECORD)
        text = (tmp_path / "page.html").read_text(encoding="utf-8")
        data = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', text)
        return text, [np.asarray(Image.open(io.BytesIO(base64.b64decode(one))), int) for one in data]

    return write


def test_boxes_are_drawn_where_they_are_in_the_colours_of_their_tracks(tracked, page_of):
    _, (frames, *_) = page_of(tracked)
    for place, walker in enumerate(STREET):
        box = walker.box(0)
        if box is None or min(box) < 4:
            continue
        edge = frames[int(box[1]) + 30 : int(box[3]) - 10, int(box[0]) : int(box[0]) + 2]
        off = np.abs(edge - np.array(ImageColor.getrgb(PALETTE[place]))).max(axis=2).min(axis=1)
        assert (off < 70).mean() > 0.7, place


def test_a_row_for_every_track_shows_each_in_its_own_clothes(tracked, page_of):
    text, (_, *rows) = page_of(tracked)
    assert len(rows) == len(STREET)
    for place, (row, walker) in enumerate(zip(rows, STREET, strict=True)):
        near = np.abs(row.reshape(-1, 3) - np.array(walker.coat)).max(axis=1) < 40
        assert near.mean() > 0.02, place
    assert "0.00 to 3.90 s, 40 boxes, 10 filled in, confidence 0.75" in text
    assert "&lt;street&gt;.mp4: 3 tracks" in text
    assert all(words in text for words in ("the last resort", "tracks associated", "1,234", "hog/3"))


def test_of_many_tracks_the_longest_have_crops_and_the_page_says_so(tracked, page_of, monkeypatch):
    monkeypatch.setattr(track_page, "_MOST", 2)
    text, (_, *rows) = page_of(tracked)
    assert len(rows) == 2
    assert "1 track without crops, the shortest of all." in text


def test_a_video_without_tracks_still_has_a_page_with_its_scenes(tracked, page_of):
    _, (frames,) = page_of(replace(tracked, tracks=()))
    assert frames[100:200, 100:200].std() > 5
