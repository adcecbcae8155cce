"""From motions and a map to a benchmark: rows, files, clips, choices, sheets, resuming, refusals."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from vidence.ask.benchmarks.actpld import create as actpld_benchmark
from vidence.engine.side_by_side import Parallelism
from vidence.errors import DataError, UnknownNameError, UsageError
from vidence.make.lights.tables import labels_table
from vidence.make.lights.trials import Trial, files_of, motion_files, read_map
from vidence.make.makers.actpld import create
from vidence.make.pipeline.ledger import StageEnded, UnitDone
from vidence.make.pipeline.session import BuildContext, Built, MakeOverrides, Session
from vidence.media.lights import lights_path, read_lights
from vidence.media.video import open_video

WALK, RUN, JUMP = (f"walker:{action}?duration_s=2" for action in ("walk", "run", "jump"))
MAP = f"""label,kind,intention,semantic_group,file,confidence
walk,single,to get there,locomotion,{WALK},high
run,single,to flee,locomotion,{RUN},high
jump,single,to reach,reach,{JUMP},high
wave,single,to greet,contact,walker:wave?duration_s=2,low
meet,social,to greet,contact,{WALK}+{RUN},high
gone,single,to hide,hide,none.bvh,high
bad,both,to err,err,{WALK},high
"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a map of walkers."""
    folder = tmp_path_factory.mktemp("pld")
    (folder / "mocap").mkdir()
    (folder / "map.csv").write_text(MAP)
    return folder


def configured(folder: Path, name: str, more: str = "") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(f'name = "{name}"\nmap = "map.csv"\nmotions = "mocap"\n{more}')
    return path


def make(config: Path, heard=None, *, out=None, n_workers=1, **overrides: object) -> Built:
    folder = config.parent
    context = BuildContext(
        cache_root=folder / "cache",
        memory=folder / "replies.sqlite",
        on_event=([] if heard is None else heard).append,
        parallel=Parallelism(n_workers=n_workers),
    )
    return create().make(config, overrides=MakeOverrides(out=out, **overrides), context=context)


@pytest.fixture(scope="module")
def made(studio: Path) -> Path:
    config = configured(
        studio, "one", "[clips.stimulus]\nwidth_px = 64\nheight_px = 64\ndot_radius_px = 1.5\n"
    )
    return make(config).folder


def test_other_processes_make_the_same_files_and_nothing_again(studio, made, monkeypatch):
    config = studio / "one.toml"
    heard: list[object] = []
    with monkeypatch.context() as patch:
        patch.setattr(Session, "compute", None)
        out = make(config, heard, out=studio / "two", n_workers=2).folder

    def files(folder):
        where = str(folder).encode()  # the panel names its folder
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        return {path.relative_to(folder): path.read_bytes().replace(where, b".") for path in paths}

    assert files(out) == files(made)
    heard.clear()
    make(config, heard, out=out, n_workers=2)
    assert {one.was_cached for one in heard if isinstance(one, UnitDone)} == {True}


def test_everything_is_accounted_for(made: Path):
    account = json.loads((made / "account.json").read_text())
    counts = {s["stage"]: (s["n_in"], s["n_out"], s.get("dropped", {})) for s in account["stages"]}
    assert counts == {
        "rows": (7, 5, {"bad-row": 1, "confidence": 1}),
        "files": (5, 4, {"no-file": 1}),
        "clips": (4, 4, {}),
        "choices": (4, 4, {}),
    }
    dropped = [json.loads(line) for line in (made / "dropped.jsonl").read_text().splitlines()]
    assert {d["what"] for d in dropped} == {"map.csv:8", "wave-walker-wave-duration_s-2", "gone-none"}
    assert "both" in next(d["detail"] for d in dropped if d["reason"] == "bad-row")
    assert (made / "sheet-single.html").read_text().count("<section>") == 3
    assert (made / "sheet-social.html").read_text().count("<section>") == 1


