"""Weights on the machines of a Ray cluster, asked by flows of this process.

Where flows run on each machine (`executors.ray`), their models are opened there. What judges a finished run
or makes cards has its flows in the driver, which has their pictures; only the asking is done elsewhere.
"""

import asyncio
import logging
import os
import platform
from collections import Counter
from collections.abc import Collection
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import anyio
import anyio.to_thread

from vidence.catalog import create
from vidence.contracts import Model, Request, TextScoringModel
from vidence.engine.engine import said
from vidence.engine.executors.pieces import MOST_LOSSES
from vidence.engine.executors.ray import (
    BEGIN_S,
    STALLED_S,
    Hello,
    actor_name,
    answer,
    check_same_version,
    connected,
    hello,
    library,
)
from vidence.engine.executors.replicas import (
    COMING_S,
    IDLE_S,
    Asked,
    Room,
    gpus_of_spec,
    gpus_taken,
    n_asked_for,
    rooms,
    split_address,
)
from vidence.engine.session import first_error
from vidence.errors import AccessError, RejectedRequestError, UsageError, VidenceError
from vidence.records import Reply

_LOOK_S: Final = 2.0
_BEAT_S: Final = 5.0
_log = logging.getLogger(__name__)


class ReplicaMachine:
    """The models of one replica as an actor; each is opened when it is first asked.

    Args:
        n_cpus: how many threads libraries of linear algebra may use.
    """

    def __init__(self, n_cpus: int) -> None:
        os.environ["OMP_NUM_THREADS"] = str(n_cpus)
        self._models: dict[str, Model] = {}

    async def hello(self) -> Hello:
        """The version of vidence on this machine."""
        return hello()

    async def beat(self) -> None:
        """A sign that it is there."""

    async def reply(self, spec: str, identity: str, request: Request) -> Reply | VidenceError:
        """The reply of a model, or why there is none.

        Args:
            spec: the model.
            identity: what tells it from others, where the work was begun.
            request: what is asked.
        """
        try:
            if spec not in self._models:
                model: Model = create("model", spec)
                if model.identity != identity:
                    raise UsageError(
                        f"{spec} is {model.identity} on {platform.node()}, and {identity} where the work was "
                        "begun; give all machines the same files"
                    )
                self._models[spec] = model
        except VidenceError as error:
            return error
        return await said(self._models[spec], request)

    async def end(self) -> None:
        """Let go of the weights."""
        for model in self._models.values():
            await model.close()


@dataclass(eq=False, kw_only=True)
class _Replica:
    """A replica that can be asked, and how many requests it has."""

    actor: Any
    n_asked: int = 0


@dataclass(kw_only=True)
class _Place:
    """A place for a replica, and how often it was lost."""

    name: str
    room: Room
    n_lost: int = 0
    is_tended: bool = False


class ReplicatedModel:
    """A `Model` whose weights are replicas of a cluster: a request goes to the one with least to do.

    A request whose replica is lost is put to another one.
    """

    looks = True
    by_item = False

    def __init__(self, spec: str, own: Model, replicas: "Replicas") -> None:
        """`own` is the model as this process would open it; its weights are not loaded here."""
        self._spec, self._replicas = spec, replicas
        self.identity = own.identity
        self._most_each = own.max_in_flight or 1
        self.max_in_flight: int | None = self._most_each * max(1, replicas.n_places)

    async def reply(self, request: Request) -> Reply:
        """Answer one request; see `Model.reply`."""
        sent = replace(request, images=dict(request.images))
        for _ in range(MOST_LOSSES):
            reply = await self._replicas.ask(self._spec, self.identity, sent, most_each=self._most_each)
            if isinstance(reply, VidenceError):
                raise reply
            if reply is not None:
                return reply
        raise RejectedRequestError(
            f"{MOST_LOSSES} workers of the cluster were lost with this question; {self.identity} is not "
            "asked again"
        )

    async def close(self) -> None:
        """Let go of the replicas, when no other model of theirs is open."""
        await self._replicas.close()


class _ScoringModel(ReplicatedModel):
    """One that computes how likely given texts are (`contracts.TextScoringModel`)."""

    scores_choice_texts: Literal[True] = True


