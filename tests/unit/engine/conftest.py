"""A run whose model, parser and selector a test makes itself."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from servers import virtual_time
from vidence.contracts import Request
from vidence.engine import engine as engine_module
from vidence.engine import evaluate, prepare
from vidence.engine.environment import Environment
from vidence.engine.evaluate import Summary
from vidence.engine.events import Event
from vidence.engine.judges import judge_run
from vidence.engine.plan import machine_facts, read_plan
from vidence.engine.prepare import make_plan
from vidence.engine.store import RunStore
from vidence.records import Reply, Trial, Usage

_FACTS = machine_facts()


@dataclass
class FakeModel:
    """Answers A to everything, or does what `turn` does; counts."""

    looks: bool = False
    by_item: bool = False
    max_in_flight: int | None = None
    identity: str = "fake:1"
    turn: Callable[[Request], Awaitable[Reply]] | None = None
    asked: list[Request] = field(default_factory=list)
    n_closed: int = 0

    async def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        if self.turn is not None:
            return await self.turn(request)
        return Reply(text="Answer: A", usage=Usage(input_tokens=10, output_tokens=1))

    async def close(self) -> None:
        self.n_closed += 1


@dataclass
class Bench:
    """Questions in a folder, and runs over them in virtual time."""

    folder: Path
    events: list[Event] = field(default_factory=list)

    def write(self, n_items: int, *, media: Sequence[str | dict[str, str]] = (), **changes: object) -> None:
        """Write questions; the i-th is about the i-th medium where there are some."""
        rows = [
            {"item_id": f"q{i}", "question": f"Question {i}?", "choices": ["x", "y"], "answer": "A"}
            | ({"media": [_medium(media[i])]} if media else {})
            | changes
            for i in range(n_items)
        ]
        (self.folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def run(
        self,
        model: FakeModel,
        *,
        out: str = "run",
        in_real_time: bool = False,
        judges: dict[str, FakeModel] | None = None,
        **overrides: object,
    ) -> Summary:
        """One session of the run in `out`; `judges` are models by their specs."""
        if judges:
            overrides = {"judge_models": tuple(judges), **overrides}
        data = self.folder / "questions.jsonl"
        plan = make_plan("table", data=data, model="scripted:A", overrides=overrides)

        async def go() -> Summary:
            return await evaluate.run(
                plan,
                self.folder / out,
                environment=Environment(cache_root=self.folder / "cache", n_workers=1),
                now=datetime(2026, 1, 1, tzinfo=UTC),
                on_event=self.events.append,
            )

        import anyio

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engine_module, "create", lambda kind, spec: (judges or {}).get(spec, model))
            patch.setattr(prepare, "machine_facts", lambda: _FACTS)
            return anyio.run(go) if in_real_time else virtual_time.run(go)

    def judge(self, judges: dict[str, FakeModel], *, out: str = "run", **changes: object) -> Summary:
        """Judge what the run in `out` has stored."""
        plan, _ = read_plan(self.folder / out)
        plan = msgspec.structs.replace(plan, judge_models=tuple(judges), **changes)

        async def go() -> Summary:
            return await judge_run(
                plan,
                self.folder / out,
                environment=Environment(cache_root=self.folder / "cache", n_workers=1),
                on_event=self.events.append,
            )

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engine_module, "create", lambda kind, spec: judges[spec])
            return virtual_time.run(go)

    def trials(self, out: str = "run") -> list[Trial]:
        """The trials of a run folder, in the order of the questions."""
        with RunStore(self.folder / out) as store:
            return list(store.trials())


def _medium(named: str | dict[str, str]) -> dict[str, str]:
    return {"path": named, "kind": "image"} if isinstance(named, str) else named


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def fake_model() -> type[FakeModel]:
    return FakeModel
