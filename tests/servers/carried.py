"""An executor whose workers are tasks of this process: calls and workers can be lost without any cluster."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from vidence.engine.environment import Environment
from vidence.engine.executors.dispatch import Dispatch
from vidence.engine.executors.executor import Duty
from vidence.engine.executors.messages import Inbound, Outbound, QuestionResult
from vidence.engine.executors.worker import Assignment, Worker
from vidence.engine.session import Session, first_error
from vidence.errors import VidenceError


def _copied(what):
    """As it comes out of another process."""
    return pickle.loads(pickle.dumps(what))  # noqa: S301 - our own


@dataclass(kw_only=True)
class Carried:
    """Works with `n_workers` workers; a call costs `trip_s` there, and as long back.

    `loses` says of the n-th call of a worker what is lost: "there", "back" or nothing. `kills` says after
    which of its calls a worker is lost; another takes its place `again_s` later, where that is given.
    """

    environment: Environment
    n_workers: int = 2
    trip_s: float = 0.001
    loses: Callable[[int, int], str] = lambda worker, n: ""
    kills: dict[int, int] = field(default_factory=dict)
    again_s: float | None = None
    n_begun: int = 0
    done_by: dict[str, int] = field(default_factory=dict)
    around: Callable[[int], object] | None = None
    """Called in the task of a worker with its number, before it begins."""

    async def work(self, session: Session, duty: Duty[object]) -> None:
        dispatch = Dispatch(session, duty, clock=anyio.current_time)
        dispatch.n_expected = self.n_workers
        over = anyio.Event()
        try:
            async with anyio.create_task_group() as tasks:
                for number in range(self.n_workers):
                    tasks.start_soon(self._tend, number, dispatch, duty, session, over)
                await over.wait()
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            found = first_error(group, VidenceError)
            raise found if found is not None else group from group
        if dispatch.spent is not None:
            raise dispatch.spent

    async def _tend(self, number, dispatch, duty, session, over) -> None:
        while not over.is_set():
            self.n_begun += 1
            name, calls = f"worker {number}, {self.n_begun}", self.kills.pop(number, None)
            dispatch.join(name)
            first = dispatch.first(name)
            assignment = Assignment(
                opening=session.opening, task=duty.task, share=first.share, part=first.part
            )
            async with anyio.create_task_group() as tasks:
                if self.around is not None:
                    self.around(number)
                worker = Worker(_copied(assignment), self.environment)
                tasks.start_soon(worker.run)
                await self._call(number, name, dispatch, worker, over, most=calls)
                tasks.cancel_scope.cancel()
            dispatch.leave(name)
            if self.again_s is None:
                return
            await anyio.sleep(self.again_s)

    async def _call(self, number, name, dispatch, worker, over, *, most) -> None:
        inbound, n = dispatch.first(name), 0
        while not over.is_set() and n != most:
            n += 1
            outbound = await self._carried(number, n, worker, inbound)
            if outbound is None:
                continue
            inbound = dispatch.heard(name, _copied(outbound))
            self.done_by[name] = self.done_by.get(name, 0) + sum(
                isinstance(message, QuestionResult) for _, message in outbound.messages
            )
            if dispatch.is_over:
                over.set()

    async def _carried(self, number: int, n: int, worker: Worker, inbound: Inbound) -> Outbound | None:
        lost = self.loses(number, n)
        await anyio.sleep(self.trip_s)
        if lost == "there":
            return None
        outbound = await worker.exchange(_copied(inbound))
        await anyio.sleep(self.trip_s)
        return None if lost == "back" else outbound
