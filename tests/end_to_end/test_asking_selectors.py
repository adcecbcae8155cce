"""Selectors that ask a model about single frames, or for names of objects: runs and diagnostics."""

import base64
import io
import json
import math

import numpy as np
from PIL import Image

from servers.openai_stub import OpenAIStub

WANTED = 100  # the brightness that the server thinks is enough


def pictures(body: dict) -> list[float]:
    """The brightness of each image in a request."""
    parts = body["messages"][-1]["content"]
    urls = (
        [p["image_url"]["url"] for p in parts if p["type"] == "image_url"] if isinstance(parts, list) else []
    )
    data = [base64.b64decode(url.split(",", 1)[1]) for url in urls]
    return [float(np.asarray(Image.open(io.BytesIO(one)).convert("L")).mean()) for one in data]


def words(body: dict) -> str:
    parts = body["messages"][-1]["content"]
    return parts if isinstance(parts, str) else " ".join(p["text"] for p in parts if p["type"] == "text")


def is_about_one_frame(body: dict) -> bool:
    return "Look at this one frame" in words(body)


def sure(body: dict) -> dict[str, float]:
    """Yes the more probable, the nearer a frame is to the wanted brightness."""
    if not is_about_one_frame(body):
        return {"A": math.log(0.8), "B": math.log(0.1), "C": math.log(0.1)}
    yes = 1 / (1 + abs(pictures(body)[0] - WANTED))
    return {"A": math.log(yes * 0.9), "B": math.log((1 - yes) * 0.9 + 1e-6)}


def command(server: OpenAIStub, *more: str, selector: str = "frag-scores:model") -> list[str]:
    """Frames are 0, 4, 8, ... bright (the second clip 20 brighter), 10 in a second."""
    model = f"openai:m?base_url={server.base_url}"
    fixed = ["--data", "questions.jsonl", "--model", model, "--selector", selector, "--size", "native"]
    return ["table", *fixed, *more]


def chosen(trial) -> list[int]:
    return [ref.frame_index for ref in trial.selection.frames]


def test_a_run_shows_the_frames_that_its_model_finds_sufficient(vidence, questions):
    questions(n_clips=2, n_questions=2)
    with OpenAIStub(answer="A", letter_logps=sure) as server:
        done = vidence("run", *command(server, "--frames", "3", "--out", "r"))
        assert done.code == 0, done.err
        bodies = [seen.body for seen in server.requests]
        about_one = [body for body in bodies if is_about_one_frame(body)]
        # 40 frames, each once with each of the two questions about each clip, for one token
        assert len(about_one) == 40 * 2 * 2
        assert {body["max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"]
                for body in about_one} == {1}  # fmt: skip
        assert all(len(pictures(body)) == 1 for body in about_one)
        trials = vidence.trials("r")
        # brightness 4 i, and 20 + 4 i: the wanted 100 is frame 25, and frame 20
        assert {name: chosen(trial) for name, trial in trials.items()} == {
            "0-0": [24, 25, 26], "0-1": [24, 25, 26], "1-0": [19, 20, 21], "1-1": [19, 20, 21],
        }  # fmt: skip
        asked = server.n_requests
        again = vidence("run", *command(server, "--frames", "5", "--out", "other"))
        assert again.code == 0, again.err
        assert server.n_requests == asked + 4  # the scores are remembered, only the frames shown are new
        assert chosen(vidence.trials("other")["0-0"]) == [23, 24, 25, 26, 27]


def test_another_model_may_give_the_scores(vidence, questions):
    questions(n_clips=1, n_questions=1)
    with OpenAIStub(answer="B") as answering, OpenAIStub(answer="A", letter_logps=sure) as scoring:
        selector = f"frag-scores:model:openai:s?embedder.base_url={scoring.base_url}&grid=uniform:10"
        done = vidence("run", *command(answering, "--frames", "1", "--out", "r", selector=selector))
        assert done.code == 0, done.err
        assert (answering.n_requests, scoring.n_requests) == (1, 10)
        assert chosen(vidence.trials("r")["0-0"]) == [24]  # of 0, 4, 8, ...: 96 is nearest to 100
        plan = (vidence.folder / "r" / "plan.toml").read_text()
        assert 'selector_identity = "' in plan
        assert scoring.base_url in plan.split("selector_identity")[1].split("\n")[0]


