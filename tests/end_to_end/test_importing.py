"""``vidence import``, and the commands that work on the run that it makes."""

import json

import pytest

from conftest import need
from subjects.layouts import LAYOUTS, inspect_log, lines_file
from vidence.engine.plan import read_plan


def test_a_log_of_another_tool_is_reported_compared_and_read_again(vidence, tmp_path):
    log = LAYOUTS["lmms-eval"].write(tmp_path)
    done = vidence("import", "lmms-eval", str(log), "--model-name", "lab/tiny", "--out", "theirs")
    assert done.code == 0, done.err
    assert "2 replies imported to 2 questions" in done.err
    assert "50.0 % in the log, 50.0 % here, all the same" in done.err
    assert "Accuracy 50.0 %" in done.out
    assert "declared as asked with 'imported from lmms-eval" in " ".join(done.out.split())
    run = vidence.folder / "theirs"
    assert read_plan(run)[0].name == "lab/tiny"
    assert sorted(path.name for path in run.iterdir()) == [
        *("items.jsonl", "plan.toml", "report.html", "run.sqlite", "tiny.jsonl")
    ]
    ours = vidence("run", "table", "--data", "theirs/items.jsonl", "--model", "baseline:constant?letter=D")
    assert ours.code == 0, ours.err
    (own,) = (vidence.folder / "runs").iterdir()
    compared = vidence("compare", "theirs", str(own))
    assert compared.code == 0, compared.err
    read = vidence("report", "theirs", "--parser", "herbench-official", "--json", "read.json")
    assert read.code == 0, read.err
    assert vidence("audit", "theirs/items.jsonl").code == 0
    assert "nothing is left to ask" in vidence("resume", "theirs").err


def test_the_questions_may_stand_in_another_file_and_layout(vidence, tmp_path):
    bare = [{"doc_id": n, "target": "B", "filtered_resps": said} for n, said in enumerate(("B", "A"))]
    log = lines_file(bare, "1_samples_videomme.jsonl")(tmp_path)
    questions = LAYOUTS["video-mme"].write(tmp_path)
    said = ("import", "lmms-eval", str(log), "--data", str(questions), "--map", "video-mme", "--no-page")
    done = vidence(*said, "--out", "run")
    assert done.code == 0, done.err
    items = [json.loads(line) for line in (vidence.folder / "run" / "items.jsonl").read_text().splitlines()]
    assert [item["item_id"] for item in items] == ["001-1", "002-1"]
    again = vidence(*said, "--out", "run")
    assert again.code == 2
    assert "holds a run already; choose another --out" in again.err


def test_a_log_of_inspect_goes_under_the_name_of_its_model(vidence, tmp_path):
    log = inspect_log(tmp_path)
    done = vidence("import", "inspect", str(log), "--no-page")
    assert done.code == 0, done.err
    (run,) = (vidence.folder / "runs").iterdir()
    assert run.name.startswith("imported-tiny-")
    other = vidence("import", "inspect", str(log), "--no-page", "--out", "r", "--name", "theirs, 8 frames")
    assert other.code == 0, other.err
    assert read_plan(vidence.folder / "r")[0].name == "theirs, 8 frames"


@pytest.mark.parity
def test_real_predictions_are_compared(vidence, data_dir):
    folder = need(data_dir / "predictions" / "tempcompass")
    for name in ("gemini", "video-llava"):
        log = folder / f"predictions__{name}__multi-choice.json.gz"
        assert vidence("import", "tempcompass", str(log), "--out", name, "--no-page").code == 0
    done = vidence("compare", "gemini", "video-llava")
    assert done.code == 0, done.err
