"""Actors of Ray, one in each room of the machines of a cluster: how they begin, are watched, and end."""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, Final, TypeAlias

import anyio
import anyio.abc
import anyio.to_thread

from vidence import __version__
from vidence.engine.executors.pieces import MOST_LOSSES
from vidence.engine.executors.replicas import (
    ALONE_S,
    COMING_S,
    MachineRequest,
    Room,
    Settings,
    n_asked_for,
    rooms,
)
from vidence.engine.plan import git_revision
from vidence.engine.session import first_error
from vidence.errors import UsageError, VidenceError
from vidence.records import Record

STALLED_S: Final = 60.0
"""How long a worker may leave a call without an answer; it answers every second where all is well."""
BEGIN_S: Final = 300.0
"""How long a worker may take to be there: Python, vidence and its libraries are loaded from a shared disk."""
LOOK_S: Final = 2.0
"""How often it is looked which machines there are, and how long a worker may take to end."""
Actor: TypeAlias = Any
"""Ray has no types for actors."""
Key: TypeAlias = tuple[str, int]
"""A machine and a room of it, as Ray and we number them."""


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


def actor_name(host: str, key: Key, *, n_begun: int) -> str:
    """The name of an actor: that of one which hangs or just ended may still be taken when the next begins.

    Args:
        host: its machine.
        key: its room.
        n_begun: how many actors have begun in this room before.
    """
    return f"vidence {host} {key[0][-8:]} {key[1]} {n_begun}"


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


def first_line(error: Exception) -> str:
    """Why a worker was lost, in a line."""
    said = str(error).strip().splitlines()
    return said[0] if said else type(error).__name__


@dataclass(kw_only=True)
class Place:
    """A room for a worker, and how often its worker was lost."""

    host: str
    room: Room
    n_lost: int = 0
    is_tended: bool = False


