"""Flows meet a model: memory, single flight, retries, errors."""

from pathlib import Path

import anyio
import numpy as np
import pytest

from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, ServerDownError, TransientModelError
from vidence.records import Prompt, Reply, Sampling, TextPart, Usage
from vidence.running.drive import Asker, drive
from vidence.running.events import Event, Waiting
from vidence.running.limits import AdaptiveLimit, Backoff, Budget, Limits
from vidence.running.store import Memory


class Script:
    """A model that plays a list of replies and errors, then says "late"."""

    identity = "script:1"
    looks = True
    by_item = False
    max_in_flight = None

    def __init__(self, *turns: str | Exception, delay_s: float = 0.0) -> None:
        self.turns = list(turns)
        self.delay_s = delay_s
        self.n_asked = 0

    async def reply(self, request: Request) -> Reply:
        self.n_asked += 1
        await anyio.sleep(self.delay_s)
        turn = self.turns.pop(0) if self.turns else "late"
        if isinstance(turn, Exception):
            raise turn
        return Reply(text=turn, usage=Usage(input_tokens=10, output_tokens=1))

    async def close(self) -> None:
        return


def prompt(words: str) -> Prompt:
    return Prompt(parts=(TextPart(text=words),))


def request(words: str, sample: int = 0) -> Request:
    return Request(item_id="q", prompt=prompt(words), sampling=Sampling(), sample=sample)


def asker(model: Script, memory: Memory, events: list[Event], *, timeout_s: float = 5.0) -> Asker:
    limits = Limits(
        in_flight=AdaptiveLimit(4, clock=anyio.current_time),
        backoff=Backoff(rng=np.random.default_rng(0), first_s=0.001),
        budget=Budget(),
        attempts=3,
        timeout_s=timeout_s,
    )
    return Asker(model, memory=memory, limits=limits, on_event=events.append)


@pytest.fixture
def memory(tmp_path: Path):
    with Memory(tmp_path / "replies.sqlite") as opened:
        yield opened


def test_what_is_remembered_is_not_asked_again(memory):
    async def go() -> None:
        model = Script("one", "two")
        ask = asker(model, memory, []).ask
        assert (await ask(request("a"))).reply.text == "one"
        again = await ask(request("a"))
        assert (again.reply.text, again.is_remembered) == ("one", True)
        assert (await ask(request("a", sample=1))).reply.text == "two"
        assert model.n_asked == 2

    anyio.run(go)


def test_the_same_request_at_the_same_time_is_sent_once(memory):
    async def go() -> None:
        model = Script("one", delay_s=0.01)
        ask = asker(model, memory, []).ask
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(ask, request("a"))
        assert model.n_asked == 1

    anyio.run(go)


def test_transient_errors_are_tried_again_and_reported(memory):
    async def go() -> None:
        events: list[Event] = []
        busy = TransientModelError("429", retry_after_s=0.01, is_overload=True)
        model = Script(busy, TransientModelError("reset"), "fine")
        asked = await asker(model, memory, events).ask(request("a"))
        assert asked.reply.text == "fine"
        assert [e.reason for e in events if isinstance(e, Waiting)] == ["429", "reset"]
        assert [e.n_allowed for e in events if isinstance(e, Waiting)] == [2, 2]

    anyio.run(go)


def test_after_the_last_try_the_error_comes_out_and_nothing_is_remembered(memory):
    async def go() -> None:
        model = Script(*[TransientModelError("500")] * 3, "fine")
        ask = asker(model, memory, []).ask
        with pytest.raises(TransientModelError, match="500"):
            await ask(request("a"))
        assert (await ask(request("a"))).reply.text == "fine"

    anyio.run(go)


def test_a_rejected_request_is_not_tried_again(memory):
    async def go() -> None:
        model = Script(RejectedRequestError("too long"), "fine")
        with pytest.raises(RejectedRequestError):
            await asker(model, memory, []).ask(request("a"))
        assert model.n_asked == 1

    anyio.run(go)


def test_a_model_that_hangs_is_a_transient_error(memory):
    async def go() -> None:
        model = Script("never", "never", "never", delay_s=10)
        with pytest.raises(TransientModelError, match=r"no reply within 0\.01 s"):
            await asker(model, memory, [], timeout_s=0.01).ask(request("a"))
        assert model.n_asked == 3

    anyio.run(go)


def test_a_server_that_answers_nobody_ends_the_run(memory):
    async def go() -> None:
        model = Script(*[TransientModelError("refused")] * 100)
        ask = asker(model, memory, []).ask
        for number in range(7):
            with pytest.raises(TransientModelError):
                await ask(request(str(number)))
        with pytest.raises(ServerDownError):
            await ask(request("last"))

    anyio.run(go)


def test_drive_asks_together_what_is_yielded_together():
    async def go() -> None:
        inside, most = 0, 0

        async def ask(asked: Prompt) -> Reply:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            await anyio.sleep(0.01)
            inside -= 1
            return Reply(text=asked.text.upper())

        def flow():
            first = yield [prompt("a"), prompt("b"), prompt("c")]
            (second,) = yield [prompt(first[2].text.lower() + "d")]
            return [r.text for r in first], second.text

        assert await drive(flow(), ask) == (["A", "B", "C"], "CD")
        assert most == 3

    anyio.run(go)


def test_a_flow_that_asks_nothing_returns_at_once():
    async def go() -> None:
        async def ask(asked: Prompt) -> Reply:
            raise AssertionError("nothing was to be asked")

        def flow():
            return 7
            yield []

        assert await drive(flow(), ask) == 7

    anyio.run(go)


@pytest.mark.parametrize("n_asked", [1, 3])
def test_an_error_of_the_model_is_thrown_into_the_flow(n_asked):
    async def go() -> None:
        async def ask(asked: Prompt) -> Reply:
            if asked.text == "bad":
                raise RejectedRequestError("no")
            return Reply(text=asked.text)

        def tolerant():
            try:
                yield [prompt("bad")] * n_asked
            except ModelError:
                (reply,) = yield [prompt("good")]
                return reply.text
            return "never"

        def strict():
            yield [prompt("bad")] * n_asked

        assert await drive(tolerant(), ask) == "good"
        with pytest.raises(RejectedRequestError):
            await drive(strict(), ask)

    anyio.run(go)


def test_access_errors_come_out(memory):
    async def go() -> None:
        with pytest.raises(AccessError):
            await asker(Script(AccessError("wrong key")), memory, []).ask(request("a"))

    anyio.run(go)
