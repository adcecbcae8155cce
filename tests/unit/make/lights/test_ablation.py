"""What an ablation varies, renders and measures."""

import copy
import csv
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from vidence.ask.benchmarks.actpld import create as actpld
from vidence.errors import DataError, UsageError
from vidence.make.lights.ablation import Measured, findable, guess_notes, observed
from vidence.make.lights.ablation_clips import StimulusSet, recorded_clips, walker_clips, write_condition
from vidence.make.lights.ablation_config import (
    BASE,
    AblationConfig,
    AskConfig,
    Condition,
    Motions,
    Observing,
    base_spec,
    conditions,
    model_spec,
    read_ablation,
    shown_frames,
    spec_under,
    title_of,
    unique,
    words_of,
)
from vidence.media.video import open_video
from vidence.records import Estimate

TINY = AblationConfig(
    motions=Motions(n_each=1, duration_s=0.4),
    vary={"frames": (1, 8), "dots": (4,), "inversion": (True,), "noise_dots": (0, 5), "fps": (15, 30)},
)


def of(factor: str, config: AblationConfig = TINY) -> tuple[Condition, ...]:
    return dict(conditions(config))[factor]


@pytest.fixture(scope="module")
def stimuli() -> StimulusSet:
    return StimulusSet(TINY, beside=Path())


def test_every_condition_is_there_once_and_the_base_first():
    assert [c.name for c in unique(conditions(TINY))] == [
        "base", "frames-1", "dots-4", "is_inverted-true", "n_noise-5", "fps-15",
    ]  # fmt: skip


def test_the_usual_level_is_the_base_and_is_added_where_not_named():
    assert [(c.level, c.name, c.place) for c in of("frames")] == [("1", "frames-1", 1.0), ("8", "base", 8.0)]
    assert [(c.level, c.name, c.place) for c in of("dots")] == [("13", "base", 13.0), ("4", "dots-4", 4.0)]
    assert [(c.level, c.place) for c in of("is_inverted")] == [("false", 0.0), ("true", 1.0)]


def test_frames_are_taken_of_the_same_clips():
    assert [c.folder for c in of("frames")] == ["base", "base"]
    assert of("frames")[0].n_frames == 1


def test_a_condition_differs_from_the_base_in_its_factor_alone():
    base, inverted = base_spec(TINY), spec_under(TINY, of("is_inverted")[1])
    differs = {f for f in base.__struct_fields__ if getattr(base, f) != getattr(inverted, f)}
    assert differs == {"is_inverted"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[vary]\nnoize = [1]\n", "nothing named 'noize'"),
        ("[vary]\nframes = [0]\n", "0 is no number of frames"),
        ("[vary]\ndots = [14]\n", "14 dots are wanted, and the figure has 13"),
        ("[vary]\nnoise_dots = []\n", "one level or more"),
        ("[vary]\nview = [10, 10]\n", "each once"),
        ("[vary]\nview = [0]\nyaw_deg = [10]\n", "under two names"),
        ("[vary]\nseed = [1]\n", "cannot be varied"),
        ("[vary]\nscrambling = ['some']\n", "setting of the stimulus cannot be read"),
        ("[ask]\nmodel = 'x'\n", "Did you mean 'models'"),
        ("[ask]\nmodels = []\n", "at least one model"),
        ("[ask.wishes]\nlimit = 3\n", "no setting 'ask.wishes'.*overrides"),
        ("[motions]\nn_each = 0\n", "above 0"),
        ("[stimulus]\nwidth = 3\n", "no setting 'width'"),
        ("vary = 3\n", "vary"),
    ],
)
def test_bad_configurations_are_refused(tmp_path: Path, text: str, message: str):
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_ablation(path)


def test_models_name_folders(tmp_path: Path):
    base, same = tmp_path / "b", tmp_path / "s"
    assert model_spec("pointlight-nn", base=base, same=same) == f"pointlight-nn:{base}"
    assert model_spec("pointlight-nn?k=2", base=base, same=same) == f"pointlight-nn:{base}?k=2"
    assert model_spec("pointlight-nn:{same}", base=base, same=same) == f"pointlight-nn:{same}"
    assert model_spec("openai:gpt", base=base, same=same) == "openai:gpt"


