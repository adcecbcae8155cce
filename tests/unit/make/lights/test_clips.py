"""One clip: written with its sidecar, or dropped for a reason."""

import hashlib
import json

import msgspec
import pytest

from vidence.make.lights.clips import ClipJob, ClipRules, PairRules
from vidence.make.lights.parts import RecordingPart
from vidence.make.lights.trials import Trial
from vidence.media.lights import read_lights
from vidence.media.video import open_video
from vidence.pointlight.specs import StimulusSpec
from vidence.pointlight.writing import read_sidecar, remake

WALK = "walker:walk?duration_s=1"
SMALL = ClipRules(stimulus=StimulusSpec(width_px=64, height_px=64, dot_radius_px=1.5))


def trial(**changes: object) -> Trial:
    fields = {"clip_id": "one", "label": "walk", "set": "single", "intention": "go", "group": "g"}
    return Trial(**fields | changes)


def job(folder, *files: str, rules: ClipRules = SMALL, **changes: object) -> ClipJob:
    return ClipJob(trial=trial(**changes), files=files, rules=rules, folder=folder)


def test_a_clip_is_written_with_what_it_was_made_from(tmp_path):
    result = job(tmp_path, WALK).make()
    clip = result.clip
    assert result.dropped is None
    assert (clip.clip_id, clip.path, clip.sources) == ("one", "clips/one.mp4", (WALK,))
    path = tmp_path / clip.path
    assert hashlib.sha256(path.read_bytes()).hexdigest() == clip.sha256
    video = open_video(path)
    assert video.n_frames == clip.n_frames == round(clip.fps)  # one second
    assert sorted(p.name for p in path.parent.iterdir()) == ["one.dots.json", "one.json", "one.mp4"]
    assert json.loads(path.with_suffix(".json").read_bytes())["n_frames"] == clip.n_frames


def test_a_short_clip_is_dropped_and_nothing_written(tmp_path):
    few = msgspec.structs.replace(SMALL, fewest_frames=31)
    dropped = job(tmp_path, WALK, rules=few).make().dropped
    assert (dropped.what, dropped.stage, dropped.reason) == ("one", "clips", "too-few-frames")
    assert dropped.detail == "30 frames at 30 per second; 31 are shown"
    assert not (tmp_path / "clips").exists()


def test_a_file_that_cannot_be_read_drops_the_clip(tmp_path):
    (tmp_path / "a.bvh").write_text("HIERARCHY\nnothing")
    dropped = job(tmp_path, str(tmp_path / "a.bvh")).make().dropped
    assert dropped.reason == "unusable-motion"
    assert "a.bvh" in dropped.detail


@pytest.mark.parametrize("key", ["one", "18+19"])
def test_the_second_actor_is_moved_by_rules_of_the_clip_or_of_the_subjects(tmp_path, key):
    apart = msgspec.structs.replace(SMALL, pairs={key: PairRules(offset_m=(2.0, 0.0, 0.0))})
    plain, moved = (
        job(tmp_path, WALK, WALK, rules=rules, set="social", subjects=("18", "19")).make().clip.sha256
        for rules in (SMALL, apart)
    )
    assert plain != moved


def test_a_part_and_an_angle_are_made_again_from_the_sidecar(tmp_path):
    part = RecordingPart(start_s=0.2, end_s=0.6)
    made = job(tmp_path, WALK, part=part, yaw_deg=90.0, points="15")
    clip = made.make().clip
    assert clip.n_frames == 12
    kept = read_sidecar(tmp_path / "clips" / "one.json")
    assert (kept.spec.start_frame, kept.spec.n_frames, kept.spec.view.yaw_deg) == (6, 12, 90.0)
    again = remake(kept, kept.staging.figures())
    assert again.names == made.stimulus()[2].names
    assert made.stimulus()[2].n_frames == 12
    lights = read_lights(tmp_path / "clips" / "one.dots.json")
    assert (len(lights.frames), len(lights.dots)) == (12, 15)


def test_a_part_that_is_not_there_drops_the_clip(tmp_path):
    dropped = job(tmp_path, WALK, part=RecordingPart(start_s=0.5, end_s=3.0)).make().dropped
    assert dropped.reason == "unusable-motion"
    assert "the motion ends at 1.000 s" in dropped.detail


def test_options_reach_the_reader_and_the_key_of_the_cache(tmp_path):
    (tmp_path / "02.asf").write_text("no skeleton")
    file = tmp_path / "walk.txt"
    file.write_text("1 2 3\n")
    plain = job(tmp_path, str(file))
    told = ClipJob(
        trial=trial(
            options={"skeleton": "02.asf"}, part=RecordingPart(start_s=1.0), yaw_deg=5.0, points="15"
        ),
        files=(str(file),),
        rules=SMALL,
        folder=tmp_path,
        motions=tmp_path,
    )
    assert plain.inputs.items() <= told.inputs.items()
    assert set(told.inputs) - set(plain.inputs) == {
        "option-skeleton",
        "option-skeleton-file",
        "part",
        "yaw_deg",
        "points",
    }
    wrong = job(tmp_path, str(tmp_path / "a.bvh"), options={"skeletn": "x"})
    (tmp_path / "a.bvh").write_text("HIERARCHY\nROOT Hips\n{\n")
    assert "Did you mean 'skeleton'" in wrong.make().dropped.detail
