"""A whole run of tracking, or of tracks in a file: what is counted, measured and written."""

import json

import pytest

from subjects import drawn_street as street
from vidence.errors import DataError
from vidence.media.video import open_video
from vidence.seeing.chunks import ChunkWork
from vidence.seeing.cleaning import FilterSettings
from vidence.seeing.given_tracks import open_tracks
from vidence.seeing.quality import measure
from vidence.seeing.refine import RefineSettings
from vidence.seeing.track_files import read_mot
from vidence.seeing.track_run import TrackJob, show_given, track_video, write_run
from videos import walkers

pytest.importorskip("trackers", reason="needs the library of trackers")
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
    return TrackJob(detector=f"boxes:{boxes}", tracker="sort", cuts="none", refine=REFINE, **changes)


def test_the_record_says_what_was_done(film, boxes):
    looked = []
    tracked, record = track_video(film, job(boxes, rate=2.0), work=ChunkWork(on_frames=looked.append))
    assert sum(looked) == film.n_frames
    assert (record.n_frames, record.rate, record.width_px) == (film.n_frames, 0, tracked.width_px)
    assert record.counts["frames_looked_at"] == film.n_frames
    assert record.counts["detections"] == len(boxes.read_text().splitlines())
    assert record.counts["tracks"] == len(tracked.tracks) == len(street.WALKERS)
    assert record.counts["shots"] == 1
    assert (record.cuts, record.quality) == ((), {})
    assert {"detector", "tracker"} <= record.identities.keys()
    assert record.versions["vidence"]


def test_everything_is_written_to_the_folder(film, boxes, tmp_path):
    tracked, record = track_video(film, job(boxes))
    write_run(tmp_path / "out", tracked, record)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"tracks.txt", "detections.txt", "tracks.csv", "track.json"}
    written = json.loads((tmp_path / "out" / "track.json").read_bytes())
    assert written["counts"] == record.counts
    n_rows = len((tmp_path / "out" / "tracks.csv").read_text().splitlines()) - 1
    assert n_rows == record.counts["boxes"]
    with pytest.raises(DataError, match=r"tracks.txt cannot be written .*; choose another --out"):
        write_run(tmp_path / "out" / "tracks.txt", tracked, record)


def test_the_tracks_of_a_file_are_counted_and_measured_as_they_are(tmp_path):
    film = open_video(walkers.film(tmp_path / "v.mp4", (walkers.Walker(left_px=50, top_px=60),), n_frames=20))
    lines = [f"{f + 1},3,{50 + f},60,30,60,1,1,1" for f in range(20)] + ["1,4,5,5,20,40,0,1,1"]
    (tmp_path / "gt.txt").write_text("\n".join(lines) + "\n")
    truth, given = read_mot(tmp_path / "gt.txt"), open_tracks(f"mot:{tmp_path}/gt.txt")
    tracked, record, notes = show_given(film, given, truth=truth)
    assert [track.track_id for track in tracked.tracks] == ["3"]
    assert tracked.basis.is_trusted
    assert record.counts == {"frames_with_boxes": 20, "tracks": 1, "boxes": 20, "people_not_considered": 1}
    assert record.settings.steps == ()
    assert record.quality["given"].idf1 == 1.0
    assert notes == ()
    size = f"{film.probe.width_px}x{film.probe.height_px}"
    sized = open_tracks(f"mot:{tmp_path}/gt.txt?size={size}")
    assert show_given(film, sized, truth=truth)[1].quality["given"].idf1 == 1.0
    found = measure(truth, given.rows)
    assert (found.mota, found.n_true_boxes) == (1.0, 20)
