"""Requests that are in flight together, answered in batches by weights in this process."""

import time
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Generic, Protocol, TypeAlias, TypeVar

import anyio
import anyio.to_thread
import msgspec

from vidence.ask.models._transformers_run import check_images
from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, VidenceError
from vidence.records import Reply

GATHER_S = 0.004  # how long a batch with room left waits for requests on their way

Outcome: TypeAlias = Reply | ModelError


class Loaded(Protocol):
    """Weights in memory. Its methods block; they run in a thread, one at a time."""

    def answer(self, requests: Sequence[Request]) -> Sequence[Outcome]:
        """What comes of each request; what is raised ends the run."""
        ...

    def close(self) -> None:
        """Give the memory back."""
        ...


LoadedT = TypeVar("LoadedT", bound=Loaded)


class _Ticket:
    """A request that waits for its batch, and later what came of it."""

    def __init__(self, request: Request, kind: Hashable) -> None:
        self.request = request
        self.kind = kind
        self.outcome: Outcome | None = None


class BatchingModel(ABC, Generic[LoadedT]):
    """A model whose weights are in this process; they are loaded at the first request.

    There is no worker to watch: whoever gets the turn answers a batch that its own request leads and
    leaves the others their outcomes. If that breaks in a way nobody foresaw, the leader gets the
    error and the others take their own turns; so nobody waits for ever.
    """

    looks = True
    by_item = False

    def __init__(self, identity: str, *, max_in_flight: int) -> None:
        self.identity = identity
        self.max_in_flight = max_in_flight
        self._checkpoint: LoadedT | None = None
        self._broken: VidenceError | None = None
        self._waiting: list[_Ticket] = []
        self._turn = anyio.Lock()

    @abstractmethod
    def _load(self) -> LoadedT:
        """Bring the weights into memory; called once, in a thread."""

    @abstractmethod
    def _kind(self, request: Request) -> Hashable:
        """What requests must have in common to share a batch."""

    @abstractmethod
    def _batch_size(self, checkpoint: LoadedT, request: Request) -> int:
        """Most requests in a batch that this one leads."""

    async def reply(self, request: Request) -> Reply:
        """Answer, together with waiting requests of the same kind; see `Model.reply`.

        Raises:
            RejectedRequestError: a part, an image or a length that the model does not take.
            AccessError: the checkpoint cannot be loaded, the device failed, or the model is closed.
            UsageError: the device is not there, or the request lacks an image that its prompt names.
        """
        started_s = time.perf_counter()
        check_images(request)
        ticket = _Ticket(request, self._kind(request))
        self._waiting.append(ticket)
        try:
            async with self._turn:
                outcome = ticket.outcome or await self._lead(ticket)
        finally:
            self._waiting.remove(ticket)
        if isinstance(outcome, ModelError):
            raise outcome
        return msgspec.structs.replace(outcome, latency_s=time.perf_counter() - started_s)

    async def close(self) -> None:
        """Let go of the weights; a batch that is being answered is finished first."""
        self._broken = AccessError(f"{self.identity} is closed; make it again")
        async with self._turn:
            checkpoint, self._checkpoint = self._checkpoint, None
            if checkpoint is not None:
                await anyio.to_thread.run_sync(checkpoint.close)

    async def _lead(self, ticket: _Ticket) -> Outcome:
        """Answer a batch that `ticket` is in; only who has the turn may call it."""
        checkpoint = await self._loaded()
        size = self._batch_size(checkpoint, ticket.request)
        if len(self._waiting) < size:
            await anyio.sleep(GATHER_S)
        others = [t for t in self._waiting if t.outcome is None and t.kind == ticket.kind and t is not ticket]
        batch = [ticket, *others[: size - 1]]

        def answer() -> Outcome:
            outcomes = checkpoint.answer([t.request for t in batch])
            for each, outcome in zip(batch, outcomes, strict=True):
                each.outcome = outcome
            return outcomes[0]

        return await anyio.to_thread.run_sync(answer)

    async def _loaded(self) -> LoadedT:
        if self._broken is not None:
            raise self._broken
        if self._checkpoint is None:
            try:
                self._checkpoint = await anyio.to_thread.run_sync(self._load)
            except VidenceError as error:
                self._broken = error
                raise
        return self._checkpoint
