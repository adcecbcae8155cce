"""Ray actors on the machines of a cluster; lost actors are replaced."""

import asyncio
import io
import os
import pickle
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Self, TypeAlias, TypeVar, cast

import anyio

from vidence.catalog import create
from vidence.contracts import Model, Request
from vidence.engine.bounds import Bounds
from vidence.engine.engine import said
from vidence.engine.environment import environment
from vidence.engine.executor import NO_BOUND_BYTES, NOTHING, Workers
from vidence.engine.outcomes import dumps, loads
from vidence.engine.plan import git_revision
from vidence.errors import LostClusterError, MediaError, UsageError, VidenceError
from vidence.installation import __version__
from vidence.media.remote import keys_in_use
from vidence.records import Record, Reply

T = TypeVar("T")
MOST_LOSSES: Final = 3
"""Most workers that one call, or one place, may lose before the call itself is blamed."""
BEGIN_S: Final = 300.0
"""Seconds that a worker may take to start; it loads Python and its libraries from a shared disk."""
COMING_S: Final = 900.0
"""Seconds that a worker may take to start if its machine may have to be provisioned first."""
PULSE_S: Final = 3.0
"""Seconds between liveness checks of a worker and of the head."""
SILENT_S: Final = 10.0
"""Seconds without an answer after which a worker counts as lost."""
GATHER_S: Final = 0.002
"""Seconds that an exchange waits for further calls or results to send together."""
MOST_BYTES: Final = 8 * 10**6
"""Approximate most bytes per exchange; at least one call is sent."""
_END_S: Final = 2.0
Actor: TypeAlias = Any
"""Untyped, because Ray has no types for actors."""
Connected: TypeAlias = Callable[[], AbstractContextManager[tuple[ModuleType, str]]]
"""Connects this process to the cluster, and yields the library and the head's address, HOST:PORT."""


class Version(Record):
    """The versions that must be equal on all machines."""

    vidence: str
    git_revision: str

    def __str__(self) -> str:
        return f"{self.vidence} ({self.git_revision})" if self.git_revision else self.vidence


def version() -> Version:
    """Return the versions of this process."""
    return Version(vidence=__version__, git_revision=git_revision())


def refused(theirs: Version, ours: Version, lacking: Sequence[str], *, machine: str) -> UsageError | None:
    """Return why a machine cannot be used (another vidence, or missing keys), or None if it can."""
    known = theirs.git_revision and ours.git_revision
    if theirs.vidence != ours.vidence or (known and theirs.git_revision != ours.git_revision):
        return UsageError(
            f"{machine} has vidence {theirs}, this machine {ours}; install the same version everywhere"
        )
    if lacking:
        return UsageError(
            f"{machine} has no {' and no '.join(lacking)}, as this machine has for media; set it before `ray "
            "start` there"
        )
    return None


@dataclass(frozen=True)
class _Pickled:
    """Work and results, pickled by the driver and by the process that does the work.

    Processes in between need not import its libraries, and arrays do not become views into Ray's store.
    """

    content: bytes

    def __call__(self) -> bytes:
        work: Callable[[], object] = pickle.loads(self.content)  # noqa: S301 - the driver wrote it
        return dumps(work())


