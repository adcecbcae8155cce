"""The cache of features and scores: what comes back, what does not, and what several processes do to it."""

import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from vidence.ask.embedding import cache as cache_module
from vidence.ask.embedding.cache import ScoreCache
from vidence.errors import UsageError
from vidence.media import cache as media_cache
from vidence.media.cache import warn_once
from vidence.media.whole import write_whole

VIDEO, OTHER_VIDEO = "a" * 64, "b" * 64


def embedder(identity="clip:x v1", **more):
    own = {"size": "native", "features_identity": identity, "features": len, "compare": len}
    return SimpleNamespace(identity=identity, **{**own, **more})


@pytest.fixture
def cache(tmp_path) -> ScoreCache:
    return ScoreCache(tmp_path, embedder(), frames_key="short224", max_bytes=1 << 30)


def rows(*numbers, n_dims=3):
    return np.array([[n + d / 10 for d in range(n_dims)] for n in numbers], np.float32)


def files(root: Path) -> list[Path]:
    return sorted((root / "scores").rglob("*.npz"))


class TestWhatComesBack:
    def test_features_in_the_order_asked_for_and_scores_by_text(self, cache):
        cache.put_features(VIDEO, [4, 2, 9], rows(4, 2, 9))
        found, features = cache.get_features(VIDEO, [9, 3, 2, 100, 0])
        assert found.tolist() == [9, 2]
        assert (found.dtype, features.dtype) == (np.int64, np.float32)
        np.testing.assert_array_equal(features, rows(9, 2))
        cache.put_scores(VIDEO, [1, 2], "red", scores=np.array([0.25, 0.5], np.float32))
        cache.put_scores(VIDEO, np.array([2]), "blue", scores=np.array([0.75], np.float32))
        assert [a.tolist() for a in cache.get_scores(VIDEO, [2, 1], "red")] == [[2, 1], [0.5, 0.25]]
        assert [a.tolist() for a in cache.get_scores(VIDEO, [2, 1], "blue")] == [[2], [0.75]]
        assert [a.tolist() for a in cache.get_scores(VIDEO, [2, 1], "green")] == [[], []]
        cache.put_scores(VIDEO, [1], "red", scores=np.array([1 / 3], np.float64))
        assert cache.get_scores(VIDEO, [1], "red")[1].tolist() == [np.float32(1 / 3)]

    def test_what_is_put_later_is_added_to_few_files_and_the_same_to_none(self, cache, tmp_path):
        for index in range(40):
            cache.put_features(VIDEO, [index, index + 1], rows(index, index + 1))
        found, features = cache.get_features(VIDEO, range(50))
        assert found.tolist() == list(range(41))
        np.testing.assert_array_equal(features, rows(*range(41)))
        for index in range(40):
            cache.put_scores(VIDEO, [index], "red", scores=np.array([index], np.float32))
            assert len(files(tmp_path)) <= 2 * 17
        assert cache.get_scores(VIDEO, range(40), "red")[1].tolist() == list(range(40))
        found, features = cache.get_features(OTHER_VIDEO, [1, 2])
        assert (found.shape, features.shape) == ((0,), (0, 0))
        found, scores = cache.get_scores(OTHER_VIDEO, [1, 2], "red")
        assert (found.shape, scores.shape) == ((0,), (0,))
        cache.put_features(VIDEO, [], np.empty((0, 3), np.float32))
        assert cache.get_features(VIDEO, [])[0].tolist() == []

    def test_putting_the_same_again_adds_no_file_and_is_there_for_the_next_session(self, cache, tmp_path):
        for _ in range(3):
            cache.put_features(VIDEO, [1, 2], rows(1, 2))
        assert len(files(tmp_path)) == 1
        cache.put_features(VIDEO, [1], rows(1))
        again = ScoreCache(tmp_path, embedder(), frames_key="short224", max_bytes=1 << 30)
        assert again.get_features(VIDEO, [1])[0].tolist() == [1]


class TestWhatIsApart:
    @pytest.mark.parametrize(
        ("other", "frames_key", "video"),
        [
            (embedder("clip:y v1"), "short224", VIDEO),
            (embedder(), "short448", VIDEO),
            (embedder(), "short224", OTHER_VIDEO),
        ],
    )
    def test_another_embedder_size_or_video(self, cache, tmp_path, other, frames_key, video):
        cache.put_features(VIDEO, [1], rows(1))
        cache.put_scores(VIDEO, [1], "red", scores=np.ones(1, np.float32))
        another = ScoreCache(tmp_path, other, frames_key=frames_key, max_bytes=1 << 30)
        assert len(another.get_features(video, [1])[0]) == 0
        assert len(another.get_scores(video, [1], "red")[0]) == 0

    def test_features_are_shared_where_only_scores_differ(self, tmp_path):
        plain, scaled = (
            ScoreCache(tmp_path, embedder(i, features_identity="clip:x"), frames_key="k", max_bytes=1 << 30)
            for i in ("plain", "scaled")
        )
        plain.put_features(VIDEO, [1], rows(1))
        plain.put_scores(VIDEO, [1], "red", scores=np.ones(1, np.float32))
        assert len(scaled.get_features(VIDEO, [1])[0]) == 1
        assert len(scaled.get_scores(VIDEO, [1], "red")[0]) == 0


