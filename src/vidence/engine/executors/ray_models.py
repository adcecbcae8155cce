"""Weights on the machines of a Ray cluster, asked by flows of this process.

Where flows run on each machine (`executors.ray`), their models are opened there. What judges a finished run
or makes cards has its flows in the driver, which has their pictures; only the asking is done elsewhere.
"""

import asyncio
import logging
import os
import platform
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final, Literal

import anyio

from vidence.catalog import create
from vidence.contracts import Model, Request, TextScoringModel
from vidence.engine.engine import said
from vidence.engine.executors.actors import (
    BEGIN_S,
    LOOK_S,
    STALLED_S,
    Actor,
    Fleet,
    Hello,
    Place,
    answer,
    hello,
)
from vidence.engine.executors.pieces import MOST_LOSSES
from vidence.engine.executors.ray import connected, library
from vidence.engine.executors.replicas import (
    COMING_S,
    IDLE_S,
    MachineRequest,
    Room,
    gpus_of_spec,
    gpus_taken,
    split_address,
)
from vidence.errors import AccessError, RejectedRequestError, UsageError, VidenceError
from vidence.records import Reply

_BEAT_S: Final = 5.0
_log = logging.getLogger(__name__)


class ReplicaMachine:
    """The models of one replica as an actor; each is opened when it is first asked.

    Args:
        n_cpus: how many threads libraries of linear algebra may use.
    """

    def __init__(self) -> None:
        self._models: dict[str, Model] = {}

    async def hello(self) -> Hello:
        """The version of vidence on this machine."""
        return hello()

    async def begin(self, n_cpus: int) -> None:
        """Be ready for requests, with so many processors."""
        os.environ["OMP_NUM_THREADS"] = str(n_cpus)

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

    actor: Actor
    n_asked: int = 0


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


class Replicas(Fleet):
    """Replicas of some models, on all machines of a cluster: each has all of the models.

    Args:
        address: ``ray``: the cluster that this machine is part of; or ``ray://HOST:10001``; both may have
            `Settings` behind them.
        specs: the models.

    Raises:
        UsageError: Ray is not installed, or a setting is none.
    """

    kind = ReplicaMachine

    def __init__(self, address: str, specs: Collection[str]) -> None:
        self._address, settings = split_address(address)
        super().__init__(library(), settings, n_gpus=0)
        self._n_wanted = max(gpus_of_spec("model", spec) for spec in specs)
        self._n_waiting = 0
        self._n_open = 0
        self._connection = ExitStack()
        self._replicas: dict[str, _Replica] = {}
        self._change = anyio.Event()
        self._problem: VidenceError | None = None
        self._working: asyncio.Task[None] | None = None

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
                self._asked = MachineRequest(self._settings, n_gpus=self._n_gpus)
                self.look(nodes)
                self._connection = connection.pop_all()
        self._n_open += 1
        kind = _ScoringModel if isinstance(own, TextScoringModel) else ReplicatedModel
        return kind(spec, own, self)

    async def close(self) -> None:
        """A model is closed; with the last one the replicas end."""
        self._n_open -= 1
        if self._n_open:
            return
        if self._working is not None:
            self._over.set()
            with anyio.CancelScope(shield=True):
                await self._working
            self._working, self._over = None, anyio.Event()
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
        if self._working is None:
            self._working = asyncio.create_task(self._work())
        name, replica = await self._free(most_each)
        replica.n_asked += 1
        try:
            reply: Reply | VidenceError = await answer(replica.actor.reply.remote(spec, identity, request))
        except self._ray.exceptions.RayTaskError:  # a fault of the program
            raise
        except self._ray.exceptions.RayError:
            self.leave(name)
            return None
        finally:
            replica.n_asked -= 1
            self._tell()
        return reply

    async def _free(self, most_each: int) -> tuple[str, _Replica]:
        """The replica with least to do that takes one more request."""
        self._n_waiting += 1
        try:
            while True:
                if self._problem is not None:
                    raise self._problem
                free = [one for one in self._replicas.items() if one[1].n_asked < most_each]
                if free:
                    return min(free, key=lambda one: one[1].n_asked)
                await self._change.wait()
        finally:
            self._n_waiting -= 1

    def _tell(self) -> None:
        self._change.set()
        self._change = anyio.Event()

    # ------------------------------------------------------------------ beginning and ending

    async def _work(self) -> None:
        """Keep the replicas; who asks them is told what goes wrong."""
        try:
            await self.work()
        except VidenceError as error:
            self._problem = error
        except BaseExceptionGroup as group:
            self._problem = VidenceError(f"the replicas broke: {group.exceptions[0]}")
        self._tell()

    @property
    def n_left(self) -> int:
        """Those that there are, and one for each request that waits."""
        return self.n_tended + self._n_waiting

    @property
    def is_waiting(self) -> bool:
        """Whether a request waits for a replica."""
        return self._n_waiting > 0

    @property
    def has_worker(self) -> bool:
        """Whether a replica can be asked."""
        return bool(self._replicas)

    @property
    def patience_s(self) -> float:
        """How long there may be none: one that begins counts for nothing."""
        return LOOK_S + max(BEGIN_S, 0.0 if self._settings.bounds is None else COMING_S)

    def nobody(self, alone_s: float) -> VidenceError:
        """There was none for so long."""
        return AccessError(
            f"no machine of the cluster has had room for a replica for {alone_s:g} s; what "
            "was answered is remembered: see `ray status`, and run the same command again"
        )

    def options(self, room: Room) -> dict[str, int]:
        """It takes no processors of its own, and as many calls as come."""
        return {"num_cpus": 0, "max_concurrency": 1000}

    async def begin(self, actor: Actor, name: str, room: Room) -> None:
        """Tell it how many processors it may use."""
        await answer(actor.begin.remote(room.n_cpus))

    async def use(self, actor: Actor, name: str, room: Room) -> None:
        """Have one replica asked as long as it is there, and more than the least have something to do."""
        replica = self._replicas[name] = _Replica(actor=actor)
        self._tell()
        busy_s = anyio.current_time()
        while not self._is_idle(replica) or anyio.current_time() - busy_s <= IDLE_S:
            if not self._is_idle(replica):
                busy_s = anyio.current_time()
            await anyio.sleep(_BEAT_S)
            with anyio.fail_after(STALLED_S):
                await answer(actor.beat.remote())

    def _is_idle(self, replica: _Replica) -> bool:
        """Whether a replica may be given back, if it stays so."""
        return self.is_above_least and not replica.n_asked

    def lost(self, name: str, place: Place, error: Exception) -> None:
        """Say so; who asked it asks another one."""
        _log.warning("%s: a replica is lost (%s)", place.host, error)

    def leave(self, name: str) -> None:
        """It is asked no more."""
        self._replicas.pop(name, None)
