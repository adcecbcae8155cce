"""Which frames of a track are shown, and what the pictures show."""

import dataclasses
import io

import msgspec
import numpy as np
import pytest
from PIL import Image

from vidence.errors import UsageError
from vidence.make.herbench.cards.crops import CropPlan, CropRules, cut_crops, plan_crops
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.pictures import PictureFolder
from vidence.media.video import FrameProblem, open_video
from vidence.seeing.tracks import Track
from videos import edited

WIDTH, HEIGHT = 200, 120


def track(frames, boxes=None, *, detected=None, track_id="t1") -> Track:
    frames = np.asarray(frames, np.int64)
    if boxes is None:
        boxes = np.tile([50.0, 20.0, 80.0, 100.0], (len(frames), 1))
    return Track(
        track_id=track_id,
        class_name="person",
        frame_indices=frames,
        boxes_px=np.asarray(boxes, np.float64),
        confidences=np.ones(len(frames)),
        is_detected=np.ones(len(frames), np.bool_) if detected is None else detected,
    )


def planned(one: Track, **rules) -> CropPlan:
    plan = plan_crops(one, width_px=WIDTH, height_px=HEIGHT, rules=CropRules(**rules))
    assert isinstance(plan, CropPlan), plan
    return plan


def test_appearance_comes_from_the_ends_and_path_from_the_middle():
    plan = planned(track(range(100, 300)))
    # 200 frames: the ends are 100-139 and 260-299, the middle without 30 frames on both sides 170-229.
    assert len(plan.appearance) == 6
    assert len(plan.path) == 5
    assert [f for f in plan.appearance if 100 <= f < 140] == list(plan.appearance[:3])
    assert [f for f in plan.appearance if 260 <= f < 300] == list(plan.appearance[3:])
    # The middle is cut into five parts of 12 frames; their centres are 175.5, 187.5, ...
    assert plan.path == (175, 187, 199, 211, 223)
    gaps = [abs(a - b) for a in plan.appearance for b in plan.path]
    assert min(gaps) > 30


def test_the_largest_box_of_each_part_shows_the_appearance():
    boxes = np.tile([50.0, 20.0, 80.0, 100.0], (200, 1))
    for frame in (5, 20, 30, 165, 180, 195):
        boxes[frame] = [40, 10, 90, 110]
    assert planned(track(range(200), boxes)).appearance == (5, 20, 30, 165, 180, 195)


def test_boxes_that_were_filled_in_are_shown_only_where_there_are_no_others():
    detected = np.ones(200, np.bool_)
    detected[13:40] = False  # the second and the third part of the first end
    detected[100:131] = False
    plan = planned(track(range(200), detected=detected))
    assert len([f for f in plan.appearance if f < 40]) == 1
    assert plan.appearance[0] < 13
    assert max(plan.path) < 100
    detected[:] = False
    blind = planned(track(range(200), detected=detected))
    assert (len(blind.appearance), len(blind.path)) == (6, 5)


def test_boxes_outside_the_frame_are_never_shown():
    boxes = np.tile([50.0, 20.0, 80.0, 100.0], (200, 1))
    boxes[:35] = [-90, 20, -10, 100]
    boxes[100:] += [300, 0, 300, 0]
    lost = plan_crops(track(range(200), boxes), width_px=WIDTH, height_px=HEIGHT, rules=CropRules())
    plan = planned(track(range(200), boxes), n_path=2)
    assert all(35 <= f < 100 for f in (*plan.appearance, *plan.path))
    assert isinstance(lost, CropPlan)
    boxes[35:40] = boxes[0]
    nowhere = plan_crops(track(range(200), boxes), width_px=WIDTH, height_px=HEIGHT, rules=CropRules())
    assert isinstance(nowhere, Dropped)
    assert nowhere.reason == "box-outside"


