"""Real clips and questions, asked of the same weights behind a server and in this process."""

import csv
import json
from pathlib import Path

import pytest

from servers.tiny_vlm import build
from servers.tiny_vlm_server import TinyVlmServer

pytest.importorskip("torch", reason="needs the extra 'transformers'")
pytest.importorskip("transformers", reason="needs the extra 'transformers'")
pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("weights") / "tiny")


def test_the_same_letters_from_a_server_and_from_local_weights(vidence, weights: Path, data_dir: Path):
    questions = data_dir / "questions.jsonl"
    if not questions.exists():
        pytest.skip(f"{questions} is not there; set VIDENCE_DATA to a folder with questions and clips")
    fixed = [
        "--data",
        str(questions),
        "--frames",
        "4",
        "--size",
        "long:160",
        "--max-tokens",
        "6",
        "--choice-logps",
    ]
    with TinyVlmServer(weights) as server:
        served = vidence(
            "run",
            "table",
            *fixed,
            "--model",
            f"openai:tiny?base_url={server.base_url}",
            "--out",
            "served",
            "--no-page",
        )
        assert served.code == 0, served.err
        assert len(server.bodies) == len(vidence.trials("served"))
    local = vidence("run", "table", *fixed, "--model", f"transformers:{weights}", "--out", "local")
    assert local.code == 0, local.err
    here, there = vidence.trials("local"), vidence.trials("served")
    assert {k: t.reply.text for k, t in here.items()} == {k: t.reply.text for k, t in there.items()}
    assert {k: t.score.outcome for k, t in here.items()} == {k: t.score.outcome for k, t in there.items()}
    for key, trial in here.items():
        letters = there[key].reply.choice_logps
        assert letters
        for letter, logp in letters.items():
            assert trial.reply.choice_logps[letter] == pytest.approx(logp, abs=1e-4)
    page = (vidence.folder / "local" / "report.html").read_text()
    assert "data:image/jpeg;base64," in page


def test_texts_of_choices_from_a_run_to_its_report(vidence, questions, weights: Path):
    questions(n_clips=1)
    words = ["run", "table", "--data", "questions.jsonl", "--model", f"transformers:{weights}?device=cpu"]
    words += ["--frames", "2", "--size", "long:160", "--max-tokens", "4"]
    plain, wanting = (
        vidence(*words, "--out", "plain"),
        vidence(*words, "--set", "want_choice_text_logps=true", "--out", "r"),
    )
    again = vidence(*words, "--set", "want_choice_text_logps=true", "--out", "again")
    assert (plain.code, wanting.code, again.code) == (0, 0, 0), wanting.err
    assert "Calibration of the log-probabilities of the texts" in " ".join(wanting.out.split())
    assert "Calibration" not in plain.out
    here, before = vidence.trials("r"), vidence.trials("plain")
    assert {k: t.reply.text for k, t in here.items()} == {k: t.reply.text for k, t in before.items()}
    assert all(t.reply.choice_text_logps is None for t in before.values())
    assert {k: t.reply for k, t in here.items()} == {k: t.reply for k, t in vidence.trials("again").items()}
    read = vidence("report", "r", "--parser", "logp-text", "--csv", "t.csv")
    assert read.code == 0, read.err
    with (vidence.folder / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(here) == 3
    for row in rows:
        stored = json.loads(row["choice_text_logps"])
        assert {x: one["n_bytes"] for x, one in stored.items()} == {"A": 3, "B": 2, "C": 5}
        likeliest = max(stored, key=lambda x: stored[x]["logp"] / stored[x]["n_bytes"])
        assert (row["read"], row["parser"]) == (likeliest, "logp-text")
