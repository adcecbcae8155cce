"""``vidence videos track`` as a user runs it, on a street with people drawn by us."""

import json
import re

import numpy as np
import pytest

from videos import edited
from videos.walkers import STREET, STREET_FRAMES, film, mot_lines

FILES = [".vidence-track", "contact-sheet.html", "detections.txt", "track.json", "tracks.csv", "tracks.txt"]


@pytest.fixture
def street(vidence):
    """The video and its truth, in the folder of the command."""
    film(vidence.folder / "street.mp4", STREET, n_frames=STREET_FRAMES)
    truth = mot_lines(STREET, n_frames=STREET_FRAMES, with_ids=True)
    (vidence.folder / "gt.txt").write_text(truth)
    return vidence


def test_the_people_of_a_street_are_found_followed_and_measured(street):
    pytest.importorskip("cv2", reason="needs the extra 'build'")
    pytest.importorskip("trackers", reason="needs the library of trackers")
    done = street("videos", "track", "street.mp4", "--gt", "gt.txt", "--out", "out")
    assert done.code == 0, done.err
    assert "3 tracks" in done.out
    out = street.folder / "out"
    assert sorted(path.name for path in out.iterdir()) == FILES
    record = json.loads((out / "track.json").read_text())
    assert record["counts"]["tracks"] == 3
    assert record["identities"]["detector"].startswith("hog/")
    assert record["quality"]["refined"]["idf1"] > 0.9
    assert record["quality"]["refined"]["n_switches"] == 0
    assert record["caution"] in done.out
    assert re.search(r"hog .* last resort: .* 85 %.*33 %.*rfdetr:.*boxes:", record["caution"])
    page = (out / "contact-sheet.html").read_text(encoding="utf-8")
    assert page.count('src="data:image/jpeg;base64,') == 1 + 3


def test_boxes_from_a_file_are_used_at_any_rate(street):
    words = ["videos", "track", "street.mp4", "--detector", "boxes:gt.txt", "--tracker", "sort?n_init=1"]
    done = street(*words, "--rate", "3", "--out", "o")
    assert done.code == 0, done.err
    assert sorted(p.name for p in (street.folder / "o").iterdir()) == FILES
    lines = (street.folder / "o" / "tracks.txt").read_text().splitlines()
    assert len(lines) == 39 + 39 + 30  # the tracker begins with the second box


def test_a_street_without_people(vidence):
    film(vidence.folder / "empty.mp4", (), n_frames=5)
    (vidence.folder / "none.txt").write_text("")
    done = vidence("videos", "track", "empty.mp4", "--detector", "boxes:none.txt")
    assert done.code == 0, done.err
    assert "no people were detected" in done.out
    assert (vidence.folder / "tracks" / "empty" / "tracks.txt").read_text() == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--detector", "rfdetr:/none/w.pth"], "hog works without any file"),
        (["--detector", "hogg"], "Did you mean 'hog'"),
        (["--refine", "gap"], "expected all, none, or some of gaps"),
        (["--gt", "none.txt"], "none.txt"),
        (["--tracker", "deepsort:colors"], "Did you mean 'colour'"),
    ],
)
def test_what_is_wrong_is_said_before_the_work(street, words, said):
    done = street("videos", "track", "street.mp4", *words)
    assert done.code == 2
    assert said in done.err
    assert not [*street.folder.glob("tracks/*/[!.]*")]


@pytest.mark.parametrize("detector", ["boxes:still.txt", "hog:?least_px=400&ladder=2"])
def test_tracks_end_at_cuts(vidence, detector):
    """Somebody in one place in three takes: three tracks, and one where cuts do not count."""
    if detector.startswith("hog"):
        pytest.importorskip("cv2", reason="needs the extra 'build'")
    write_takes(vidence.folder / "takes.mp4")
    rows = [f"{frame + 1},-1,40,20,40,80,0.9,-1,-1,-1" for frame in range(60)]
    (vidence.folder / "still.txt").write_text("\n".join(rows) + "\n")
    words = ["videos", "track", "takes.mp4", "--detector", detector, "--out", "o"]
    done = vidence(*words)
    assert done.code == 0, done.err
    assert "3 shots" in done.out
    record = json.loads((vidence.folder / "o" / "track.json").read_text())
    assert record["cuts"] == [20, 40]
    assert record["identities"]["cuts"].startswith("content")
    if detector.startswith("boxes"):
        assert record["counts"]["tracks"] == 3
        across = vidence(*words, "--cuts", "none", "--tracker", "sort")
        assert "1 tracks, 1 after cleaning" in across.out
        alone = json.loads((vidence.folder / "o" / "track.json").read_text())
        assert "cuts" not in alone["identities"]
        unknown = vidence(*words, "--cuts", "contents")
        assert unknown.code == 2
        assert "Did you mean 'content'" in unknown.err