class TestDamage:
    @pytest.mark.parametrize("harm", ["one bit", "half", "empty", "gone"])
    def test_a_damaged_file_is_a_miss(self, cache, tmp_path, caplog, harm):
        cache.put_features(VIDEO, [1, 2], rows(1, 2))
        cache.put_features(VIDEO, [3], rows(3))
        path = next(p for p in files(tmp_path) if 1 in np.load(p)["indices"])
        stored = bytearray(path.read_bytes())
        stored[len(stored) // 2] ^= 1
        {
            "one bit": lambda: path.write_bytes(stored),
            "half": lambda: path.write_bytes(stored[: len(stored) // 2]),
            "empty": lambda: path.write_bytes(b""),
            "gone": path.unlink,
        }[harm]()
        with caplog.at_level(logging.DEBUG, logger="vidence.ask.embedding"):
            found, features = cache.get_features(VIDEO, [1, 2, 3])
        assert found.tolist() == [3]
        np.testing.assert_array_equal(features, rows(3))
        assert ("is damaged" in caplog.text) is (harm != "gone")
        cache.put_features(VIDEO, [1, 2], rows(1, 2))
        assert cache.get_features(VIDEO, [1, 2, 3])[0].tolist() == [1, 2, 3]

    @pytest.mark.parametrize(
        ("stored", "said"),
        [
            ({"indices": np.arange(2)}, "cannot be read"),
            ({"indices": np.arange(2), "values": np.array([{}, {}])}, "cannot be read"),
            ({"indices": np.arange(3), "values": rows(0, 1)}, "another form"),
            ({"indices": np.arange(2), "values": np.ones(2, np.float32)}, "another form"),
        ],
    )
    def test_a_whole_file_of_another_form_is_a_miss(self, cache, tmp_path, caplog, monkeypatch, stored, said):
        save = np.savez
        monkeypatch.setattr(np, "savez", lambda file, **_: save(file, **stored, allow_pickle=True))
        cache.put_features(VIDEO, [0, 1], rows(0, 1))
        with caplog.at_level(logging.DEBUG, logger="vidence.ask.embedding"):
            assert len(cache.get_features(VIDEO, [0, 1])[0]) == 0
        assert said in caplog.text

    def test_bytes_that_are_no_archive_or_another_length_are_a_miss(self, cache, tmp_path, monkeypatch):
        cache.put_features(VIDEO, [1], rows(1, n_dims=3))
        cache.put_features(VIDEO, [2], rows(2, n_dims=5))
        found, features = cache.get_features(VIDEO, [1, 2])
        assert len(found) == 1
        assert features.shape in {(1, 3), (1, 5)}
        monkeypatch.setattr(np, "savez", lambda file, **_: file.write(b"PK no archive"))
        cache.put_features(OTHER_VIDEO, [0, 1], rows(0, 1))
        assert len(cache.get_features(OTHER_VIDEO, [0, 1])[0]) == 0

    @pytest.mark.parametrize("values", [rows(1, 2), np.ones(1, np.float32), np.ones((1, 2, 3), np.float32)])
    def test_what_does_not_fit_is_refused(self, cache, values):
        with pytest.raises(UsageError, match=r"1 frames cannot have .*; expected 1 rows and 2 axes"):
            cache.put_features(VIDEO, [1], values)
        with pytest.raises(UsageError, match="expected 2 rows and 1 axes"):
            cache.put_scores(VIDEO, [1, 2], "red", scores=np.ones(3, np.float32))


class TestBound:
    def test_the_least_recently_used_goes_first(self, tmp_path):
        one = len(rows(0, n_dims=1000).tobytes())
        cache = ScoreCache(tmp_path, embedder(), frames_key="k", max_bytes=6 * one)
        for video in range(5):
            cache.put_features(f"{video:064}", [0], rows(video, n_dims=1000))
            for path in (tmp_path / "scores").rglob("*.npz"):  # a file system may tell times coarsely
                facts = path.stat()
                os.utime(path, ns=(facts.st_atime_ns - 10**9, facts.st_mtime_ns - 10**9))
        assert len(cache.get_features(f"{0:064}", [0])[0]) == 1  # now it is the one used last
        cache.put_features(f"{9:064}", [0], rows(9, n_dims=1000))
        left = [v for v in (0, 1, 2, 3, 4, 9) if len(cache.get_features(f"{v:064}", [0])[0])]
        assert left == [0, 3, 4, 9]
        assert sum(p.stat().st_size for p in files(tmp_path)) <= 6 * one
        assert len(list((tmp_path / "scores").glob("*/*/*"))) == 4  # no empty folders remain

    def test_a_long_account_is_summed_up_and_with_no_room_nothing_is_kept(self, tmp_path, cache, monkeypatch):
        monkeypatch.setattr(media_cache, "_LONG_ACCOUNT_BYTES", 16)
        for index in range(5):
            cache.put_features(VIDEO, [index], rows(index))
        account = np.fromfile(tmp_path / "scores" / "written", np.int64)
        assert len(account) <= 3
        assert account.sum() == sum(p.stat().st_size for p in files(tmp_path))
        cache = ScoreCache(tmp_path / "none", embedder(), frames_key="k", max_bytes=0)
        cache.put_features(VIDEO, [1], rows(1))
        assert len(cache.get_features(VIDEO, [1])[0]) == 0
        assert list((tmp_path / "none").rglob("*")) == []

    def test_a_folder_that_cannot_be_written_costs_one_warning(self, tmp_path, caplog):
        warn_once.cache_clear()
        (tmp_path / "scores").write_text("in the way")
        cache = ScoreCache(tmp_path, embedder(), frames_key="k", max_bytes=1 << 20)
        for index in range(3):
            cache.put_features(VIDEO, [index], rows(index))
        assert len(caplog.records) == 1
        assert len(cache.get_features(VIDEO, [0])[0]) == 0


def test_a_file_that_another_process_tidies_away_at_once_costs_nothing(tmp_path, cache, monkeypatch):
    """Between writing a file and looking at it, another process may have put it together with others."""

    def written_and_gone(path, data, *, mode):
        write_whole(path, data, mode=mode)
        if path.name.endswith(".npz"):
            path.unlink()

    monkeypatch.setattr(cache_module, "write_whole", written_and_gone)
    cache.put_features(VIDEO, [0], rows(0))
    monkeypatch.undo()
    cache.put_features(VIDEO, [1], rows(1))
    assert cache.get_features(VIDEO, [0, 1])[0].tolist() == [1]


WORKER = """
import sys
import time
from pathlib import Path
from types import SimpleNamespace
import numpy as np
from vidence.ask.embedding.cache import ScoreCache
root, first = Path(sys.argv[1]), int(sys.argv[2])
cache = ScoreCache(root, SimpleNamespace(identity="e"), frames_key="k", max_bytes=1 << 30)
deadline = time.monotonic() + 60
(root / f"ready-{first}").touch()
while not (root / "go").exists():
    assert time.monotonic() < deadline, "nobody said go"
    time.sleep(0.002)  # never spin: whoever is to say so may need this processor
for index in range(first, 240, 2):
    cache.put_scores("v", [index], "red", scores=np.array([index], np.float32))
    found, scores = cache.get_scores("v", range(240), "red")
    assert (found == scores).all() and index in found, (index, found)
"""


def test_two_processes_lose_nothing_of_each_other(tmp_path):
    workers = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path), str(first)]) for first in (0, 1)
    ]
    try:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("ready-*"))) < 2:
            assert time.monotonic() < deadline, "the workers never began"
            time.sleep(0.01)
        (tmp_path / "go").touch()
        assert [worker.wait(120) for worker in workers] == [0, 0]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    cache = ScoreCache(tmp_path, embedder("e"), frames_key="k", max_bytes=1 << 30)
    found, scores = cache.get_scores("v", range(240), "red")
    assert found.tolist() == scores.tolist() == list(range(240))