@pytest.mark.parametrize(("n_frames", "fits"), [(108, True), (107, False), (20, False), (1, False)])
def test_a_track_that_leaves_too_little_is_dropped_with_the_reason(n_frames, fits):
    # The middle without 30 frames on both sides: of 108 frames [51.6, 56.4), five; of 107 [51.4, 55.6), four.
    plan = plan_crops(track(range(n_frames)), width_px=WIDTH, height_px=HEIGHT, rules=CropRules())
    assert isinstance(plan, CropPlan) is fits
    if isinstance(plan, Dropped):
        assert (plan.what, plan.stage, plan.reason) == ("t1", "crops", "too-short-for-cards")
        assert f"{n_frames} frames" in plan.detail


def beside(frames, *, by: float, track_id="t2") -> Track:
    """Somebody as large as the track, so far to the right of it."""
    return track(frames, [[50.0 + by, 20.0, 80.0 + by, 100.0]] * len(frames), track_id=track_id)


def test_boxes_that_show_somebody_else_are_not_chosen():
    walks = track(range(200))
    by = beside([*range(0, 35), *range(70, 110), *range(165, 200)], by=10)  # two thirds of the box
    plan = plan_crops(walks, width_px=WIDTH, height_px=HEIGHT, rules=CropRules(), others=[walks, by])
    assert isinstance(plan, CropPlan)
    assert set(plan.appearance) <= {*range(35, 40), *range(160, 165)}
    assert set(plan.path) <= set(range(110, 131))
    assert len(plan.path) == 5
    away = beside(range(200), by=20)  # a third of the box
    free = plan_crops(walks, width_px=WIDTH, height_px=HEIGHT, rules=CropRules(), others=[away])
    assert free == planned(walks)


@pytest.mark.parametrize("frames", [range(0, 40), range(160, 200), range(66, 129)])
def test_a_track_that_is_nowhere_seen_alone_is_dropped(frames):
    plan = plan_crops(
        track(range(200)), width_px=WIDTH, height_px=HEIGHT, rules=CropRules(), others=[beside(frames, by=5)]
    )
    assert isinstance(plan, Dropped)
    assert (plan.reason, plan.stage) == ("covered-by-others", "crops")
    any_box = CropRules(most_covered=1.0)
    assert isinstance(
        plan_crops(
            track(range(200)), width_px=WIDTH, height_px=HEIGHT, rules=any_box, others=[beside(frames, by=5)]
        ),
        CropPlan,
    )


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """A film of 130 frames in which a red square on grey walks to the right, 0.5 pixels each frame."""

    def frames():
        for i in range(130):
            picture = np.full((edited.HEIGHT, edited.WIDTH, 3), 128, np.uint8)
            left = int(10 + 0.5 * i)
            picture[20:44, left : left + 16] = (220, 20, 20)
            yield picture

    return edited.write(tmp_path_factory.mktemp("film") / "walk.mp4", frames())


def walk(**more) -> Track:
    lefts = np.floor(10 + 0.5 * np.arange(130))
    boxes = np.stack([lefts, np.full(130, 20.0), lefts + 16, np.full(130, 44.0)], axis=1)
    return track(range(130), boxes, **more)


def opened(folder: PictureFolder, crop) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(folder.get(crop.digest))).convert("RGB"), np.int64)


