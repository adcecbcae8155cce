"""Runs whose frames are chosen by scores from a file: what is refused, what is not, and from where."""

import json
from dataclasses import replace

from servers.openai_stub import Canned, OpenAIStub


def shown(trial) -> list[int]:
    return [ref.frame_index for ref in trial.selection.frames]


def write_scores(vidence, lines: list[dict]) -> None:
    path = vidence.folder / "scores.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))


def run(vidence, server: OpenAIStub, selector: str, *more: str):
    fixed = ["--data", "questions.jsonl", "--model", f"openai:m?base_url={server.base_url}", "--out", "r"]
    return vidence("run", "table", *fixed, "--selector", selector, *more)


def test_a_run_is_taken_up_from_another_folder(vidence, questions, tmp_path):
    questions(n_clips=1, n_questions=1)
    write_scores(vidence, [{"item_id": "0-0", "scores": [0.1, 0.9, 0.2, 0.8], "stride": 10}])
    with OpenAIStub(answer="A", canned_for=lambda seen: Canned(status=400)) as server:
        first = run(vidence, server, "similarity?scores=scores.jsonl", "--frames", "2")
        assert first.code != 0
        plan = (vidence.folder / "r" / "plan.toml").read_text()
        assert f"scores={vidence.folder.resolve()}/scores.jsonl" in plan
        server.canned_for = None
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        done = replace(vidence, folder=elsewhere)("resume", str(vidence.folder / "r"))
        assert done.code == 0, done.err
    assert shown(vidence.trials("r")["0-0"]) == [10, 30]
