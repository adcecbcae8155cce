"""Rows of a map: how a file is read, what of it is shown, who moves, and rules for several rows."""

from pathlib import Path

import pytest

from vidence.errors import DataError, UsageError
from vidence.make.lights.parts import RecordingPart
from vidence.make.lights.trials import read_map, with_paths

HEAD = "label,set,intention,group,file,"


def mapped(folder, columns, *rows, more=None):
    path = folder / "map.csv"
    path.write_text(HEAD + columns + "\n" + "".join(f"{row}\n" for row in rows))
    return read_map(path, more)


def test_a_row_says_how_its_file_is_read_and_what_is_shown(tmp_path):
    read = mapped(
        tmp_path,
        "units,fps,skeleton,start_s,end_s,yaw_deg,points,subject,take,partner,options",
        "dab,single,x,g,a/dab.bvh,cm,60,02.asf,1.5,3,90,markers,ann,t1,ben,up=z; t_pose=keep",
    )
    (trial,) = read.trials
    assert trial.options == {"units": "cm", "fps": "60", "skeleton": "02.asf", "up": "z", "t_pose": "keep"}
    assert trial.part == RecordingPart(start_s=1.5, end_s=3.0)
    assert (trial.yaw_deg, trial.points, trial.take) == (90.0, "markers", "t1")
    assert (trial.subjects, trial.partners) == (("ann",), ("ben",))
    assert trial.clip_id == "dab-dab-1.5-3s-yaw90"


def test_several_parts_of_one_file_are_several_clips(tmp_path):
    read = mapped(tmp_path, "event_s,duration_s", "a,single,x,g,m.bvh,1,1", "a,single,x,g,m.bvh,4,1")
    assert [t.clip_id for t in read.trials] == ["a-m-at1s-1s", "a-m-at4s-1s"]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ("m.bvh,2,1,,", "expected it later"),
        ("m.bvh,a,1,,", "start_s 'a', end_s '1' cannot be read"),
        ("m.bvh,,,north,", "yaw_deg is 'north'; expected a number"),
        ("m.bvh,,,,cm", "expected key=value"),
        ("m.bvh,,,,up=z;up=y", "given twice"),
        ("walker:walk,,,,up=z", "options in its name"),
        ("m.bvh,,,,,n_noise=", "settings hold 'n_noise='"),
        ("m.bvh,,,,,glow=1", "no setting 'glow'"),
    ],
)
def test_a_cell_that_cannot_be_meant_is_named_with_its_line(tmp_path, cells, said):
    read = mapped(tmp_path, "start_s,end_s,yaw_deg,options,settings", f"a,single,x,g,{cells}")
    (dropped,) = read.dropped
    assert dropped.what == "map.csv:2"
    assert said in dropped.detail


def test_the_configuration_fills_what_rows_leave_empty(tmp_path):
    rows = ("a,single,x,g,d/m.bvh,,", "b,single,x,g,d/n.bvh,mm,2", "c,single,x,g,o.amc,,")
    more = {
        "d/*": {"units": "cm", "start_s": 1},
        "a": {"start_s": 0.5, "end_s": 2.5},
        "*.amc": {"yaw_deg": 45},
    }
    first, second, third = mapped(tmp_path, "units,end_s", *rows, more=more).trials
    assert (first.options, first.part) == ({"units": "cm"}, RecordingPart(start_s=0.5, end_s=2.5))
    assert (second.options, second.part) == ({"units": "mm"}, RecordingPart(end_s=2.0))
    assert (third.options, third.part, third.yaw_deg) == ({}, RecordingPart(), 45.0)


def test_rows_by_number_are_found_by_the_names_of_their_files(tmp_path):
    path = tmp_path / "map.csv"
    path.write_text("label,set,intention,group,subject,trial\njacks,single,x,g,13,29\n")
    (trial,) = read_map(path, {"13_29": {"start_s": 2}}).trials
    assert trial.part == RecordingPart(start_s=2.0)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"*": {"start": 1}}, "did you mean start_s"),
        ({"*": {"label": "x"}}, "no column that it can fill"),
        ({"*.c3d": {"units": "cm"}}, "fits no row"),
    ],
)
def test_rules_that_say_nothing_are_refused(tmp_path, more, said):
    with pytest.raises(UsageError, match=said):
        mapped(tmp_path, "units", "a,single,x,g,m.bvh,", more=more)


def test_halves_of_a_trial_are_known_by_the_words_of_the_index(tmp_path):
    path = tmp_path / "map.csv"
    path.write_text(
        "label,set,intention,group,subject,trial,description\n"
        "whip,single,x,g,20,10,two-person whip (2 subjects - subject A)\n"
        "whip,single,x,g,21,10,two-person whip (2 subjects - subject B)\n"
        "walk,single,x,g,7,10,walk\n"
    )
    assert [t.take for t in read_map(path).trials] == ["trial 10, two-person whip"] * 2 + [""]


def test_files_that_options_name_are_found_beside_the_motions(tmp_path: Path):
    (tmp_path / "02.asf").write_text("")
    assert with_paths({"skeleton": "02.asf", "map": "cmu", "fps": "60"}, tmp_path) == {
        "skeleton": str(tmp_path / "02.asf"),
        "map": "cmu",
        "fps": "60",
    }


def test_conditions_of_one_motion_are_clips_of_their_own(tmp_path):
    rows = ("a,single,x,g,d/m.bvh,upright,", "a,single,x,g,d/m.bvh,hidden,n_noise=9;scramble=places")
    more = {"hidden": {"settings": "n_noise=1"}, "up*": {"settings": "is_mirrored=true"}}
    first, second = mapped(tmp_path, "condition,settings", *rows, more=more).trials
    assert (first.clip_id, second.clip_id) == ("a-m-upright", "a-m-hidden")
    assert first.motion == second.motion == "a-d/m.bvh"
    assert (first.condition, first.settings) == ("upright", {"is_mirrored": "true"})
    assert second.settings == {"n_noise": "9", "scramble": "places"}


@pytest.mark.parametrize(
    ("columns", "named"),
    [("colour", "'colour'"), ("kind", "'kind'"), ("points,points", "'points', 'points'"), ("", "''")],
)
def test_columns_that_cannot_be_used_are_named_beside_those_that_can(tmp_path, columns, named):
    with pytest.raises(DataError, match=f"unknown or there twice: {named}; known are label, set or kind"):
        mapped(tmp_path, columns, "a,single,x,g,m.bvh,,")
