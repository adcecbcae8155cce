"""Tracking of long and odd videos: killed and gone on with, by several processes, damaged, turned, uneven."""

import json
import signal
import time

import numpy as np
import pytest

from conftest import IS_THOROUGH
from vidence.media.video import open_video
from vidence.seeing import chunks
from vidence.seeing.track_files import read_mot
from videos.stamped import cut_off, damage, packet_places
from videos.walkers import STREET, STREET_FRAMES, Walker, film

# Somebody walks to and fro for a minute.
LONG = (Walker(left_px=5, top_px=70, speed_px=(0.4, 0.0)), Walker(left_px=250, top_px=90))
N_LONG = 600 if IS_THOROUGH else 300
SHORT = ("--progress", "none")
WORDS = (*SHORT, "--detector", "hog:?least_px=90&ladder=1.3", "--rate", "1")


@pytest.fixture(autouse=True)
def _opencv():
    pytest.importorskip("cv2", reason="needs the extra 'build'")


@pytest.fixture
def watched(monkeypatch):
    """The chunks that this process watches."""
    seen, plain = [], chunks.watch_chunk
    monkeypatch.setattr(chunks, "watch_chunk", lambda *given: seen.append(given[1]) or plain(*given))
    return seen


def files_of(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_a_killed_tracking_goes_on_and_ends_as_one_that_was_not(vidence, watched):
    film(vidence.folder / "long.mp4", LONG, n_frames=N_LONG)
    process = vidence.start("videos", "track", "long.mp4", *WORDS, "--jobs", "1", "--out", "killed")
    stages = vidence.folder / "killed" / "stages"
    while not list(stages.glob("chunks/[!.]*.json")):  # names with a full stop first are not yet whole
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    left = stages / "chunks" / f".half.{_name_of(process.pid)}.json"
    left.write_text("half")
    n_kept = len(list(stages.glob("chunks/[!.]*.json")))
    assert vidence("videos", "track", "long.mp4", *WORDS, "--jobs", "1", "--out", "killed").code == 0
    n_again = len(watched)
    assert n_kept >= 1
    assert vidence("videos", "track", "long.mp4", *WORDS, "--jobs", "1", "--out", "whole").code == 0
    assert len(watched) - n_again == n_kept + n_again
    watched.clear()
    assert vidence("videos", "track", "long.mp4", *WORDS, "--jobs", "3", "--out", "three").code == 0
    assert watched == []  # by other processes
    assert not stages.exists()
    killed, whole, three = (files_of(vidence.folder / name) for name in ("killed", "whole", "three"))
    assert killed == whole == three


def _name_of(pid: int) -> str:
    from vidence.media import whole

    return f"{whole._here()}-{pid}-{'0' * 16}"


def test_a_turned_video_is_tracked_as_it_is_shown(vidence):
    for name, is_turned in (("plain", False), ("turned", True)):
        film(vidence.folder / f"{name}.mp4", STREET, n_frames=STREET_FRAMES, is_turned=is_turned)
        assert vidence("videos", "track", f"{name}.mp4", *SHORT, "--rate", "0", "--out", name).code == 0
    assert open_video(vidence.folder / "turned.mp4").probe.rotation_deg == 90
    plain, turned = (
        json.loads((vidence.folder / name / "track.json").read_text()) for name in ("plain", "turned")
    )
    assert (turned["width_px"], turned["height_px"]) == (plain["width_px"], plain["height_px"]) == (320, 240)
    assert turned["counts"]["tracks"] == plain["counts"]["tracks"] == 3
    one, other = (read_mot(vidence.folder / name / "tracks.txt").boxes_px for name in ("plain", "turned"))
    assert abs(len(one) - len(other)) <= 0.1 * len(one)


def test_a_video_of_uneven_rate_is_looked_at_by_its_clock(vidence):
    kept = [n for n in range(0, 300) if n < 100 or n % 4 == 0 or 200 <= n < 240]
    film(vidence.folder / "uneven.mp4", LONG, n_frames=300, rate=30, frames=kept)
    assert vidence("videos", "track", "uneven.mp4", *SHORT, "--rate", "5", "--out", "o").code == 0
    record = json.loads((vidence.folder / "o" / "track.json").read_text())
    assert record["n_frames"] == len(kept)
    assert 48 <= record["counts"]["frames_looked_at"] <= 51  # of ten seconds
    times_s = open_video(vidence.folder / "uneven.mp4").times_s
    looked = np.unique(read_mot(vidence.folder / "o" / "detections.txt").frame_indices)
    assert np.diff(times_s[looked]).max() < 0.5
    assert record["counts"]["tracks"] == 2


def test_a_damaged_video_is_tracked_around_the_damage_by_any_number_of_processes(vidence):
    whole = film(vidence.folder / "whole.mp4", LONG, n_frames=N_LONG)
    places = [place + 8 for place, _, pts, _ in packet_places(whole)][170:190]
    damage(whole, vidence.folder / "bad.mp4", places=places)
    for jobs in ("1", "2"):
        done = vidence("videos", "track", "bad.mp4", *WORDS, "--jobs", jobs, "--out", jobs)
        assert done.code == 0
        assert "frames could not be shown, and are gaps in the tracks" in done.out
        assert "is damaged" in done.out
    assert files_of(vidence.folder / "1") == files_of(vidence.folder / "2")
    record = json.loads((vidence.folder / "1" / "track.json").read_text())
    assert 0 < record["counts"]["frames_with_problems"] < 60
    assert record["counts"]["tracks"] >= 2


def test_a_download_that_stopped_names_what_is_wrong(vidence):
    whole = film(vidence.folder / "whole.mp4", LONG, n_frames=100)
    cut_off(whole, vidence.folder / "cut.mp4", share=0.6)
    done = vidence("videos", "track", "cut.mp4", *WORDS)
    assert done.code == 2
    assert "cut.mp4" in done.err
    assert "index" in done.err
