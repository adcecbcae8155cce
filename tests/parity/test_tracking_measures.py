"""Tracking on real files: known measures, and our association against the library's on damaged truth."""

from pathlib import Path

import numpy as np
import pytest

from conftest import need
from vidence.media.video import open_video
from vidence.seeing.association import AssociationSettings, associate
from vidence.seeing.following import follow, open_detector, open_tracker
from vidence.seeing.quality import measure
from vidence.seeing.refine import RefineSettings, refine
from vidence.seeing.track_files import MotRows, read_mot, rows_of
from vidence.seeing.tracks import PERSON, Detections, TrackedVideo
from vidence.seeing.watching import watch

pytestmark = pytest.mark.parity
CLEAN = RefineSettings(steps=("outliers", "gaps", "smoothing", "merging"))
WIDTH, HEIGHT, N_FRAMES = 1920, 1080, 900  # MOT16-11
# Share of boxes that are lost, false boxes per frame, deviation of each edge as part of the box's side.
LEVELS = ((0.1, 0.5, 0.02), (0.25, 1.0, 0.04), (0.4, 2.0, 0.06))


@pytest.fixture(scope="module", autouse=True)
def library():
    pytest.importorskip("trackers", reason="needs the library of trackers")


def test_tud_campus_gives_the_values_that_are_published(data_dir: Path):
    """MOTA 0.526462, IDF1 0.557659 and 7 switches: the tests of py-motmetrics on the same two files."""
    truth = read_mot(need(data_dir / "tracking" / "TUD-Campus_gt.txt"))
    found = measure(truth, read_mot(need(data_dir / "tracking" / "TUD-Campus_tracker_result.txt")))
    assert found.mota == pytest.approx(0.526462, abs=5e-7)
    assert found.idf1 == pytest.approx(0.557659, abs=5e-7)
    assert found.n_switches == 7


def test_mot16_truth_with_its_classes(data_dir: Path):
    """900 frames; of 10,076 lines the pedestrians that count are measured, perfectly by themselves."""
    truth = read_mot(need(data_dir / "tracking" / "MOT16-11_gt.txt"))
    assert len(truth.ids) == 10_076
    people = pedestrians(truth)
    itself = measure(truth, people)
    assert itself.n_true_boxes == len(people.ids)
    assert (itself.mota, itself.idf1, itself.hota) == pytest.approx((1, 1, 1))
    real = measure(truth, read_mot(need(data_dir / "tracking" / "MOT16-11_tracker_result.txt")))
    assert 0.2 < real.hota < 0.8


def pedestrians(truth: MotRows) -> MotRows:
    rows = truth.part((truth.marks != 0) & (truth.class_ids == 1))
    return MotRows(
        frame_indices=rows.frame_indices,
        ids=rows.ids,
        boxes_px=rows.boxes_px,
        marks=rows.marks,
        class_ids=np.full(len(rows.ids), -1),
    )


def damaged(truth: MotRows, level: int, *, seed: int = 0) -> Detections:
    """The truth with boxes lost, false boxes added, edges moved, and confidences of both."""
    rng = np.random.default_rng(seed)
    lost, n_false, jitter = LEVELS[level]
    keep = rng.random(len(truth.ids)) > lost
    boxes, frames = truth.boxes_px[keep], truth.frame_indices[keep]
    boxes = boxes + rng.normal(0, jitter, boxes.shape) * np.tile(boxes[:, 2:] - boxes[:, :2], 2)
    sure = np.clip(rng.normal(0.75, 0.2, len(boxes)), 0.3, 1)
    false_frames = np.repeat(np.arange(N_FRAMES), rng.poisson(n_false, N_FRAMES))
    n = len(false_frames)
    heights = rng.uniform(80, 500, n)
    left, top = rng.uniform(0, WIDTH - heights * 0.41), rng.uniform(0, HEIGHT - heights)
    false = np.stack([left, top, left + heights * 0.41, top + heights], axis=1)
    unsure = np.clip(rng.normal(0.45, 0.15, n), 0.3, 1)
    frames, boxes = np.concatenate([frames, false_frames]), np.concatenate([boxes, false])
    order = np.lexsort([boxes[:, 0], frames])
    return Detections(
        frame_indices=frames[order],
        boxes_px=boxes[order],
        confidences=np.concatenate([sure, unsure])[order],
        class_ids=np.ones(len(order), np.int64),
        class_names={1: PERSON},
    )


