"""``vidence videos select`` as a person calls it."""

import json

import pytest

from videos import pans

STILL, FAST = "still.mp4", "fast.mp4"


@pytest.fixture
def films(tmp_path):
    folder = tmp_path / "films"
    folder.mkdir()
    for name, speed in ((STILL, 0), (FAST, 10)):
        pans.write(folder / name, pans.pan(speed, n_frames=20))
    (folder / "broken.mp4").write_bytes(b"no video at all")
    return folder


def test_a_folder_is_measured_gated_and_shown(films, vidence) -> None:
    (vidence.folder / "rules.toml").write_text('[measure]\ndetector = ""\n[gates.motion]\nat_least = 5\n')
    first = vidence("videos", "select", "films", "--rules", "rules.toml", "--jobs", "1")
    assert first.code == 0
    assert "3 videos: 1 kept, 1 dropped, 1 cannot be read" in first.out
    assert "broken.mp4" in first.err
    page = (vidence.folder / "selected" / "selection.html").read_text()
    assert "motion-low" in page
    again = vidence("videos", "select", "films", "--rules", "rules.toml", "--jobs", "1", "--json", "-")
    assert json.loads(again.out)["sentences"][0] == "3 videos: 1 kept, 1 dropped, 1 cannot be read"
    assert "2 results were cached" in again.err


def test_nothing_kept_ends_with_three_and_a_preset_that_is_none_with_two(films, vidence) -> None:
    done = vidence(
        "videos", "select", "films", "--preset", "perceptioncomp", "--detector", "none", "--jobs", "1"
    )
    assert done.code == 3
    assert "people-unknown" in done.out
    assert vidence("videos", "select", "films", "--preset", "percep").code == 2


def test_people_are_given_a_sheet_and_say_what_they_saw(films, vidence) -> None:
    assert vidence("videos", "select", "films", "--sheet", "look.csv").code == 0
    sheet = vidence.folder / "look.csv"
    assert sheet.read_text().splitlines()[0] == "video,text,lecture,by"
    assert vidence("videos", "select", "films", "--sheet", "look.csv").code == 2
    sheet.write_text(f"video,text,lecture,by\n{FAST},0,no,Ann\n{STILL},yes,no,Ann\n")
    words = ("--manual", "look.csv", "--preset", "mmvu", "--detector", "none", "--jobs", "1")
    done = vidence("videos", "select", "films", *words)
    assert done.code == 0
    kept = (vidence.folder / "selected" / "kept.csv").read_text().splitlines()[1:]
    assert [row.split(",")[0] for row in kept] == [FAST]