def test_crops_show_the_box_and_frames_show_it_drawn(film, tmp_path):
    video, folder = open_video(film), PictureFolder(tmp_path)
    rules = CropRules(least_px=48, frame_px=96)
    plan = plan_crops(walk(), width_px=edited.WIDTH, height_px=edited.HEIGHT, rules=rules)
    found, dropped = cut_crops(video, [plan], pictures=folder, rules=rules)
    assert dropped == ()
    shown = found["t1"]
    assert [c.frame_index for c in shown.appearance] == list(plan.appearance)
    assert [c.frame_index for c in shown.path] == [c.frame_index for c in shown.frames] == list(plan.path)
    for crop in (*shown.appearance, *shown.path):
        picture = opened(folder, crop)
        assert picture.shape == (crop.height_px, crop.width_px, 3)
        assert min(picture.shape[:2]) == 48
        middle = picture[picture.shape[0] // 2, picture.shape[1] // 2]
        assert middle[0] > 180
        assert middle[1] < 70
        corner = picture[1, 1]
        assert abs(corner - 128).max() < 25
    for crop in shown.frames:
        picture = opened(folder, crop)
        assert picture.shape[:2] == (edited.HEIGHT, edited.WIDTH)
        left = int(10 + 0.5 * crop.frame_index)
        outside = picture[32, left - 2]
        assert outside[0] > 150
        assert outside[1] > 150
        assert outside[2] < 110


def test_small_crops_are_enlarged_and_large_ones_made_smaller(film, tmp_path):
    for rules, longest in (
        (CropRules(least_px=160, most_px=640), 640),
        (CropRules(least_px=4, most_px=12), 12),
    ):
        plan = plan_crops(walk(), width_px=edited.WIDTH, height_px=edited.HEIGHT, rules=rules)
        found, _ = cut_crops(open_video(film), [plan], pictures=PictureFolder(tmp_path), rules=rules)
        sides = [(c.width_px, c.height_px) for c in found["t1"].appearance]
        assert all(max(side) <= longest for side in sides)
        # The box of 16 x 24 with its margins is 20 x 30 or so: enlarged to 160 on its shorter side.
        assert {min(side) for side in sides} == ({160} if longest == 640 else {8})


class _Broken:
    """A video that cannot give some of its frames."""

    def __init__(self, video, broken) -> None:
        self._video, self._broken = video, broken
        self.n_readings = 0

    def read(self, indices, make):
        self.n_readings += 1
        good = self._video.read([i for i in indices if i not in self._broken], make)
        bad = {i: FrameProblem(frame_index=i, message=f"frame {i} is damaged") for i in self._broken}
        return {**good, **bad}


def test_damaged_frames_are_left_out_and_a_track_of_them_dropped(film, tmp_path):
    rules = CropRules()
    plan = plan_crops(walk(), width_px=edited.WIDTH, height_px=edited.HEIGHT, rules=rules)
    folder = PictureFolder(tmp_path)
    few = _Broken(open_video(film), {plan.path[0]})
    found, dropped = cut_crops(few, [plan], pictures=folder, rules=rules)
    assert [c.frame_index for c in found["t1"].path] == list(plan.path[1:])
    assert dropped == ()
    many = _Broken(open_video(film), set(plan.path[:3]))
    found, dropped = cut_crops(many, [plan], pictures=folder, rules=rules)
    assert found == {}
    assert (dropped[0].what, dropped[0].reason) == ("t1", "frames-unreadable")
    assert "is damaged" in dropped[0].detail


def test_a_dropped_track_names_a_damaged_frame_of_its_own(film, tmp_path):
    other = dataclasses.replace(walk(), track_id="t2")
    plans = [
        CropPlan(track=walk(), appearance=(0, 129), path=(60, 61, 62)),
        CropPlan(track=other, appearance=(1, 128), path=(70, 71, 72)),
    ]
    film_with_gaps = _Broken(open_video(film), {60, 70, 71})
    found, dropped = cut_crops(film_with_gaps, plans, pictures=PictureFolder(tmp_path), rules=CropRules())
    assert set(found) == {"t1"}
    assert [one.detail for one in dropped] == ["frame 70 is damaged"]


@pytest.mark.parametrize("wrong", [{"end_share": 0.5}, {"n_path": 0}, {"gap_s": -1}, {"least_px": 900}])
def test_rules_that_make_no_sense_are_refused(wrong):
    with pytest.raises((UsageError, msgspec.ValidationError), match=next(iter(wrong))):
        msgspec.convert(wrong, CropRules)
