"""``vidence runs``: a table in which the folder of a run is whole."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from vidence.cli.commands import runs as command
from vidence.report.run_list import ListedRun

FOLDER = "runs/perceptioncomp-openai-qwen2-5-vl-72b-0a1b2c3d"


@pytest.fixture
def listed(monkeypatch):
    one = ListedRun(
        folder=FOLDER,
        name="Qwen2.5-VL-72B-Instruct, thinking first, 32 frames",
        benchmark="perceptioncomp",
        status="complete",
        n_planned=1114,
        n_answered=1114,
        average="micro",
        score=0.412,
        low=0.38,
        high=0.44,
        cost=12.5,
        seconds=2.25,
        tokens=310.0,
        started_at="2026-01-02T03:04:05",
    )
    monkeypatch.setattr("vidence.report.run_list.list_runs", lambda folder: (one,))
    return one


def said(*arguments: str, width: int | None = None) -> list[str]:
    env = {"COLUMNS": str(width), "FORCE_COLOR": "1"} if width else {}
    done = CliRunner().invoke(command.runs, arguments, env=env, catch_exceptions=False)
    assert done.exit_code == 0
    return done.output.splitlines()


def test_the_folder_is_whole_in_a_narrow_terminal_and_everything_on_one_line_elsewhere(listed):
    assert any(FOLDER in line for line in said(width=100))
    heading, line = said()[-2:]
    assert heading.split()[:3] == ["folder", "name", "benchmark"]
    assert line.startswith(FOLDER)
    for words in ("1,114/1,114", "41.2 [38.0, 44.0]", "12.5", "2.25", "310", "2026-01-02 03:04"):
        assert words in line


def test_the_list_as_json_is_what_every_command_writes(listed, tmp_path):
    whole = json.loads("\n".join(said("--json", "-")))
    assert (whole["format"], whole["command"]) == ("vidence-said/1", "runs")
    assert whole["runs"][0]["folder"] == FOLDER
    assert len(said("--json", str(tmp_path / "runs.json"))) >= 2
    assert json.loads(Path(tmp_path / "runs.json").read_text()) == whole
