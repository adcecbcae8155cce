"""Runs whose frames are chosen by scores from a file: what is refused, what is not, and from where."""

import json
from dataclasses import replace

from end_to_end.conftest import write_clip
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


def test_each_question_fails_for_its_own_scores(vidence, questions):
    questions(clips=["a.mp4", "b.mp4", "c.mp4", "d.mp4", "e.mp4"], n_questions=1)
    write_clip(vidence.folder / "d.mp4", n_frames=1)
    write_scores(
        vidence,
        [{"item_id": "0-0", "scores": [0.5, float("nan"), 0.1]}, {"item_id": "1-0", "scores": [0.5, 0.6]}],
    )
    with OpenAIStub(answer="A") as server:
        # what no file may hold ends the run before anything is asked
        refused = run(vidence, server, "similarity?scores=scores.jsonl", "--frames", "2")
        assert refused.code != 0
        assert "line 1 ('0-0'): score 1 of 3 is nan; expected finite numbers" in " ".join(refused.err.split())
        assert server.n_requests == 0
        write_scores(
            vidence,
            [
                {"item_id": "0-0", "scores": [0.5] * 4},  # all the same: uniform frames
                {"item_id": "1-0", "scores": [0.5, 0.6]},  # four candidates
                {"item_id": "2-0", "scores": [0.1, 0.4, 0.3, 0.2]},
                {"item_id": "3-0", "scores": [0.7]},  # a video of one frame
            ],
        )
        done = run(vidence, server, "similarity?scores=scores.jsonl&grid=uniform:4", "--frames", "9")
        assert server.n_requests == 3
    assert done.code != 0
    trials = vidence.trials("r")
    assert shown(trials["0-0"]) == [0, 10, 20, 30]  # the budget is larger than the number of candidates
    assert trials["0-0"].selection.note == "4 frames chosen, 9 allowed"
    assert shown(trials["2-0"]) == [0, 10, 20, 30]
    assert shown(trials["3-0"]) == [0]
    short, absent = trials["1-0"].score.outcome, trials["4-0"].score.outcome
    assert (short.stage, short.error) == (absent.stage, absent.error) == ("selection", "DataError")
    assert "2 scores for 4 candidates; expected one for each" in short.message
    assert "has no scores for item '4-0' nor for its video 'e.mp4'" in absent.message
