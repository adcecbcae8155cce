"""A file of tracks, measured alone and shown in its video."""

import pytest

from vidence.media.video import open_video
from vidence.seeing.given_run import show_given
from vidence.seeing.given_tracks import open_tracks
from vidence.seeing.quality import measure
from vidence.seeing.track_files import read_mot
from videos.walkers import Walker, film

LINES = [f"{f + 1},3,{50 + f},60,30,60,1,1,1" for f in range(20)] + ["1,4,5,5,20,40,0,1,1"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "gt.txt").write_text("\n".join(LINES) + "\n")
    return tmp_path


def test_what_a_file_holds_is_counted(folder):
    video = open_video(film(folder / "v.mp4", (Walker(left_px=50, top_px=60),), n_frames=20))
    tracked, record, notes = show_given(video, open_tracks(f"mot:{folder}/gt.txt"))
    assert [track.track_id for track in tracked.tracks] == ["3"]
    assert tracked.basis.is_trusted
    assert record.counts == {
        "frames_with_boxes": 20,
        "tracks": 1,
        "boxes": 20,
        "people_not_considered": 1,
    }
    assert record.settings.steps == ()
    assert record.quality == {}
    assert notes == (
        "whether the tracks of gt.txt are of v.mp4 cannot be seen: people make 1 step of half a box within "
        "2 s, and 12 are needed",
    )


def test_tracks_of_another_video_are_shown_and_doubted(folder):
    walkers = tuple(
        Walker(left_px=10, top_px=20 + 60 * i, speed_px=(10, 0), size_px=(20, 48)) for i in range(3)
    )
    video = open_video(film(folder / "v.mp4", walkers, n_frames=30))
    (folder / "gt.txt").write_text(
        "".join(f"{f + 1},{i},{280 - 10 * f},{5 + 60 * i},20,48,1\n" for i in (1, 2, 3) for f in range(28))
    )
    _, _, notes = show_given(video, open_tracks(f"mot:{folder}/gt.txt"))
    assert notes[0].startswith("the tracks do not seem to be of this video: what is in a box goes along")


def test_truth_measured_against_itself_is_perfect(folder):
    pytest.importorskip("trackers", reason="needs the library of trackers")
    truth = read_mot(folder / "gt.txt")
    found = measure(truth, open_tracks(f"mot:{folder}/gt.txt").rows)
    assert (found.mota, found.idf1, found.n_true_boxes) == (1.0, 1.0, 20)
    video = open_video(film(folder / "v.mp4", (Walker(left_px=50, top_px=60),), n_frames=20))
    size = f"{video.probe.width_px}x{video.probe.height_px}"
    _, record, _ = show_given(video, open_tracks(f"mot:{folder}/gt.txt?size={size}"), truth=truth)
    assert record.quality["given"].idf1 == 1.0
