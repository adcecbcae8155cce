"""Pieces of work on the machines of a Ray cluster: decoders as on one machine, results back through Ray."""

import math
import os
import pickle
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Generic, TypeVar

import anyio
import anyio.abc

from vidence.engine.environment import environment
from vidence.engine.executors.actors import (
    STALLED_S,
    Actor,
    Fleet,
    Hello,
    Place,
    answer,
    first_line,
    hello,
)
from vidence.engine.executors.pieces import DEADLINE_S, MOST_LOSSES, Ended, Lost, Piece, PieceQueue, Told
from vidence.engine.executors.ray import connected, library
from vidence.engine.executors.replicas import IDLE_S, Room, Settings, piece_settings, rooms
from vidence.engine.workers import NO_BOUND_BYTES, Workers
from vidence.errors import MediaError, UsageError, VidenceError

T = TypeVar("T")
_IDLE_S: Final = 0.2
_BEAT_S: Final = 5.0


@dataclass(frozen=True)
class _Pickled:
    """Work that is unpickled by the process that does it, and what it made by the driver.

    Nobody on the way needs its libraries, and arrays are no views into Ray's store, which they would fill.
    """

    content: bytes

    def __call__(self) -> bytes:
        work: Callable[[], object] = pickle.loads(self.content)  # noqa: S301 - the driver wrote it
        return pickle.dumps(work(), protocol=pickle.HIGHEST_PROTOCOL)


class PieceMachine:
    """The processes of one machine as an actor."""

    def __init__(self) -> None:
        self._workers: Workers | None = None
        self._scopes: set[anyio.CancelScope] = set()

    async def hello(self) -> Hello:
        """The version of vidence on this machine."""
        return hello()

    async def beat(self) -> None:
        """A sign that it is there."""

    async def begin(self, *, folder: str, n_workers: int, n_threads: int = 0) -> None:
        """Be ready for work; paths start from `folder` where this machine has it.

        With `n_threads` each process keeps a network, which works with so many, and its memory has no bound.
        """
        if Path(folder).is_dir():
            os.chdir(folder)
        most_bytes = NO_BOUND_BYTES if n_threads else environment().worker_max_bytes
        self._workers = Workers(n_workers, most_bytes=most_bytes, n_threads=n_threads or 1)

    async def do(self, key: str, content: bytes) -> bytes | VidenceError:
        """Do a piece of work in a process of its own; what it made is pickled."""
        if self._workers is None:
            raise VidenceError("a machine was given work before it had begun")
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                return await self._workers.run(key, _Pickled(content), deadline_s=DEADLINE_S)
            except VidenceError as error:
                return error
            finally:
                self._scopes.discard(scope)
        return VidenceError(f"{key}: nobody waits for it any more")

    async def end(self) -> None:
        """End the processes, whatever they are at."""
        for scope in list(self._scopes):
            scope.cancel()
        if self._workers is not None:
            await self._workers.__aexit__(None, None, None)


async def work(
    pieces: Iterable[Piece[T]],
    tell: Callable[[Told[T]], None],
    *,
    has_room: Callable[[], Awaitable[None]],
    address: str,
    most_each: int | None,
    gpus_each: int | None = None,
) -> None:
    """Do the pieces on the machines of a cluster, and tell what comes of each.

    Args:
        pieces: the work; the next piece is taken when a machine has room for it.
        tell: is told of every piece that has ended, and of machines that are lost.
        has_room: waits until there is room for another result.
        address: ``ray``: the cluster that this machine is part of; or ``ray://HOST:10001``; both may have
            settings behind them (`piece_settings`).
        most_each: how many processes work on each machine; None: one for each of its processors.
        gpus_each: for work that keeps a network: one process works on each machine, or for so many of its
            GPUs; None: it keeps none.

    Raises:
        UsageError: Ray is not installed, there is no cluster, a setting is none or wants GPUs, no machine has
            so many GPUs, or one has another version of vidence.
        VidenceError: no machine works any more.
    """
    place, settings = piece_settings(address)
    ray = library()
    with connected(ray, place):
        if gpus_each and settings.bounds is None:  # otherwise machines may come that have them
            check_gpus(ray.nodes(), gpus_each)
        wanted = _PieceWork(settings=settings, most_each=most_each, gpus_each=gpus_each)
        cluster = _Cluster(ray, pieces, tell, has_room=has_room, wanted=wanted)
        await cluster.work()


