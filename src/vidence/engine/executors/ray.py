"""The executor of a Ray cluster: one worker on each machine, called by the driver all the time."""

import asyncio
import importlib
import logging
import pickle
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlsplit

import anyio

from vidence.engine.environment import environment
from vidence.engine.events import MachineLost
from vidence.engine.executors.actors import (
    LOOK_S,
    STALLED_S,
    Actor,
    Fleet,
    Hello,
    Place,
    answer,
    first_line,
    hello,
)
from vidence.engine.executors.dispatch import Dispatch
from vidence.engine.executors.executor import RAY, DoneT, Duty
from vidence.engine.executors.messages import Inbound, Outbound
from vidence.engine.executors.replicas import (
    IDLE_S,
    Room,
    Settings,
    gpus_of_plan,
    gpus_taken,
    split_address,
)
from vidence.engine.executors.worker import Assignment, Worker
from vidence.engine.session import Session
from vidence.errors import UsageError, VidenceError
from vidence.installation import adding

_ANSWER_S: Final = 10.0  # how long the head of a cluster may take to accept a connection
_CALLS: Final = 3  # of one message, before a worker counts as lost
_log = logging.getLogger(__name__)


class Machine:
    """A worker as an actor: Ray calls it, and it does the rest."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._running: object = None

    async def hello(self) -> Hello:
        """The version of vidence on this machine."""
        return hello()

    async def begin(self, assignment: Assignment, *, n_workers: int) -> None:
        """Begin to work; what goes wrong is said by `exchange`."""
        self._worker = Worker(assignment, replace(environment(), n_workers=n_workers))
        self._running = asyncio.create_task(self._worker.run())

    async def exchange(self, inbound: bytes) -> bytes:
        """One call of the driver; what is said is pickled here, as Ray takes three times as long for it."""
        if self._worker is None:
            raise VidenceError("a worker was called before it had begun")
        said: Inbound = pickle.loads(inbound)  # noqa: S301 - the driver's, as all that Ray brings
        return pickle.dumps(await self._worker.exchange(said), pickle.HIGHEST_PROTOCOL)


class RayExecutor:
    """An `Executor` on the machines of a cluster.

    Args:
        on: ``ray``: the cluster that this machine is part of; or ``ray://HOST:10001``; both may have
            `Settings` behind them.

    Raises:
        UsageError: Ray is not installed, or a setting is none.
    """

    def __init__(self, on: str) -> None:
        self._address, self._settings = split_address(on)
        self._ray = library()

    async def work(self, session: Session, duty: Duty[DoneT]) -> None:
        """Show every question, do the task with it, and keep what was made; see `Executor.work`."""
        check_portable(session)
        with connected(self._ray, self._address):
            await _Cluster(self._ray, session, duty, settings=self._settings).work()


def check_portable(session: Session) -> None:
    """Refuse what only this process has.

    Raises:
        UsageError: a function or an object that a program gave is a part of the plan.
    """
    plan = session.prepared.plan
    for what in (plan.model, plan.selector, plan.parser, plan.text_parser, plan.strategy):
        if what.startswith("python:") and ".py" not in what:
            raise UsageError(
                f"{what} is a function of this program, which other machines do not have; put it into a file "
                "that all of them see, and name it FILE.py:FUNCTION, or work here: --on local"
            )


def library() -> ModuleType:
    """Ray.

    Raises:
        UsageError: it is not installed; the message has the command that does.
    """
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(f"--on ray needs Ray, which is not installed: {adding('ray')}") from error


@contextmanager
def connected(ray: ModuleType, address: str) -> Iterator[None]:
    """A connection to the cluster; one that is there is used, and stays.

    Raises:
        UsageError: there is no cluster, nothing takes connections where one was, or it takes no driver.
    """
    if ray.is_initialized():
        yield
        return
    try:
        place = _answering(_place_of(address))
        try:
            _join(ray, place)
        except ConnectionAbortedError:  # its head begins a process for each driver, which may take too long
            _join(ray, place)
    except ConnectionAbortedError as error:
        why = str(error).strip().splitlines() or [type(error).__name__]
        raise UsageError(
            f"the Ray cluster at {address} was asked twice and took no driver: {why[-1].strip()}; try again "
            "when its head is less busy, whose logs say more, or work on one of its machines with --on ray"
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"there is no Ray cluster at {address}: {error}; start one with `ray start --head`, on further "
            "machines `ray start --address=HOST:6379`, and name it with --on ray://HOST:10001 or, on one of "
            "them, --on ray"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _join(ray: ModuleType, place: str) -> None:
    ray.init(address=place, namespace="vidence", log_to_driver=False, logging_level=logging.ERROR)


def _place_of(address: str) -> str:
    """Where the head of a cluster listens, as HOST:PORT or ray://HOST:PORT; Ray looks for this machine's.

    Raises:
        ConnectionError: there is none, or several are and nothing says which.
    """
    if address != RAY:
        return address
    services = importlib.import_module("ray._private.services")
    try:
        return str(services.canonicalize_bootstrap_address_or_die("auto"))
    except ConnectionError as error:  # its message names flags of Ray's own commands
        raise ConnectionError(
            "this machine is part of none, or of several, and RAY_ADDRESS names none"
        ) from error


def _answering(place: str) -> str:
    """The place, if something there takes connections: Ray itself waits for minutes for a head that is gone.

    Raises:
        OSError: nothing does.
    """
    parts = urlsplit(place if "://" in place else f"//{place}")
    try:
        socket.create_connection((parts.hostname, parts.port), timeout=_ANSWER_S).close()
    except OSError as error:
        raise ConnectionError(f"nothing answers at {place} ({error.strerror or error})") from error
    return place


def _gpus_of(session: Session) -> int:
    """How many GPUs one worker of a session would take for its weights."""
    opening = session.opening
    shown = [view.selector for view in (opening.views or {}).values()]
    return gpus_of_plan(session.prepared.plan, selectors=shown, others=opening.others)


def _pickled(inbound: Inbound) -> bytes:
    return pickle.dumps(inbound, pickle.HIGHEST_PROTOCOL)


class _Cluster(Fleet):
    """One session on the machines of a cluster."""

    kind = Machine
    kept = "what was answered is kept"
    most_losses = 4

    def __init__(self, ray: ModuleType, session: Session, duty: Duty[Any], *, settings: Settings) -> None:
        super().__init__(ray, settings, n_gpus=gpus_taken(settings, _gpus_of(session), ray.nodes()))
        self._session = session
        self._duty = duty
        self._dispatch = Dispatch(session, duty, clock=anyio.current_time)
        self._actors: dict[str, Actor] = {}

    async def work(self) -> None:
        await super().work()
        if self._dispatch.spent is not None:
            raise self._dispatch.spent

    @property
    def n_left(self) -> int:
        return self._dispatch.n_left

    @property
    def is_waiting(self) -> bool:
        return self._dispatch.is_waiting

    @property
    def most_workers(self) -> float:
        """Each of them asks one question at least."""
        return self._duty.n_consumers

    def options(self, room: Room) -> dict[str, int]:
        return {"num_cpus": room.n_cpus, "max_concurrency": 64}

    def expect(self, n: int) -> None:
        self._dispatch.n_expected = n

    async def begin(self, actor: Actor, name: str, room: Room) -> None:
        self._dispatch.join(name)
        self._actors[name] = actor
        inbound = self._dispatch.first(name)
        assignment = Assignment(
            opening=self._session.opening, task=self._duty.task, share=inbound.share, part=inbound.part
        )
        await answer(actor.begin.remote(assignment, n_workers=room.n_cpus))

    async def use(self, actor: Actor, name: str, room: Room) -> None:
        inbound, busy_s = self._dispatch.first(name), anyio.current_time()
        while not self._over.is_set():
            outbound = await self._exchanged(actor, inbound)
            inbound = self._dispatch.heard(name, outbound)
            if self._dispatch.is_over:
                self._over.set()
            elif not self.is_above_least or self._dispatch.has_work(name):
                busy_s = anyio.current_time()
            elif anyio.current_time() - busy_s > IDLE_S:
                await self._let_end(name, actor)
                return
        await anyio.sleep_forever()  # until `closing` has let it end

    def lost(self, name: str, place: Place, error: Exception) -> None:
        told = f"{place.host}: its worker is lost ({first_line(error)})"
        self._session.on_event(MachineLost(message=told))

    def leave(self, name: str) -> None:
        self._actors.pop(name, None)
        self._dispatch.leave(name)

    async def closing(self) -> None:
        """Let workers close their models."""
        async with anyio.create_task_group() as tasks:
            for name, actor in list(self._actors.items()):
                tasks.start_soon(self._let_end, name, actor)

    async def _let_end(self, name: str, actor: Actor) -> None:
        """Let a worker close its models; one that takes long is ended as it is."""
        with anyio.move_on_after(LOOK_S), suppress(self._ray.exceptions.RayError):
            await answer(actor.exchange.remote(_pickled(self._dispatch.last(name))))

    async def end(self, actor: Actor) -> None:
        """It was let end before, or is lost."""

    async def _exchanged(self, actor: Actor, inbound: Inbound) -> Outbound:
        """What a worker says; a call that was lost on the way is made again, which changes nothing."""
        said = _pickled(inbound)
        for n in range(_CALLS):
            try:
                with anyio.fail_after(STALLED_S):
                    heard = await answer(actor.exchange.remote(said))
                outbound: Outbound = pickle.loads(heard)  # noqa: S301 - our worker's
                return outbound
            except self._ray.exceptions.ActorDiedError:
                raise
            except self._ray.exceptions.RayError as error:
                if n + 1 == _CALLS:
                    raise
                _log.debug("a call of a worker was lost: %s", error)
                await anyio.sleep(2.0**n / 4)
        raise AssertionError  # the loop returns or raises
