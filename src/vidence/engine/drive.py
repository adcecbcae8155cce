"""The one place where flows meet a model: memory, retries, limits, spending."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import anyio

from vidence.contracts import Ask, Flow, MadeT, Model, Request, Together
from vidence.engine.events import Listener, Waiting
from vidence.engine.limits import Budget, DownDetector, Limits
from vidence.engine.store import Memory, memory_key
from vidence.errors import RejectedRequestError, TransientModelError, VidenceError
from vidence.records import Prompt, Reply

ThingT = TypeVar("ThingT")
_log = logging.getLogger(__name__)
# What goes wrong with one question; every other error ends the run.
_OF_ONE_QUESTION = (TransientModelError, RejectedRequestError)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A reply, and whether it came out of the memory instead of the model."""

    reply: Reply
    is_remembered: bool


class Asker:
    """Puts requests to one model: looks into the memory first, retries, keeps within limits.

    The same request asked twice at the same time is sent once. A reply is in the memory before
    anybody sees it.
    """

    def __init__(self, model: Model, *, memory: Memory, limits: Limits, on_event: Listener) -> None:
        self._model = model
        self._memory = memory
        self._limits = limits
        self._on_event = on_event
        self._in_flight: dict[bytes, anyio.Event] = {}
        self._down = DownDetector(most=limits.in_flight.allowed + 4)

    @property
    def budget(self) -> Budget:
        """What its replies are counted in."""
        return self._limits.budget

    async def ask(self, request: Request) -> Asked:
        """The reply to a request, remembered or new.

        Raises:
            TransientModelError: no reply after all tries (`ServerDownError`: nobody gets one).
            RejectedRequestError: the model will not answer this request.
            AccessError: the model will answer no request.
            BudgetSpentError: the limit of spending is reached.
        """
        key = memory_key(request, identity=self._model.identity, by_item=self._model.by_item)
        while (running := self._in_flight.get(key)) is not None:
            await running.wait()
        remembered = self._memory.get(key)
        if remembered is not None:
            return Asked(reply=remembered, is_remembered=True)
        done = self._in_flight[key] = anyio.Event()
        try:
            reply = await self._send(request)
            self._memory.put(key, reply)
        finally:
            del self._in_flight[key]
            done.set()
        return Asked(reply=reply, is_remembered=False)

    async def _send(self, request: Request) -> Reply:
        limits = self._limits
        n_sent = n_tries = 0
        while True:
            try:
                async with limits.in_flight.slot() as sent_s:
                    limits.budget.check()
                    n_sent += 1
                    reply = await self._reply_in_time(request)
            except TransientModelError as error:
                is_wait = error.is_overload and limits.in_flight.silent_s < limits.patience_s
                n_tries += not is_wait
                limits.check_wait(error)
                if error.is_overload or error.is_server_error:
                    limits.in_flight.on_overload(error.retry_after_s, sent_s=sent_s)
                if n_tries >= limits.attempts:
                    self._down.on_failure(error)
                    raise
                wait_s = limits.backoff.wait_s(n_sent, error.retry_after_s)
                self._on_event(Waiting(reason=str(error), wait_s=wait_s, n_allowed=limits.in_flight.allowed))
                await anyio.sleep(wait_s)
            except RejectedRequestError as error:
                if not self._model.by_item:  # what is recorded for one item says nothing of others
                    self._down.on_rejection(error)
                raise
            else:
                limits.in_flight.on_reply()
                self._down.on_reply()
                limits.budget.add(reply)
                return reply

    async def _reply_in_time(self, request: Request) -> Reply:
        try:
            with anyio.fail_after(self._limits.timeout_s):
                return await self._model.reply(request)
        except VidenceError:
            raise
        except TimeoutError as error:
            raise TransientModelError(
                f"no reply within {self._limits.timeout_s:g} s; --timeout sets how long to wait"
            ) from error
        except Exception as error:
            _log.debug("the model broke", exc_info=True)
            raise RejectedRequestError(
                f"the model {self._model.identity} broke: {type(error).__name__}: {error}"
            ) from error


AskModel: TypeAlias = Callable[[Ask], Awaitable[Reply]]


async def drive(flow: Flow[MadeT], ask: AskModel) -> MadeT:
    """Run a flow to its end: ask what it yields, send it the replies, return what it made.

    What is yielded together is asked at the same time. `TransientModelError` and
    `RejectedRequestError` are thrown into the flow, which may handle them; otherwise they come out
    here, as does every error that ends the run.
    """
    with closing(flow):
        try:
            wanted = next(flow)
            while True:
                try:
                    replies = await _replies(wanted, ask)
                except _OF_ONE_QUESTION as error:
                    wanted = flow.throw(error)
                else:
                    wanted = flow.send(replies)
        except StopIteration as stop:
            made: MadeT = stop.value
            return made


async def _replies(wanted: Sequence[Prompt | Ask] | Together, ask: AskModel) -> Sequence[Reply]:
    if isinstance(wanted, Together):
        await _all(wanted.flows, lambda flow: drive(flow, ask))
        return ()
    asks = [Ask(prompt=one) if isinstance(one, Prompt) else one for one in wanted]
    return await _all(asks, ask)


async def _all(things: Sequence[ThingT], work: Callable[[ThingT], Awaitable[MadeT]]) -> list[MadeT]:
    """Work on all at the same time; an error is raised when the others have ended."""
    if len(things) == 1:
        return [await work(things[0])]
    made: dict[int, MadeT] = {}
    errors: list[VidenceError] = []

    async def one(position: int) -> None:
        try:
            made[position] = await work(things[position])
        except VidenceError as error:
            errors.append(error)  # the others go on: they may be paid for already

    async with anyio.create_task_group() as group:
        for position in range(len(things)):
            group.start_soon(one, position)
    if errors:
        raise next((e for e in errors if not isinstance(e, _OF_ONE_QUESTION)), errors[0])
    return [made[position] for position in range(len(things))]
