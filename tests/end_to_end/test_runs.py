"""Runs with names, lists of them, plans that are repeated: the command line as a user runs it."""

import json

from vidence.engine.plan import read_plan

RUN = ("run", "table", "--data", "questions.jsonl", "--selector", "none", "--no-page", "--model")


def test_a_run_has_a_name_and_stands_in_the_list(vidence, questions):
    questions()
    assert vidence("runs").code == 2
    said = vidence(*RUN, "scripted:A", "--name", "Always A", "--price-in", "1")
    assert said.code == 0, said.err
    assert vidence(*RUN, "scripted:B", "--limit", "2", "--out", "runs/b").code == 0
    listed = vidence("runs")
    assert listed.code == 0, listed.err
    heading, *lines = listed.out.splitlines()
    assert heading.startswith("name        benchmark  status    done")
    first, second = sorted(lines)  # they may have begun in one second
    assert first.startswith("Always A    table      complete   6/6")
    assert "  33.3" in first
    assert second.startswith("scripted:B  table      complete   2/2")
    assert second.endswith("runs/b")
    as_json = json.loads(vidence("runs", "runs/b", "--json").out)
    assert [(one["name"], one["n_planned"], one["status"]) for one in as_json] == [
        ("scripted:B", 2, "complete")
    ]


def test_a_list_without_runs_says_so(vidence):
    (vidence.folder / "runs").mkdir()
    done = vidence("runs")
    assert (done.code, done.out) == (0, "")
    assert "runs holds no run" in done.err


def test_a_run_that_cannot_be_read_is_a_line_of_the_list(vidence):
    (vidence.folder / "runs" / "a").mkdir(parents=True)
    (vidence.folder / "runs" / "a" / "plan.toml").write_text("")
    done = vidence("runs")
    assert done.code == 0
    assert "unusable: runs/a is not a run folder" in done.out


def test_resume_names_a_run_anew_and_reports_use_the_name(vidence, questions):
    questions()
    assert vidence(*RUN, "scripted:A", "--out", "a", "--name", "first").code == 0
    assert vidence("resume", "a", "--name", "second", "--no-page").code == 0
    assert read_plan(vidence.folder / "a")[0].name == "second"
    assert vidence(*RUN, "scripted:B", "--out", "b", "--name", "other").code == 0
    done = vidence("compare", "a", "b", "--latex", "t.tex", "--json", "c.json")
    assert done.code == 0, done.err
    assert "other" in done.out
    assert "second" in done.out
    assert "scripted:" not in (vidence.folder / "t.tex").read_text()
    runs = json.loads((vidence.folder / "c.json").read_text())["runs"]
    assert [one["name"] for one in runs] == ["second", "other"]


def test_a_folder_with_another_plan_says_what_differs(vidence, questions):
    questions()
    assert vidence(*RUN, "scripted:A", "--out", "a", "--frames", "4").code == 0
    done = vidence(*RUN, "scripted:B", "--out", "a", "--frames", "8", "--temperature", "0.5")
    assert done.code == 2
    for line in (
        'model: "scripted:A" there, "scripted:B" here',
        "n_frames: 4 there, 8 here",
        "sampling.temperature: 0.0 there, 0.5 here",
        "vidence resume a",
    ):
        assert line in done.err