class Machine:
    """The actor: runs work in processes of its own, and asks the models that it opens."""

    def __init__(self) -> None:
        self._workers: Workers | None = None
        self._models: dict[str, Model] = {}
        self._tasks: dict[asyncio.Task[object], int] = {}
        self._done: list[asyncio.Task[object]] = []
        self._is_over = anyio.Event()

    async def pulse(self) -> None:
        """Answer a liveness check, in a separate thread."""

    async def begin(
        self, *, folder: str, n_cpus: int, size: "Size", keys: Sequence[str]
    ) -> tuple[Version, Sequence[str]]:
        """Set up the actor, and return its versions and the keys that are not set on this machine.

        Paths are resolved against `folder` if this machine has it. Processes that keep a network use all
        processors, and their memory is not limited.
        """
        if Path(folder).is_dir():
            os.chdir(folder)
        os.environ["OMP_NUM_THREADS"] = str(n_cpus)
        self._workers = Workers(
            size.n_processes(n_cpus),
            most_bytes=NO_BOUND_BYTES if size.is_network else environment().worker_max_bytes,
            n_threads=n_cpus if size.is_network else 1,
            bounds=size.bounds,
        )
        return version(), [name for name in keys if not os.environ.get(name)]

    async def exchange(self, content: bytes) -> list[tuple[int, object]]:
        """Start calls, and return finished results of these and earlier calls as soon as there are any.

        Returns early, possibly empty, when the next exchange arrives.

        Args:
            content: pickled calls (number, method, arguments) and None.
        """
        self._is_over.set()
        self._is_over = is_over = anyio.Event()
        for number, method, words in iter(pickle.Unpickler(io.BytesIO(content)).load, None):  # noqa: S301 - the driver wrote it
            task = asyncio.create_task(getattr(self, method)(*words))
            self._tasks[task] = number
            task.add_done_callback(self._end_exchange)
        if not self._done:
            await is_over.wait()
        if self._done and len(self._done) < len(self._tasks):
            await anyio.sleep(GATHER_S)
        done, self._done = self._done, []
        return [(self._tasks.pop(task), task.result()) for task in done]

    def _end_exchange(self, task: asyncio.Task[object]) -> None:
        self._done.append(task)
        self._is_over.set()

    async def do(self, key: str, content: bytes, deadline_s: float) -> bytes | VidenceError:
        """Run work in a separate process, and return its pickled result."""
        if self._workers is None:
            raise VidenceError("a machine was given work before it had begun")
        try:
            return await self._workers.run(key, _Pickled(content), deadline_s=deadline_s)
        except VidenceError as error:
            return error

    async def reply(self, spec: str, identity: str, request: Request) -> Reply | VidenceError:
        """Return a model's reply, or the error; the model is opened at its first request.

        Args:
            spec: of the model.
            identity: tells models apart; computed where the command was started.
            request: the request.
        """
        try:
            if spec not in self._models:
                model: Model = create("model", spec)
                if model.identity != identity:
                    raise UsageError(
                        f"a machine of the cluster opens {spec} as {model.identity}, this machine as "
                        f"{identity}; give both the same files"
                    )
                self._models[spec] = model
        except VidenceError as error:
            return error
        return await said(self._models[spec], request)

    async def end(self) -> None:
        """End the processes, and free the weights."""
        for model in self._models.values():
            await model.close()
        if self._workers is not None:
            await self._workers.__aexit__(None, None, None)


