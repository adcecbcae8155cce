"""A whole run of tracking: what is counted, measured and written."""

import json

import pytest

from subjects import drawn_street as street
from vidence.errors import DataError, UsageError
from vidence.media.video import open_video
from vidence.seeing.chunks import ChunkWork
from vidence.seeing.cleaning import FilterSettings
from vidence.seeing.refine import RefineSettings
from vidence.seeing.track_run import TrackJob, track_video, write_run

REFINE = RefineSettings(filter=FilterSettings(least_area_px=100.0))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A street with six walkers, and the file of their boxes."""
    folder = tmp_path_factory.mktemp("run")
    street.write_street(folder)
    return folder


@pytest.fixture(scope="module")
def film(folder):
    return open_video(folder / "street.mp4")


@pytest.fixture(scope="module")
def boxes(folder):
    return folder / "boxes.txt"


def job(boxes, **changes):
    return TrackJob(detector=f"boxes:{boxes}", tracker="motion", cuts="none", refine=REFINE, **changes)


def test_the_record_says_what_was_done(film, boxes):
    looked = []
    tracked, record = track_video(film, job(boxes), work=ChunkWork(on_frames=looked.append))
    assert looked == [film.n_frames]
    assert (record.n_frames, record.rate, record.width_px) == (film.n_frames, 0, tracked.width_px)
    assert record.counts["frames_looked_at"] == film.n_frames
    assert record.counts["detections"] == len(boxes.read_text().splitlines())
    assert record.counts["tracks"] == len(tracked.tracks) == len(street.WALKERS)
    assert record.counts["shots"] == 1
    assert (record.cuts, record.quality) == ((), {})
    assert {"detector", "tracker"} <= record.identities.keys()
    assert record.versions["vidence"]


def test_boxes_of_a_file_are_all_used_whatever_the_rate(film, boxes):
    _, record = track_video(film, job(boxes, rate=2.0))
    assert record.rate == 0
    assert record.counts["frames_looked_at"] == film.n_frames


def test_everything_is_written_to_the_folder(film, boxes, tmp_path):
    tracked, record = track_video(film, job(boxes))
    write_run(tmp_path / "out", tracked, record, table="csv")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"tracks.txt", "detections.txt", "tracks.csv", "track.json"}
    written = json.loads((tmp_path / "out" / "track.json").read_bytes())
    assert written["counts"] == record.counts
    n_rows = len((tmp_path / "out" / "tracks.csv").read_text().splitlines()) - 1
    assert n_rows == record.counts["boxes"]


def test_a_folder_that_cannot_be_written_is_named(film, boxes, tmp_path):
    tracked, record = track_video(film, job(boxes))
    (tmp_path / "out").write_text("a file")
    with pytest.raises(DataError, match=r"out cannot be written .*; say another folder with --out"):
        write_run(tmp_path / "out", tracked, record, table="csv")


def test_an_unknown_tracker_is_refused(film, boxes):
    with pytest.raises(UsageError, match="Did you mean 'motion'"):
        track_video(film, TrackJob(detector=f"boxes:{boxes}", tracker="motions"))