def write_takes(path) -> None:
    """Three takes of 20 frames on three grounds."""
    grounds = ((60, 60, 60), (180, 200, 220), (90, 160, 70))
    shade = np.linspace(-30, 30, edited.WIDTH)[None, :, None]
    pictures = (
        np.clip(np.full((edited.HEIGHT, edited.WIDTH, 3), grounds[i // 20]) + shade, 0, 255).astype(np.uint8)
        for i in range(60)
    )
    edited.write(path, pictures)


def test_a_configuration_and_another_option_do_not_both_say_how_people_are_followed(vidence):
    done = vidence("videos", "track", "street.mp4", "--config", "street.toml", "--cuts", "none")
    assert done.code == 2
    assert "--cuts and --config both say how people are followed" in done.err


def test_a_file_of_tracks_is_shown_and_measured_as_it_is(street):
    """The truth itself, and the same with two people swapped half way: nobody is looked for."""
    pytest.importorskip("trackers", reason="needs the library of trackers")
    done = street("videos", "track", "street.mp4", "--tracks", "gt.txt", "--gt", "gt.txt", "--out", "out")
    assert done.code == 0, done.err
    assert re.search(r"3 tracks, \d+ boxes in \d+ of \d+ frames", done.out)
    assert re.search(r"given +MOTA 1\.0000  IDF1 1\.0000  HOTA 1\.0000  switches 0", done.out)
    out = street.folder / "out"
    assert sorted(p.name for p in out.iterdir()) == [name for name in FILES if name != "detections.txt"]
    record = json.loads((out / "track.json").read_text())
    assert record["identities"]["tracks"].startswith("given/")
    assert record["counts"]["tracks"] == 3
    page = (out / "contact-sheet.html").read_text(encoding="utf-8")
    assert page.count('src="data:image/jpeg;base64,') == 1 + 3
    assert "caution" not in record
    lines = (street.folder / "gt.txt").read_text().splitlines()
    half = sorted(int(line.split(",")[0]) for line in lines)[len(lines) // 2]
    swapped = []
    for line in lines:
        frame, number, rest = line.split(",", 2)
        if int(frame) >= half and number in {"1", "2"}:
            number = {"1": "2", "2": "1"}[number]
        swapped.append(f"{frame},{number},{rest}\n")
    (street.folder / "swapped.txt").write_text("".join(swapped))
    done = street("videos", "track", "--tracks", "swapped.txt", "--gt", "gt.txt")
    assert done.code == 0, done.err
    measured = re.search(r"IDF1 ([\d.]+) .* switches (\d+)", done.out)
    assert float(measured[1]) < 1
    assert int(measured[2]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["street.mp4", "--tracks", "gt.txt", "--detector", "hog", "--refine", "none"],
            "out --detector, --refine",
        ),
        (["--tracks", "gt.txt"], "add the VIDEO, --gt, or both"),
        ([], "no video given"),
        (["street.mp4", "--tracks", "far.txt"], "1 of 1 boxes beyond the end"),
        (["street.mp4", "--tracks", "boxes.txt"], "has no identities"),
        (["street.mp4", "--tracks", "none.txt"], "cannot be read"),
    ],
)
def test_tracks_that_cannot_be_shown(street, words, said):
    (street.folder / "far.txt").write_text("5000,1,5,5,20,40,1\n")
    (street.folder / "boxes.txt").write_text("1,-1,5,5,20,40,1\n")
    done = street("videos", "track", *words)
    assert done.code == 2
    assert said in " ".join(done.err.split())