def piece_rooms(resources: Mapping[str, float], *, n_cpus: int, most_each: int | None) -> list[Room]:
    """The workers of a machine, with as many processors as each of them has processes.

    Args:
        resources: as Ray counts them.
        n_cpus: how many processes a worker has; 0: as many as the machine has processors.
        most_each: how many processes all workers of the machine may have; None: no bound.

    >>> piece_rooms({"CPU": 16.0}, n_cpus=4, most_each=10)
    [Room(n_cpus=4, n_gpus=0), Room(n_cpus=4, n_gpus=0)]
    """
    if most_each is not None and n_cpus:
        n_cpus = min(n_cpus, most_each)
    found = rooms(resources, n_gpus=0, n_cpus=n_cpus)
    if most_each is None:
        return found
    if n_cpus:
        return found[: most_each // n_cpus]
    return [Room(n_cpus=min(room.n_cpus, most_each)) for room in found]


def network_rooms(resources: Mapping[str, float], *, n_gpus: int, n_cpus: int = 0) -> list[Room]:
    """The workers of a machine that keep a network each: one, or one for so many of its GPUs.

    >>> network_rooms({"CPU": 16.0, "GPU": 2.0}, n_gpus=1)
    [Room(n_cpus=8, n_gpus=1), Room(n_cpus=8, n_gpus=1)]
    """
    found = rooms(resources, n_gpus=n_gpus, n_cpus=n_cpus)
    return found if n_gpus else found[:1]


def check_gpus(nodes: Iterable[Mapping[str, Any]], n_gpus: int) -> None:
    """See that a network finds its GPUs.

    Raises:
        UsageError: no machine has as many.
    """
    most = max((int(one["Resources"].get("GPU", 0)) for one in nodes if one["Alive"]), default=0)
    if most < n_gpus:
        raise UsageError(
            f"device=cuda: each worker wants {n_gpus} of the GPUs of its machine, and no machine of the "
            f"cluster has more than {most} that Ray counts; start Ray where GPUs are, or say device=cpu"
        )


@dataclass(frozen=True, kw_only=True)
class _PieceWork:
    """What is wanted of the machines; as `work`."""

    settings: Settings
    most_each: int | None
    gpus_each: int | None

    def rooms(self, resources: Mapping[str, float]) -> list[Room]:
        """The workers of a machine."""
        n_cpus = self.settings.cpus
        if self.gpus_each is None:
            return piece_rooms(resources, n_cpus=n_cpus, most_each=self.most_each)
        return network_rooms(resources, n_gpus=self.gpus_each, n_cpus=n_cpus)

    def n_workers(self, n_cpus: int) -> int:
        """How many processes a worker with so many processors has."""
        return n_cpus if self.gpus_each is None else 1


class _Cluster(Fleet, Generic[T]):
    """Some pieces on the machines of a cluster."""

    kind = PieceMachine
    kept = "what was made is kept"

    def __init__(
        self,
        ray: ModuleType,
        pieces: Iterable[Piece[T]],
        tell: Callable[[Told[T]], None],
        *,
        has_room: Callable[[], Awaitable[None]],
        wanted: _PieceWork,
    ) -> None:
        super().__init__(ray, wanted.settings, n_gpus=wanted.gpus_each or 0)
        self._wanted = wanted
        self._queue = PieceQueue(pieces, clock=anyio.current_time)
        self._tell = tell
        self._wait_for_room = has_room

    @property
    def n_left(self) -> int:
        n_pieces, n_each = self._queue.n_left, self._wanted.n_workers(max(self._settings.cpus, 1))
        return sys.maxsize if n_pieces is None else math.ceil(n_pieces / n_each)

    @property
    def is_waiting(self) -> bool:
        return self._queue.is_waiting

    def rooms(self, resources: Mapping[str, float]) -> list[Room]:
        return self._wanted.rooms(resources)

    def options(self, room: Room) -> dict[str, int]:
        return {"num_cpus": room.n_cpus, "max_concurrency": room.n_cpus + 4}

    async def begin(self, actor: Actor, name: str, room: Room) -> None:
        n_workers = self._wanted.n_workers(room.n_cpus)
        n_threads = 0 if self._wanted.gpus_each is None else room.n_cpus
        folder = str(Path.cwd())
        await answer(actor.begin.remote(folder=folder, n_workers=n_workers, n_threads=n_threads))

    async def use(self, actor: Actor, name: str, room: Room) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._beat, actor)
            tasks.start_soon(self._give_back, name, tasks.cancel_scope)
            for _ in range(self._wanted.n_workers(room.n_cpus)):
                tasks.start_soon(self._work_on, actor, name)

    def lost(self, name: str, place: Place, error: Exception) -> None:
        """Give what a machine had to others, and say so."""
        if isinstance(error, self._ray.exceptions.RayTaskError):  # a fault of the program
            raise error
        why = first_line(error)
        self._tell(Lost(message=f"{place.host}: its worker is lost ({why}); others do its work"))
        for number, key in self._queue.lost(name).items():
            words = f"{key}: {MOST_LOSSES} workers of the cluster were lost with it ({why}); it is set aside"
            self._tell(Ended(number=number, made=MediaError(words)))
        if self._queue.is_over:
            self._over.set()

    async def _beat(self, actor: Actor) -> None:
        """See that a machine is there: what it is at may take hours."""
        while not self._over.is_set():
            await anyio.sleep(_BEAT_S)
            with anyio.fail_after(STALLED_S):
                await answer(actor.beat.remote())

    async def _give_back(self, name: str, scope: anyio.CancelScope) -> None:
        """End a worker above the least number that has had nothing to do for a while."""
        busy_s = anyio.current_time()
        while not self._over.is_set():
            if not self.is_above_least or self._queue.has_work(name):
                busy_s = anyio.current_time()
            elif anyio.current_time() - busy_s > IDLE_S:
                scope.cancel()
                return
            await anyio.sleep(_IDLE_S)

    async def _work_on(self, actor: Actor, name: str) -> None:
        """Have pieces done one after the other."""
        while not self._over.is_set():
            given = self._queue.give(name)
            if self._queue.is_over:
                self._over.set()
            elif given is None:
                await anyio.sleep(_IDLE_S)
            else:
                number, (key, function) = given
                content = pickle.dumps(function, protocol=pickle.HIGHEST_PROTOCOL)
                came = await answer(actor.do.remote(key, content))
                if self._queue.done(number):
                    made = pickle.loads(came) if isinstance(came, bytes) else came  # noqa: S301 - our own worker
                    self._tell(Ended(number=number, made=made))
                await self._wait_for_room()
