"""Weights in this process: the order in which batches are prepared and answered, and batches that break."""

import threading
from collections.abc import Callable, Sequence

import anyio
import pytest

from servers.tiny_requests import make_request
from vidence.ask.models.weights import BatchingModel, Job, Weights
from vidence.contracts import Request
from vidence.errors import AccessError
from vidence.records import Reply

PATIENCE_S = 30.0


class Logged(Weights):
    """Notes what begins and ends; a batch is answered once its gate is open."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.gates = [threading.Event() for _ in range(9)]
        self.n_answering = self.n_batches = 0
        self.breaks: list[Exception] = []

    def batch_size(self, request: Request) -> int:
        return 2

    def job(self, request: Request) -> Job:
        return Job(request=request, turns=[])

    def encode(self, jobs: Sequence[Job]) -> Callable[[], list[Reply]]:
        number, self.n_batches = self.n_batches, self.n_batches + 1
        self.log.append(f"prepared {number}: {len(jobs)}")
        return lambda: self._answer(number, jobs)

    def _answer(self, number: int, jobs: Sequence[Job]) -> list[Reply]:
        self.n_answering += 1
        assert self.n_answering == 1, "two batches were on the device"
        self.log.append(f"begins {number}")
        assert self.gates[number].wait(PATIENCE_S)
        self.n_answering -= 1
        self.log.append(f"ends {number}")
        if self.breaks:
            raise self.breaks.pop()
        return [Reply(text=job.request.prompt.text) for job in jobs]

    def close(self) -> None:
        self.log.append("closed")

    def open(self, *numbers: int) -> None:
        for number in numbers:
            self.gates[number].set()

    async def has(self, *lines: str) -> None:
        """Wait until the log has these lines."""
        with anyio.fail_after(PATIENCE_S):
            while not set(lines) <= set(self.log):
                await anyio.sleep(0.002)


class Asked:
    """A model of `Logged`, and what came of its requests."""

    def __init__(self) -> None:
        self.weights = Logged()
        self.model = BatchingModel("logged", lambda: self.weights, max_in_flight=6)
        self.outcomes: dict[int, str | Exception] = {}

    async def ask(self, i: int) -> None:
        try:
            self.outcomes[i] = (await self.model.reply(make_request(text=f"{i}"))).text
        except (AccessError, RuntimeError) as error:
            self.outcomes[i] = error

    def run(self, work: Callable[["Asked", anyio.abc.TaskGroup], object], *, n: int) -> None:
        async def everything() -> None:
            with anyio.fail_after(PATIENCE_S):
                async with anyio.create_task_group() as tasks:
                    for i in range(n):
                        tasks.start_soon(self.ask, i)
                    await work(self, tasks)

        anyio.run(everything)
        assert self.model._waiting == []


def test_one_batch_and_no_more_is_prepared_while_another_is_answered():
    async def work(asked: Asked, tasks: anyio.abc.TaskGroup) -> None:
        weights = asked.weights
        await weights.has("begins 0", "prepared 1: 2")
        await anyio.sleep(0.05)
        assert weights.log == ["prepared 0: 2", "begins 0", "prepared 1: 2"]
        weights.open(0)
        await weights.has("begins 1", "prepared 2: 2")
        assert weights.log.index("ends 0") < weights.log.index("prepared 2: 2")
        assert asked.outcomes == {0: "0", 1: "1"}, "who is answered must not wait for the next batch"
        weights.open(1, 2, 3)

    asked = Asked()
    asked.run(work, n=8)
    assert asked.outcomes == {i: f"{i}" for i in range(8)}
    steps = [line for line in asked.weights.log if not line.startswith("prepared")]
    assert steps == [f"{word} {i}" for i in range(4) for word in ("begins", "ends")]


def test_requests_that_still_come_join_the_batch():
    async def work(asked: Asked, tasks: anyio.abc.TaskGroup) -> None:
        asked.weights.open(0, 1)
        for _ in range(2):  # two turns of the loop later, within the time that a batch waits
            await anyio.lowlevel.checkpoint()
        tasks.start_soon(asked.ask, 1)

    asked = Asked()
    asked.run(work, n=1)
    assert asked.weights.log[0] == "prepared 0: 2"


@pytest.mark.parametrize("error", [AccessError("the device failed"), RuntimeError("not foreseen")])
def test_a_batch_that_breaks_leaves_the_others_their_own_turns(error: Exception):
    async def work(asked: Asked, tasks: anyio.abc.TaskGroup) -> None:
        asked.weights.open(*range(9))

    asked = Asked()
    asked.weights.breaks = [error]
    asked.run(work, n=5)
    assert asked.outcomes == {0: error} | {i: f"{i}" for i in range(1, 5)}


def test_a_leader_that_leaves_before_its_turn_does_not_take_its_batch_along():
    async def work(asked: Asked, tasks: anyio.abc.TaskGroup) -> None:
        await asked.weights.has("begins 0")
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as leaving:
                leaving.start_soon(asked.ask, 2)
                tasks.start_soon(asked.ask, 3)
                await asked.weights.has("prepared 1: 2")
                scope.cancel()
        asked.weights.open(*range(9))

    asked = Asked()
    asked.run(work, n=2)
    assert asked.outcomes == {i: f"{i}" for i in (0, 1, 3)}


def test_closing_finishes_what_is_under_way():
    async def work(asked: Asked, tasks: anyio.abc.TaskGroup) -> None:
        await asked.weights.has("begins 0", "prepared 1: 2")
        tasks.start_soon(asked.model.close)
        await anyio.wait_all_tasks_blocked()
        asked.weights.open(0, 1)

    asked = Asked()
    asked.run(work, n=5)
    assert [asked.outcomes[i] for i in range(4)] == ["0", "1", "2", "3"]
    assert isinstance(asked.outcomes[4], AccessError)
    assert asked.weights.log[-2:] == ["ends 1", "closed"]
