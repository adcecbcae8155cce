"""A video that is watched in chunks: the same boxes, looks and shots, and no chunk is watched twice."""

import pickle

import numpy as np
import pytest

from vidence.catalog import create
from vidence.errors import MediaError
from vidence.media.video import FrameProblem, Video, open_video
from vidence.seeing import chunks
from vidence.seeing.chunks import Eyes, Watch, chunks_of, watch_chunk
from vidence.seeing.following import open_describer, open_detector
from vidence.seeing.shooting import find_shots
from vidence.seeing.watching import FrameDetections, frames_at
from videos import edited
from videos.special import MAKERS


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """108 frames or so with cuts, a keyframe each 12."""
    return open_video(edited.write(tmp_path_factory.mktemp("film") / "film.mp4"))


class Bright:
    """Finds one box, as sure as the picture is bright."""

    identity, finds_parts, n_together = "bright", False, 4

    def find(self, images):
        return [
            FrameDetections(
                boxes_px=np.array([[1.0, 2.0, 31.0, 42.0]]),
                confidences=np.array([image.mean() / 255]),
                class_ids=np.array([1]),
                class_names={1: "person"},
            )
            for image in images
        ]


class Memory:
    """Keeps chunks in a dictionary."""

    def __init__(self):
        self.kept = {}

    def has(self, chunk):
        return chunk in self.kept

    def find(self, chunk):
        return self.kept.get(chunk)

    def keep(self, chunk, seen):
        self.kept[chunk] = seen

    def clear(self):
        self.kept.clear()


def eyes(cutter=None):
    return Eyes(
        detector=Bright(),
        describer=open_describer("colour"),
        classes=("person",),
        shot_size=None if cutter is None else cutter.size,
    )


def test_chunks_cover_the_video_and_end_at_keyframes(film, monkeypatch, tmp_path):
    monkeypatch.setattr(chunks, "CHUNK_FRAMES", 30)
    found = chunks_of(film, rate=0, has_shots=True)
    assert [chunk.first_frame for chunk in found] == [0, *(chunk.end_frame for chunk in found[:-1])]
    assert found[-1].end_frame == film.n_frames
    assert all(chunk.first_frame % 12 == 0 and len(chunk.looks) <= 30 for chunk in found)
    rate = film.probe.counted.fps / 5
    sparse = chunks_of(film, rate=rate, has_shots=False)
    assert tuple(i for chunk in sparse for i in chunk.looks) == frames_at(film.times_s, rate)
    # A video whose frames are counted from its start is one chunk.
    video = open_video(MAKERS["gif"](tmp_path).path)
    (chunk,) = chunks_of(video, rate=0, has_shots=True)
    assert (chunk.first_frame, chunk.end_frame) == (0, video.n_frames)


@pytest.mark.parametrize("rate", [0.0, 4.0])
def test_a_video_in_chunks_is_seen_as_in_one(film, monkeypatch, rate):
    cutter = create("shot-detector", "content")
    whole = Watch(film, eyes(cutter), rate=rate).finish(cutter)
    monkeypatch.setattr(chunks, "CHUNK_FRAMES", 30)
    heard = []
    watch = Watch(film, eyes(cutter), rate=rate, on_frames=heard.append)
    assert len(watch.chunks) > 3
    parts = watch.finish(cutter)
    for name in ("frame_indices", "boxes_px", "confidences", "class_ids"):
        one, other = (getattr(seen.watched.detections, name) for seen in (whole, parts))
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(whole.vectors, parts.vectors)
    assert whole.cut.shots == parts.cut.shots == find_shots(film, cutter)
    assert sum(heard) == watch.n_frames == film.n_frames


def test_a_chunk_that_is_kept_is_not_watched_again(film, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_FRAMES", 30)
    store, cutter, n_before = Memory(), create("shot-detector", "content"), 2
    plain, seen = watch_chunk, []

    def stopped(*given):
        if len(seen) == n_before:
            raise KeyboardInterrupt
        seen.append(given[1])
        return plain(*given)

    monkeypatch.setattr(chunks, "watch_chunk", stopped)
    with pytest.raises(KeyboardInterrupt):
        Watch(film, eyes(cutter), rate=0, store=store).finish(cutter)
    assert list(store.kept) == seen
    n_before = 100
    again = Watch(film, eyes(cutter), rate=0, store=store)
    assert again.pass_kept() == seen[-1].end_frame
    finished = again.finish(cutter)
    assert seen == list(again.chunks)
    assert finished.cut.shots == find_shots(film, cutter)
    again.clear()
    assert store.kept == {}


def test_damaged_chunks_are_told_and_a_video_without_a_good_frame_is_refused(film, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_FRAMES", 30)
    bad = set(range(24, 60))
    true_read = Video.read

    def read(self, indices, make, **how):
        made = true_read(self, [i for i in indices if i not in bad], make, **how)
        problems = {i: FrameProblem(frame_index=i, message=f"frame {i}") for i in indices if i in bad}
        return made | problems

    monkeypatch.setattr(Video, "read", read)
    seen = Watch(film, eyes(), rate=0).finish()
    assert {problem.frame_index for problem in seen.watched.problems} == bad
    assert not bad & set(seen.watched.detections.frame_indices.tolist())
    bad |= set(range(film.n_frames))
    with pytest.raises(MediaError, match=f"none of the {film.n_frames} frames can be read: frame 0"):
        Watch(film, eyes(), rate=0).finish()


def test_only_small_detectors_of_the_processor_are_opened_by_other_processes(film):
    pytest.importorskip("cv2", reason="needs the extra 'build'")
    assert Eyes(detector=open_detector("hog"), describer=open_describer("colour")).can_part
    assert not eyes().can_part
    chunk = chunks_of(film, rate=0, has_shots=False)[0]
    assert pickle.loads(pickle.dumps((film.scan, chunk)))[1] == chunk  # noqa: S301 - our own