class Fleet(ABC):
    """One actor in each room of the machines of a cluster, as many as there is work for.

    Args:
        ray: the library.
        settings: how many are wanted, and of which size.
        n_gpus: the GPUs of each.
    """

    kind: ClassVar[type]
    """Of the actors; it says `hello`, and lets go of what it has with `end`."""
    kept: ClassVar[str] = ""
    """What is not lost where no machine works."""
    most_losses: ClassVar[int] = MOST_LOSSES
    """How often a worker may be lost in one room, before none is begun there."""

    def __init__(self, ray: ModuleType, settings: Settings, *, n_gpus: int) -> None:
        self._ray = ray
        self._settings = settings
        self._n_gpus = n_gpus
        self._asked = MachineRequest(settings, n_gpus=n_gpus)
        self._places: dict[Key, Place] = {}
        self._n_begun: Counter[Key] = Counter()
        self._over = anyio.Event()

    @property
    @abstractmethod
    def n_left(self) -> int:
        """How many workers there is work for."""

    @property
    @abstractmethod
    def is_waiting(self) -> bool:
        """Whether there is work that nobody has."""

    @abstractmethod
    def options(self, room: Room) -> dict[str, int]:
        """How many processors an actor takes, and how many calls at a time."""

    @abstractmethod
    async def begin(self, actor: Actor, name: str, room: Room) -> None:
        """Make an actor ready for work."""

    @abstractmethod
    async def use(self, actor: Actor, name: str, room: Room) -> None:
        """Give it work until nothing is left for it."""

    @abstractmethod
    def lost(self, name: str, place: Place, error: Exception) -> None:
        """It is lost: say so, and give what it had to others."""

    def expect(self, n: int) -> None:  # noqa: B027 - most share nothing out among them
        """So many work, or begin to."""

    def leave(self, name: str) -> None:  # noqa: B027 - most know nothing of it any more
        """It gets no more work."""

    async def closing(self) -> None:  # noqa: B027 - most have nothing to hear at the end
        """All is done, and the actors are there still."""

    async def end(self, actor: Actor) -> None:
        """Let an actor let go of what it has; one that takes long is ended as it is."""
        await answer(actor.end.remote())

    @property
    def has_worker(self) -> bool:
        """Whether somebody works, or begins to."""
        return self.n_tended > 0

    @property
    def most_workers(self) -> float:
        """How many can have work, beside what the settings say."""
        return float("inf")

    @property
    def patience_s(self) -> float:
        """How long there may be nobody."""
        return ALONE_S if self._settings.bounds is None else COMING_S

    def nobody(self, alone_s: float) -> VidenceError:
        """There was nobody for so long."""
        return VidenceError(
            f"no machine of the cluster has worked for {self.patience_s:g} s; {self.kept}: see "
            "`ray status`, and run the same command again"
        )

    def rooms(self, resources: Mapping[str, float]) -> list[Room]:
        """The rooms of a machine."""
        return rooms(resources, n_gpus=self._n_gpus, n_cpus=self._settings.cpus)

    @property
    def n_tended(self) -> int:
        """How many actors there are."""
        return sum(place.is_tended for place in self._places.values())

    @property
    def is_above_least(self) -> bool:
        """Whether an actor with nothing to do may be given back."""
        return self._settings.bounds is not None and self.n_tended > self._settings.bounds[0]

    @property
    def _has_room(self) -> bool:
        """Whether one more may begin."""
        most, bounds = self.most_workers, self._settings.bounds
        if bounds is not None:
            most = min(most, bounds[1] if self.is_waiting else bounds[0])
        return self.n_tended < most

    async def work(self) -> None:
        """Keep the actors until all is done.

        Raises:
            VidenceError: there is nobody, or what the work came to.
        """
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch, tasks)
                await self._over.wait()
                await self.closing()
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            if (found := first_error(group, VidenceError)) is not None:
                raise found from group
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await self._asked.ask_for(0)

    async def _watch(self, tasks: anyio.abc.TaskGroup) -> None:
        """Begin an actor in every room that is there, and in those that come."""
        alone_s = 0.0
        while not self._over.is_set():
            if (bounds := self._settings.bounds) is not None:
                n = n_asked_for(bounds, n_left=self.n_left, is_waiting=self.is_waiting)
                await self._asked.ask_for(n)
            for key in self.look(await anyio.to_thread.run_sync(self._ray.nodes)):
                place = self._places[key]
                if not place.is_tended and place.n_lost < self.most_losses and self._has_room:
                    place.is_tended = True
                    self.expect(self.n_tended)
                    tasks.start_soon(self._tend, key, place)
            await anyio.sleep(LOOK_S)
            alone_s = 0.0 if self.has_worker else alone_s + LOOK_S
            if alone_s > self.patience_s:
                raise self.nobody(alone_s)

    def look(self, nodes: Iterable[Mapping[str, Any]]) -> list[Key]:
        """The rooms that there are now."""
        found = []
        for node in nodes:
            for number, room in enumerate(self.rooms(node["Resources"]) if node["Alive"] else ()):
                found.append((node["NodeID"], number))
                self._places.setdefault(found[-1], Place(host=node["NodeManagerHostname"], room=room))
        return found

    async def _tend(self, key: Key, place: Place) -> None:
        """Have one actor work until nothing is left for it, or it is lost."""
        name = actor_name(place.host, key, n_begun=self._n_begun[key])
        self._n_begun[key] += 1
        actor = self._actor(key[0], name=name, room=place.room)
        try:
            with anyio.fail_after(BEGIN_S):
                check_same_version(await answer(actor.hello.remote()), hello(), machine=place.host)
                await self.begin(actor, name, place.room)
            await self.use(actor, name, place.room)
        except* (self._ray.exceptions.RayError, TimeoutError) as group:
            error = first_error(group, Exception)
            assert error is not None  # noqa: S101 - a group holds one
            place.n_lost += 1
            self.lost(name, place, error)
        finally:
            place.is_tended = False
            self.leave(name)
            self.expect(self.n_tended)
            with anyio.move_on_after(LOOK_S, shield=True), suppress(self._ray.exceptions.RayError):
                await self.end(actor)
            with suppress(self._ray.exceptions.RayError, ValueError):
                self._ray.kill(actor)

    def _actor(self, node_id: str, *, name: str, room: Room) -> Actor:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        made = self._ray.remote(self.kind).options(
            name=f"{name} {id(self)}",
            num_gpus=room.n_gpus,
            max_restarts=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False),
            **self.options(room),
        )
        return made.remote()
