"""Chunks as results of a stage, and as work for several processes."""

import os
from functools import partial

import numpy as np
import pytest

from vidence.engine.side_by_side import Parallelism
from vidence.errors import DataError, MediaError
from vidence.make.pipeline.cache import ArtifactCache
from vidence.make.pipeline.watching import Parted, StagedChunks, watch_side_by_side
from vidence.media.video import open_video
from vidence.seeing.chunks import Eyes, Watch, chunks_of, watch_chunk
from vidence.seeing.following import open_describer, open_detector
from videos.walkers import STREET, film

SPEC = "hog:?least_px=90&ladder=1.3"
TWO = Parallelism(n_workers=2)


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    pytest.importorskip("cv2", reason="needs the extra 'build'")
    return open_video(film(tmp_path_factory.mktemp("street") / "street.mp4", STREET, n_frames=20))


def unheard(message):
    raise AssertionError(message)


@pytest.fixture
def eyes():
    return Eyes(detector=open_detector(SPEC), describer=open_describer("colour"), classes=("person",))


def test_what_was_seen_is_found_again_for_the_same_video_frames_and_eyes(street, eyes, tmp_path):
    cache = ArtifactCache(folder=tmp_path / "stages")
    store = StagedChunks(cache, eyes, inputs={"video": "a"})
    (chunk,) = chunks_of(street, rate=5, has_shots=False)
    (other,) = chunks_of(street, rate=0, has_shots=False)
    seen = watch_chunk(street, chunk, eyes)
    assert store.find(chunk) is None
    store.keep(chunk, seen)
    found = store.find(chunk)
    np.testing.assert_array_equal(found.detections.boxes_px, seen.detections.boxes_px)
    np.testing.assert_array_equal(found.vectors, seen.vectors)
    assert found.detections.class_names == seen.detections.class_names
    assert (store.has(chunk), store.has(other)) == (True, False)
    assert not StagedChunks(cache, eyes, inputs={"video": "b"}).has(chunk)
    blind = Eyes(detector=open_detector("hog"), describer=eyes.describer, classes=eyes.classes)
    assert not StagedChunks(cache, blind, inputs={"video": "a"}).has(chunk)
    store.clear()
    assert list((tmp_path / "stages").iterdir()) == []


def parted(street, eyes, tmp_path):
    store = StagedChunks(ArtifactCache(folder=tmp_path), eyes, inputs={"video": "a"})
    return Parted(watch=Watch(street, eyes, rate=0, store=store), detector=SPEC, describer="colour")


def test_other_processes_watch_what_is_missing_and_one_alone_leaves_it(street, eyes, tmp_path):
    one = parted(street, eyes, tmp_path)
    assert watch_side_by_side([one], Parallelism(), on_trouble=unheard) == {}
    assert len(one.watch.missing) == 1
    assert watch_side_by_side([one], TWO, on_trouble=unheard) == {}
    assert one.watch.missing == ()


def test_a_process_that_crashes_on_a_video_takes_no_other_along(street, eyes, tmp_path, monkeypatch):
    good, bad = (parted(street, eyes, tmp_path / name) for name in "ab")
    plain = Parted.work
    monkeypatch.setattr(
        Parted,
        "work",
        lambda self, chunk, **how: ("b.mp4", os.abort) if self is bad else plain(self, chunk, **how),
    )
    failed = watch_side_by_side([good, bad], TWO, on_trouble=unheard)
    assert list(failed) == [1]
    assert isinstance(failed[1], MediaError)
    assert good.watch.missing == ()


def fail(error):
    raise error


def test_what_is_no_fault_of_the_video_ends_the_watching(street, eyes, tmp_path, monkeypatch):
    one = parted(street, eyes, tmp_path)
    monkeypatch.setattr(
        Parted, "work", lambda self, chunk, **how: ("b.mp4", partial(fail, DataError("no boxes")))
    )
    with pytest.raises(DataError, match="no boxes"):
        watch_side_by_side([one], TWO, on_trouble=unheard)
