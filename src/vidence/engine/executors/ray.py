"""The executor of a Ray cluster: one worker on each machine, called by the driver all the time."""

import asyncio
import importlib
import logging
import pickle
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import anyio.abc

from vidence import __version__
from vidence.engine.environment import environment
from vidence.engine.events import MachineLost
from vidence.engine.executors.dispatch import Dispatch
from vidence.engine.executors.executor import RAY, DoneT, Duty
from vidence.engine.executors.messages import Inbound, Outbound
from vidence.engine.executors.replicas import (
    ALONE_S,
    COMING_S,
    IDLE_S,
    Asked,
    Room,
    Settings,
    gpus_of_plan,
    gpus_taken,
    n_asked_for,
    rooms,
    split_address,
)
from vidence.engine.executors.worker import Assignment, Worker
from vidence.engine.plan import git_revision
from vidence.engine.session import Session, first_error
from vidence.errors import UsageError, VidenceError
from vidence.installation import adding
from vidence.records import Record

STALLED_S: Final = 60.0
"""How long a worker may leave a call without an answer; it answers every second where all is well."""
BEGIN_S: Final = 300.0
"""How long a worker may take to be there: Python, vidence and its libraries are loaded from a shared disk."""
_LOOK_S: Final = 2.0
_ANSWER_S: Final = 10.0  # how long the head of a cluster may take to accept a connection
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
        UsageError: there is no cluster, or nothing takes connections where one was.
    """
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(
            address=_answering(_place_of(address)),
            namespace="vidence",
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
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


def actor_name(host: str, key: tuple[str, int], *, n_begun: int) -> str:
    """The name of an actor: that of one which hangs or just ended may still be taken when the next begins.

    Args:
        host: its machine.
        key: the machine and the place on it, as Ray and we number them.
        n_begun: how many actors have begun at this place before.
    """
    return f"vidence {host} {key[0][-8:]} {key[1]} {n_begun}"


def _gpus_of(session: Session) -> int:
    """How many GPUs one worker of a session would take for its weights."""
    opening = session.opening
    shown = [view.selector for view in (opening.views or {}).values()]
    return gpus_of_plan(session.prepared.plan, selectors=shown, others=opening.others)


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


def _pickled(inbound: Inbound) -> bytes:
    return pickle.dumps(inbound, pickle.HIGHEST_PROTOCOL)


@dataclass(kw_only=True)
class _Place:
    """A place for a worker, and how often its worker was lost."""

    room: Room
    n_lost: int = 0
    is_tended: bool = False


class _Cluster:
    """One session on the machines of a cluster."""

    def __init__(self, ray: ModuleType, session: Session, duty: Duty[Any], *, settings: Settings) -> None:
        self._ray = ray
        self._settings = settings
        self._session = session
        self._duty = duty
        self._dispatch = Dispatch(session, duty, clock=anyio.current_time)
        self._places: dict[tuple[str, int], _Place] = {}
        self._n_begun: Counter[tuple[str, int]] = Counter()
        self._n_gpus = gpus_taken(settings, _gpus_of(session), ray.nodes())
        self._asked = Asked(settings, n_gpus=self._n_gpus)
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
        finally:
            with anyio.CancelScope(shield=True):
                await self._asked.ask_for(0)
        if self._dispatch.spent is not None:
            raise self._dispatch.spent

    async def _close(self) -> None:
        """Let workers close their models."""
        async with anyio.create_task_group() as tasks:
            for name, actor in list(self._actors.items()):
                tasks.start_soon(self._let_end, name, actor)

    async def _let_end(self, name: str, actor: Any) -> None:  # noqa: ANN401 - Ray has no types for actors
        """Let a worker close its models; one that takes long is ended as it is."""
        with anyio.move_on_after(_LOOK_S), suppress(self._ray.exceptions.RayError):
            await answer(actor.exchange.remote(_pickled(self._dispatch.last(name))))

    async def _watch(self, tasks: anyio.abc.TaskGroup) -> None:
        """Begin to work on every machine that is there, and on those that come."""
        alone_s, bounds = 0.0, self._settings.bounds
        patience_s = ALONE_S if bounds is None else COMING_S
        while not self._over.is_set():
            if bounds is not None:
                dispatch = self._dispatch
                n = n_asked_for(bounds, n_left=dispatch.n_left, is_waiting=dispatch.is_waiting)
                await self._asked.ask_for(n)
            for found in await anyio.to_thread.run_sync(self._ray.nodes):
                if not found["Alive"]:
                    continue
                for number, room in enumerate(self._rooms(found["Resources"])):
                    key = found["NodeID"], number
                    place = self._places.setdefault(key, _Place(room=room))
                    if not place.is_tended and place.n_lost <= _MOST_LOSSES and self._has_room:
                        place.is_tended = True
                        self._dispatch.n_expected = self._n_tended
                        tasks.start_soon(self._tend, key, found["NodeManagerHostname"])
            await anyio.sleep(_LOOK_S)
            alone_s = 0.0 if self._n_tended else alone_s + _LOOK_S
            if alone_s > patience_s:
                raise VidenceError(
                    f"no machine of the cluster has worked for {patience_s:g} s; what was answered is kept: "
                    "see `ray status`, and run the same command again"
                )

    @property
    def _n_tended(self) -> int:
        return sum(place.is_tended for place in self._places.values())

    @property
    def _has_room(self) -> bool:
        """Whether one more worker could ask something: each of them asks one question at least."""
        n, bounds = self._n_tended, self._settings.bounds
        if bounds is None:
            return n < self._duty.n_consumers
        least, most = bounds
        return n < min(most, self._duty.n_consumers) and (n < least or self._dispatch.is_waiting)

    def _rooms(self, resources: Mapping[str, float]) -> list[Room]:
        return rooms(resources, n_gpus=self._n_gpus, n_cpus=self._settings.cpus)

    @property
    def _is_above_least(self) -> bool:
        """Whether a worker with nothing to do may be given back."""
        return self._settings.bounds is not None and self._n_tended > self._settings.bounds[0]

    async def _tend(self, key: tuple[str, int], host: str) -> None:
        """Call the worker of one place until all is done, or it is lost."""
        place, name = self._places[key], actor_name(host, key, n_begun=self._n_begun[key])
        self._n_begun[key] += 1
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
        inbound, busy_s = self._dispatch.first(name), anyio.current_time()
        while not self._over.is_set():
            outbound = await self._exchanged(actor, inbound)
            inbound = self._dispatch.heard(name, outbound)
            if self._dispatch.is_over:
                self._over.set()
            elif not self._is_above_least or self._dispatch.has_work(name):
                busy_s = anyio.current_time()
            elif anyio.current_time() - busy_s > IDLE_S:
                await self._let_end(name, actor)
                return
        await anyio.sleep_forever()  # until `_close` has let it end

    async def _exchanged(self, actor: Any, inbound: Inbound) -> Outbound:  # noqa: ANN401
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
