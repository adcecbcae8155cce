"""Tracking on real files: known measures, and what cleaning and joining gain on damaged truth."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from conftest import IS_THOROUGH, need
from subjects.crowds import Damage, crowd
from subjects.crowds import damaged as broken
from subjects.found_files import sequences, true_people
from vidence.media.video import open_video
from vidence.seeing.following import follow, open_detector, open_tracker
from vidence.seeing.quality import measure
from vidence.seeing.refine import RefineSettings, refine
from vidence.seeing.track_files import MotRows, read_mot, rows_of
from vidence.seeing.tracks import PERSON, Detections
from vidence.seeing.watching import watch

pytestmark = pytest.mark.parity
CLEAN = RefineSettings(steps=("gaps", "smoothing", "merging"))
APART = RefineSettings(steps=("gaps", "smoothing"))
STREETS = ((5, 30.0), (20, 15.0), (60, 15.0), (120, 7.0))[: 4 if IS_THOROUGH else 2]  # people, a second
SEEDS = range(2 if IS_THOROUGH else 1)
# Share of boxes that are lost, false boxes per frame, deviation of each edge as part of the box's side.
LEVELS = ((0.1, 0.5, 0.02), (0.25, 1.0, 0.04), (0.4, 2.0, 0.06))
DEGREES = range(len(LEVELS)) if IS_THOROUGH else [1]


@pytest.fixture(scope="module", autouse=True)
def library():
    pytest.importorskip("trackers", reason="needs the library of trackers")


def test_tud_campus_gives_the_values_that_are_published(data_dir):
    """MOTA 0.526462, IDF1 0.557659 and 7 switches: the tests of py-motmetrics on the same two files."""
    truth = read_mot(need(data_dir / "tracking" / "TUD-Campus_gt.txt"))
    found = measure(truth, read_mot(need(data_dir / "tracking" / "TUD-Campus_tracker_result.txt")))
    assert found.mota == pytest.approx(0.526462, abs=5e-7)
    assert found.idf1 == pytest.approx(0.557659, abs=5e-7)
    assert found.n_switches == 7


def test_mot16_truth_with_its_classes(data_dir):
    """900 frames; of 10,076 lines the pedestrians that count are measured, perfectly by themselves."""
    truth = read_mot(need(data_dir / "tracking" / "MOT16-11_gt.txt"))
    assert len(truth.ids) == 10_076
    people = pedestrians(truth)
    itself = measure(truth, people)
    assert itself.n_true_boxes == len(people.ids)
    assert (itself.mota, itself.idf1, itself.hota) == pytest.approx((1, 1, 1))
    real = measure(truth, read_mot(need(data_dir / "tracking" / "MOT16-11_tracker_result.txt")))
    assert 0.2 < real.hota < 0.8


def pedestrians(truth):
    rows = truth.part((truth.marks != 0) & (truth.class_ids == 1))
    return replace(rows, class_ids=np.full(len(rows.ids), -1))


def damaged(truth, level, *, size, n_frames, seed):
    """The truth with boxes lost, false boxes added, edges moved, and confidences of both."""
    rng = np.random.default_rng(seed)
    lost, n_false, jitter = LEVELS[level]
    keep = rng.random(len(truth.ids)) > lost
    boxes, frames = truth.boxes_px[keep], truth.frame_indices[keep]
    boxes = boxes + rng.normal(0, jitter, boxes.shape) * np.tile(boxes[:, 2:] - boxes[:, :2], 2)
    sure = np.clip(rng.normal(0.75, 0.2, len(boxes)), 0.3, 1)
    false_frames = np.repeat(np.arange(n_frames), rng.poisson(n_false, n_frames))
    n = len(false_frames)
    heights = rng.uniform(0.07, 0.45, n) * size[1]
    left, top = rng.uniform(0, size[0] - heights * 0.41), rng.uniform(0, size[1] - heights)
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


def gain(true, level, *, seed):
    """By how much the IDF1 of SORT's tracks of damaged boxes rises when they are cleaned."""
    truth, n_frames = rows_of(true.tracks), len(true.times_s)
    boxes = damaged(truth, level, size=(true.width_px, true.height_px), n_frames=n_frames, seed=seed)
    tracks = open_tracker("sort").track(boxes, frame_indices=range(n_frames), fps=true.fps)
    cleaned = refine(replace(true, tracks=tracks, detections=boxes), CLEAN).video.tracks
    return measure(truth, rows_of(cleaned)).idf1 - measure(truth, rows_of(tracks)).idf1