@pytest.mark.parametrize("level", range(3))
def test_association_is_at_least_as_good_as_bytetrack_and_better_when_refined(data_dir: Path, level: int):
    """MOT16-11: true boxes damaged in three degrees, the same boxes for both."""
    truth = pedestrians(read_mot(need(data_dir / "tracking" / "MOT16-11_gt.txt")))
    boxes = damaged(truth, level)
    theirs = measure(
        truth, rows_of(open_tracker("bytetrack").track(boxes, frame_indices=range(N_FRAMES), fps=30))
    )
    tracks = associate(boxes, AssociationSettings(), frame_indices=range(N_FRAMES))
    ours = measure(truth, rows_of(tracks))
    video = TrackedVideo(
        width_px=WIDTH, height_px=HEIGHT, times_s=np.arange(N_FRAMES) / 30, tracks=tracks, detections=boxes
    )
    refined = measure(truth, rows_of(refine(video, CLEAN).video.tracks))
    assert ours.idf1 >= theirs.idf1 + 0.1
    assert ours.hota >= theirs.hota + 0.05
    assert refined.idf1 > ours.idf1
    assert refined.hota > ours.hota


def test_real_detections_of_pets_give_about_the_tracks_of_another_tracker(data_dir: Path):
    """The other tracks are no truth: at least as many boxes agree as either side has right by itself."""
    video = open_video(need(data_dir / "video" / "pets09_s2l1_view1_768x576.mp4"))
    boxes = open_detector(f"boxes:{need(data_dir / 'tracking' / 'PETS09-S2L1_det_sort.txt')}")
    followed = follow(video, detector=boxes, tracker=open_tracker("motion"))
    silver = read_mot(need(data_dir / "tracking" / "PETS09-S2L1_tracker_result_devkit.txt"))
    found = measure(silver, rows_of(followed.tracked.tracks))
    assert found.recall > 0.8
    assert found.precision > 0.85
    assert found.mota > 0.65


def test_the_smaller_copy_of_pets_takes_the_same_boxes(data_dir: Path):
    """Boxes measured at 768 x 576 are scaled by 0.625 for the copy at 480 x 360."""
    small = open_video(need(data_dir / "video" / "pets09_s2l1_view1_480x360.mp4"))
    path = need(data_dir / "tracking" / "PETS09-S2L1_det_sort.txt")
    scaled = open_detector(f"boxes:{path}?size=768x576").detect(small, [0])
    raw = read_mot(path)
    first = raw.part((raw.frame_indices == 0) & (raw.marks >= 0.3)).boxes_px
    np.testing.assert_allclose(sorted(scaled.boxes_px.tolist()), sorted((first * 0.625).tolist()))


def test_hog_finds_most_of_the_people_that_a_trained_detector_finds(data_dir: Path):
    pytest.importorskip("cv2", reason="needs the extra 'build'")
    video = open_video(need(data_dir / "video" / "pets09_s2l1_view1_768x576.mp4"))
    frames = range(0, 795, 80)
    found = watch(video, frames, detector=open_detector("hog")).detections
    real = open_detector(f"boxes:{need(data_dir / 'tracking' / 'PETS09-S2L1_det_sort.txt')}").detect(
        video, frames
    )

    def rows(boxes: Detections) -> MotRows:
        n = len(boxes.frame_indices)
        ids = np.arange(n) - np.searchsorted(boxes.frame_indices, boxes.frame_indices)
        return MotRows(
            frame_indices=boxes.frame_indices,
            ids=ids,
            boxes_px=boxes.boxes_px,
            marks=boxes.confidences,
            class_ids=np.full(n, -1),
        )

    agreed = measure(rows(real), rows(found))
    assert agreed.recall > 0.75
    assert agreed.precision > 0.6
