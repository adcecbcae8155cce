"""Producers and consumers that work at the same time."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from vidence.errors import BudgetSpentError, VidenceError

GroupT = TypeVar("GroupT")
ReadyT = TypeVar("ReadyT")


@dataclass(kw_only=True)
class Pipeline(Generic[GroupT, ReadyT]):
    """Makes something of each group with `produce` and hands it on, one by one, to `consume`.

    Nothing is produced before a consumer takes it, so that memory holds the frames of a few videos, however
    long the run is. When the budget is spent, nothing new is begun and what is under way ends.
    """

    produce: Callable[[GroupT], Awaitable[Sequence[ReadyT]]]
    consume: Callable[[ReadyT], Awaitable[None]]
    _spent: BudgetSpentError | None = field(default=None, init=False)

    async def work(self, groups: Iterable[GroupT], *, n_producers: int, n_consumers: int) -> None:
        """Produce and consume everything.

        Raises:
            BudgetSpentError: it was spent on the way.
            VidenceError: the first error that ended the work.
        """
        send, receive = anyio.create_memory_object_stream[ReadyT](0)
        waiting = iter(groups)
        with first_error():
            async with anyio.create_task_group() as tasks, send, receive:
                for _ in range(n_producers):
                    tasks.start_soon(self._produce_all, waiting, send.clone())
                for _ in range(n_consumers):
                    tasks.start_soon(self._consume_all, receive.clone())
        if self._spent is not None:
            raise self._spent

    async def _produce_all(self, groups: Iterator[GroupT], send: MemoryObjectSendStream[ReadyT]) -> None:
        async with aclosing(send):
            for group in groups:
                try:
                    for ready in await self.produce(group):
                        await send.send(ready)
                except BudgetSpentError as error:  # a selector asks a model
                    self._spent = error
                    return
                except anyio.BrokenResourceError:
                    return  # every consumer has ended: the budget is spent

    async def _consume_all(self, receive: MemoryObjectReceiveStream[ReadyT]) -> None:
        async with aclosing(receive):
            async for ready in receive:
                try:
                    await self.consume(ready)
                except BudgetSpentError as error:
                    self._spent = error
                    return


async def each(
    things: Sequence[ReadyT], consume: Callable[[ReadyT], Awaitable[None]], *, n_consumers: int
) -> None:
    """Consume things as they are, several at the same time; errors as for `Pipeline.work`."""

    async def as_it_is(group: Sequence[ReadyT]) -> Sequence[ReadyT]:
        return group

    await Pipeline(produce=as_it_is, consume=consume).work([things], n_producers=1, n_consumers=n_consumers)


@contextmanager
def first_error() -> Iterator[None]:
    """Errors of vidence that ended a group of tasks come out as themselves."""
    try:
        yield
    except BaseExceptionGroup as group:
        found = next((e for e in group.exceptions if isinstance(e, VidenceError)), None)
        if found is None:
            raise
        raise found from group
