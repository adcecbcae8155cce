"""Frames are prepared and questions are asked at the same time: showers bring, askers take."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from vidence.engine.drive import first_error
from vidence.errors import BudgetSpentError

GroupT = TypeVar("GroupT")
ReadyT = TypeVar("ReadyT")


@dataclass(kw_only=True)
class Showers(Generic[GroupT, ReadyT]):
    """Brings groups of questions to `ask`, one group of questions about the same media at a time.

    Nothing is brought before somebody takes it, so that memory holds the frames of a few videos, however
    long the run is. When the budget is spent, nothing new is begun and what is under way ends.
    """

    show: Callable[[GroupT], Awaitable[Sequence[ReadyT]]]
    ask: Callable[[ReadyT], Awaitable[None]]
    _spent: BudgetSpentError | None = field(default=None, init=False)

    async def work(self, groups: Iterable[GroupT], *, n_showers: int, n_askers: int) -> None:
        """Show and ask everything.

        Raises:
            BudgetSpentError: it was spent while showing or asking.
            VidenceError: the first error that ended the work.
        """
        send, receive = anyio.create_memory_object_stream[ReadyT](0)
        waiting = iter(groups)
        with first_error():
            async with anyio.create_task_group() as tasks, send, receive:
                for _ in range(n_showers):
                    tasks.start_soon(self._show_all, waiting, send.clone())
                for _ in range(n_askers):
                    tasks.start_soon(self._ask_all, receive.clone())
        if self._spent is not None:
            raise self._spent

    async def _show_all(self, groups: Iterator[GroupT], send: MemoryObjectSendStream[ReadyT]) -> None:
        async with aclosing(send):
            for group in groups:
                try:
                    shown = await self.show(group)
                except BudgetSpentError as error:  # a selector asks a model
                    self._spent = error
                    return
                for ready in shown:
                    try:
                        await send.send(ready)
                    except anyio.BrokenResourceError:
                        return  # nobody asks any more: the budget is spent

    async def _ask_all(self, receive: MemoryObjectReceiveStream[ReadyT]) -> None:
        async with aclosing(receive):
            async for ready in receive:
                try:
                    await self.ask(ready)
                except BudgetSpentError as error:
                    self._spent = error
                    return
