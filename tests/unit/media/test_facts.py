"""Facts are found once, kept, and not used for another file."""

import hashlib
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from vidence.errors import MediaError
from vidence.media.cache import warn_once
from vidence.media.facts import cached_facts, known_video, read_facts
from videos.special import MAKERS
from videos.stamped import read_number, write


def test_the_hash_is_that_of_the_file(plain) -> None:
    facts = read_facts(plain, kind="video", cache_root=None)
    assert facts.content_hash == hashlib.sha256(plain.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["h264", "vfr", "raw", "turned-90"])
def test_kept_facts_are_the_facts(name: str, clip, tmp_path: Path) -> None:
    path = clip(name).path
    assert cached_facts(path, kind="video", cache_root=tmp_path) is None
    found = read_facts(path, kind="video", cache_root=tmp_path)
    kept = cached_facts(path, kind="video", cache_root=tmp_path)
    assert kept is not None
    assert (kept.probe, kept.content_hash) == (found.probe, found.content_hash)
    np.testing.assert_array_equal(kept.times_s, found.times_s)
    video, _ = known_video(path, kind="video", cache_root=tmp_path)
    fresh, _ = known_video(path, kind="video", cache_root=None)
    for kept_image, image in zip(video.frames([3, 31]), fresh.frames([3, 31]), strict=True):
        np.testing.assert_array_equal(kept_image, image)


def test_kept_facts_never_open_the_file(plain, tmp_path: Path, monkeypatch) -> None:
    read_facts(plain, kind="video", cache_root=tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the file was opened")

    monkeypatch.setattr("av.open", refuse)
    monkeypatch.setattr("vidence.media.facts._hash_of", refuse)
    assert cached_facts(plain, kind="video", cache_root=tmp_path) is not None


def test_a_swapped_file_is_another_file(plain, tmp_path: Path) -> None:
    path, cache = tmp_path / "a.mp4", tmp_path / "cache"
    shutil.copy(plain, path)
    before = read_facts(path, kind="video", cache_root=cache)
    write(path, numbers=range(500, 530), movflags="faststart")
    assert cached_facts(path, kind="video", cache_root=cache) is None
    after, content_hash = known_video(path, kind="video", cache_root=cache)
    assert content_hash != before.content_hash
    assert after.n_frames == 30
    assert read_number(after.frames([7])[0]) == 507


def test_a_file_of_the_same_size_and_another_time_is_read_again(plain, tmp_path: Path) -> None:
    path, cache = tmp_path / "a.mp4", tmp_path / "cache"
    shutil.copy(plain, path)
    read_facts(path, kind="video", cache_root=cache)
    os.utime(path, ns=(1, 1))
    assert cached_facts(path, kind="video", cache_root=cache) is None


def test_kinds_are_kept_apart(plain, tmp_path: Path) -> None:
    read_facts(plain, kind="video", cache_root=tmp_path)
    assert cached_facts(plain, kind="image", cache_root=tmp_path) is None


@pytest.mark.parametrize("content", [b"", b"\x00", b"not what it was", b"\x80"])
def test_a_damaged_keep_is_ignored(content: bytes, plain, tmp_path: Path) -> None:
    read_facts(plain, kind="video", cache_root=tmp_path)
    (place,) = (tmp_path / "facts").glob("*/*")
    place.write_bytes(content)
    assert cached_facts(plain, kind="video", cache_root=tmp_path) is None
    assert read_facts(plain, kind="video", cache_root=tmp_path).probe.counted.n_frames == 120


def test_a_cache_that_cannot_be_written_does_no_harm(plain, tmp_path: Path, caplog) -> None:
    warn_once.cache_clear()
    (tmp_path / "file").write_text("in the way")
    for _ in range(2):
        facts = read_facts(plain, kind="video", cache_root=tmp_path / "file")
        assert facts.probe.counted.n_frames == 120
    assert len(caplog.records) == 1


def test_a_file_that_is_still_being_written_is_an_error(plain, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "growing.mp4"
    shutil.copy(plain, path)
    from vidence.media import facts

    hash_of = facts._hash_of

    def grow(where: Path, kind: str) -> str:
        with where.open("ab") as file:
            file.write(b"more")
        return hash_of(where, kind)

    monkeypatch.setattr(facts, "_hash_of", grow)
    with pytest.raises(MediaError, match="changed while it was being read"):
        read_facts(path, kind="video", cache_root=tmp_path)


def test_every_kind_of_file_keeps_its_table(clip, tmp_path: Path) -> None:
    counted = {
        n
        for n in MAKERS
        if known_video(clip(n).path, kind="video", cache_root=tmp_path)[0].scan.table is None
    }
    # These are decoded from the start; all others are read sparsely.
    assert counted == {"vp8", "mpeg4-avi-b", "gif", "avi", "raw", "interlaced-ts"}
