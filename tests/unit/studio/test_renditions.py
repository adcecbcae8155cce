"""Copies in the cache folder: made once, told how far they are, bounded."""

import time

import pytest

from vidence.errors import MediaError
from vidence.media.files import known_video
from vidence.media.video import open_video
from vidence.studio import renditions
from vidence.studio.renditions import CopyState, Original, Renditions
from videos.stamped import read_number, write

N = 20


@pytest.fixture
def there(tmp_path):
    made = Renditions(tmp_path / "cache", max_bytes=1 << 30)
    yield made
    made.close()


@pytest.fixture(scope="module")
def old_film(tmp_path_factory):
    """A video that no browser plays."""
    return write(tmp_path_factory.mktemp("old") / "film.avi", codec="mpeg4", numbers=range(N))


def original_of(path):
    """A film as the media desk finds it."""
    video, digest = known_video(path, kind="video", cache_root=None)
    return Original(video=video, digest=digest)


def ended(there: Renditions, original) -> CopyState:
    """The state of a copy when it is no longer being made."""
    while (state := there.ask(original)).state in {"waiting", "making"}:
        time.sleep(0.01)
    return state


def test_a_copy_is_made_when_it_is_asked_for_and_found_again(there, old_film, tmp_path):
    original = original_of(old_film)
    assert there.ready(original) is None
    assert there.ask(original).state in {"waiting", "making"}
    assert ended(there, original) == CopyState(state="ready", n_done=N, n_frames=N)
    place = there.ready(original)
    made = open_video(place)
    assert [read_number(frame.data) for frame in made] == list(range(N))
    assert place.stat().st_mode & 0o077 == 0
    another = Renditions(tmp_path / "cache", max_bytes=1 << 30)
    assert another.ask(original_of(old_film)).state == "ready"
    another.close()


def test_what_browsers_play_is_copied_only_for_one_that_does_not(there, tmp_path):
    original = original_of(write(tmp_path / "plain.mp4", numbers=range(N)))
    assert there.ask(original) == CopyState(state="not-needed", n_frames=N)
    assert there.begin(original).state == "waiting"
    assert ended(there, original).state == "ready"


def test_a_copy_that_fails_says_why_and_is_not_tried_again(there, old_film, monkeypatch):
    n_tries = []

    def fail(*_, **__):
        n_tries.append(1)
        raise MediaError("the disk is full of lions")

    monkeypatch.setattr(renditions, "write_copy", fail)
    original = original_of(old_film)
    there.ask(original)
    assert ended(there, original) == CopyState(state="failed", n_frames=N, why="the disk is full of lions")
    assert there.ask(original).state == "failed"
    assert n_tries == [1]


def test_a_folder_that_cannot_be_written_is_said(old_film, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "browser").write_text("no folder")
    there = Renditions(tmp_path / "cache", max_bytes=1 << 30)
    original = original_of(old_film)
    there.ask(original)
    state = ended(there, original)
    there.close()
    assert state.state == "failed"
    assert "no copy can be saved" in state.why