def test_cleaning_helps(data_dir):
    """Every sequence of the folder and drawn streets, three degrees of damage.

    A sequence is one value, the mean of its runs.
    """
    streets = [crowd(n, fps=fps, seed=0, duration_s=10).video for n, fps in STREETS]
    gained = [
        float(np.mean([gain(true, level, seed=seed) for level in DEGREES for seed in SEEDS]))
        for true in (*map(true_people, sequences(data_dir)), *streets)
    ]
    # Its 95 % interval by Student's t.
    half = stats.t.ppf(0.975, len(gained) - 1) * stats.sem(gained)
    assert np.mean(gained) > half


@pytest.mark.parametrize("fps", [7.0, 15.0, 30.0] if IS_THOROUGH else [15.0])
@pytest.mark.parametrize("n_people", [5, 20, 60, 120] if IS_THOROUGH else [20])
def test_true_people_of_drawn_streets_are_never_joined(n_people, fps):
    for seed in SEEDS:
        true = crowd(n_people, fps=fps, seed=seed).video
        found = refine(true, CLEAN)
        assert found.account.merges == ()
        assert measure(rows_of(true.tracks), rows_of(found.video.tracks)).idf1 == 1.0


# From a moving bus: of its 107 ids some begin where another has just ended, and no picture tells them apart.
KNOWN_JOINS = {"MOT16-13_gt.txt": 5}


def test_true_people_of_any_sequence_are_never_joined_but_where_that_is_known(data_dir):
    """By place alone. Boxes that lie partly beyond the frame are cut to it in the truth, too."""
    for path in sequences(data_dir):
        true = true_people(path)
        cut = refine(true, RefineSettings(steps=())).video
        found = refine(cut, RefineSettings(steps=("merging",)))
        n_joins = KNOWN_JOINS.get(path.name, 0)
        assert len(found.account.merges) == n_joins, path.name
        assert measure(rows_of(cut.tracks), rows_of(found.video.tracks)).idf1 >= 1 - n_joins / 200


def test_joins_of_damaged_tracks_are_right_and_help(data_dir):
    """True tracks with boxes lost, cut into pieces, shaken and exchanged: who is joined is known."""
    right = wrong = 0
    gained = []
    streets = [(crowd(n, fps=fps, seed=0).video, 0) for n, fps in STREETS]
    found_there = [(true_people(path), KNOWN_JOINS.get(path.name, 0)) for path in sequences(data_dir)]
    for true, n_known in (*found_there, *streets):
        pieces = broken(true, Damage(), seed=1)
        apart = refine(replace(true, tracks=pieces.tracks), APART).video.tracks
        found = refine(replace(true, tracks=pieces.tracks), CLEAN)
        n_right = sum(pieces.is_right(one.before, one.after) for one in found.account.merges)
        right, wrong = right + n_right, wrong + max(0, len(found.account.merges) - n_right - n_known)
        truth = rows_of(true.tracks)
        before, after = (measure(truth, rows_of(some)).idf1 for some in (apart, found.video.tracks))
        gained.append(after - before)
    assert right >= 5 * wrong
    assert np.mean(gained) > 0.01
    assert min(gained) > -0.01


def test_real_detections_of_pets_give_about_the_tracks_of_another_tracker(data_dir):
    """The other tracks are no truth: at least as many boxes agree as either side has right by itself."""
    video = open_video(need(data_dir / "video" / "pets09_s2l1_view1_768x576.mp4"))
    boxes = open_detector(f"boxes:{need(data_dir / 'tracking' / 'PETS09-S2L1_det_sort.txt')}")
    followed = follow(video, detector=boxes, tracker=open_tracker("sort"))
    silver = read_mot(need(data_dir / "tracking" / "PETS09-S2L1_tracker_result_devkit.txt"))
    found = measure(silver, rows_of(followed.tracked.tracks))
    assert found.recall > 0.8
    assert found.precision > 0.85
    assert found.mota > 0.65


@pytest.mark.skipif(not IS_THOROUGH, reason="takes the time of `make test-long`")
def test_hog_finds_most_of_the_people_that_a_trained_detector_finds(data_dir):
    pytest.importorskip("cv2", reason="needs the extra 'build'")
    video = open_video(need(data_dir / "video" / "pets09_s2l1_view1_768x576.mp4"))
    frames = range(0, 795, 80)
    found = watch(video, frames, detector=open_detector("hog")).detections
    real = open_detector(f"boxes:{need(data_dir / 'tracking' / 'PETS09-S2L1_det_sort.txt')}").detect(
        video, frames
    )

    def rows(boxes):
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
