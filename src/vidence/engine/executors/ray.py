"""The executor of a Ray cluster: one worker on each machine, called by the driver all the time."""

import asyncio
import importlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Final

import anyio
import anyio.abc

from vidence import __version__
from vidence.ask.models.weights import WeightSettings
from vidence.catalog import parse_spec, settings_type
from vidence.engine.environment import environment
from vidence.engine.events import MachineLost
from vidence.engine.executors.dispatch import Dispatch
from vidence.engine.executors.executor import RAY, DoneT, Duty
from vidence.engine.executors.messages import Inbound, Outbound
from vidence.engine.executors.worker import Assignment, Worker
from vidence.engine.plan import Plan, git_revision
from vidence.engine.session import Session, first_error
from vidence.errors import UsageError, VidenceError
from vidence.installation import adding
from vidence.records import Record

STALLED_S: Final = 60.0
"""How long a worker may leave a call without an answer; it answers every second where all is well."""
BEGIN_S: Final = 300.0
"""How long a worker may take to be there: Python, vidence and its libraries are loaded from a shared disk."""
_LOOK_S: Final = 2.0
_ALONE_S: Final = 120.0
_MOST_LOSSES: Final = 3
_CALLS: Final = 3  # of one message, before a worker counts as lost
_log = logging.getLogger(__name__)


class Hello(Record):
    """What a worker says first."""

    vidence: str
    git_revision: str


def hello() -> Hello:
    """What this process would say."""
    return Hello(vidence=__version__, git_revision=git_revision())


def check_same_version(theirs: Hello, ours: Hello, *, machine: str) -> None:
    """Refuse a machine with another vidence.

    Raises:
        UsageError: it has.
    """
    known = theirs.git_revision and ours.git_revision
    if theirs.vidence != ours.vidence or (known and theirs.git_revision != ours.git_revision):
        raise UsageError(
            f"{machine} has vidence {_named(theirs)}, and the run begins with {_named(ours)}; install the "
            "same version on every machine of the cluster"
        )


def _named(one: Hello) -> str:
    return f"{one.vidence} ({one.git_revision})" if one.git_revision else one.vidence


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

    async def exchange(self, inbound: Inbound) -> Outbound:
        """One call of the driver."""
        if self._worker is None:
            raise VidenceError("a worker was called before it had begun")
        return await self._worker.exchange(inbound)


