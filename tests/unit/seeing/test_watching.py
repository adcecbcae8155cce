"""A video is read once for everybody."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.media.video import Video
from vidence.seeing.following import follow, open_detector, open_tracker
from vidence.seeing.watching import FrameDetections, frames_at, watch


def one_box(number):
    return FrameDetections(
        boxes_px=np.array([[number, 0.0, number + 10, 30.0]]),
        confidences=np.array([0.9]),
        class_ids=np.array([1]),
        class_names={1: "person"},
    )


@dataclass
class Finding:
    """A detector that keeps how many pictures it was shown at once."""

    identity: str = "finding"
    finds_parts: bool = False
    n_together: int = 8
    batches: list[int] = field(default_factory=list)

    def find(self, images):
        self.batches.append(len(images))
        return [one_box(float(image.mean() > 0)) for image in images]


@dataclass
class Looking:
    seen: list[tuple[int, int]] = field(default_factory=list)

    def see(self, frame_index, image, found):
        assert image.shape == (240, 320, 3)
        self.seen.append((frame_index, len(found.boxes_px)))


@pytest.fixture
def reads(monkeypatch):
    """How many frames were read, call by call."""
    found = []
    true_read = Video.read

    def read(self, indices, make, **how):
        found.append(len(set(indices)))
        return true_read(self, indices, make, **how)

    monkeypatch.setattr(Video, "read", read)
    return found


def test_pictures_come_in_batches_and_observers_see_each_once(street, reads):
    finder, observer, other = Finding(), Looking(), Looking()
    watched = watch(street, range(0, 40, 2), detector=finder, observers=[observer, other])
    assert reads == [20]
    assert finder.batches == [8, 8, 4]
    assert observer.seen == other.seen == [(i, 1) for i in range(0, 40, 2)]
    assert watched.detections.frame_indices.tolist() == list(range(0, 40, 2))
    assert watched.problems == ()


def test_boxes_from_a_file_need_no_reading_unless_somebody_looks(street, reads, tmp_path):
    (tmp_path / "d.txt").write_text("3,-1,5,5,10,10,1\n")
    boxes = open_detector(f"boxes:{tmp_path}/d.txt")
    follow(street, detector=boxes, tracker=open_tracker("sort"))
    assert reads == []
    observer = Looking()
    watch(street, range(5), detector=boxes, observers=[observer])
    assert reads == [5]
    assert observer.seen == [(0, 0), (1, 0), (2, 1), (3, 0), (4, 0)]


def test_looks_and_boxes_come_from_one_reading(street, reads):
    followed = follow(
        street, detector=Finding(), tracker=open_tracker("deepsort"), rate=street.probe.counted.fps / 4
    )
    assert sum(reads) == 10
    assert followed.frame_indices == tuple(range(0, 40, 4))
    assert set(followed.identities) == {"detector", "describer", "tracker"}
    assert len(followed.tracked.tracks) == 1
    for rate in (-1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="say 0 for every frame"):
            follow(street, detector=Finding(), tracker=open_tracker("sort"), rate=rate)


@pytest.mark.parametrize("fps", [7, 15, 24, 25, 30, 60])
def test_a_detector_looks_so_often_a_second_at_any_frame_rate(fps):
    times_s = np.arange(20 * fps + 1) / fps
    looks = np.array(frames_at(times_s, 7.5))
    assert looks[0] == 0
    assert len(looks) == (len(times_s) if fps == 7 else 151)
    steps_s = np.diff(times_s[looks])
    assert abs(steps_s - 1 / min(7.5, fps)).max() <= 1 / fps + 1e-9


def test_a_detector_looks_as_often_where_times_are_uneven():
    rng = np.random.default_rng(0)
    times_s = np.concatenate([[0.0], np.cumsum(rng.uniform(0.01, 0.1, 600))])
    looks = np.array(frames_at(times_s, 5.0))
    marks_s = np.arange(len(looks)) / 5
    assert abs(times_s[looks] - marks_s).max() <= 0.05
    assert frames_at(times_s[:1], 5.0) == (0,)


def test_a_detector_sees_its_frames_and_observers_all(street, reads):
    finder, observer = Finding(), Looking()
    watched = watch(street, range(12), detector=finder, observers=[observer], looks=(0, 5, 10))
    assert reads == [12]
    assert finder.batches == [3]
    assert sorted(observer.seen) == [(i, int(i in (0, 5, 10))) for i in range(12)]
    assert watched.detections.frame_indices.tolist() == [0, 5, 10]


def test_parts_of_a_frame_must_belong_together():
    with pytest.raises(ValueError, match="do not belong together"):
        FrameDetections(
            boxes_px=np.zeros((2, 4)), confidences=np.zeros(1), class_ids=np.zeros(2), class_names={}
        )
