"""Whole runs that ask Anthropic's and Google's APIs: frames, montages, whole videos, refusals, keys."""

import base64
import io
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from servers.anthropic_stub import AnthropicStub, message, text
from servers.gemini_stub import GeminiStub, content
from servers.openai_stub import Canned, OpenAIStub, Seen
from vidence.ask.models.prices import price_table
from vidence.cli.asking import Ending, go
from vidence.engine.prepare import make_plan
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


def asked_at_prices(model: str, *, listed: str) -> None:
    """Ask in this process, at the prices of a model in the table, which has none for a server of a test."""
    plan = make_plan("table", data=Path("questions.jsonl"), model=model, overrides={"frames": 4})
    plan = msgspec.structs.replace(plan, listed=price_table()[listed])
    assert go(plan, Path("r"), Ending(page=False, progress="none")) == 0


OPENAI_USAGE = {
    "prompt_tokens": 4000,
    "completion_tokens": 10,
    "prompt_tokens_details": {"cached_tokens": 3000},
}
GEMINI_USAGE = {"promptTokenCount": 4000, "candidatesTokenCount": 10, "cachedContentTokenCount": 3000}


@pytest.mark.parametrize(
    ("provider", "listed", "answer", "dollars"),
    [
        # 2 replies, each of (1,000 new at $2 + 3,000 cached at $.50 + 10 written at $8) / 1e6
        ("openai", "openai:gpt-4.1", OPENAI_USAGE, 2 * 3580e-6),
        # (1,000 at $1.25 + 3,000 at $.125 + 10 at $10) / 1e6
        ("gemini", "gemini:gemini-2.5-pro", GEMINI_USAGE, 2 * 1725e-6),
    ],
)
def test_tokens_from_the_cache_are_priced_and_said(
    here, questions, capsys, provider, listed, answer, dollars
):
    questions(n_clips=1, n_questions=2)
    said = {
        "openai": {
            "choices": [{"message": {"content": "Answer: B"}, "finish_reason": "stop"}],
            "usage": answer,
        },
        "gemini": json.loads(content({"text": "Answer: B"})) | {"usageMetadata": answer},
    }
    stub = {"openai": OpenAIStub, "gemini": GeminiStub}[provider]
    with stub(answer="Answer: B") as server:
        server.canned.extend([Canned(status=200, body=json.dumps(said[provider]).encode())] * 2)
        model = f"{provider}:tiny?base_url={server.base_url}"
        asked_at_prices(model, listed=listed)
    line = f"8000 tokens read (6000 from the provider's cache), 20 written, ${dollars:.4f}"
    assert line in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("is_shared", [True, False])
def test_shared_frames_are_marked_for_anthropic_and_asked_about_once_at_first(
    here, questions, capsys, is_shared
):
    questions(n_clips=2, n_questions=3 if is_shared else 1)
    known: dict[str, bool] = {}  # frames that were answered about

    def cached(seen: Seen) -> Canned:
        blocks = seen.body["messages"][0]["content"]
        marks = [n for n, block in enumerate(blocks) if "cache_control" in block]
        assert marks == ([3] if is_shared else [])
        frames = str([b["source"]["data"] for b in blocks if b["type"] == "image"])
        is_known = known.get(frames, False)
        known[frames] = True
        kinds = ("cache_read_input_tokens", "cache_creation_input_tokens")
        counts = dict.fromkeys(kinds, 0) | ({kinds[0 if is_known else 1]: 10_000} if is_shared else {})
        usage = {"input_tokens": 100, "output_tokens": 10, **counts}
        return Canned(status=200, body=message(text("Answer: B"), usage=usage))

    with AnthropicStub(canned_for=cached) as server:
        model = f"anthropic:tiny?base_url={server.base_url}&cache=true"
        asked_at_prices(model, listed="anthropic:claude-haiku-4-5")
    said = " ".join(capsys.readouterr().err.split())
    if is_shared:
        # written 2 x 10,000 at $1.25, read 4 x 10,000 at $.10, 600 at $1, 60 written at $5, in millions
        assert "60600 tokens read (40000 from the provider's cache), 60 written, $0.0299" in said
    else:
        assert "200 tokens read, 20 written, $0.0003" in said


def test_words_before_the_frames_are_kept_and_noted(vidence, questions):
    questions(n_clips=1, n_questions=2)
    folder = vidence.folder / "words"
    folder.mkdir()
    (folder / "choice-direct.txt").write_text("{{ question }}\n{{ frames }}\n{{ choices }}")
    with AnthropicStub(answer="Answer: B") as server:
        model = f"anthropic:tiny?base_url={server.base_url}&cache=true"
        done = run(vidence, model, "--prompts-dir", str(folder), "--frames", "4", "--style", "direct")
    assert "words of the question before the frames" in " ".join(done.err.split())
    blocks = [seen.body["messages"][0]["content"] for seen in server.requests]
    assert len(blocks) == 2
    assert all(b[0]["type"] == "text" and not any("cache_control" in one for one in b) for b in blocks)
