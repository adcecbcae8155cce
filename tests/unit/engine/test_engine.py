"""Flows meet a model: memory, single flight, retries, errors."""

import threading
from pathlib import Path

import anyio
import numpy as np
import pytest

from servers.virtual_time import in_loop, in_virtual_time
from vidence.ask.models import keys
from vidence.contracts import Ask, Request
from vidence.engine.engine import Asker, drive
from vidence.engine.events import Event, Waiting
from vidence.engine.limits import AdaptiveLimit, Backoff, Budget, Limits
from vidence.engine.memory import Memory
from vidence.errors import (
    AccessError,
    BudgetSpentError,
    ModelError,
    RejectedRequestError,
    ServerDownError,
    StoreError,
    TransientModelError,
)
from vidence.records import Prompt, Reply, Sampling, TextPart, Usage


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


@in_loop
async def test_what_is_remembered_is_not_asked_again(memory):
    model = Script("one", "two")
    ask = asker(model, memory, []).ask
    assert (await ask(request("a"))).reply.text == "one"
    again = await ask(request("a"))
    assert (again.reply.text, again.is_remembered) == ("one", True)
    assert (await ask(request("a", sample=1))).reply.text == "two"
    assert model.n_asked == 2


@in_loop
async def test_the_same_request_at_the_same_time_is_sent_once(memory):
    model = Script("one", delay_s=0.01)
    ask = asker(model, memory, []).ask
    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(ask, request("a"))
    assert model.n_asked == 1


@in_loop
async def test_transient_errors_are_tried_again_and_reported(memory):
    events: list[Event] = []
    busy = TransientModelError("429", retry_after_s=0.01, is_overload=True)
    broken = TransientModelError("502", is_server_error=True)
    model = Script(busy, broken, TransientModelError("reset"), "fine")
    asked = await asker(model, memory, events).ask(request("a"))
    assert asked.reply.text == "fine"
    assert [e.reason for e in events if isinstance(e, Waiting)] == ["429", "502", "reset"]
    assert [e.n_allowed for e in events if isinstance(e, Waiting)] == [2, 1, 1]


@in_loop
async def test_after_the_last_try_the_error_comes_out_and_nothing_is_remembered(memory):
    model = Script(*[TransientModelError("500")] * 3, "fine")
    ask = asker(model, memory, []).ask
    with pytest.raises(TransientModelError, match="500"):
        await ask(request("a"))
    assert (await ask(request("a"))).reply.text == "fine"


@in_loop
async def test_a_rejected_request_is_not_tried_again(memory):
    model = Script(RejectedRequestError("too long"), "fine")
    with pytest.raises(RejectedRequestError):
        await asker(model, memory, []).ask(request("a"))
    assert model.n_asked == 1


@in_loop
async def test_a_model_that_hangs_is_a_transient_error(memory):
    model = Script("never", "never", "never", delay_s=10)
    with pytest.raises(TransientModelError, match=r"no reply within 0\.01 s"):
        await asker(model, memory, [], timeout_s=0.01).ask(request("a"))
    assert model.n_asked == 3


