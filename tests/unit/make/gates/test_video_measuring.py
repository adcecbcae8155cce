"""What is measured of films of which everything is known, in one pass."""

import numpy as np
import pytest

from conftest import need
from vidence.errors import UsageError
from vidence.make.gates import video_measuring as measuring
from vidence.make.gates.video_measuring import Measured, can_part, evenly, identity, measure
from vidence.make.gates.video_rules import MeasureRules
from vidence.make.pipeline.pictures import PictureFolder
from vidence.media.video import Video, open_video
from vidence.seeing.watching import FrameDetections
from videos import edited, pans

NOBODY = MeasureRules(detector="")


def measured(path, folder, rules=NOBODY, **more) -> Measured:
    return measure(open_video(path).scan, rules, pictures=folder / "pictures", **more)


@pytest.fixture(scope="module")
def panning(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pans")
    speeds = (2.5, 5, 10, 20)
    return {
        speed: measured(pans.write(folder / f"{speed}.mp4", pans.pan(speed, n_frames=60)), folder)
        for speed in speeds
    }


def test_a_faster_pan_has_more_motion(panning) -> None:
    differences = [one.motion for one in panning.values()]
    assert differences == sorted(differences)


def test_a_still_of_200_seconds_moves_less_than_everything(panning, tmp_path) -> None:
    path = pans.write(tmp_path / "still.mp4", pans.pan(0, n_frames=400), rate=2)
    still = measured(path, tmp_path)
    assert (still.seconds, still.shots) == (pytest.approx(200), 1)
    assert still.motion < 0.05 < min(one.motion for one in panning.values())


def test_cuts_are_shots_and_no_motion(tmp_path) -> None:
    """Two stills in turn: all that changes are the cuts."""
    left, right = pans.ground(1)[:128, :192], pans.ground(2)[:128, :192]
    frames = (left if i // 30 % 2 == 0 else right for i in range(120))
    found = measured(pans.write(tmp_path / "stills.mp4", frames), tmp_path)
    assert found.shots == 4
    assert found.motion < 0.5
    over_cuts = measured(tmp_path / "stills.mp4", tmp_path, MeasureRules(detector="", cuts=""))
    assert over_cuts.shots is None
    assert over_cuts.motion > 5
    assert over_cuts.why["cuts_per_minute"] == "cuts were not asked for"


def test_a_film_of_known_cuts_has_its_shots(tmp_path) -> None:
    found = measured(edited.write(tmp_path / "film.mp4"), tmp_path)
    assert found.shots == len(edited.CUTS) + 1
    assert (found.width_px, found.height_px, found.has_audio) == (edited.WIDTH, edited.HEIGHT, False)
    assert found.why["people"] == "a detector was not asked for"


def test_the_frames_of_models_are_kept_in_the_same_pass(tmp_path, monkeypatch) -> None:
    path = pans.write(tmp_path / "pan.mp4", pans.pan(5, n_frames=60))
    passes = []
    read = Video.read

    def counted(self, indices, make, **more):
        passes.append(len(indices))
        return read(self, indices, make, **more)

    monkeypatch.setattr(Video, "read", counted)
    found = measured(path, tmp_path, n_shown=8)
    assert passes == [60]
    video = Video(path)
    wanted = evenly(video.times_s, 8, seconds=6.0)
    assert [one.frame_index for one in found.frames] == list(wanted)
    assert PictureFolder(tmp_path / "pictures").holds(found.frames)


def test_people_are_counted_a_look_and_a_detector_of_people_knows_no_things(tmp_path) -> None:
    path = pans.write(tmp_path / "pan.mp4", pans.pan(5, n_frames=40))
    boxes = tmp_path / "det.txt"
    rows = [f"{frame},-1,10,10,20,60,0.9" for frame in range(1, 41) for _ in range(1 + (frame > 20))]
    boxes.write_text("\n".join(rows))
    found = measured(path, tmp_path, MeasureRules(detector=f"boxes:{boxes}", looks=4))
    assert found.people == pytest.approx(1.5)
    assert found.things is None
    assert found.why["things"] == "the detector saw nothing but people, and may know nothing else"


class Street:
    """A detector of classes: one person and two cars in every picture, a dog in the first that it sees."""

    identity, finds_parts, n_together = "street", False, 1
    n_seen = 0

    def find(self, images):
        self.n_seen += len(images)
        ids = np.array([0, 2, 2, *([7] if self.n_seen == 1 else [])])
        names = {0: "person", 2: "car", 7: "dog"}
        boxes = np.tile([10.0, 10.0, 30.0, 60.0], (len(ids), 1))
        return [
            FrameDetections(boxes_px=boxes, confidences=np.ones(len(ids)), class_ids=ids, class_names=names)
        ]


def test_a_detector_of_classes_counts_things_and_is_opened_once(tmp_path, monkeypatch) -> None:
    path = pans.write(tmp_path / "pan.mp4", pans.pan(5, n_frames=40))
    monkeypatch.setattr(measuring, "open_detector", lambda spec: Street())
    rules = MeasureRules(detector="street", looks=4)
    found = measured(path, tmp_path, rules)
    assert (found.people, found.things) == (1.0, 2.25)
    assert not can_part(rules)  # it does not say that it opens anywhere
    assert can_part(NOBODY)


def test_the_identity_changes_with_all_that_is_measured() -> None:
    rules = [NOBODY, MeasureRules(detector="", cuts=""), MeasureRules(detector="", looks=4)]
    identities = [str(identity(one, n_shown=0)) for one in rules]
    assert len({*identities, str(identity(NOBODY, n_shown=8))}) == 4


@pytest.mark.parity
def test_shots_a_minute_of_real_clips_are_those_of_the_labels(data_dir, tmp_path) -> None:
    """``labels/nasa_13013_shots.json``: two hard cuts in 13 s."""
    found = measured(need(data_dir / "video" / "nasa_13013_320x180.mp4"), tmp_path)
    assert found.shots == 3
    assert found.seconds == pytest.approx(13)


def test_where_the_detector_cannot_be_used_the_way_without_it_is_named(monkeypatch):
    def absent(spec):
        raise UsageError(f"the detector {spec} needs OpenCV; run: pip install it")

    monkeypatch.setattr(measuring, "open_detector", absent)
    with pytest.raises(UsageError, match=r"hog needs OpenCV; run: pip install it\. .* --detector none"):
        measuring.check_detector(MeasureRules(detector="hog"), n_videos=1)
    measuring.check_detector(MeasureRules(detector=""), n_videos=2)
