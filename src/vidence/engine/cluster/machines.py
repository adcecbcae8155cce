"""Actors of Ray on the machines of a cluster: each does what it is called for; a lost one is replaced."""

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
"""So many workers may be lost with one call, or in one place; it may well be what they die of."""
BEGIN_S: Final = 300.0
"""How long a worker may take to be there: Python, vidence and its libraries are loaded from a shared disk."""
COMING_S: Final = 900.0
"""The same where its machine may have to come first."""
PULSE_S: Final = 3.0
"""How long after an answer a worker, and the head, is asked again whether it is there."""
SILENT_S: Final = 10.0
"""So long without an answer, and it counts as lost."""
GATHER_S: Final = 0.002
"""How long an exchange waits for further calls, or results, that are on their way with the first one."""
MOST_BYTES: Final = 8 * 10**6
"""About so much goes to a worker in one exchange, and at least a call."""
_END_S: Final = 2.0
Actor: TypeAlias = Any
"""Ray has no types for actors."""
Connected: TypeAlias = Callable[[], AbstractContextManager[tuple[ModuleType, str]]]
"""Connects this process to the cluster; gives the library, and where the head listens, as HOST:PORT."""


class Version(Record):
    """What must be the same on every machine."""

    vidence: str
    git_revision: str

    def __str__(self) -> str:
        return f"{self.vidence} ({self.git_revision})" if self.git_revision else self.vidence


def version() -> Version:
    """That of this process."""
    return Version(vidence=__version__, git_revision=git_revision())


def refused(theirs: Version, ours: Version, lacking: Sequence[str], *, machine: str) -> UsageError | None:
    """Why a machine cannot work with us: it has another vidence, or lacks keys; None where it can."""
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
    """Work that is unpickled by the process that does it, and what it made by the driver.

    Nothing on the way needs its libraries, and arrays are no views into Ray's store, which they would fill.
    """

    content: bytes

    def __call__(self) -> bytes:
        work: Callable[[], object] = pickle.loads(self.content)  # noqa: S301 - the driver wrote it
        return dumps(work())