def test_walkers_differ_and_come_again():
    clips = list(walker_clips(2, duration_s=1.0, yaw_spread_deg=10.0, seed=4))
    assert len(clips) == 16
    assert len({c.files for c in clips}) == 16
    assert clips == list(walker_clips(2, duration_s=1.0, yaw_spread_deg=10.0, seed=4))
    assert clips != list(walker_clips(2, duration_s=1.0, yaw_spread_deg=10.0, seed=5))
    assert all(abs(c.yaw_deg) <= 10 for c in clips)


def test_a_folder_of_clips_is_one_that_the_benchmark_reads(stimuli: StimulusSet, tmp_path: Path):
    write_condition(stimuli, BASE, tmp_path, on_clip=lambda _: None)
    loaded = actpld().load(tmp_path, split="label", strict=True)
    assert [item.item_id for item in loaded.items] == [f"{c.clip_id}/label" for c in stimuli.clips]
    assert open_video(tmp_path / "clips" / "walk-01.mp4").n_frames == 12
    before = (tmp_path / "clips" / "walk-01.mp4").stat().st_mtime_ns
    assert write_condition(stimuli, BASE, tmp_path, on_clip=lambda _: None) == ()
    assert (tmp_path / "clips" / "walk-01.mp4").stat().st_mtime_ns == before
    with pytest.raises(UsageError, match="made from other settings"):
        write_condition(stimuli, of("is_inverted")[1], tmp_path, on_clip=lambda _: None)


def test_clips_of_one_subject_are_one_source(stimuli: StimulusSet, tmp_path: Path):
    of_one = copy.copy(stimuli)
    of_one.clips = tuple(msgspec.structs.replace(clip, subjects=("7",)) for clip in stimuli.clips)
    write_condition(of_one, BASE, tmp_path / "one", on_clip=lambda _: None)
    assert {item.source_id for item in actpld().load(tmp_path / "one", split="label").items} == {"subject 7"}
    write_condition(stimuli, BASE, tmp_path / "own", on_clip=lambda _: None)
    own = actpld().load(tmp_path / "own", split="label").items  # a walker has no source
    assert [item.source_id for item in own] == [item.video_id for item in own]


def test_fewer_dots_are_a_part_of_more_and_as_large(stimuli: StimulusSet):
    walk = stimuli.clips[0]
    whole = stimuli.stimulus(walk, BASE)
    some = stimuli.stimulus(walk, of("dots")[1])
    assert some.centres_px.shape[1] == 4
    assert some.px_per_m == whole.px_per_m
    apart = some.centres_px[:, :, None] - whole.centres_px[:, None]
    # Every dot is one of the whole, up to one shift of the picture's middle.
    shift = np.round(apart - apart[:1, :1, :1], 6)
    assert np.isfinite(shift).all()
    steps = np.diff(some.centres_px, axis=0)[:, :, None] - np.diff(whole.centres_px, axis=0)[:, None]
    assert np.abs(steps).max(axis=(0, 3)).min(axis=1).max() < 1e-9


def test_the_view_changes_neither_size_nor_place(stimuli: StimulusSet):
    views = (0, 45, 90, 180)
    varied = StimulusSet(
        msgspec.structs.replace(TINY, vary={"view": views, "frames": (2, 8), "fps": (8, 30)}), beside=Path()
    )
    for clip in varied.clips:
        made = [varied.stimulus(clip, c) for c in of("yaw_deg", varied.config)]
        assert len({one.px_per_m for one in made}) == 1
        heights = [one.centres_px[..., 1] for one in made]
        assert all(np.allclose(heights[0], other) for other in heights[1:])
        assert {one.px_per_m for one in made} == {
            varied.stimulus(clip, c).px_per_m for c in of("fps", varied.config)
        }


def test_noise_and_inversion_leave_the_figure_as_it_is(stimuli: StimulusSet):
    walk = stimuli.clips[0]
    whole = stimuli.stimulus(walk, BASE).centres_px
    noisy = stimuli.stimulus(walk, of("n_noise")[1])
    assert noisy.centres_px.shape[1] == 13 + 5
    assert np.allclose(noisy.centres_px[:, :13], whole)
    inverted = stimuli.stimulus(walk, of("is_inverted")[1]).centres_px
    assert np.allclose(inverted[..., 1], 128 - whole[..., 1])
    assert np.allclose(inverted[..., 0], whole[..., 0])


