"""Diagnostics that are killed, shared or put to another plan."""

import json
import signal
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime

import anyio
import pytest

from servers.openai_stub import OpenAIStub
from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.world import render
from vidence.engine.diagnose import diagnose, open_diagnostic
from vidence.engine.environment import Environment
from vidence.engine.prepare import make_plan
from vidence.errors import StoreError


def asked(server):
    return [seen.raw for seen in server.requests]


def exhaustive(server):
    """Nine prompts for each of twelve questions: without frames, and with one to eight."""
    return (
        "diagnose", "mrfs", "table", "--data", "questions.jsonl", "--out", "r", "--no-page", "--concurrency",
        "4", "--model", f"openai:m?base_url={server.base_url}", "--set", "mode=exhaustive", "--set", "max=8",
    )  # fmt: skip


def kept_findings(folder):
    with closing(sqlite3.connect(folder / "run.sqlite")) as db:
        return db.execute("SELECT item_id, json FROM findings ORDER BY seq").fetchall()


def test_a_killed_examination_loses_no_finding_and_asks_nothing_twice(vidence, questions):
    questions(n_clips=3, n_questions=4)
    with OpenAIStub(answer="Answer: A", latency_s=0.05) as server:
        process = vidence.start(*exhaustive(server))
        deadline = time.monotonic() + 60
        while server.n_requests < 60:
            assert time.monotonic() < deadline, "the examination never reached 60 requests"
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kept = kept_findings(vidence.folder / "r")
        done = vidence(*exhaustive(server))
        assert done.code == 0, done.err
        whole = kept_findings(vidence.folder / "r")
        assert whole[: len(kept)] == kept
        assert len(whole) == 12
        bodies = asked(server)
        assert len(set(bodies)) == 12 * 9
        assert len(bodies) <= 12 * 9 + 4  # those that were on their way when it was killed
        again = vidence(*exhaustive(server))
        assert again.code == 0, again.err
        assert "0 questions examined, 12 already done; 0 replies requested" in again.err
        assert len(asked(server)) == len(bodies)


def test_two_processes_do_not_share_a_folder(vidence, questions):
    questions(n_clips=1, n_questions=4)
    with OpenAIStub(answer="Answer: A", latency_s=0.3) as server:
        process = vidence.start(*exhaustive(server))
        deadline = time.monotonic() + 60
        while server.n_requests < 1:
            assert time.monotonic() < deadline, "the examination never began to ask"
            time.sleep(0.01)
        second = vidence(*exhaustive(server))
        assert second.code != 0
        assert "another process works in r" in second.err
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert server.n_requests == 4 * 9


def test_findings_of_another_plan_are_refused(tmp_path):
    spec = WorldSpec(n_videos=1, items_per_video=3, n_variable=0, min_s=20, max_s=20, rates=(10,))
    render(tmp_path / "world", spec, seed=3)
    diagnostic = open_diagnostic("mrfs", {})
    environment = Environment(cache_root=tmp_path / "cache", n_workers=2)

    async def go(model):
        overrides = {"selector": "evidence", "memory": str(tmp_path / "other.sqlite")}
        plan = make_plan("phantom", data=tmp_path / "world", model=model, overrides=overrides)
        return await diagnose(
            diagnostic,
            plan,
            tmp_path / "of-one-model",
            options={},
            environment=environment,
            now=datetime.now(UTC),
            on_event=lambda event: None,
        )

    assert anyio.run(go, "phantom:blind").n_examined == 3
    with pytest.raises(StoreError, match="of-one-model"):
        anyio.run(go, "phantom:fuser")


def test_lines_left_out_and_shared_sources_are_said(vidence, questions):
    path = questions(n_clips=2, n_questions=1)
    lines = [json.loads(line) | {"source_id": "film"} for line in path.read_text().splitlines()]
    path.write_text("\n".join([*map(json.dumps, lines), '{"item_id": "bad"}']))
    words = ("table", "--data", "questions.jsonl", "--model", "scripted:A", "--no-page", "--out", "r")
    done = vidence("diagnose", "modality", *words)
    assert done.code == 3, done.err
    said = " ".join(done.out.split())
    assert "Left out: 1 line that could not be used, beside 2 questions" in said
    assert "Intervals are clustered by source: the questions are about 1 source." in said
