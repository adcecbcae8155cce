"""Whole runs that ask Anthropic's and Google's APIs: frames, montages, whole videos, refusals, keys."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from servers.anthropic_stub import AnthropicStub, message
from servers.gemini_stub import GeminiStub, content
from servers.openai_stub import Canned, Seen
from vidence.records import Answered, Failed, Refused

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY")
SECRET = "sk-secret-0123456789"  # noqa: S105 - a made-up key that must not appear anywhere


@pytest.fixture(autouse=True)
def _no_keys(vidence) -> None:
    for name in KEYS:
        vidence.env.pop(name, None)


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)))


def run(vidence, model: str, *more: str):
    words = ("run", "table", "--data", "questions.jsonl", "--out", "r", "--no-page")
    return vidence(*words, "--model", model, *more)


def test_anthropic_is_shown_the_frames_in_their_order_and_thinks(vidence, questions):
    questions(n_clips=1, n_questions=2)
    with AnthropicStub(answer="Answer: B", thought="It brightens.", key=SECRET) as server:
        vidence.env["ANTHROPIC_API_KEY"] = SECRET
        model = f"anthropic:claude?base_url={server.base_url}&thinking_budget=2048"
        done = run(vidence, model, "--temperature", "1", "--frames", "4")
        assert done.code == 0, done.err
    trials = vidence.trials("r")
    assert [t.score.value for t in trials.values()] == [0.0, 1.0]
    assert {t.reply.reasoning for t in trials.values()} == {"It brightens."}
    assert all(isinstance(t.score.outcome, Answered) for t in trials.values())
    for seen in server.requests:
        blocks = seen.body["messages"][0]["content"]
        shown = [base64.b64decode(b["source"]["data"]) for b in blocks if b["type"] == "image"]
        # 40 frames that grow brighter by 4 each; the middles of four equal parts
        assert [round(pixels(s).mean() / 4) for s in shown] == [5, 15, 25, 35]
    kept = b"".join(p.read_bytes() for p in (vidence.folder / "r").rglob("*") if p.is_file())
    assert SECRET.encode() not in kept
    assert SECRET not in done.out + done.err


def test_gemini_gets_each_whole_video_once(vidence, questions):
    questions(n_clips=2, n_questions=3)
    with GeminiStub(answer="Answer: A", processing=1) as server:
        model = f"gemini:tiny?base_url={server.base_url}&inline_mb=0&poll_s=0.05&video_fps=2"
        done = run(vidence, model, "--layout", "video")
        assert done.code == 0, done.err
    assert len(vidence.trials("r")) == 6
    clips = sorted((vidence.folder / f"clip{i}.mp4").read_bytes() for i in range(2))
    assert sorted(f.content for f in server.files.values()) == clips
    assert all(f.is_deleted for f in server.files.values())
    parts = [p for body in server.asked for p in body["contents"][0]["parts"] if "fileData" in p]
    assert [p["videoMetadata"] for p in parts] == [{"fps": 2.0}] * 6


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_refusals_are_an_outcome_of_their_own(vidence, questions, provider):
    questions(n_clips=1, n_questions=2)
    bodies = {
        "anthropic": message(stop_reason="refusal"),
        "gemini": content(finishReason="PROHIBITED_CONTENT"),
    }
    stub = {"anthropic": AnthropicStub, "gemini": GeminiStub}[provider]
    with stub(answer="Answer: B") as server:
        server.canned.append(Canned(status=200, body=bodies[provider]))
        model = f"{provider}:tiny?base_url={server.base_url}"
        done = run(vidence, model, "--concurrency", "1")
        assert done.code == 0, done.err
    outcomes = [t.score.outcome for t in vidence.trials("r").values()]
    assert {type(o) for o in outcomes} == {Refused, Answered}


def test_a_video_that_cannot_be_processed_fails_alone(vidence, questions):
    questions(n_clips=2, n_questions=1)

    def fail_the_first(seen: Seen) -> Canned | None:
        if seen.method == "GET" and seen.path.endswith("/files/f0"):
            told = b'{"name": "files/f0", "uri": "u", "state": "FAILED", "error": {"message": "no frames"}}'
            return Canned(status=200, body=told)
        return None

    with GeminiStub(answer="Answer: A", processing=1, canned_for=fail_the_first) as server:
        model = f"gemini:tiny?base_url={server.base_url}&inline_mb=0&poll_s=0.05"
        run(vidence, model, "--layout", "video")
    outcomes = [t.score.outcome for t in vidence.trials("r").values()]
    assert {type(o) for o in outcomes} == {Answered, Failed}
    [failed] = [o for o in outcomes if isinstance(o, Failed)]
    assert "no frames" in failed.message