def test_another_rate_shows_the_same_time(stimuli: StimulusSet):
    walk = stimuli.clips[0]
    fast, slow = stimuli.stimulus(walk, BASE), stimuli.stimulus(walk, of("fps")[0])
    assert (fast.n_frames, slow.n_frames) == (12, 6)
    assert (fast.n_frames / fast.fps) == (slow.n_frames / slow.fps)


def test_of_another_rate_as_many_frames_are_shown_as_the_same_time_has():
    assert [shown_frames(TINY, c) for c in of("fps")] == [4, 8]
    assert [shown_frames(TINY, c) for c in of("frames")] == [1, 8]
    slow = msgspec.structs.replace(TINY, vary={"fps": (1, 60)})
    assert [shown_frames(slow, c) for c in of("fps", slow)] == [8, 1, 16]
    for levels, stimulus in (((15, "none"), {}), ((15, 30), {"fps": "none"})):
        with pytest.raises(UsageError, match="every rate must be a number"):
            conditions(msgspec.structs.replace(TINY, vary={"fps": levels}, stimulus=stimulus))


def test_what_would_be_found_is_said_before():
    def words(n_each: int, **more: object) -> str:
        config = msgspec.structs.replace(TINY, **more)
        clips = tuple(walker_clips(n_each, duration_s=0.4, yaw_spread_deg=10.0, seed=1))
        return findable(config, clips, rng=np.random.default_rng(1))

    few, many = words(6), words(40)
    points = [int(re.search(r"difference of (\d+) points", said)[1]) for said in (few, many)]
    assert "48 sources of motions, p adjusted for 5 conditions" in few
    assert 20 <= points[0] <= 35
    assert points[1] < points[0] / 2
    assert "hardly ever found" in words(1)
    assert words(2, vary={}) == "nothing is varied"


def test_undisturbed_is_without_jitter_and_with_the_same_noise(stimuli: StimulusSet):
    noisy = of("n_noise")[1]
    shown, made = (stimuli.stimulus(stimuli.clips[0], noisy, undisturbed=plain) for plain in (False, True))
    assert np.array_equal(shown.centres_px, made.centres_px)
    shaken = msgspec.structs.replace(noisy, settings=noisy.settings | {"jitter_m": "0.1"})
    assert np.array_equal(
        stimuli.stimulus(stimuli.clips[0], shaken, undisturbed=True).centres_px, made.centres_px
    )


def test_recordings_come_from_a_table_and_what_is_missing_is_said(tmp_path: Path):
    table = tmp_path / "map.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "set", "intention", "group", "file"])
        writer.writerow(["walk", "single", "go", "gait", "gone.bvh"])
        writer.writerow(["walk", "single", "go", "gait", "lost.bvh"])
        writer.writerows([["walk", "single", "go", "gait", ""]] * 3)
        writer.writerow(["wave", "single", "greet", "gesture", "here.bvh"])
    (tmp_path / "here.bvh").write_text("x")
    clips, notes = recorded_clips(table, tmp_path)
    assert [(c.label, c.group) for c in clips] == [("wave", "gesture")]
    assert [n for n in notes if "gone.bvh" in n and n.endswith(", and 1 more rows have no motion either")]
    assert "map.csv:4 and 2 more: neither a file, nor a subject and a trial" in notes
    (tmp_path / "here.bvh").unlink()
    with pytest.raises(DataError, match="none of its 6 rows"):
        recorded_clips(table, tmp_path)


def test_a_motion_that_cannot_be_read_is_told_and_the_rest_goes_on(tmp_path: Path):
    config = AblationConfig(motions=Motions(table="map.csv", duration_s=0.3), ask=AskConfig(n_frames=4))
    (tmp_path / "map.csv").write_text(
        "label,set,intention,group,file\nwalk,single,go,gait,broken.bvh\nwave,single,greet,gesture,walker:wave\n"
    )
    (tmp_path / "broken.bvh").write_text("no motion")
    stimuli = StimulusSet(config, beside=tmp_path)
    assert [clip.label for clip in stimuli.clips] == ["wave"]
    assert len(stimuli.notes) == 1
    assert "broken.bvh:1" in stimuli.notes[0]
    (tmp_path / "map.csv").write_text("label,set,intention,group,file\nwalk,single,go,gait,broken.bvh\n")
    with pytest.raises(DataError, match="no motion can be read"):
        StimulusSet(config, beside=tmp_path)


