"""Frames that are kept on the way: the same pictures, and the same damage, with and without them."""

import numpy as np
import pytest

from subjects import drawn_street as street
from vidence.make.pipeline.kept_video import FrameKeeper, kept_video
from vidence.media.video import FrameProblem, Video
from vidence.seeing.watching import FrameDetections, watch

WANTED = tuple(range(0, 90, 3))


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A clip whose middle half has 40 wrong bytes in every kilobyte or so."""
    path = street.write_street(tmp_path_factory.mktemp("damaged"))
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 4, 3 * len(data) // 4, 997):
        data[at : at + 40] = bytes(255 - one for one in data[at : at + 40])
    path.write_bytes(data)
    return path


def problems_of(video, indices=WANTED):
    read = video.read(indices, lambda _, image: image.copy())
    return {index for index, one in read.items() if isinstance(one, FrameProblem)}, read


def test_damaged_frames_are_damaged_for_the_second_reader_too(damaged, tmp_path):
    cold, first = problems_of(kept_video(damaged, cache_root=tmp_path, max_bytes=10**8))
    warm, second = problems_of(kept_video(damaged, cache_root=tmp_path, max_bytes=10**8))
    assert cold
    assert len(cold) < len(WANTED)
    assert warm == cold
    assert all(np.array_equal(first[i], second[i]) for i in WANTED if i not in cold)


def test_whole_frames_are_not_decoded_a_second_time(damaged, tmp_path, monkeypatch):
    bad, _ = problems_of(kept_video(damaged, cache_root=tmp_path, max_bytes=10**8))
    asked = []
    true_read = Video.read
    monkeypatch.setattr(
        Video, "read", lambda self, i, make, **how: asked.append(list(i)) or true_read(self, i, make, **how)
    )
    problems_of(kept_video(damaged, cache_root=tmp_path, max_bytes=10**8))
    assert asked == [sorted(bad)]


def test_reader_that_is_stopped_midway_leaves_nothing_to_find(damaged, tmp_path):
    video = kept_video(damaged, cache_root=tmp_path, max_bytes=10**8)
    with pytest.raises(KeyboardInterrupt):
        video.read(WANTED, lambda index, _: stop() if index >= 45 else None)
    again = kept_video(damaged, cache_root=tmp_path, max_bytes=10**8)
    fresh = kept_video(damaged, cache_root=tmp_path / "other", max_bytes=10**8)
    assert problems_of(again)[0] == problems_of(fresh)[0]


def stop():
    raise KeyboardInterrupt


class Everywhere:
    """Finds one box in each picture."""

    identity, finds_parts, n_together = "everywhere", False, 4

    def find(self, images):
        return [
            FrameDetections(
                boxes_px=np.array([[10.0, 10.0, 60.0, 90.0]]),
                confidences=np.array([0.9]),
                class_ids=np.array([0]),
                class_names={0: "person"},
            )
            for _ in images
        ]


def test_boxes_and_kept_frames_of_a_watched_video_are_of_whole_frames_only(damaged, tmp_path):
    video = kept_video(damaged, cache_root=tmp_path, max_bytes=10**8)
    keeper = FrameKeeper(video)
    watched = watch(Video(video.scan), WANTED, detector=Everywhere(), observers=[keeper])
    keeper.settle(watched.problems)
    bad = {problem.frame_index for problem in watched.problems}
    assert bad
    assert not bad & set(watched.detections.frame_indices.tolist())
    assert problems_of(video)[0] == bad
