"""The cache of encoded frames."""

import errno
import hashlib
import logging
import multiprocessing
import os
from pathlib import Path

import pytest

from vidence.media.cache import BoundedFolder, FrameCache, warn_once
from vidence.media.encode import EncodedFrame

_MIB = 1 << 20


@pytest.fixture(autouse=True)
def _warn_again():
    warn_once.cache_clear()


def frame(number, n_bytes=1000):
    data = number.to_bytes(4, "big") * (n_bytes // 4)
    return EncodedFrame(data=data, width_px=number + 1, height_px=7, digest=hashlib.sha256(data).hexdigest())


def kept_bytes(root):
    return sum(p.stat().st_size for p in (root / "frames").glob("*/*/*"))


def test_a_frame_comes_back_as_it_was(tmp_path):
    cache = FrameCache(tmp_path, max_bytes=_MIB)
    assert cache.get("hash", 5, "key") is None
    cache.put("hash", 5, "key", frame=frame(5))
    assert FrameCache(tmp_path, max_bytes=_MIB).get("hash", 5, "key") == frame(5)
    for other in (("other", 5, "key"), ("hash", 6, "key"), ("hash", 5, "kez")):
        assert cache.get(*other) is None


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_file_that_is_not_whole_is_never_delivered(share, tmp_path):
    cache = FrameCache(tmp_path, max_bytes=_MIB)
    cache.put("hash", 5, "key", frame=frame(5))
    (path,) = (tmp_path / "frames").glob("*/*/*")
    stored = bytearray(path.read_bytes())
    path.write_bytes(stored[: int(len(stored) * share)])
    assert cache.get("hash", 5, "key") is None
    stored[100] ^= 1
    path.write_bytes(bytes(stored))
    assert cache.get("hash", 5, "key") is None


def test_the_bound_holds_over_many_short_lived_caches(tmp_path):
    for number in range(200):
        FrameCache(tmp_path, max_bytes=20_000).put("hash", number, "key", frame=frame(number))
        assert kept_bytes(tmp_path) <= 20_000
    assert kept_bytes(tmp_path) > 10_000
    assert FrameCache(tmp_path, max_bytes=20_000).get("hash", 199, "key") == frame(199)


def test_the_least_recently_used_go_first(tmp_path):
    cache = FrameCache(tmp_path, max_bytes=_MIB)
    for number in range(10):
        cache.put("hash", number, "key", frame=frame(number))
        path = tmp_path / "frames" / "hash" / "key" / str(number)
        os.utime(path, (number, number))
    assert cache.get("hash", 0, "key") is not None  # used just now
    BoundedFolder(tmp_path / "frames", pattern="*/*/*", max_bytes=5_500).trim()
    left = [n for n in range(10) if cache.get("hash", n, "key") is not None]
    assert left == [0, 7, 8, 9]
    none = FrameCache(tmp_path / "none", max_bytes=0)  # keeps nothing
    none.put("hash", 1, "key", frame=frame(1))
    assert none.get("hash", 1, "key") is None
    assert not (tmp_path / "none" / "frames").exists()


def test_a_folder_that_cannot_be_written_costs_one_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            FrameCache(tmp_path / "file", max_bytes=_MIB).put("hash", number, "key", frame=frame(number))
    assert len(caplog.records) == 1
    assert str(tmp_path / "file") in caplog.text
    assert FrameCache(tmp_path / "file", max_bytes=_MIB).get("hash", 1, "key") is None


def test_a_full_disk_costs_one_warning_and_leaves_nothing_behind(tmp_path, caplog, monkeypatch):
    def full(self, data):
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    cache = FrameCache(tmp_path, max_bytes=_MIB)
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            cache.put("hash", number, "key", frame=frame(number))
    assert [r.getMessage().count("No space left on device") for r in caplog.records] == [1]
    assert kept_bytes(tmp_path) == 0


def _work(root, first):
    """Puts and gets many frames beside another process; returns how many wrong ones it saw."""
    cache = FrameCache(Path(root), max_bytes=60_000)
    n_wrong = 0
    for step in range(120):
        number = (first + step * 7) % 80
        cache.put("hash", number, "key", frame=frame(number))
        other = (first + step * 11) % 80
        found = cache.get("hash", other, "key")
        n_wrong += found is not None and found != frame(other)
    return n_wrong


def test_two_processes_share_a_folder(tmp_path):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(_work, [(str(tmp_path), 0), (str(tmp_path), 40)]) == [0, 0]
    BoundedFolder(tmp_path / "frames", pattern="*/*/*", max_bytes=60_000).trim()
    assert kept_bytes(tmp_path) <= 60_000
    assert not [p for p in (tmp_path / "frames").rglob("*") if p.name.startswith(".")]