def test_the_budget_of_a_run_counts_what_its_selector_asks(vidence, questions):
    questions(n_clips=1, n_questions=2)
    with OpenAIStub(answer="A", letter_logps=sure) as server:
        limit = ["--max-cost", "0.0001", "--price-in", "1", "--price-out", "1", "--concurrency", "1"]
        done = vidence("run", *command(server, "--frames", "2", "--out", "r", *limit))
        assert done.code != 0
        assert "the limit is 0.0001" in done.err
        assert server.n_requests < 80


def test_words_of_ones_own_are_sent_and_hold_the_run(vidence, questions):
    questions(n_clips=1, n_questions=1)
    own = vidence.folder / "own"
    own.mkdir()
    (own / "frag-scores.txt").write_text("Look at this one frame: {{ question }} A. Enough B. Not")
    with OpenAIStub(answer="A", letter_logps=sure) as server:
        asks = ("--frames", "1", "--out", "r")
        done = vidence("run", *command(server, *asks, "--prompts-dir", str(own)))
        assert done.code == 0, done.err
        said = {words(seen.body) for seen in server.requests if is_about_one_frame(seen.body)}
        question = json.loads((vidence.folder / "questions.jsonl").read_text().splitlines()[0])["question"]
        assert said == {f"Look at this one frame: {question} A. Enough B. Not"}
        asked = server.n_requests
        other = vidence("run", *command(server, *asks[:2], "--out", "ours"))
        assert other.code == 0, other.err
        assert server.n_requests == asked + 40  # other words are another question; the answer is remembered
        (own / "frag-scores.txt").write_text("Look at this one frame. {{ question }}")
        refused = vidence("resume", "r")
        assert refused.code != 0
        assert "the prompt templates have changed" in refused.err
        (own / "frag-scores.txt").write_text("Is it enough? A. Yes B. No")
        empty = vidence("run", *command(server, "--frames", "1", "--out", "x", "--prompts-dir", str(own)))
        assert empty.code != 0
        assert "frag-scores.txt does not use {{ question }}" in empty.err


def found(vidence, name: str, server: OpenAIStub, *more: str) -> dict[str, dict]:
    done = vidence("diagnose", name, *command(server, *more), "--no-page", "--json", "found.json")
    assert done.code == 0, done.err
    content = json.loads((vidence.folder / "found.json").read_text())
    return {one["item_id"]: one["finding"] for one in content["findings"]}


def test_diagnostics_take_it_as_a_ranking_and_as_a_selector(vidence, questions):
    questions(n_clips=1, n_questions=1)
    lines = [json.loads(line) for line in (vidence.folder / "questions.jsonl").read_text().splitlines()]
    lines[0]["evidence"] = [{"start_s": 2.45, "end_s": 2.55}]  # frame 25
    (vidence.folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))

    def answer(body: dict) -> str:
        """Right with frame 25 in sight."""
        return "A" if any(abs(one - WANTED) < 2 for one in pictures(body)) else "B"

    with OpenAIStub(answer=answer, letter_logps=sure) as server:
        asks = ("--frames", "2", "--set", "max=2", "--out")
        assert found(vidence, "mrfs", server, *asks, "m")["0-0"]["mrfs"] == 1
        plain = found(vidence, "mrfs", server, *asks, "n", "--set", "selector=midpoints")
        assert plain["0-0"]["category"] == "undefined"  # frames 10 and 30
        asked = server.n_requests
        gap = found(
            vidence, "selector-gap", server, "--frames", "2", "--out", "g",
            "--set", "base=midpoints", "--set", "selectors=frag-scores:model",
        )  # fmt: skip
        assert gap["0-0"]["recall"]["frag-scores:model"] == 1.0
        assert gap["0-0"]["recall"]["plan"] == 0.0
        assert gap["0-0"]["marks"]["frag-scores:model"][0]["value"] == 1.0
        assert gap["0-0"]["marks"]["plan"][0]["value"] == 0.0
        # the scores of 40 frames are remembered
        assert server.n_requests <= asked + 4