def test_a_row_of_the_table_says_which_part_is_shown_and_from_where(tmp_path: Path):
    config = AblationConfig(motions=Motions(table="map.csv", duration_s=0.3), ask=AskConfig(n_frames=4))
    (tmp_path / "map.csv").write_text(
        "label,set,intention,group,file,start_s,end_s,yaw_deg,points\n"
        "wave,single,greet,gesture,walker:wave?duration_s=3,1,2,30,15\n"
    )
    stimuli = StimulusSet(config, beside=tmp_path)
    (clip,) = stimuli.clips
    (figure,) = stimuli.figures[clip.clip_id]
    assert figure.n_frames == round(figure.fps)
    assert len(figure.names) == 15
    assert stimuli.stimulus(clip, BASE).spec.view.yaw_deg == base_spec(config).view.yaw_deg + 30


def test_the_observer_gains_with_dots_and_frames_and_loses_with_noise(stimuli: StimulusSet):
    """All with 25 px of its own noise, where it is neither perfect nor at chance."""
    vary = {"frames": (1, 8), "dots": (2, 13), "noise_dots": (0, 40)}
    config = AblationConfig(motions=TINY.motions, vary=vary, observer=Observing(n_trials=150, sd_px=(25.0,)))
    found, notes = observed(config, stimuli)
    assert notes == []
    at = {(m.model, m.factor, m.level): m.accuracy.value for m in found}
    for name in ("observer, dots told apart, 25 px", "observer, dots alike, 25 px"):
        assert at[name, "frames", "1"] < at[name, "frames", "8"]
        assert at[name, "dots", "2"] < at[name, "dots", "13"]
    assert (
        at["observer, dots alike, 25 px", "n_noise", "40"] < at["observer, dots alike, 25 px", "n_noise", "0"]
    )
    told = "observer, dots told apart, 25 px"
    assert at[told, "n_noise", "40"] == at[told, "n_noise", "0"]


def test_where_there_is_no_observer_the_reason_is_said(stimuli: StimulusSet):
    config = AblationConfig(
        motions=TINY.motions, vary={"dropout": (0.0, 0.5)}, observer=Observing(n_trials=5, sd_px=(1.0,))
    )
    found, notes = observed(config, stimuli)
    assert {m.level for m in found} == {"0"}
    assert notes == ["no ideal observer for dropout-0.5: dots that come and go are not modelled"]


def test_what_is_so_or_not_so_has_words():
    config = AblationConfig(
        vary={"inversion": (False, True), "mirror": (True,), "is_loop": (True,), "fps": (8,)}
    )
    said = {title_of(factor): [words_of(c) for c in some] for factor, some in conditions(config)}
    assert said == {
        "inversion": ["upright", "upside down"],
        "mirror image": ["as recorded", "mirrored"],
        "motion made a loop": ["no", "yes"],
        "frames per second, the same time shown": ["30", "8"],
    }
    assert title_of("depth_dots") == "depth dots"
    assert of("is_inverted")[1].name == "is_inverted-true", "names of folders stay"


def test_guesses_are_counted_once_for_each_condition():
    def one(model, condition, factor, n_guessed):
        half = Estimate(value=0.5, low=0.4, high=0.6, level=0.95, n=48, n_clusters=48, method="wilson")
        return Measured(
            model=model,
            factor=factor,
            level="",
            place=0.0,
            condition=condition,
            accuracy=half,
            n_guessed=n_guessed,
        )

    found = [one("nn", "base", "a", 2), one("nn", "base", "b", 2), one("nn", "b-1", "b", 30)]
    assert guess_notes([*found, one("other", "base", "a", 0)]) == (
        "nn guessed in 32 of 96 answers, as it says itself; most in b-1 (30 of 48)",
    )