class Quota(Script):
    """Answers `per_window` requests in each minute, and refuses the others at once."""

    def __init__(self, per_window: int, retry_after_s: float | None) -> None:
        super().__init__()
        self.per_window = per_window
        self.retry_after_s = retry_after_s
        self.n_answered: dict[int, int] = {}

    async def reply(self, request: Request) -> Reply:
        self.n_asked += 1
        await anyio.sleep(0.2)
        window = int(anyio.current_time() // 60)
        if self.n_answered.get(window, 0) >= self.per_window:
            raise TransientModelError("429", is_overload=True, retry_after_s=self.retry_after_s)
        self.n_answered[window] = self.n_answered.get(window, 0) + 1
        return Reply(text="A")


@pytest.mark.parametrize("retry_after_s", [None, 60.0])
@in_virtual_time
async def test_a_quota_per_minute_loses_no_question(memory, retry_after_s):
    model = Quota(5, retry_after_s)
    ask = asker(model, memory, []).ask
    async with anyio.create_task_group() as tasks:
        for number in range(16):
            tasks.start_soon(ask, request(str(number)))
    assert anyio.current_time() < 60 * 20
    assert sum(model.n_answered.values()) == 16


@pytest.mark.parametrize("retry_after_s", [None, 60.0, 600.0])
@in_virtual_time
async def test_a_server_that_only_ever_refuses_is_given_up(memory, retry_after_s):
    model = Quota(0, retry_after_s)
    ask = asker(model, memory, []).ask
    with pytest.raises(ServerDownError, match=r"no request has succeeded, for .*429"):
        await ask(request("a"))
    assert anyio.current_time() > 600  # not before it was patient
    assert anyio.current_time() <= 600 + 2 * (retry_after_s or 30)


@in_virtual_time
async def test_waiting_for_a_place_is_no_time_out(memory):
    model = Script(delay_s=4.0)
    ask = asker(model, memory, [], timeout_s=5.0).ask
    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(ask, request(str(number)))
    assert model.n_asked == 40
    assert anyio.current_time() == pytest.approx(40)


@in_virtual_time
async def test_who_waits_for_the_same_question_asks_it_when_the_first_fails(memory):
    model = Script(RejectedRequestError("no"), "fine", delay_s=1.0)
    ask = asker(model, memory, []).ask
    said: list[str] = []

    async def one() -> None:
        try:
            said.append((await ask(request("a"))).reply.text)
        except RejectedRequestError:
            said.append("rejected")

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(one)
    assert said == ["rejected", "fine", "fine", "fine", "fine"]
    assert model.n_asked == 2


@in_virtual_time
async def test_who_waits_for_the_same_question_asks_it_when_the_first_is_cancelled(memory):
    model = Script(delay_s=2.0)
    it = asker(model, memory, [])

    async def impatient() -> None:
        with anyio.move_on_after(1.0):
            await it.ask(request("a"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(impatient)
        for _ in range(3):
            tasks.start_soon(it.ask, request("a"))
    assert model.n_asked == 2
    assert it._in_flight == {}
    assert anyio.current_time() == pytest.approx(3)


@in_virtual_time
async def test_a_reply_that_cannot_be_kept_is_an_error_and_nobody_hangs(memory):
    it = asker(Script(delay_s=1.0), memory, [])
    memory.close()
    with pytest.raises(StoreError):
        await it.ask(request("a"))
    assert it._in_flight == {}


@in_virtual_time
async def test_a_server_that_rejects_is_not_down(memory):
    turns: list[str | Exception] = []
    for _ in range(12):
        turns += [TransientModelError("500")] * 3 + [RejectedRequestError("too long")]
    ask = asker(Script(*turns), memory, []).ask
    for number in range(24):
        with pytest.raises((TransientModelError, RejectedRequestError)):
            await ask(request(str(number)))


@in_virtual_time
async def test_an_error_of_a_model_that_is_none_of_ours_fails_the_request(memory):
    with pytest.raises(RejectedRequestError, match=r"the model script:1 broke: KeyError: 'choices'"):
        await asker(Script(KeyError("choices")), memory, []).ask(request("a"))


@pytest.mark.parametrize("error", [AccessError("key"), ServerDownError("down"), BudgetSpentError("spent")])
@pytest.mark.parametrize("n_asked", [1, 3])
@in_virtual_time
async def test_what_ends_the_run_is_no_business_of_a_flow(error, n_asked):
    answered: list[str] = []

    async def ask(asked: Ask) -> Reply:
        if asked.prompt.text == "bad":
            raise error
        await anyio.sleep(1)
        answered.append(asked.prompt.text)
        return Reply(text="A")

    is_closed = False

    def tolerant():
        nonlocal is_closed
        try:
            yield [prompt("bad"), *[prompt("good")] * (n_asked - 1)]
        except ModelError:
            return "never"
        finally:
            is_closed = True

    with pytest.raises(type(error)):
        await drive(tolerant(), ask)
    assert is_closed
    assert answered == ["good"] * (n_asked - 1)  # they may be paid for: they are waited for


@pytest.mark.parametrize("order", [("bad", "down", "good"), ("down", "bad", "good")])
@in_virtual_time
async def test_of_several_errors_the_one_that_ends_the_run_counts(order):
    async def ask(asked: Ask) -> Reply:
        if asked.prompt.text == "bad":
            raise RejectedRequestError("no")
        if asked.prompt.text == "down":
            raise ServerDownError("down")
        return Reply(text="A")

    def tolerant():
        try:
            yield [prompt(text) for text in order]
        except RejectedRequestError:
            return "never"

    with pytest.raises(ServerDownError, match="down"):
        await drive(tolerant(), ask)


@in_loop
async def test_drive_asks_together_what_is_yielded_together():
    inside, most = 0, 0

    async def ask(asked: Ask) -> Reply:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await anyio.sleep(0.01)
        inside -= 1
        return Reply(text=asked.prompt.text.upper())

    def flow():
        first = yield [prompt("a"), prompt("b"), prompt("c")]
        # With its own way of asking, or plain: both come as an Ask.
        (second,) = yield [Ask(prompt=prompt(first[2].text.lower() + "d"), sample=2)]
        return [r.text for r in first], second.text

    assert await drive(flow(), ask) == (["A", "B", "C"], "CD")
    assert most == 3


@pytest.mark.parametrize("n_asked", [1, 3])
@in_loop
async def test_an_error_of_the_model_is_thrown_into_the_flow(n_asked):
    async def ask(asked: Ask) -> Reply:
        if asked.prompt.text == "bad":
            raise RejectedRequestError("no")
        return Reply(text=asked.prompt.text)

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


@in_loop
async def test_long_replies_are_read_outside_the_event_loop(memory):
    read_in: list[int] = []

    def flow():
        for words in ("short", "long"):
            replies = yield [prompt(words)]
            read_in.append(threading.get_ident())
        return len(replies[0].text)

    model = Script("A", "A" * 20_001)
    it = asker(model, memory, [])

    async def ask(wanted: Ask) -> Reply:
        return (await it.ask(request(wanted.prompt.text))).reply

    assert await drive(flow(), ask) == 20_001
    assert read_in[0] == threading.get_ident() != read_in[1]


@in_virtual_time
async def test_no_reply_and_no_error_carries_a_key_further(memory, monkeypatch):
    monkeypatch.setattr(keys, "_IN_USE", set())
    keys.note_key("sk-canary-55")
    events: list[Event] = []
    model = Script(
        TransientModelError("busy, sk-canary-55", is_overload=True),
        "I am sk-canary-55",
        RejectedRequestError("no sk-canary-55"),
        OSError("sk-canary-55"),
    )
    ask = asker(model, memory, events).ask
    assert (await ask(request("a"))).reply.text == "I am [key]"
    assert (await ask(request("a"))).reply.text == "I am [key]"
    with pytest.raises(RejectedRequestError, match=r"^no \[key\]$"):
        await ask(request("b"))
    with pytest.raises(RejectedRequestError, match=r"OSError: \[key\]$"):
        await ask(request("c"))
    assert [event.reason for event in events if isinstance(event, Waiting)] == ["busy, [key]"]


@in_loop
async def test_a_reply_of_an_earlier_version_is_cleaned_when_it_is_remembered(memory, monkeypatch):
    monkeypatch.setattr(keys, "_IN_USE", set())
    ask = asker(Script("I am sk-canary-55"), memory, []).ask
    await ask(request("a"))
    keys.note_key("sk-canary-55")
    assert (await ask(request("a"))).reply.text == "I am [key]"