@dataclass(frozen=True, kw_only=True)
class Size:
    """The number of actors, and what each one takes of its machine."""

    replicas: int = 0
    """Number of actors; 0: one per machine, or one per `n_cpus` processors or `n_gpus` GPUs."""
    n_cpus: int = 0
    """Processors per actor; 0: an equal share of the machine's."""
    n_gpus: int = 0
    takes_cpus: bool = True
    """Whether the processors are reserved with Ray."""
    most_each: int | None = None
    """Most processes per machine; None: one per processor."""
    is_network: bool = False
    """Whether the work keeps a network loaded: one process, with all processors as threads."""
    bounds: Bounds = NOTHING
    """What the processes may access."""

    def rooms(self, resources: Mapping[str, float]) -> list[int]:
        """Return the processors of each actor on a machine with these Ray resources.

        >>> Size(n_gpus=2).rooms({"CPU": 16.0, "GPU": 8.0})
        [4, 4, 4, 4]
        >>> Size(n_cpus=4, most_each=10).rooms({"CPU": 16.0})
        [4, 4]
        """
        n_here = int(resources.get("CPU", 0))
        n = n_here // max(self.n_cpus, 1)  # each needs a processor
        if self.n_gpus:
            n = min(n, int(resources.get("GPU", 0)) // self.n_gpus)
        elif not self.n_cpus or self.is_network or not self.takes_cpus:
            n = min(n, 1)
        if self.most_each is not None and self.n_cpus and not self.is_network:
            n = min(n, max(1, self.most_each // self.n_cpus))
        return [self.n_cpus or n_here // max(n, 1)] * n

    def n_processes(self, n_cpus: int) -> int:
        """Return the number of processes of an actor with this many processors."""
        return 1 if self.is_network else min(n_cpus, self.most_each or n_cpus)


@dataclass(eq=False, kw_only=True)
class Place:
    """A slot for one actor."""

    host: str
    node_id: str
    """Ray's node id; empty: Ray chooses a machine, or waits for one."""
    n_cpus: int
    actor: Actor = None
    """The actor; None if it is lost or not started."""
    is_ready: bool = False
    has_failed: anyio.Event = field(default_factory=anyio.Event)
    """Set when a call failed, to check at once whether the actor is alive."""
    n_lost: int = 0
    outcomes: dict[int, asyncio.Future[object]] = field(default_factory=dict)
    """Futures of pending calls, by number; the result None means that the actor was lost with the call."""
    unsent: list[tuple[int, str, tuple[object, ...]]] = field(default_factory=list)
    """Number, method and arguments of calls not sent yet."""
    has_news: anyio.Event = field(default_factory=anyio.Event)
    """Set when there is something to exchange."""
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    """Held by the exchange that waits for results."""

    def end(self, number: int, outcome: object) -> None:
        """Set the result of a call; its caller may be gone."""
        if (waited_for := self.outcomes.pop(number, None)) and not waited_for.done():
            waited_for.set_result(outcome)

    def batch(self) -> bytes:
        """Pickle the next calls for `Machine.exchange`; shared content, such as frames, is included once."""
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
        while self.unsent and buffer.tell() < MOST_BYTES:
            call = self.unsent.pop(0)
            if call[0] in self.outcomes:  # its caller still waits
                pickler.dump(call)
        pickler.dump(None)
        if not self.unsent:
            self.has_news = anyio.Event()
        return buffer.getvalue()


def places(size: Size, nodes: Iterable[Mapping[str, Any]]) -> list[Place]:
    """Return the actors' places on the machines of a cluster.

    Args:
        size: of the actors.
        nodes: the machines, as Ray lists them.

    Raises:
        UsageError: no machine has room for an actor.
    """
    if size.replicas:
        return [Place(host="the cluster", node_id="", n_cpus=size.n_cpus or 1) for _ in range(size.replicas)]
    places = [
        Place(host=node["NodeManagerHostname"], node_id=node["NodeID"], n_cpus=n_cpus)
        for node in nodes
        if node["Alive"]
        for n_cpus in size.rooms(node["Resources"])
    ]
    if not places:
        wanted = f"{size.n_gpus} GPUs and a processor" if size.n_gpus else f"{max(size.n_cpus, 1)} processors"
        raise UsageError(
            f"no machine of the cluster has the {wanted} that a worker takes; see `ray status`, or lower "
            "cpus=, gpus= or device="
        )
    return places


async def answer(reference: Any) -> Any:  # noqa: ANN401 - Ray has no types for what actors return
    """Await an actor's answer; cancelling the wait does not cancel the call.

    Awaiting Ray's reference directly cancels its future, and Ray's client then fails in a thread when the
    answer arrives.
    """
    loop, has_come = asyncio.get_running_loop(), anyio.Event()

    def tell(_: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nothing waits any more
            loop.call_soon_threadsafe(has_come.set)

    future = reference.future()
    future.add_done_callback(tell)
    await has_come.wait()
    return future.result()


class Machines:
    """Actors of one size. Each call goes to the least busy actor, and to another one if that is lost.

    Args:
        connected: connects this process to the cluster.
        size: of the actors.
        on_trouble: called with lost actors.
    """

    def __init__(self, connected: Connected, size: Size, *, on_trouble: Callable[[str], None]) -> None:
        self._connected = connected
        self._on_trouble = on_trouble
        self._stack = ExitStack()
        self._tasks: list[asyncio.Task[None]] = []
        self._numbers = count()
        self._change = anyio.Event()
        self._problem: BaseException | None = None
        self.size = size
        self.places: list[Place] = []

    def open(self, size_of: Callable[[Size, list[Mapping[str, Any]]], Size] = lambda size, _: size) -> None:
        """Connect, and find room for the actors, which start at the first call.

        Args:
            size_of: adapts the size to the machines.

        Raises:
            UsageError: there is no cluster, or no room on it.
        """
        with ExitStack() as stack:
            self._ray, self._head = stack.enter_context(self._connected())
            nodes = self._ray.nodes()
            self.size = size_of(self.size, nodes)
            self.places = places(self.size, nodes)
            self._stack = stack.pop_all()

    async def close(self) -> None:
        """End the actors, even while they work."""
        for task in self._tasks:
            task.cancel()
        if not isinstance(self._problem, LostClusterError):  # without a head Ray would wait for a minute
            with anyio.CancelScope(shield=True):
                actors = [place.actor for place in self.places if place.actor is not None]
                with anyio.move_on_after(_END_S):
                    async with anyio.create_task_group() as tasks:
                        for actor in actors:
                            tasks.start_soon(self._end, actor)
                for actor in actors:
                    self._kill(actor)
        self.places = []
        self._stack.close()

    async def call(self, method: str, *words: object, most_calls: int | None = None) -> Any:  # noqa: ANN401 - what the method returns
        """Return the result of an actor's method; None if `MOST_LOSSES` actors were lost with the call.

        Args:
            method: of `Machine`.
            words: the arguments.
            most_calls: how many of these calls one actor may have at a time; None: two per process.

        Raises:
            VidenceError: the method returned it, or no actor can be started.
        """
        for _ in range(MOST_LOSSES):
            place, number = await self._free(most_calls), next(self._numbers)
            outcome = place.outcomes[number] = asyncio.get_running_loop().create_future()
            place.unsent.append((number, method, words))
            place.has_news.set()
            try:
                came = await outcome
            finally:
                place.outcomes.pop(number, None)
                self._tell()
            if isinstance(came, VidenceError):
                raise came
            if came is not None:
                return came
        return None

    async def _free(self, most_calls: int | None) -> Place:
        """Wait for the least busy place that can take another call."""
        if not self._tasks:
            for work in (self._watch_head(), *map(self._keep, self.places)):
                self._begin(work)

        def load(place: Place) -> float:
            return len(place.outcomes) / (most_calls or 2 * self.size.n_processes(place.n_cpus))

        while True:
            if self._problem is not None:
                raise self._problem
            if free := [place for place in self.places if place.is_ready and load(place) < 1]:
                return min(free, key=load)
            await self._change.wait()

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        task.add_done_callback(self._ended)
        self._tasks.append(task)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Pass an internal error on to the waiting callers."""
        if not task.cancelled() and (fault := task.exception()):
            self._end_all(fault)

    def _end_all(self, problem: BaseException) -> None:
        self._problem = problem
        for place in self.places:
            self._leave(place)
        self._tell()

    def _tell(self) -> None:
        self._change.set()
        self._change = anyio.Event()

    # ------------------------------------------------------------------ beginning and ending

    async def _keep(self, place: Place) -> None:
        """Restart a place's actor until too many are lost."""
        while place.n_lost < MOST_LOSSES and await self._head_answers():
            place.actor = actor = self._actor(place)
            exchanges = [self._begin(self._exchange(place, actor)) for _ in range(2)]
            why = await self._lost(place, actor)
            for task in exchanges:
                task.cancel()
            place.actor, place.is_ready = None, False
            place.n_lost += 1
            self._leave(place)
            if await self._head_answers():  # without one Ray waits for a minute, and no worker is to blame
                self._on_trouble(f"{place.host}: its worker is lost ({why}); others do its work")
                self._kill(actor)
            if all(other.n_lost >= MOST_LOSSES for other in self.places):
                self._problem = VidenceError(
                    f"no machine of the cluster works any more ({why}); finished work is kept: see `ray "
                    "status` and repeat the command"
                )
            self._tell()

    def _actor(self, place: Place) -> Actor:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray.method(concurrency_group="pulse")(Machine.pulse)  # marks it; its client takes no other way
        where = NodeAffinitySchedulingStrategy(place.node_id, soft=False) if place.node_id else "SPREAD"
        return (
            self._ray.remote(concurrency_groups={"pulse": 1})(Machine)
            .options(
                num_cpus=place.n_cpus if self.size.takes_cpus else 0,
                num_gpus=self.size.n_gpus,
                max_restarts=0,
                max_concurrency=1000,
                scheduling_strategy=where,
            )
            .remote()
        )

    async def _lost(self, place: Place, actor: Actor) -> str:
        """Start an actor and check it repeatedly; return the reason when it is lost."""
        begun = actor.begin.remote(
            folder=str(Path.cwd()), n_cpus=place.n_cpus, size=self.size, keys=keys_in_use()
        )
        try:
            with anyio.fail_after(BEGIN_S if place.node_id else COMING_S):
                theirs, lacking = await answer(begun)
            self._problem = self._problem or refused(theirs, version(), lacking, machine=place.host)
            while True:
                place.is_ready, place.has_failed = True, anyio.Event()
                self._tell()
                with anyio.move_on_after(PULSE_S):
                    await place.has_failed.wait()
                with anyio.fail_after(SILENT_S):
                    await answer(actor.pulse.remote())
        except self._ray.exceptions.RayError as error:
            return (str(error).strip().splitlines() or [type(error).__name__])[0]
        except TimeoutError:
            return "it says nothing" if place.is_ready else "it did not start in time"

    async def _exchange(self, place: Place, actor: Actor) -> None:
        """Send an actor its calls and collect results, many at a time.

        Two of these run in turns: while one waits for results, the other sends new calls.
        """
        while True:
            async with place.turn:
                await place.has_news.wait()
                await anyio.sleep(GATHER_S)
                content = place.batch()
            try:
                for number, outcome in await answer(actor.exchange.remote(content)):
                    place.end(number, outcome)
            except self._ray.exceptions.RayTaskError:  # a fault of the program
                raise
            except self._ray.exceptions.RayError:
                place.is_ready = False
                place.has_failed.set()
                self._leave(place)
            if place.outcomes and place.turn.locked():  # the other one is here, and the actor at work
                place.has_news.set()

    async def _watch_head(self) -> None:
        """Stop all work when the head is gone; Ray itself would end this process a minute later."""
        last_s = anyio.current_time()
        while anyio.current_time() < last_s + SILENT_S:
            if await self._head_answers():
                last_s = anyio.current_time()
            await anyio.sleep(PULSE_S)
        self._end_all(LostClusterError(f"the head of the Ray cluster at {self._head} does not answer"))

    async def _head_answers(self) -> bool:
        host, _, port = self._head.rpartition(":")
        with suppress(OSError), anyio.move_on_after(SILENT_S):
            await (await anyio.connect_tcp(host, int(port))).aclose()
            return True
        return False

    def _leave(self, place: Place) -> None:
        """Hand a place's calls to other places."""
        for number in tuple(place.outcomes):
            place.end(number, None)

    async def _end(self, actor: Actor) -> None:
        with suppress(self._ray.exceptions.RayError):
            await answer(actor.end.remote())

    def _kill(self, actor: Actor) -> None:
        with suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.kill(actor)


class MachineProcesses(Machines, AbstractAsyncContextManager["MachineProcesses"]):
    """The `engine.executor.Processes` of a cluster."""

    async def __aenter__(self) -> Self:
        self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def n_places(self) -> int:
        """Return how many functions run at a time."""
        return sum(self.size.n_processes(place.n_cpus) for place in self.places)

    async def run(self, key: str, function: Callable[[], T], *, deadline_s: float) -> T:
        """Return the result of `function`; see `Workers.run`."""
        content = pickle.dumps(function, protocol=pickle.HIGHEST_PROTOCOL)
        came = await self.call("do", key, content, deadline_s)
        if came is None:
            raise MediaError(
                f"{key}: {MOST_LOSSES} workers of the cluster were lost with this file; it is skipped"
            )
        return cast("T", loads(key, came))
