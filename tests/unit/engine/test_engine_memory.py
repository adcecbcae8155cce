"""What ends a run comes out of the asker, and nothing of it is remembered."""

from pathlib import Path

import anyio
import numpy as np
import pytest

from servers.model_asks import maker
from servers.virtual_time import in_loop
from vidence.contracts import Model, Request
from vidence.engine.engine import Asker, CostedReply
from vidence.engine.limits import AdaptiveLimit, Backoff, Budget, Limits
from vidence.engine.memory import Memory, memory_key
from vidence.errors import AccessError
from vidence.records import Prompt, Reply, Sampling, TextPart

create = maker("model", "scripted")


def limits() -> Limits:
    return Limits(
        in_flight=AdaptiveLimit(1, clock=anyio.current_time),
        backoff=Backoff(rng=np.random.default_rng(0)),
        budget=Budget(),
        attempts=3,
        timeout_s=5.0,
    )


@in_loop
async def test_access_errors_come_out_and_are_not_remembered(tmp_path: Path):
    request = Request(item_id="q", prompt=Prompt(parts=(TextPart(text="?"),)), sampling=Sampling())
    model = create("A", {"fail": "401", "fail_share": "1"})
    with Memory(tmp_path / "replies.sqlite") as memory:
        asker = Asker(model, memory=memory, limits=limits(), on_event=lambda event: None)
        with pytest.raises(AccessError):
            await asker.ask(request)
        assert memory.get(memory_key(request, identity=model.identity, by_item=model.by_item)) is None


def test_what_another_run_is_asking_is_waited_for_or_asked_when_it_lets_go(tmp_path: Path):
    request = Request(item_id="q", prompt=Prompt(parts=(TextPart(text="?"),)), sampling=Sampling())
    path, events = tmp_path / "replies.sqlite", []

    async def go(reply: Reply | None) -> CostedReply:
        model = create("A", {})
        key = memory_key(request, identity=model.identity, by_item=False)
        with Memory(path) as other, Memory(path) as memory:
            asker = Asker(model, memory=memory, limits=limits(), on_event=events.append)
            assert other.claim(key)
            async with anyio.create_task_group() as tasks:
                asked = []

                async def ask() -> None:
                    asked.append(await asker.ask(request))

                tasks.start_soon(ask)
                while not events:
                    await anyio.sleep(0.01)
                if reply is None:
                    other.release(key)
                else:
                    other.put(key, reply)
            return asked[0]

    asked = anyio.run(go, None)
    assert (asked.reply.text, asked.is_remembered) == ("A", False)
    path.unlink()
    events.clear()
    assert anyio.run(go, Reply(text="B")) == CostedReply(reply=Reply(text="B"), is_remembered=True, cost=0.0)
    assert events[0].reason == "another run asks this"


def rule() -> Model:
    """A model whose replies are given to it."""
    model = create("A", {})
    model.by_item = True
    return model


@pytest.mark.parametrize(
    ("model", "told"),
    [(create("A", {}), ["get", "claim", "A", "release"]), (rule(), ["get", "A", "release"])],
)
@in_loop
async def test_what_a_memory_lacks_is_claimed_where_asking_costs(model: Model, told: list[object]):
    """What is recorded, or a rule, is never claimed: it costs nothing to ask it twice."""
    seen: list[object] = []

    class Replies:
        def get(self, key: bytes) -> None:
            seen.append("get")

        def holds(self, key: bytes) -> bool:
            return False

        def claim(self, key: bytes) -> bool:
            seen.append("claim")
            return True

        def put(self, key: bytes, reply: Reply) -> None:
            seen.append(reply.text)

        def release(self, key: bytes) -> None:
            seen.append("release")

    request = Request(item_id="q", prompt=Prompt(parts=(TextPart(text="?"),)), sampling=Sampling())
    await Asker(model, memory=Replies(), limits=limits(), on_event=seen.append).ask(request)
    assert seen == told
