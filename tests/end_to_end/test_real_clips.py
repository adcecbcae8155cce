"""Real clips and questions, asked of the same weights behind a server and in this process."""

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
        *("--data", str(questions), "--frames", "4", "--size", "long:160"),
        *("--max-tokens", "6", "--choice-logps"),
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