class RayExecutor:
    """An `Executor` on the machines of a cluster.

    Args:
        address: ``ray``: the cluster that this machine is part of; or ``ray://HOST:10001``.

    Raises:
        UsageError: Ray is not installed.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._ray = library()

    async def work(self, session: Session, duty: Duty[DoneT]) -> None:
        """Show every question, do the task with it, and keep what was made; see `Executor.work`."""
        check_portable(session)
        with connected(self._ray, self._address):
            await _Cluster(self._ray, session, duty).work()


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
        UsageError: there is no cluster.
    """
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(
            address="auto" if address == RAY else address,
            namespace="vidence",
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"there is no Ray cluster at {address}: {error}; start one with `ray start --head`, on further "
            "machines `ray start --address=HOST:6379`, and name it with --on ray://HOST:10001 or, on one of "
            "them, --on ray"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


@dataclass(frozen=True, kw_only=True)
class Room:
    """What one worker takes of its machine."""

    n_cpus: int
    n_gpus: int = 0


def rooms(resources: Mapping[str, float], *, n_gpus: int) -> list[Room]:
    """The workers of a machine: one, or one for every so many GPUs, which share its processors.

    Args:
        resources: as Ray counts them.
        n_gpus: how many GPUs one worker takes; with 0 there is one worker on a machine.

    >>> rooms({"CPU": 16.0, "GPU": 8.0}, n_gpus=2)[-2:]
    [Room(n_cpus=4, n_gpus=2), Room(n_cpus=4, n_gpus=2)]
    """
    n_cpus = int(resources.get("CPU", 0))
    n = int(resources.get("GPU", 0)) // n_gpus if n_gpus else min(n_cpus, 1)
    n = min(n, n_cpus)  # each needs a processor to decode with
    return [Room(n_cpus=n_cpus // max(n, 1), n_gpus=n_gpus)] * n


def gpus_of(plan: Plan) -> int:
    """How many GPUs one worker takes for the weights that it loads; 0 where servers have them."""
    n_gpus = 0
    for text in (plan.model, *plan.judge_models):
        spec = parse_spec(text)
        settings = settings_type("model", spec.name)
        if settings is not None and issubclass(settings, WeightSettings):
            n_gpus = max(n_gpus, int(spec.options.get("tensor_parallel_size", 1)))
    return n_gpus


async def answer(reference: Any) -> Any:  # noqa: ANN401 - Ray has no types for what actors return
    """What an actor answers; a wait that is cancelled leaves the call alone.

    Ray's own awaiting cancels its future, and its client then fails in a thread when the answer comes.
    """
    loop, has_come = asyncio.get_running_loop(), anyio.Event()

    def tell(_: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(has_come.set)

    future = reference.future()
    future.add_done_callback(tell)
    await has_come.wait()
    return future.result()


@dataclass(kw_only=True)
class _Place:
    """A place for a worker, and how often its worker was lost."""

    room: Room
    n_lost: int = 0
    is_tended: bool = False


class _Cluster:
    """One session on the machines of a cluster."""

    def __init__(self, ray: ModuleType, session: Session, duty: Duty[Any]) -> None:
        self._ray = ray
        self._session = session
        self._duty = duty
        self._dispatch = Dispatch(session, duty, clock=anyio.current_time)
        self._places: dict[tuple[str, int], _Place] = {}
        self._n_gpus = self._gpus()
        self._actors: dict[str, Any] = {}
        self._over = anyio.Event()

    async def work(self) -> None:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch, tasks)
                await self._over.wait()
                await self._close()
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            if (found := first_error(group, VidenceError)) is not None:
                raise found from group
            raise
        if self._dispatch.spent is not None:
            raise self._dispatch.spent

    async def _close(self) -> None:
        """Let workers close their models; whoever takes long is ended as it is."""

        async def close(name: str, actor: Any) -> None:  # noqa: ANN401 - Ray has no types for actors
            with suppress(self._ray.exceptions.RayError):
                await answer(actor.exchange.remote(self._dispatch.last(name)))

        with anyio.move_on_after(_LOOK_S):
            async with anyio.create_task_group() as tasks:
                for name, actor in list(self._actors.items()):
                    tasks.start_soon(close, name, actor)

    async def _watch(self, tasks: anyio.abc.TaskGroup) -> None:
        """Begin to work on every machine that is there, and on those that come."""
        alone_s = 0.0
        while not self._over.is_set():
            for found in await anyio.to_thread.run_sync(self._ray.nodes):
                if not found["Alive"]:
                    continue
                for number, room in enumerate(rooms(found["Resources"], n_gpus=self._n_gpus)):
                    key = found["NodeID"], number
                    place = self._places.setdefault(key, _Place(room=room))
                    if not place.is_tended and place.n_lost <= _MOST_LOSSES and self._has_room:
                        place.is_tended = True
                        self._dispatch.n_expected = self._n_tended
                        tasks.start_soon(self._tend, key, found["NodeManagerHostname"])
            await anyio.sleep(_LOOK_S)
            alone_s = 0.0 if self._n_tended else alone_s + _LOOK_S
            if alone_s > _ALONE_S:
                raise VidenceError(
                    f"no machine of the cluster has worked for {_ALONE_S:g} s; what was answered is kept: "
                    "see `ray status`, and run the same command again"
                )

    @property
    def _n_tended(self) -> int:
        return sum(place.is_tended for place in self._places.values())

    @property
    def _has_room(self) -> bool:
        """Whether one more worker could ask something: each of them asks one question at least."""
        return self._n_tended < self._duty.n_consumers

    def _gpus(self) -> int:
        """How many GPUs a worker takes on this cluster; where it has none, weights are on processors."""
        wanted = gpus_of(self._session.prepared.plan)
        most = max((int(one["Resources"].get("GPU", 0)) for one in self._ray.nodes()), default=0)
        if 0 < most < wanted:
            raise UsageError(
                f"one model takes {wanted} GPUs, and no machine of the cluster has more than {most}; give a "
                "smaller tensor_parallel_size"
            )
        return min(wanted, most)

    async def _tend(self, key: tuple[str, int], host: str) -> None:
        """Call the worker of one place until all is done, or it is lost."""
        place, name = self._places[key], f"vidence {host} {key[0][:8]} {key[1]}"
        actor = self._actor(key[0], name=name, room=place.room)
        try:
            with anyio.fail_after(BEGIN_S):
                check_same_version(await answer(actor.hello.remote()), hello(), machine=host)
                self._dispatch.join(name)
                self._actors[name] = actor
                inbound = self._dispatch.first(name)
                assignment = Assignment(
                    opening=self._session.opening,
                    task=self._duty.task,
                    share=inbound.share,
                    part=inbound.part,
                )
                await answer(actor.begin.remote(assignment, n_workers=place.room.n_cpus))
            await self._call(actor, name)
        except (self._ray.exceptions.RayError, TimeoutError) as error:
            place.n_lost += 1
            said = str(error).strip().splitlines()
            told = f"{host}: its worker is lost ({said[0] if said else type(error).__name__})"
            self._session.on_event(MachineLost(message=told))
        finally:
            self._actors.pop(name, None)
            self._dispatch.leave(name)
            place.is_tended = False
            self._dispatch.n_expected = self._n_tended
            with suppress(self._ray.exceptions.RayError, ValueError):
                self._ray.kill(actor)

    async def _call(self, actor: Any, name: str) -> None:  # noqa: ANN401 - Ray has no types for actors
        inbound = self._dispatch.first(name)
        while not self._over.is_set():
            outbound = await self._exchanged(actor, inbound)
            inbound = self._dispatch.heard(name, outbound)
            if self._dispatch.is_over:
                self._over.set()

    async def _exchanged(self, actor: Any, inbound: Inbound) -> Outbound:  # noqa: ANN401
        """What a worker says; a call that was lost on the way is made again, which changes nothing."""
        for n in range(_CALLS):
            try:
                with anyio.fail_after(STALLED_S):
                    outbound: Outbound = await answer(actor.exchange.remote(inbound))
                return outbound
            except self._ray.exceptions.ActorDiedError:
                raise
            except self._ray.exceptions.RayError as error:
                if n + 1 == _CALLS:
                    raise
                _log.debug("a call of a worker was lost: %s", error)
                await anyio.sleep(2.0**n / 4)
        raise AssertionError  # the loop returns or raises

    def _actor(self, node_id: str, *, name: str, room: Room) -> Any:  # noqa: ANN401
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return (
            self._ray.remote(Machine)
            .options(
                name=f"{name} {id(self)}",
                num_cpus=room.n_cpus,
                num_gpus=room.n_gpus,
                max_concurrency=64,
                max_restarts=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False),
            )
            .remote()
        )
