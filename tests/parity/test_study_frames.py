"""On real clips: people are shown the very bytes that a run was sent, and so is a second model."""

import hashlib
import json

import pytest

from conftest import need
from vidence.cli.main import main
from vidence.engine.plan import read_plan
from vidence.engine.store import RunStore
from vidence.records import ImagePart

pytestmark = pytest.mark.parity

STUDY = """
preset = "frames-of"
items = "{questions}"
media = "{media}"
runs = ["../run"]
[draw]
n = 12
seed = 5
by = "task"
"""


def ran(*words):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    assert ended.value.code == 0


def sent(folder):
    with RunStore(folder) as store:
        return {
            t.item_id: [p.digest for p in t.prompt.parts if isinstance(p, ImagePart)] for t in store.trials()
        }


def test_the_pictures_of_a_study_are_those_of_the_run(data_dir, tmp_path):
    questions = need(data_dir / "questions.jsonl")
    tasks = {json.loads(line)["tags"]["task"] for line in questions.read_text().splitlines()}
    study, run = tmp_path / "study", tmp_path / "run"
    study.mkdir()
    text = STUDY.format(questions=questions, media=data_dir).replace("n = 12", f"n = {len(tasks)}")
    (study / "study.toml").write_text(text)
    asking = ["--model", "scripted:B", "--no-page", "--frames", 4, "--selector", "midpoints"]
    ran("run", "table", "--data", questions, "--media", data_dir, *asking, "--out", run)
    ran("study", "draw", study)
    frames = json.loads((study / "frames.json").read_text())["items"]
    shown = {item_id: [p["digest"] for p in own["frames-of ../run"]] for item_id, own in frames.items()}
    of_run = sent(run)
    assert len(shown) == len(tasks)
    assert shown == {item_id: of_run[item_id] for item_id in shown}
    assert all(len(digests) == 4 for digests in shown.values())
    for digest in {d for own in shown.values() for d in own}:
        assert hashlib.sha256((study / "frames" / f"{digest}.jpg").read_bytes()).hexdigest() == digest
    ran(
        "run",
        "--study",
        study,
        "--phase",
        "frames",
        "--model",
        "scripted:C",
        "--no-page",
        "--out",
        tmp_path / "again",
    )
    assert sent(tmp_path / "again") == shown
    assert read_plan(tmp_path / "again")[1].study_sha256 == hashlib.sha256(text.encode()).hexdigest()
