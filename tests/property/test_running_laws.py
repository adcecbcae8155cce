"""What holds for every course of a run: replies, errors, hangs, cancellations and resumes."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import IS_THOROUGH
from servers import virtual_time
from vidence.contracts import Request
from vidence.engine import engine as engine_module
from vidence.engine import evaluate
from vidence.engine.environment import Environment
from vidence.engine.limits import AdaptiveLimit
from vidence.engine.memory import Memory
from vidence.engine.prepare import make_plan
from vidence.engine.store import RunStore
from vidence.errors import ModelError, RejectedRequestError, TransientModelError, VidenceError
from vidence.records import Answered, Reply, Usage

ERRORS: dict[str, Callable[[], ModelError]] = {
    "broken": lambda: TransientModelError("500"),
    "busy": lambda: TransientModelError("429", is_overload=True),
    "later": lambda: TransientModelError("429", is_overload=True, retry_after_s=60.0),
    "no": lambda: RejectedRequestError("400"),
}


class Server:
    """A model whose turns are planned; after them it answers everything. It counts what happens."""

    identity = "planned:1"
    looks = False
    by_item = False
    max_in_flight = None

    def __init__(self, turns: list[tuple[str, float]]) -> None:
        self.turns = turns
        self.n_asked: Counter[str] = Counter()
        self.n_lost: Counter[str] = Counter()
        self.n_inside = self.most_inside = self.n_closed = 0

    async def reply(self, request: Request) -> Reply:
        item_id = request.prompt.text.split("<")[1].split(">")[0]
        self.n_asked[item_id] += 1
        self.n_inside += 1
        self.most_inside = max(self.most_inside, self.n_inside)
        kind, latency_s = self.turns.pop(0) if self.turns else ("answer", 0.1)
        try:
            await anyio.sleep(latency_s)
            if kind == "hang":
                await anyio.sleep_forever()
            if kind in ERRORS:
                raise ERRORS[kind]()
        except BaseException:
            self.n_lost[item_id] += 1
            raise
        finally:
            self.n_inside -= 1
        return Reply(text="Answer: A", usage=Usage(input_tokens=1, output_tokens=1))

    async def close(self) -> None:
        self.n_closed += 1


def session(server: Server, folder: Path, *, concurrency: int, cancel_s: float) -> None:
    """One session of the run in `folder`; errors of vidence may end it."""
    overrides = {"timeout_s": 20.0, "attempts": 2, "concurrency": concurrency}
    plan = make_plan("table", data=folder / "questions.jsonl", model="scripted:A", overrides=overrides)

    async def go() -> None:
        with anyio.move_on_after(cancel_s):
            await evaluate.run(
                plan,
                folder / "run",
                environment=Environment(cache_root=folder / "cache"),
                now=datetime(2026, 1, 1, tzinfo=UTC),
                on_event=lambda event: None,
            )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_module, "create", lambda kind, spec: server)
        virtual_time.run(go)


turns = st.lists(st.tuples(st.sampled_from(["answer", "hang", *ERRORS]), st.floats(0.0, 5.0)), max_size=30)


@settings(max_examples=100 if IS_THOROUGH else 10)
@given(
    planned=turns,
    n_items=st.integers(1, 7),
    concurrency=st.integers(1, 4),
    cancels_s=st.lists(st.floats(0.0, 100.0), max_size=3),
)
def test_every_question_is_answered_once_whatever_happens(planned, n_items, concurrency, cancels_s):
    server = Server(planned)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [
            {"item_id": f"q{i}", "question": f"<q{i}>", "choices": ["x", "y"], "answer": "A"}
            for i in range(n_items)
        ]
        (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
        n_sessions = 0
        for cancel_s in [*cancels_s, *[1e6] * 40]:
            n_sessions += 1
            try:
                session(server, folder, concurrency=concurrency, cancel_s=cancel_s)
            except VidenceError:
                continue
            with RunStore(folder / "run") as store:
                if len(store.answered()) == n_items:
                    break
        with RunStore(folder / "run") as store:
            trials = list(store.trials())
        with Memory(folder / "cache" / "replies.sqlite") as memory:
            kept = memory._db.execute("SELECT json FROM replies").fetchall()
    assert [t.item_id for t in trials] == [f"q{i}" for i in range(n_items)]
    assert all(isinstance(t.score.outcome, Answered) for t in trials)
    for item_id, n_asked in server.n_asked.items():
        assert n_asked == server.n_lost[item_id] + 1
    assert len(kept) == n_items
    assert all(json.loads(text)["text"] == "Answer: A" for (text,) in kept)
    assert server.most_inside <= concurrency
    assert server.n_inside == 0
    assert server.n_closed == n_sessions


@given(most=st.integers(1, 9), n_askers=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_no_more_are_inside_than_were_allowed_at_any_time(most: int, n_askers: int, seed: int):
    rng = np.random.default_rng(seed)

    async def go() -> None:
        limit = AdaptiveLimit(most, clock=anyio.current_time)
        inside = 0

        async def ask() -> None:
            nonlocal inside
            for _ in range(5):
                async with limit.slot() as sent_s:
                    inside += 1
                    assert inside <= most
                    assert 1 <= limit.allowed <= most
                    await anyio.sleep(float(rng.uniform(0, 3)))
                    inside -= 1
                if rng.random() < 0.4:
                    limit.on_overload(float(rng.choice([0, 30])) or None, sent_s=sent_s)
                else:
                    limit.on_reply()

        async with anyio.create_task_group() as tasks:
            for _ in range(n_askers):
                tasks.start_soon(ask)
        assert inside == 0

    virtual_time.run(go)