class Replicas:
    """Replicas of some models, on all machines of a cluster: each has all of the models.

    Args:
        address: ``ray``: the cluster that this machine is part of; or ``ray://HOST:10001``; both may have
            `Settings` behind them.
        specs: the models.

    Raises:
        UsageError: Ray is not installed, or a setting is none.
    """

    def __init__(self, address: str, specs: Collection[str]) -> None:
        self._ray = library()
        self._address, self._settings = split_address(address)
        self._n_wanted = max(gpus_of_spec("model", spec) for spec in specs)
        self._n_gpus = 0
        self._n_waiting = 0
        self._asked = Asked(self._settings, n_gpus=0)
        self._n_begun: Counter[tuple[str, int]] = Counter()
        self._n_open = 0
        self._connection = ExitStack()
        self._places: dict[tuple[str, int], _Place] = {}
        self._replicas: list[_Replica] = []
        self._change = anyio.Event()
        self._problem: VidenceError | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def n_places(self) -> int:
        """How many replicas there may be: those that machines now have room for, or as the settings say."""
        return len(self._places) if self._settings.bounds is None else self._settings.bounds[1]

    def open(self, spec: str) -> ReplicatedModel:
        """One of the models; the cluster is connected, and its replicas begin with the first request.

        Raises:
            UsageError: there is no cluster, or none of its machines has as many GPUs as a model takes.
            VidenceError: the model cannot be opened.
        """
        own: Model = create("model", spec)
        if not self._n_open:
            with ExitStack() as connection:
                connection.enter_context(connected(self._ray, self._address))
                nodes = self._ray.nodes()
                self._n_gpus = gpus_taken(self._settings, self._n_wanted, nodes)
                self._asked = Asked(self._settings, n_gpus=self._n_gpus)
                self._look(nodes)
                self._connection = connection.pop_all()
        self._n_open += 1
        kind = _ScoringModel if isinstance(own, TextScoringModel) else ReplicatedModel
        return kind(spec, own, self)

    async def close(self) -> None:
        """A model is closed; with the last one the replicas end."""
        self._n_open -= 1
        if self._n_open:
            return
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
            self._watching = None
        with anyio.CancelScope(shield=True):
            await self._asked.ask_for(0)
        self._places.clear()
        self._connection.close()

    async def ask(
        self, spec: str, identity: str, request: Request, *, most_each: int
    ) -> Reply | VidenceError | None:
        """What a replica says to a request; None where it was lost.

        Args:
            spec: the model.
            identity: what tells it from others here.
            request: with the bytes of its images.
            most_each: how many requests one replica takes at a time.

        Raises:
            VidenceError: no replica can be had.
        """
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())
        replica = await self._free(most_each)
        replica.n_asked += 1
        try:
            reply: Reply | VidenceError = await answer(replica.actor.reply.remote(spec, identity, request))
        except self._ray.exceptions.RayTaskError:  # a fault of the program
            raise
        except self._ray.exceptions.RayError:
            if replica in self._replicas:
                self._replicas.remove(replica)
            return None
        finally:
            replica.n_asked -= 1
            self._tell()
        return reply

    async def _free(self, most_each: int) -> _Replica:
        """The replica with least to do that takes one more request."""
        self._n_waiting += 1
        try:
            while True:
                if self._problem is not None:
                    raise self._problem
                free = [one for one in self._replicas if one.n_asked < most_each]
                if free:
                    return min(free, key=lambda one: one.n_asked)
                await self._change.wait()
        finally:
            self._n_waiting -= 1

    def _tell(self) -> None:
        self._change.set()
        self._change = anyio.Event()

    # ------------------------------------------------------------------ beginning and ending

    async def _watch(self) -> None:
        """Begin a replica at every place that is there, and at those that come."""
        alone_s, patience_s = 0.0, max(BEGIN_S, 0.0 if self._settings.bounds is None else COMING_S)
        try:
            async with anyio.create_task_group() as tasks:
                while True:
                    await self._ask()
                    for key in self._look(await anyio.to_thread.run_sync(self._ray.nodes)):
                        place = self._places[key]
                        if not place.is_tended and place.n_lost < MOST_LOSSES and self._has_place:
                            place.is_tended = True
                            tasks.start_soon(self._tend, key, place)
                    await anyio.sleep(_LOOK_S)
                    alone_s = 0.0 if self._replicas else alone_s + _LOOK_S
                    if alone_s > patience_s + _LOOK_S:
                        raise AccessError(
                            f"no machine of the cluster has had room for a replica for {alone_s:g} s; what "
                            "was answered is remembered: see `ray status`, and run the same command again"
                        )
        except BaseExceptionGroup as group:
            found = first_error(group, VidenceError)
            self._problem = found or VidenceError(f"the replicas broke: {group.exceptions[0]}")
            self._tell()

    @property
    def _n_tended(self) -> int:
        return sum(place.is_tended for place in self._places.values())

    @property
    def _has_place(self) -> bool:
        """Whether one more replica may begin."""
        if (bounds := self._settings.bounds) is None:
            return True
        return self._n_tended < (bounds[1] if self._n_waiting else bounds[0])

    async def _ask(self) -> None:
        """Ask the cluster for machines, where the number of replicas has bounds."""
        if (bounds := self._settings.bounds) is not None:
            n_left = self._n_tended + self._n_waiting
            await self._asked.ask_for(n_asked_for(bounds, n_left=n_left, is_waiting=self._n_waiting > 0))

    def _look(self, nodes: Collection[Any]) -> list[tuple[str, int]]:
        """The places that there are now."""
        found = []
        for node in nodes:
            if node["Alive"]:
                found_rooms = rooms(node["Resources"], n_gpus=self._n_gpus, n_cpus=self._settings.cpus)
                for number, room in enumerate(found_rooms):
                    key = node["NodeID"], number
                    self._places.setdefault(key, _Place(name=node["NodeManagerHostname"], room=room))
                    found.append(key)
        return found

    async def _tend(self, key: tuple[str, int], place: _Place) -> None:
        """Have one replica asked as long as it is there, and more than the least have something to do."""
        name = actor_name(place.name, key, n_begun=self._n_begun[key])
        self._n_begun[key] += 1
        replica = _Replica(actor=self._actor(key[0], name=name, room=place.room))
        try:
            with anyio.fail_after(BEGIN_S):
                check_same_version(await answer(replica.actor.hello.remote()), hello(), machine=place.name)
            self._replicas.append(replica)
            self._tell()
            busy_s = anyio.current_time()
            while not self._is_idle(replica) or anyio.current_time() - busy_s <= IDLE_S:
                if not self._is_idle(replica):
                    busy_s = anyio.current_time()
                await anyio.sleep(_BEAT_S)
                with anyio.fail_after(STALLED_S):
                    await answer(replica.actor.beat.remote())
        except (self._ray.exceptions.RayError, TimeoutError) as error:
            place.n_lost += 1
            _log.warning("%s: a replica is lost (%s)", place.name, error)
        finally:
            place.is_tended = False
            if replica in self._replicas:
                self._replicas.remove(replica)
            with anyio.move_on_after(_LOOK_S, shield=True), suppress(self._ray.exceptions.RayError):
                await answer(replica.actor.end.remote())
            with suppress(self._ray.exceptions.RayError, ValueError):
                self._ray.kill(replica.actor)

    def _is_idle(self, replica: _Replica) -> bool:
        """Whether a replica may be given back, if it stays so."""
        bounds = self._settings.bounds
        return bounds is not None and self._n_tended > bounds[0] and not replica.n_asked

    def _actor(self, node_id: str, *, name: str, room: Room) -> Any:  # noqa: ANN401 - Ray has no types for actors
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        # Processors are not taken: the same session may watch videos with them meanwhile.
        return (
            self._ray.remote(ReplicaMachine)
            .options(
                name=f"{name} {id(self)}",
                num_cpus=0,
                num_gpus=room.n_gpus,
                max_concurrency=1000,
                max_restarts=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False),
            )
            .remote(room.n_cpus)
        )
