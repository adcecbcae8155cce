"""Points of light by command: what is written, made again, refused."""

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from subjects.standing import standing
from vidence.errors import DataError, UsageError
from vidence.media.video import open_video
from vidence.pointlight.commands.render import render
from vidence.pointlight.figures import staged
from vidence.pointlight.specs import spec_of
from vidence.pointlight.stimulus import make_stimulus


def run(*words: object) -> str:
    done = CliRunner().invoke(render, [str(w) for w in words], catch_exceptions=False, standalone_mode=False)
    return done.output


def test_a_clip_with_its_sheets_and_the_same_one_again(tmp_path: Path):
    given = ("width_px=96", "height_px=96", "n_noise=5", "scramble=both")
    settings = [word for one in given for word in ("--set", one)]
    said = run(
        "walker:walk?duration_s=0.5", "--out", tmp_path / "a", *settings, "--write", "mp4", "--write", "png"
    )
    assert "15 frames at 30 per second, 18 dots" in said
    assert open_video(tmp_path / "a" / "clip.mp4").n_frames == 15
    assert len(list((tmp_path / "a" / "frames").iterdir())) == 15
    assert {p.name for p in (tmp_path / "a").iterdir()} >= {"sheet.png", "stimulus.json"}
    again = ["--again", tmp_path / "a" / "stimulus.json", "--write", "lossless"]
    said = run("walker:walk?duration_s=0.5", "--out", tmp_path / "b", *again)
    assert "pixel by pixel" in said
    kept = [msgspec.json.decode((tmp_path / f / "stimulus.json").read_bytes()) for f in "ab"]
    assert kept[0] == kept[1]
    with pytest.raises(DataError, match="not what the stimulus was made from"):
        run("walker:run?duration_s=0.5", "--out", tmp_path / "c", *again)


def test_settings_are_read_by_name():
    spec = spec_of({"yaw_deg": "45", "n_noise": "7", "fps": "none", "is_inverted": "true"})
    assert (spec.view.yaw_deg, spec.n_noise, spec.fps, spec.is_inverted) == (45, 7, None, True)
    for settings, words in (
        ({"yaw": "1"}, "no setting 'yaw'"),
        ({"n_noise": "many"}, "n_noise"),
        ({"margin": "0.9"}, "margin"),
    ):
        with pytest.raises(UsageError, match=words):
            spec_of(settings)


def test_two_figures_share_a_room_and_dots_can_be_left_out():
    both = staged(["walker:walk?duration_s=1", "walker:wave?duration_s=1"])
    assert [f.n_frames for f in both] == [60, 60]
    shown = make_stimulus(both, spec_of({"leave_out": "head,left_hip"}))
    assert shown.centres_px.shape[1] == 22
    with pytest.raises(UsageError, match="nose cannot be left out"):
        make_stimulus(both, spec_of({"leave_out": "nose"}))
    for sources, overrides in (([], {}), (["walker"] * 3, {}), (["walker"], {"hold_hands": True})):
        with pytest.raises(UsageError):
            staged(sources, **overrides)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a file"),
        (["walker:fly"], "cannot 'fly'"),
        (["walker", "--again", "x.json", "--set", "seed=1"], "leave out --set"),
        (["walker", "--set", "gamma=2"], "no setting 'gamma'"),
    ],
)
def test_wrong_input_is_told(tmp_path: Path, words: list[str], said: str):
    with pytest.raises(UsageError, match=said):
        run(*words, "--out", tmp_path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(DataError, match="there is no such file"):
        run(tmp_path / "02_01.amc", "--out", tmp_path / "out")


def test_the_sheet_is_a_picture(tmp_path: Path):
    run("walker:jump?duration_s=0.4", "--out", tmp_path, "--set", "width_px=64", "--set", "height_px=64")
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.size[0] > 4 * 64


def test_points_that_are_left_out_stand_in_the_sidecar(tmp_path: Path):
    clip = ("walker:wave?duration_s=0.5", "--set", "width_px=64", "--set", "height_px=64")
    run(*clip, "--set", "leave_out=head,left_hip", "--out", tmp_path / "one")
    run(clip[0], "--again", tmp_path / "one" / "stimulus.json", "--out", tmp_path / "two")
    kept = [json.loads((tmp_path / n / "stimulus.json").read_bytes()) for n in ("one", "two")]
    assert kept[0] == kept[1]
    assert kept[0]["spec"]["leave_out"] == ["head", "left_hip"]
    for more in (["--set", "leave_out=head"], ["--points", "15"], ["--hold-hands"], ["--option", "fps=60"]):
        with pytest.raises(UsageError, match="takes everything from the file"):
            run(clip[0], *more, "--again", tmp_path / "one" / "stimulus.json", "--out", tmp_path)


def test_a_sidecar_alone_makes_every_kind_of_file_again(tmp_path: Path):
    clips = ("walker:walk?duration_s=0.4", "walker:wave?duration_s=0.4")
    written = [
        word for kind in ("mp4", "lossless", "png", "psychopy", "jspsych") for word in ("--write", kind)
    ]
    given = ["--set", "n_noise=4", "--set", "contrast=0.3"]
    run(*clips, "--points", "15", "--option", "fps=50", *given, *written, "--out", tmp_path / "one")
    run("--again", tmp_path / "one" / "stimulus.json", *written, "--out", tmp_path / "two")
    first, second = (
        {p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*") if p.is_file()}
        for n in ("one", "two")
    )
    assert len(first) == 1 + 2 + 12 + 6 + 2
    assert first == second
    older = json.loads((tmp_path / "one" / "stimulus.json").read_bytes())
    del older["staging"]
    (tmp_path / "older.json").write_text(json.dumps(older))
    with pytest.raises(UsageError, match="does not name its sources"):
        run("--again", tmp_path / "older.json", "--out", tmp_path / "three")


def test_frames_of_the_display_that_show_nobody_are_told(tmp_path: Path):
    positions = standing(60).positions_m.copy()
    positions[40:] = np.nan
    path = tmp_path / "away.data3d.txt"
    np.savetxt(path, positions.swapaxes(1, 2).reshape(-1, 13))
    told = ("--option", "units=m", "--option", "fps=60")
    said = run(path, *told, "--out", tmp_path / "a")
    assert "frames 20 to 29 of the display show fewer than half of the points" in said
    whole = ("--set", "start_frame=0", "--set", "n_frames=20")
    assert "of the display" not in run(path, *told, "--out", tmp_path / "b", *whole)


def test_dots_outside_the_picture_are_told(tmp_path: Path):
    said = run("walker:walk?duration_s=0.4", "--set", "px_per_m=600", "--out", tmp_path)
    assert "of the dots are outside the picture" in said
