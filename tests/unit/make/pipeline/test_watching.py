"""Chunks as results of a stage, and as work for several processes."""

import os
import platform
import re
from functools import partial

import numpy as np
import pytest

from vidence.engine.side_by_side import Parallelism
from vidence.errors import DataError, MediaError, UsageError
from vidence.make.pipeline import watching
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


def opening(monkeypatch, openable):
    """Let detectors be opened by this; the specs that are opened meanwhile."""
    opened = []

    def open_it(spec):
        opened.append(spec)
        return openable(spec)

    monkeypatch.setattr(watching, "open_detector", open_it)
    watching._opened.cache_clear()
    return opened


def test_a_process_opens_what_it_watches_with_once_for_all_chunks(street, eyes, tmp_path, monkeypatch):
    opened = opening(monkeypatch, open_detector)
    one = parted(street, eyes, tmp_path)
    (chunk,) = one.watch.chunks
    _, work = one.work(chunk, is_away=True)
    first, again = work(), one.work(chunk, is_away=True)[1]()
    assert opened == [SPEC]
    np.testing.assert_array_equal(first.detections.boxes_px, again.detections.boxes_px)
    other = Parted(watch=one.watch, detector=f"{SPEC}&least_px=90", describer="colour")
    with pytest.raises(UsageError, match="given twice"):
        other.work(chunk, is_away=True)[1]()


def test_what_another_machine_opens_must_be_what_is_open_here(street, eyes, tmp_path, monkeypatch):
    here = platform.node()
    one = parted(street, eyes, tmp_path)
    (chunk,) = one.watch.chunks
    opening(monkeypatch, lambda spec: open_detector("hog"))
    with pytest.raises(UsageError) as found:
        one.work(chunk, is_away=True)[1]()
    assert str(found.value).startswith(f"{here} opens {SPEC} as {open_detector('hog').identity}, and the")
    assert eyes.detector.identity in str(found.value)
    assert len(one.work(chunk)[1]().detections.frame_indices)  # processes of this machine have its files


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (UsageError("there is no network at a.pth"), UsageError, "there is no network at a.pth"),
        (DataError("a.pth is none"), DataError, "a.pth is none"),
        (
            RuntimeError("no driver"),
            UsageError,
            r"hog.* and colour cannot be opened \(RuntimeError: no driver",
        ),
    ],
)
def test_a_machine_that_cannot_open_it_says_which_it_is(
    street, eyes, tmp_path, monkeypatch, error, kind, words
):
    opening(monkeypatch, lambda spec: fail(error))
    one = parted(street, eyes, tmp_path)
    with pytest.raises(kind, match=f"^{re.escape(platform.node())}: {words}"):
        one.work(one.watch.chunks[0], is_away=True)[1]()


class Heavy:
    """A detector that does not open anywhere."""

    identity, n_together, finds_parts = "heavy/1", 1, False

    def find(self, images):
        raise AssertionError("nobody looks")


@pytest.mark.parametrize(
    ("specs", "n_gpus"),
    [
        (("rfdetr:a.pth", ""), 0),
        (("rfdetr:a.pth?device=cuda:0", "mobilenet?device=cuda"), 1),
        (("hog", "mobilenet?device=cuda"), 1),
    ],
)
def test_networks_go_to_one_process_of_each_machine_or_gpu(street, tmp_path, monkeypatch, specs, n_gpus):
    asked = []

    def nobody(pieces, parallel, *, on_trouble):
        asked.append((parallel.gpus_each, [key for key, _ in pieces]))
        return ()

    monkeypatch.setattr(watching, "side_by_side", nobody)
    eyes = Eyes(detector=Heavy())
    one = Parted(watch=Watch(street, eyes, rate=0), detector=specs[0], describer=specs[1])
    small = Eyes(detector=open_detector(SPEC))
    other = Parted(watch=Watch(street, small, rate=0), detector=SPEC, describer="")
    watch_side_by_side([one, other], TWO, on_trouble=unheard)
    assert asked == [(None, [street.probe.path])]  # the small one: here networks wait for this process
    asked.clear()
    watch_side_by_side([one, other], Parallelism(on="ray"), on_trouble=unheard)
    assert asked == [(None, [street.probe.path]), (n_gpus, [street.probe.path])]


def test_boxes_from_files_stay_here(street, tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "side_by_side", lambda *given, **more: fail(AssertionError("it is away")))
    (tmp_path / "det.txt").write_text("1,-1,10,10,20,40,1,-1,-1,-1\n")
    eyes = Eyes(detector=open_detector(f"boxes:{tmp_path}/det.txt"))
    one = Parted(watch=Watch(street, eyes, rate=0), detector=f"boxes:{tmp_path}/det.txt", describer="")
    assert watch_side_by_side([one], Parallelism(on="ray"), on_trouble=unheard) == {}
    assert one.watch.missing