def test_the_benchmark_reads_it_with_its_fixed_choices(made: Path):
    loaded = actpld_benchmark().load(made, split="3afc", strict=True)
    assert len(loaded.items) == 8
    groups = dict.fromkeys(("walk", "run"), "locomotion") | dict.fromkeys(("wave", "meet"), "contact")
    groups["jump"] = "reach"
    for item in loaded.items:
        if item.item_id.endswith("/label"):
            right = item.choices[ord(item.answer) - ord("A")]
            assert sum(groups.get(c) == groups[right] for c in item.choices) == 1
    with (made / "clips.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(len(r["label_distractors"].split("|")) == 2 for r in rows)
    assert {r["set"] for r in rows} == {"single", "social"}


def test_clips_hold_the_whole_motion(made: Path):
    video = open_video(made / "clips" / "walk-walker-walk-duration_s-2.mp4")
    assert (video.n_frames, video.probe.width_px) == (60, 64)
    kept = json.loads(
        (made / "clips" / "meet-walker-walk-duration_s-2+walker-run-duration_s-2.json").read_text()
    )
    assert len(kept["figures"]) == 2


def test_the_lights_of_a_clip_lie_beside_it_and_are_its_picture(made: Path):
    clip = made / "clips" / "walk-walker-walk-duration_s-2.mp4"
    lights = read_lights(lights_path(clip))
    assert (len(lights.frames), lights.fps, lights.width_px) == (60, 30, 64)
    (picture,) = open_video(clip).frames([30])
    lit = np.argwhere(picture.max(axis=2) > 128)
    frame = lights.frames[30]
    for x, y, visible in zip(frame.x_px, frame.y_px, frame.visible, strict=True):
        if visible:
            distances = np.hypot(lit[:, 1] + 0.5 - (32 + x), lit[:, 0] + 0.5 - (32 - y))
            assert distances.min() < 1.5
    assert not re.search("walk|elbow|joint", lights_path(clip).read_text())


def test_the_old_section_for_people_says_what_to_write(studio: Path):
    config = configured(studio, "old", "[study]\nn_forms = 2\n")
    with pytest.raises(UsageError, match=r'old.toml:4: People are asked .* preset = "point-light"'):
        make(config)


def test_a_second_session_makes_nothing_again(studio: Path, made: Path):
    before = (made / "clips.csv").read_bytes()
    heard: list[object] = []
    config = studio / "one.toml"
    make(config, heard)
    assert [e.was_cached for e in heard if isinstance(e, UnitDone)] == [True] * 4
    assert (made / "clips.csv").read_bytes() == before
    (made / "clips" / "walk-walker-walk-duration_s-2.mp4").unlink()
    (made / "clips" / "run-walker-run-duration_s-2.dots.json").unlink()
    make(config)
    assert read_lights(made / "clips" / "run-walker-run-duration_s-2.dots.json").fps == 30
    assert open_video(made / "clips" / "walk-walker-walk-duration_s-2.mp4").n_frames == 60


def test_overrides_narrow_a_session(studio: Path):
    config = configured(studio, "two", 'confidence = []\nsets = ["single"]\n')
    heard: list[object] = []
    wanted = {"only": ("walk", "wave", "jump"), "limit": 2, "until": "files"}
    built = make(config, heard, out=studio / "out-two", **wanted)
    stages = [e.account for e in heard if isinstance(e, StageEnded)]
    assert [(s.stage, s.n_out) for s in stages] == [("rows", 2), ("files", 2)]
    assert not (built.folder / "clips").exists()
    with pytest.raises(UnknownNameError):
        make(config, until="fils")


def test_windows_of_a_study_change_what_is_cut(studio: Path, made: Path):
    lines = (made / "clips.csv").read_text().splitlines()
    clips = {row["label"]: row["clip_id"] for row in csv.DictReader(lines)}
    head = "clip_id,shows,start_s,end_s,n_people,n_agree\n"
    rows = f"{clips['walk']},part,0.5,1.5,2,2\n{clips['run']},no,,,3,2\n{clips['jump']},unsettled,,,2,1\n"
    (studio / "windows.csv").write_text(head + rows)
    config = configured(studio, "cut")
    text = (studio / "one.toml").read_text().replace("[clips", 'windows = "windows.csv"\n[clips')
    config.write_text(text.replace('"one"', '"cut"'))
    built = make(config)
    n_frames = {}
    for folder in (made, built.folder):
        for path in (folder / "clips").glob("*.mp4"):
            n_frames[folder == made, path.stem] = len(read_lights(lights_path(path)).frames)
    assert n_frames[False, clips["walk"]] == 30 < n_frames[True, clips["walk"]]
    assert (False, clips["run"]) not in n_frames
    assert n_frames[False, clips["jump"]] == n_frames[True, clips["jump"]]
    dropped = [json.loads(line) for line in (built.folder / "dropped.jsonl").read_text().splitlines()]
    (gone,) = (one for one in dropped if one["what"] == clips["run"])
    assert (gone["reason"], gone["detail"]) == ("label-not-shown", "2 of 3 people say so")
    for table, says in (
        (head + "dance,no,,,1,1\n", "1 clip that the map does not make, the first 'dance'"),
        (head + f"{clips['walk']},part,,,1,1\n", "line 2: start_s and end_s belong to shows = part"),
        (head + f"{clips['walk']},part,2,1,1,1\n", "line 2: the window is from 2 to 1 s"),
        (head + f"{clips['walk']},maybe,,,1,1\n", "line 2: Invalid enum value 'maybe'"),
        (head + f"{clips['walk']},no,,,1\n", "line 2: CSV: 5 cells found; expected 6"),
        (head + f"{clips['walk']},no,,,1,1\n" * 2, "line 3: a second window of"),
        (
            head.replace("shows", "says") + f"{clips['walk']},no,,,1,1\n",
            "'says': unknown column; known: clip_id",
        ),
    ):
        (studio / "windows.csv").write_text(table)
        with pytest.raises(DataError) as refused:
            create().foresee(config, overrides=MakeOverrides(), context=None)
        assert says in str(refused.value)
    (studio / "windows.csv").unlink()
    with pytest.raises(DataError, match="cannot be read"):
        make(config)


def test_a_map_that_wants_nothing_is_told(studio: Path):
    config = configured(studio, "three", 'confidence = ["certain"]\n')
    with pytest.raises(DataError, match="no row is selected"):
        make(config)


def test_unusable_motions_are_dropped_and_the_rest_goes_on(studio: Path):
    (studio / "mocap" / "02_01.bvh").write_text("HIERARCHY\nROOT Hips\n{\n")
    rows = ["label,set,intention,group,subject,trial,file", "torn,single,b,h,2,1,"]
    rows += [f"{a},single,{a},{a},,,walker:{a}?duration_s=1" for a in ("walk", "jump", "wave")]
    rows += ["short,single,e,k,,,walker:walk?duration_s=0.2", "fast,single,f,f,,,walker:walk?speed_m_s=9"]
    (studio / "more.csv").write_text("\n".join(rows) + "\n")
    config = configured(studio, "four")
    config.write_text(config.read_text().replace("map.csv", "more.csv"))
    built = make(config)
    clips = next(s for s in built.account.stages if s.stage == "clips")
    assert (clips.n_in, clips.n_out) == (6, 3)
    assert clips.dropped == {"too-few-frames": 1, "unusable-motion": 2}


def test_maps_are_read_with_their_faults(tmp_path: Path):
    path = tmp_path / "m.csv"
    path.write_text(
        "label,kind,intention,semantic_group,cmu_subject,cmu_trial\n"
        "shake,social,x,g,18+19,01\nshake,social,x,g,18,1\nwalk,single,x,g,a,1\n,single,x,g,1,1\n"
        "shake,social,x,g,18+19,1\n"
    )
    read = read_map(path)
    assert [t.clip_id for t in read.trials] == ["shake-18_01+19_01"]
    assert [d.reason for d in read.dropped] == ["bad-row", "bad-row", "bad-row", "same-clip"]
    for text in ("label,kind\nwalk,single\n", ""):
        path.write_text(text)
        with pytest.raises(DataError, match="lacks"):
            read_map(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_map(tmp_path / "none.csv")


def test_partners_are_read_from_one_format(tmp_path: Path):
    for name in ("18_01.amc", "18_01.bvh.gz", "19_01.bvh.gz", "notes.txt"):
        (tmp_path / name).write_text("")
    known = motion_files(tmp_path)
    assert [p.name for p in known["18", "1"]] == ["18_01.amc", "18_01.bvh.gz"]
    trial = read_trial("18+19")
    found = files_of(trial, tmp_path, known)
    assert not isinstance(found, str)
    assert [Path(p).name for p in found] == ["18_01.bvh.gz", "19_01.bvh.gz"]
    absent = files_of(read_trial("18+20"), tmp_path, known)
    assert isinstance(absent, str)
    assert "subject 20" in absent
    with pytest.raises(DataError, match="no such folder"):
        motion_files(tmp_path / "none")


def read_trial(subjects: str) -> Trial:
    who = tuple(subjects.split("+"))
    return Trial(clip_id="x", label="x", set="social", intention="x", group="x", subjects=who, trial="1")


def test_names_in_several_groups_go_where_most_rows_are(tmp_path: Path):
    path = tmp_path / "m.csv"
    path.write_text("label,set,intention,group,file\na,single,i,g,1\nb,single,i,h,2\nc,single,i,h,3\n")
    content, notes = labels_table(read_map(path).trials)
    assert "intention,i,h" in content.decode()
    assert "the groups g, h; h is taken" in notes[0]
