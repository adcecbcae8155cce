"""The commands beside `run`: list, schema, probe, doctor, report."""

import csv
import json
import re

import pytest

from vidence.cli.finding import all_commands


def test_doctor_decodes_and_shows_no_secret(vidence):
    vidence.env["OPENAI_API_KEY"] = "sk-very-secret"
    done = vidence("doctor", "--json", "doctor.json")
    assert done.code == 0, done.out
    assert "no problems found" in done.out
    assert "are exact" in done.out
    text = (vidence.folder / "doctor.json").read_text()
    assert "sk-very-secret" not in done.out + text
    found = json.loads(text)
    assert found["command"] == "doctor"
    assert found["decoding"]["n_exact"] == found["decoding"]["n_frames"]
    assert found["troubles"] == []
    assert set(found["extras"]) >= {"parquet", "transformers"}


def test_doctor_says_when_the_cache_cannot_be_used(vidence):
    (vidence.folder / "file").write_text("")
    vidence.env["VIDENCE_CACHE"] = str(vidence.folder / "file" / "cache")
    done = vidence("doctor")
    assert done.code == 1
    assert "set VIDENCE_CACHE" in done.out


@pytest.fixture
def two_runs(vidence, questions, begun):
    def run():
        questions()
        for letter in "AB":
            words = ["run", "table", "--data", "questions.jsonl", "--no-page", "--out", letter]
            assert vidence(*words, "--model", f"baseline:constant?letter={letter}").code == 0

    begun("two runs", run)
    return vidence


def test_several_runs_in_one_file(two_runs):
    files = ("--csv", "both.csv", "--jsonl", "both.jsonl", "--json", "both.json", "--html", "both.html")
    done = two_runs("report", "A", "B", *files)
    assert done.code == 0, done.err
    assert (two_runs.folder / "both.html").exists()
    lines = (two_runs.folder / "both.jsonl").read_text().splitlines()
    runs = [json.loads(line)["run"] for line in lines]
    assert set(runs) == {"A", "B"}
    assert runs == sorted(runs)
    with (two_runs.folder / "both.csv").open(newline="") as file:
        assert [row["run"] for row in csv.DictReader(file)] == runs
    whole = json.loads((two_runs.folder / "both.json").read_text())
    assert [run["name"] for run in whole["runs"]] == ["A", "B"]
    refused = two_runs("report", "A", "B", "--inspect", "both.eval")
    assert refused.code == 2
    assert "one run folder at a time" in refused.err


@pytest.mark.parametrize(
    "words",
    [
        ("report", "A"),
        ("compare", "A", "B"),
        ("stats", "contrast", "A", "--tag", "task", "--of", "t0", "--to", "t1"),
    ],
)
def test_a_dash_is_the_standard_output_and_nothing_else_is_said_there(two_runs, words):
    done = two_runs(*words, "--json", "-")
    assert done.code == 0, done.err
    assert json.loads(done.out)["format"].startswith("vidence-")
    assert not (two_runs.folder / "-").exists()
    assert "wrote" not in done.err


def test_rows_of_trials_go_to_the_standard_output_which_is_for_one_file(two_runs):
    done = two_runs("report", "A", "--jsonl", "-", "--csv", "a.csv")
    assert {json.loads(line)["run"] for line in done.out.splitlines()} == {"A"}
    assert done.err == "wrote a.csv\n"
    assert two_runs("report", "A", "--csv", "-").out.encode() == (two_runs.folder / "a.csv").read_bytes()
    for words, said in {
        ("--jsonl", "-", "--csv", "-"): "2 files go to standard output (-)",
        ("--hub", "-"): "--hub-task OWNER/NAME:TASK",
    }.items():
        done = two_runs("report", "A", *words)
        assert (done.code, done.out, said in done.err) == (2, "", True)


def test_a_run_and_its_resume_are_told_as_json(vidence, questions):
    questions(n_clips=1, n_questions=2)
    words = ("run", "table", "--data", "questions.jsonl", "--model", "scripted:A", "--selector", "none")
    done = vidence(*words, "--out", "r", "--no-page", "--json", "-")
    assert done.code == 0, done.err
    whole = json.loads(done.out)
    assert (whole["name"], len(whole["trials"])) == ("r", 2)
    assert json.loads(vidence("resume", "r", "--no-page", "--json", "-").out) == whole


def test_small_commands_are_told_as_json(vidence, questions):
    questions(n_clips=1, n_questions=1)
    probed = json.loads(vidence("videos", "probe", "clip0.mp4", "no.mp4", "--json", "-").out)
    assert [sorted({"error", "sha256"} & one.keys()) for one in probed["files"]] == [["sha256"], ["error"]]
    power = json.loads(vidence("stats", "power", "--items", "200", "--accuracy", "0.5", "--json", "-").out)
    assert power["n_questions"] == 200
    assert power["sentences"][-1].endswith(f"{100 * power['detectable_difference']:.1f} points.")
    audited = json.loads(vidence("items", "audit", "questions.jsonl", "--no-page", "--json", "-").out)
    assert audited["format"] == "vidence-item-audit/1"
    tables = json.loads(vidence("list", "published", "--json", "-").out)
    assert "herbench-table1" in tables["names"]


def test_help_and_version(vidence):
    said = vidence("--help").out.splitlines()
    titles = ["Start here:", "Ask:", "Explain:", "Make:", "Look up:"]
    assert [line for line in said if line in titles] == titles
    listed = [line.split()[0] for line in said if line.startswith("  ") and line[2:3].islower()]
    assert [name for name in listed if name in all_commands()] == [
        n for n, f in all_commands().items() if not f.group
    ]
    assert "vidence, version" in vidence("--version").out
    short, whole = vidence("run", "--help").out, vidence("run", "--help", "--all").out
    assert ("--recorded-only" in short, "--recorded-only" in whole) == (False, True)
    assert len(re.findall(r"^  --(?!help|all)", short, re.MULTILINE)) == 10
    assert [line for line in whole.split("\n") if re.match(r"\w.*:$", line)] == [
        "Benchmark and model:",
        "Frames and prompts:",
        "Reading and judging replies:",
        "Which questions, and how often:",
        "Pace, money, and when to stop:",
        "The run:",
    ]
    unknown = vidence("run", "table", "--nonsense")
    assert unknown.code == 2
    assert "--nonsense" in unknown.err


def test_the_terms_of_the_data_are_said_once_and_kept(vidence, tmp_path):
    (tmp_path / "q.jsonl").write_text(
        '{"item_id": "a", "question": "Red?", "choices": ["yes", "no"], "answer": "A"}\n'
    )
    command = ("run", "table", "--data", str(tmp_path / "q.jsonl"), "--model", "baseline:longest")
    first = vidence(*command, "--out", str(tmp_path / "one"))
    second = vidence(*command, "--out", str(tmp_path / "two"))
    assert "terms: Whatever the owner" in first.err
    assert "terms:" not in second.err
    for out in ("one", "two"):
        assert 'terms = "Whatever the owner' in (tmp_path / out / "plan.toml").read_text()
