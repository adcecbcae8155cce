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
    heading, first, second = sorted(listed.out.splitlines()[-3:])
    assert heading.split()[:5] == ["folder", "name", "benchmark", "status", "done"]
    assert "Always A    table      complete" in second
    assert "33.3" in second
    assert first.split()[:5] == ["runs/b", "scripted:B", "table", "complete", "2/2"]
    as_json = json.loads(vidence("runs", "runs/b", "--json", "-").out)["runs"]
    assert [(one["name"], one["n_planned"], one["status"]) for one in as_json] == [
        ("scripted:B", 2, "complete")
    ]


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


def test_a_plan_is_repeated_in_a_new_folder(vidence, questions):
    questions()
    assert vidence(*RUN, "scripted:A", "--limit", "4", "--name", "Once", "--out", "runs/a").code == 0
    for folder in ("runs/a", "runs/a/plan.toml"):
        done = vidence("run", "--plan", folder, "--no-page")
        assert done.code == 0, done.err
        assert "not the same" not in done.err
    again, third = sorted((vidence.folder / "runs").glob("table-*"))
    assert third.name == f"{again.name}-2"
    first, repeated = (read_plan(vidence.folder / "runs" / name) for name in ("a", again.name))
    assert repeated[0] == first[0]
    assert repeated[1].n_planned == 4


def test_what_changed_since_a_plan_was_written_is_said(vidence, questions):
    questions()
    assert vidence(*RUN, "scripted:A", "--out", "a").code == 0
    questions(n_questions=2)
    done = vidence("run", "--plan", "a", "--no-page")
    assert done.code == 0, done.err
    assert "not the same: the question files have changed since a/plan.toml was written" in done.err


def test_a_plan_that_cannot_be_repeated_says_why(vidence, questions):
    questions()
    (vidence.folder / "bad.toml").write_text("[plan]\n")
    for words, said in {
        ("--plan", "nowhere.toml"): "there is no plan nowhere.toml",
        ("--plan", "bad.toml"): "has format None",
        ("table", "--plan", "bad.toml"): "--plan names the benchmark",
        (*RUN[1:4], "--model", "scripted:A", "--trust"): "--trust goes with --plan",
        ("table", "--model", "scripted:A"): "name the questions of table with --data",
        ("table", "--data", "questions.jsonl"): "Missing option '--model'",
        (): "Missing argument 'BENCHMARK'",
    }.items():
        done = vidence("run", *words)
        assert done.code == 2
        assert said in done.err
    assert not (vidence.folder / "runs").exists()
    assert vidence(*RUN, "scripted:A", "--out", "a").code == 0
    assert "a plan has the rules of its protocol" in vidence("run", "--plan", "a", "--protocol", "paper").err


def test_the_plan_of_somebody_else_needs_the_users_word(vidence, questions):
    questions()
    assert vidence(*RUN, "scripted:A", "--out", "a", "--limit", "1").code == 0
    path = vidence.folder / "a" / "plan.toml"
    stranger = "openai:m?base_url=https://stranger.example/v1&api_key_env=SECRET_TOKEN"
    path.write_text(path.read_text().replace("scripted:A", stranger))
    refused = vidence("run", "--plan", "a", "--no-page")
    assert refused.code == 2
    assert "to ask https://stranger.example, with the key in SECRET_TOKEN" in refused.err
    assert not (vidence.folder / "runs").exists()
    # what the command line says itself takes the place of that, and needs no word
    done = vidence("run", "--plan", "a", "--no-page", "--model", "scripted:B")
    assert done.code == 0, done.err
    # its reply memory comes from the file, though the model does not
    path.write_text(path.read_text().replace('memory = ""', f'memory = "{vidence.folder}/m.sqlite"'))
    assert "m.sqlite" in path.read_text()
    done = vidence("run", "--plan", "a", "--no-page", "--model", "scripted:C")
    assert done.code == 2
    assert "to write remembered replies" in done.err
    done = vidence("run", "--plan", "a", "--no-page", "--model", "scripted:C", "--trust")
    assert done.code == 0, done.err