class Machine:
    """The actor: does work in processes of its own, and asks models that it opens."""

    def __init__(self) -> None:
        self._workers: Workers | None = None
        self._models: dict[str, Model] = {}
        self._tasks: dict[asyncio.Task[object], int] = {}
        self._done: list[asyncio.Task[object]] = []
        self._is_over = anyio.Event()

    async def pulse(self) -> None:
        """Be there: called in a thread of its own, whatever else the actor does."""

    async def begin(
        self, *, folder: str, n_cpus: int, size: "Size", keys: Sequence[str]
    ) -> tuple[Version, Sequence[str]]:
        """Be ready; the version, and which of the keys are not set here.

        Paths start from `folder` where this machine has it. Processes that keep a network work with all
        processors, and their memory has no bound.
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
        """Begin calls, and give what came of those and of earlier ones, as soon as there is something.

        It ends without, too, when the next one comes.

        Args:
            content: pickled calls, as number, method and arguments, and None.
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
        """Do work in a process of its own; what it made is pickled."""
        if self._workers is None:
            raise VidenceError("a machine was given work before it had begun")
        try:
            return await self._workers.run(key, _Pickled(content), deadline_s=deadline_s)
        except VidenceError as error:
            return error

    async def reply(self, spec: str, identity: str, request: Request) -> Reply | VidenceError:
        """The reply of a model, which is opened on its first question, or the error.

        Args:
            spec: the model.
            identity: what tells it from others, where the command was begun.
            request: what is asked.
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
        """End the processes, and let go of the weights."""
        for model in self._models.values():
            await model.close()
        if self._workers is not None:
            await self._workers.__aexit__(None, None, None)


@dataclass(frozen=True, kw_only=True)
class Size:
    """How many actors there are, and what each takes of its machine."""

    replicas: int = 0
    """How many; 0: one on each machine, or for `n_cpus` processors or `n_gpus` GPUs of it."""
    n_cpus: int = 0
    """0: its part of the machine's."""
    n_gpus: int = 0
    takes_cpus: bool = True
    """Whether its processors are taken from other work of the cluster."""
    most_each: int | None = None
    """How many processes may work on each machine; None: one for each processor."""
    is_network: bool = False
    """Whether what it does keeps a network: one process, with all its processors as threads."""
    bounds: Bounds = NOTHING
    """What its processes may touch."""

    def rooms(self, resources: Mapping[str, float]) -> list[int]:
        """The processors of each actor on a machine, of which Ray counts these resources.

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
        """How many processes an actor with so many processors has."""
        return 1 if self.is_network else min(n_cpus, self.most_each or n_cpus)


@dataclass(eq=False, kw_only=True)
class Place:
    """Where an actor is."""

    host: str
    node_id: str
    """Ray's name of the machine; empty: Ray finds one, or waits for it."""
    n_cpus: int
    actor: Actor = None
    """None: it is lost, or has not begun."""
    is_ready: bool = False
    has_failed: anyio.Event = field(default_factory=anyio.Event)
    """A call came to nothing: is the actor still there?"""
    n_lost: int = 0
    outcomes: dict[int, asyncio.Future[object]] = field(default_factory=dict)
    """Of the calls that the actor has on hand, or is to have, by number; None: it was lost with the call."""
    unsent: list[tuple[int, str, tuple[object, ...]]] = field(default_factory=list)
    """Number, method and arguments of calls that it is to have."""
    has_news: anyio.Event = field(default_factory=anyio.Event)
    """There is something to exchange."""
    turn: anyio.Lock = field(default_factory=anyio.Lock)
    """Who has it waits for news."""

    def end(self, number: int, outcome: object) -> None:
        """Give what came of a call to its caller, who may be gone."""
        if (waited_for := self.outcomes.pop(number, None)) and not waited_for.done():
            waited_for.set_result(outcome)

    def batch(self) -> bytes:
        """The next calls, for `Machine.exchange`; what they share, such as frames, is there once."""
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
    """The places of the actors on the machines of a cluster.

    Args:
        size: of the actors.
        nodes: the machines, as Ray counts them.

    Raises:
        UsageError: no machine has room for one.
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
    """What an actor answers; a wait that is cancelled leaves the call alone.

    Ray's own awaiting cancels its future, and its client then fails in a thread when the answer comes.
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
    """Actors of one size. A call goes to the one with least to do, and to another one where that is lost.

    Args:
        connected: connects this process to the cluster.
        size: of the actors.
        on_trouble: told of actors that are lost.
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
        """Connect, and see where there is room; actors begin with the first call.

        Args:
            size_of: changes the size, as the machines are.

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
        """End the actors, whatever they are at."""
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
        """What a method of an actor returns; None where `MOST_LOSSES` of them were lost with it.

        Args:
            method: of `Machine`.
            words: its arguments.
            most_calls: how many of these calls one actor has on hand; None: two for each process.

        Raises:
            VidenceError: the method gave it, or no actor can be had.
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
        """The place with least to do that takes one more call."""
        if not self._tasks:
            for work in (self._watch_head(), *map(self._keep, self.places)):
                self._begin(work)

        def load(place: Place) -> float:
            return len(place.outcomes) / (most_calls or 2 * self.size.n_processes(place.n_cpus))

        while True:
            if self._problem is not None:
                raise self._problem
            free = [place for place in self.places if place.is_ready and load(place) < 1]
            if free:
                return min(free, key=load)
            await self._change.wait()

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        task.add_done_callback(self._ended)
        self._tasks.append(task)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Give a fault of ours to those who wait."""
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
        """Keep an actor in a place, until too many were lost there."""
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
        """Have an actor begin and ask it, again and again, whether it is there; why it is lost."""
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
        """Give an actor its calls, and take what came of them, many at a time.

        Two of these take turns: while the actor has nothing to give to the one, the other brings new calls.
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
        """End all work when the head is gone: Ray itself would end this process a minute later."""
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
        """Have others do what a place was at."""
        for number in tuple(place.outcomes):
            place.end(number, None)

    async def _end(self, actor: Actor) -> None:
        with suppress(self._ray.exceptions.RayError):
            await answer(actor.end.remote())

    def _kill(self, actor: Actor) -> None:
        with suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.kill(actor)


class MachineProcesses(Machines, AbstractAsyncContextManager["MachineProcesses"]):
    """The `engine.executor.Processes` of a cluster: those of its machines."""

    async def __aenter__(self) -> Self:
        self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def n_places(self) -> int:
        """How many functions they do at a time."""
        return sum(self.size.n_processes(place.n_cpus) for place in self.places)

    async def run(self, key: str, function: Callable[[], T], *, deadline_s: float) -> T:
        """What `function` returns; see `Workers.run`."""
        content = pickle.dumps(function, protocol=pickle.HIGHEST_PROTOCOL)
        came = await self.call("do", key, content, deadline_s)
        if came is None:
            raise MediaError(
                f"{key}: {MOST_LOSSES} workers of the cluster were lost with this file; it is skipped"
            )
        return cast("T", loads(key, came))
