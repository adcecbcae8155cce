"""``vidence videos probe``: what files hold, and which cannot be read."""

import hashlib
import json

import pytest
from click.testing import CliRunner
from PIL import Image

from vidence.cli.commands import probe as command
from vidence.cli.commands.probe import probe
from videos.stamped import write


def probed(*words: str):
    return CliRunner().invoke(probe, words, standalone_mode=False, catch_exceptions=False)


@pytest.fixture
def film(tmp_path):
    path = tmp_path / "a.mp4"
    write(path)
    return path


def test_a_file_is_described_with_its_hash(film):
    done = probed(str(film))
    found = json.loads(done.stdout)
    assert done.return_value == 0
    assert found["path"].endswith("a.mp4")
    assert found["sha256"] == hashlib.sha256(film.read_bytes()).hexdigest()


def test_one_that_cannot_be_read_does_not_hide_the_others(film, tmp_path):
    bad = tmp_path / "bad.mp4"
    bad.write_bytes(b"no video")
    done = probed(str(bad), str(film))
    assert done.return_value == 1
    assert "bad.mp4" in done.stderr
    assert json.loads(done.stdout)["path"].endswith("a.mp4")


def test_one_that_takes_too_long_is_stopped(film, monkeypatch):
    monkeypatch.setattr(command, "_DEADLINE_S", 0.001)
    done = probed(str(film))
    assert done.return_value == 1
    assert "a.mp4: the decoder did not finish within 0.001 s" in done.stderr


def test_a_folder_of_images_is_frames(tmp_path):
    for i in range(3):
        Image.new("RGB", (8, 6)).save(tmp_path / f"{i:03}.png")
    done = probed("--kind", "frames", str(tmp_path))
    assert done.return_value == 0
    assert json.loads(done.stdout)["counted"]["n_frames"] == 3