def test_a_name_without_a_file_or_many_damaged_ones_are_left_alone(cache, tmp_path):
    cache.put_features(VIDEO, [1], rows(1))
    (files(tmp_path)[0].parent / "gone.npz").symlink_to(tmp_path / "nowhere")
    assert cache.get_features(VIDEO, [1])[0].tolist() == [1]
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for number in range(20):
        (damaged / f"{number}.npz").write_bytes(b"")
    cache_module._tidy(damaged, n_axes=2)
    assert len(list(damaged.iterdir())) == 20


def test_files_put_together_while_they_are_read_are_looked_for_again(tmp_path, cache, monkeypatch):
    cache.put_features(VIDEO, [1], rows(1))
    cache.put_features(VIDEO, [2], rows(2))
    read_part, calls = cache_module._read_part, []

    def interrupted(path, *, n_axes):
        calls.append(path)
        if len(calls) == 1:  # another process tidies just now
            monkeypatch.setattr(cache_module, "_MANY_PARTS", 1)
            monkeypatch.setattr(cache_module, "_read_part", read_part)
            cache_module._tidy(path.parent, n_axes=n_axes)
        return read_part(path, n_axes=n_axes)

    monkeypatch.setattr(cache_module, "_read_part", interrupted)
    found, features = cache.get_features(VIDEO, [1, 2])
    assert found.tolist() == [1, 2]
    np.testing.assert_array_equal(features, rows(1, 2))
    assert len(files(tmp_path)) == 1
