"""The whole chain: what goes in comes out or is in the account."""

import msgspec
import numpy as np
import pytest

from subjects import tracks as subjects
from subjects.tracks import track, walk
from vidence.errors import DataError, UsageError
from vidence.make.pipeline.material import Dropped
from vidence.seeing.refine import STEPS, RefineSettings, refine
from vidence.seeing.tracks import TrackedVideo

NAN = float("nan")
EVERYONE = RefineSettings(steps=("gaps", "smoothing", "merging"))


def video(tracks):
    """A video of the paper's frame rate."""
    return subjects.video(tracks, fps=30.0)


def check_account(before, refined):
    """Every track and every box is accounted for, step by step."""
    account = refined.account
    n_tracks, n_boxes = len(before.tracks), sum(len(t.frame_indices) for t in before.tracks)
    for step in account.steps:
        assert (step.tracks_in, step.boxes_in) == (n_tracks, n_boxes), step
        n_tracks += -step.tracks_dropped - step.tracks_merged
        n_boxes += step.boxes_added - step.boxes_dropped
        assert (step.tracks_out, step.boxes_out) == (n_tracks, n_boxes), step
    assert n_tracks == len(refined.video.tracks)
    assert n_boxes == sum(len(t.frame_indices) for t in refined.video.tracks)
    out = {t.track_id for t in refined.video.tracks}
    gone = {d.what for d in account.dropped}
    merged = {m.after for m in account.merges}
    assert out | gone | merged == {t.track_id for t in before.tracks}
    assert len(out) + len(gone) + len(merged) == len(before.tracks)
    assert all(d.reason and d.stage and d.detail for d in account.dropped)


@pytest.fixture
def street():
    """Two fragments of one way, one who stays, one small, one short, a dog, and boxes of no use."""
    left = walk("left", [(200 + 2 * i, 400) for i in range(30)])
    right = walk("right", [(200 + 2 * i, 400) for i in range(35, 60)], first=35)
    return video(
        [
            right,
            left,
            walk("stays", [(500 + i, 300) for i in range(40)]),
            walk("small", [(600, 600)] * 30, size=(20, 40)),
            walk("short", [(800, 650)] * 8),
            walk("dog", [(300, 700)] * 30, kind="dog"),
            track("useless", [(NAN, 0, 1, 1), (5, 5, 5, 5), (-50, -50, -10, -10)]),
        ]
    )


def test_the_street_by_hand(street):
    refined = refine(street)
    check_account(street, refined)
    assert [t.track_id for t in refined.video.tracks] == ["left", "stays"]
    assert {(d.what, d.stage, d.reason) for d in refined.account.dropped} == {
        ("small", "hard-filter", "too-small"),
        ("short", "hard-filter", "too-short"),
        ("dog", "hard-filter", "not-a-person"),
        ("useless", "usable", "no-usable-box"),
    }
    (merge,) = refined.account.merges
    assert (merge.before, merge.after, merge.gap_frames) == ("left", "right", 5)
    whole = refined.video.track("left")
    assert whole.frame_indices.tolist() == list(range(60))
    assert (~whole.is_detected).nonzero()[0].tolist() == [30, 31, 32, 33, 34]
    # A straight way is not changed by filling; smoothing bends its ends only, by less than 2 px a frame.
    np.testing.assert_allclose(whole.centroids_px[3:27, 0], 200 + 2 * np.arange(3, 27), atol=1e-9)
    assert refined.video.times_s is street.times_s
    steps = {step.step: step for step in refined.account.steps}
    assert tuple(steps) == ("usable", *STEPS)
    assert (steps["usable"].tracks_dropped, steps["usable"].boxes_dropped) == (1, 3)
    assert (steps["gaps"].tracks_changed, steps["gaps"].boxes_added) == (0, 0)
    assert (steps["merging"].tracks_merged, steps["merging"].boxes_added) == (1, 5)
    assert steps["filter"].tracks_dropped == 3
    for dropped in refined.account.dropped:
        assert Dropped(**msgspec.structs.asdict(dropped)).reason == dropped.reason
    # Without filling the seam stays open.
    open_ = refine(street, RefineSettings(steps=("merging",))).video.track("left")
    assert open_.frame_indices.tolist() == [*range(30), *range(35, 60)]


@pytest.mark.parametrize("settings", [RefineSettings(), EVERYONE], ids=["paper", "no filter"])
def test_no_tracks_and_one_track(settings):
    empty = video([])
    assert refine(empty, settings).video.tracks == ()
    check_account(empty, refine(empty, settings))
    one = video([walk("a", [(500 + i, 400) for i in range(25)])])
    assert [t.track_id for t in refine(one, settings).video.tracks] == ["a"]
    check_account(one, refine(one, settings))


def test_no_step_leaves_usable_tracks_alone(street):
    refined = refine(street, RefineSettings(steps=()))
    check_account(street, refined)
    assert refined.video.tracks == street.tracks[:-1]


def test_limits_in_pixels_can_be_scaled_to_the_video():
    # 800 of 1,600 lines: 5,500 square pixels become 1,375 (40 x 40 = 1,600).
    small = video([walk("a", [(300, 400)] * 30, size=(40, 40))])
    assert refine(small).video.tracks == ()
    scaled = refine(small, RefineSettings(for_height_px=1600))
    assert [t.track_id for t in scaled.video.tracks] == ["a"]


@pytest.mark.parametrize("steps", [("gaps", "gaps"), ("sharpen",)])
def test_steps_that_make_no_sense_are_refused(steps):
    with pytest.raises(UsageError, match="expected some of gaps, smoothing, merging, filter"):
        RefineSettings(steps=steps)


@pytest.mark.parametrize("first", [-1, 398])
def test_boxes_in_frames_that_the_video_does_not_have_are_refused(first):
    with pytest.raises(DataError, match="the video has frames 0 to 399"):
        refine(video([walk("a", [(5, 5)] * 3, first=first)]))
    with pytest.raises(DataError, match="1 track ids are used more than once, such as 'a'"):
        refine(video([walk("a", [(5, 5)]), walk("a", [(9, 9)])]))
    times = {"width_px": 10, "height_px": 10, "times_s": np.array([0, 0.1, 0.1])}
    with pytest.raises(DataError, match=r"frame 2 is at 0\.1 s, not after frame 1"):
        refine(TrackedVideo(**times, tracks=(walk("a", [(5, 5)]),)))
