"""``vidence report``, ``judge`` on a small run: files, words, and what is refused."""

import csv
import json
import zipfile

import pytest
from click.testing import CliRunner

from vidence.cli.commands.judge import judge
from vidence.cli.commands.report import report
from vidence.cli.commands.run import run as run_command
from vidence.errors import UsageError


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))


def run(tmp_path):
    """Three questions without media, all answered with A; two of them rightly."""
    data = tmp_path / "questions.jsonl"
    rows = [
        {"item_id": f"q{i}", "question": f"Which, {i}?", "choices": ["yes", "no"], "answer": answer}
        for i, answer in enumerate("AAB")
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call(
        run_command, "table", "--data", data, "--model", "scripted:Answer: A",
        "--selector", "none", "--no-page", "--out", tmp_path / "run",
    )  # fmt: skip
    return tmp_path / "run"


def call(command, *words):
    done = CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done


def test_report_draws_the_score_and_writes_what_is_wanted(tmp_path):
    folder = run(tmp_path)
    paths = [tmp_path / name for name in ("r.html", "r.csv", "r.json", "r.tex", "tables")]
    done = call(
        report, folder, "--html", paths[0], "--csv", paths[1], "--json", paths[2],
        "--latex", paths[3], "--tables", paths[4],
    )  # fmt: skip
    assert "66.7" in done.stdout
    assert all(path.exists() for path in paths)
    assert done.stderr.count("wrote ") == 5
    with paths[1].open(newline="") as file:
        assert [row["item_id"] for row in csv.DictReader(file)] == ["q0", "q1", "q2"]


def test_a_log_of_inspect_ai_is_about_one_run(tmp_path):
    folder = run(tmp_path)
    with pytest.raises(UsageError, match="--inspect takes one run folder at a time"):
        call(report, folder, folder, "--inspect", tmp_path / "r.eval")
    with pytest.raises(UsageError, match=r"--inspect .*r\.txt: the file's name must end in \.eval"):
        call(report, folder, "--inspect", tmp_path / "r.txt")
    call(report, folder, "--inspect", tmp_path / "r.eval")
    assert zipfile.is_zipfile(tmp_path / "r.eval")


def test_the_score_is_written_for_the_hub(tmp_path):
    folder = run(tmp_path)
    with pytest.raises(UsageError, match="--hub-task goes with --hub FILE"):
        call(report, folder, "--hub-task", "o/n:t")
    with pytest.raises(UsageError, match="no known place on the hub"):
        call(report, folder, "--csv", tmp_path / "r.csv", "--hub", tmp_path / "r.yaml")
    assert not (tmp_path / "r.csv").exists()
    call(report, folder, "--hub", tmp_path / "r.yaml", "--hub-task", "o/n:t")
    assert "value: 66.67" in (tmp_path / "r.yaml").read_text()


def test_exports_are_there_without_the_tables_being_drawn(tmp_path):
    done = call(report, run(tmp_path), "--jsonl", "-", "--tables", tmp_path / "tables")
    assert [json.loads(line)["item_id"] for line in done.stdout.splitlines()] == ["q0", "q1", "q2"]
    assert (tmp_path / "tables" / "score.csv").exists()


def test_judge_leaves_its_verdicts_in_the_folder(tmp_path):
    folder = run(tmp_path)
    reply = '{"extracted_answer": "A", "correct": true}'
    (tmp_path / "verdicts").mkdir()
    done = call(judge, folder, "--judge", "mmvu-official", "--judge-model", f"scripted:{reply}", "--no-page")
    assert done.return_value == 0
    assert "mmvu-official" in done.stderr
    assert not (folder / "report.html").exists()
    assert "100.0" in done.stdout
