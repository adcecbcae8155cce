"""The single driver of flows: named models, reply cache, retries, limits and budgets."""

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

import anyio
import anyio.to_thread
import msgspec
import numpy as np

from vidence.ask.models.keys import clean_error, clean_record, without_keys
from vidence.ask.models.local import InstantModel
from vidence.catalog import create
from vidence.contracts import Ask, Flow, MadeT, Model, Request, Together
from vidence.engine.events import Listener, Waiting
from vidence.engine.limits import (
    SAME_COMMAND,
    AdaptiveLimit,
    AskLimits,
    Backoff,
    Budget,
    DownDetector,
    Limits,
    Outage,
    Pace,
)
from vidence.engine.memory import Memory, memory_key
from vidence.errors import (
    DataError,
    LaterError,
    MediaError,
    RejectedRequestError,
    TransientModelError,
    UnknownNameError,
    UsageError,
    VidenceError,
)
from vidence.records import Failed, ImagePart, Prompt, Reply, Sampling

ThingT = TypeVar("ThingT")
# How long to wait before looking whether another process has its reply, at first and at most.
_FIRST_LOOK_S, _LAST_LOOK_S = 0.05, 0.8
_log = logging.getLogger(__name__)
LONG_CHARACTERS = 20_000
"""Longest reply, in characters, that is parsed inside the event loop."""
# What goes wrong with one question; every other error ends the run.
_NO_REPLY = (TransientModelError, RejectedRequestError)
AskModel: TypeAlias = Callable[[Ask], Awaitable[Reply]]
Stage = Literal["media", "selection", "prompting"]
# By stage, what goes wrong with one item; every other error ends the run.
ITEM_ERRORS: Final[Mapping[Stage, tuple[type[VidenceError], ...]]] = {
    "media": (*_NO_REPLY, MediaError),
    "prompting": (*_NO_REPLY, MediaError, UsageError),
    "selection": (*_NO_REPLY, MediaError, UsageError, DataError),
}


@dataclass(frozen=True, kw_only=True)
class CostedReply:
    """A reply, whether it came from the cache, and its cost in US dollars."""

    reply: Reply
    is_remembered: bool
    cost: float


class Asker:
    """Sends requests to one model: checks the cache first, retries, and keeps within limits.

    Identical concurrent requests are sent once, even across processes that share the cache. A reply is
    cached before it is returned. While a server is down, requests wait instead of failing; see `Outage`.
    """

    def __init__(self, model: Model, *, memory: Memory, limits: Limits, on_event: Listener) -> None:
        self._model = model
        self._memory = memory
        self._limits = limits
        self._on_event = on_event
        self._in_flight: dict[bytes, anyio.Event] = {}
        self._down = DownDetector(most=limits.in_flight.allowed + 4, again=limits.again)
        self._outage = Outage(limits, on_event=on_event)
        self._answered: Request | None = None  # one that the server can answer

    async def ask(self, request: Request) -> CostedReply:
        """Return the reply to a request, cached or new.

        Raises:
            TransientModelError: no reply after all tries (`ServerDownError`: the server is down).
            RejectedRequestError: the model rejected this request.
            AccessError: the model rejects all requests.
            BudgetSpentError: the spending limit is reached.
        """
        if isinstance(self._model, InstantModel):
            reply = await self._reply(request)
            return CostedReply(reply=reply, is_remembered=False, cost=self._limits.budget.add(reply))
        key = memory_key(request, identity=self._model.identity, by_item=self._model.by_item)
        while (running := self._in_flight.get(key)) is not None:
            await running.wait()
        done = self._in_flight[key] = anyio.Event()
        try:
            if (remembered := self._memory.get(key)) is not None:
                return CostedReply(reply=clean_record(remembered), is_remembered=True, cost=0.0)
            return await self._ask_once(key, request)
        finally:
            del self._in_flight[key]
            done.set()

    async def _ask_once(self, key: bytes, request: Request) -> CostedReply:
        """Return a new reply, or the one that another process has just requested."""
        wait_s = _FIRST_LOOK_S
        while not (self._model.by_item or self._memory.holds(key) or self._memory.claim(key)):
            if (remembered := self._memory.get(key)) is not None:
                return CostedReply(reply=remembered, is_remembered=True, cost=0.0)
            if wait_s == _LAST_LOOK_S:
                waits = Waiting(
                    reason="another run asks this", wait_s=wait_s, n_allowed=self._limits.in_flight.allowed
                )
                self._on_event(waits)
            await anyio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LAST_LOOK_S)
        try:
            reply, cost = await self._send(request)
            self._memory.put(key, reply)
        except LaterError:
            raise  # nobody else is to ask it meanwhile
        except BaseException:
            self._memory.release(key)
            raise
        self._memory.release(key)
        return CostedReply(reply=reply, is_remembered=False, cost=cost)

    async def _send(self, request: Request) -> tuple[Reply, float]:
        """Send the request, and return the reply and its cost."""
        limits, tries, cost = self._limits, _Tries(), 0.0
        while True:
            sent = request
            try:
                async with self._outage.turn() as is_alone, limits.in_flight.slot() as sent_s:
                    expected = await limits.pace.turn()
                    limits.budget.check(again=limits.again)
                    tries.on_sent(sent_s)
                    # A question that nobody can answer looks like a server that is away: where no other
                    # question can tell them apart, one that was answered before is asked again.
                    if is_alone and self._answered is not None:
                        sent = self._answered
                    reply = await self._reply_in_time(sent)
            except TransientModelError as error:
                await self._on_silence(error, tries)
            except RejectedRequestError as error:
                self._outage.on_answer()
                if sent is not request:
                    self._answered = None
                    continue
                if not self._model.by_item:  # what is recorded for one item says nothing of others
                    self._down.on_rejection(error)
                raise
            else:
                limits.in_flight.on_reply()
                limits.pace.add(reply, expected=expected)
                self._down.on_reply()
                self._outage.on_answer()
                cost += limits.budget.add(reply)
                self._answered = sent
                if sent is request:
                    return reply, cost

    async def _on_silence(self, error: TransientModelError, tries: "_Tries") -> None:
        """Wait before the next try; raise after the last one."""
        limits, outage = self._limits, self._outage
        limits.check_wait(error)
        if error.is_overload or error.is_server_error:
            limits.in_flight.on_overload(error.retry_after_s, sent_s=tries.sent_s)
        if outage.is_on and error.is_outage:
            outage.on_silence(error, since_s=tries.first_s)
            return
        if not error.is_overload or tries.is_overload_spent or not limits.patience_s:
            tries.n_failed += 1
        elif limits.in_flight.silent_s >= limits.patience_s:
            tries.n_failed, tries.is_overload_spent = limits.attempts, True
            tries.first_s -= limits.in_flight.silent_s
        if tries.n_failed >= limits.attempts:
            if not error.is_outage or not limits.patience_s or outage.has_answered_since(tries.before_s):
                self._down.on_failure(error)
                raise error
            outage.on_silence(error, since_s=tries.first_s)
            tries.sit_out()
            return
        wait_s = limits.backoff.wait_s(tries.n_sent, error.retry_after_s)
        self._on_event(Waiting(reason=str(error), wait_s=wait_s, n_allowed=limits.in_flight.allowed))
        await anyio.sleep(wait_s)

    async def _reply_in_time(self, request: Request) -> Reply:
        with anyio.move_on_after(self._limits.timeout_s):
            return await self._reply(request)
        raise self._late()

    def _late(self) -> TransientModelError:
        return TransientModelError(
            f"no reply within {self._limits.timeout_s:g} s; --set timeout_s=N waits longer"
        )

    async def _reply(self, request: Request) -> Reply:
        try:
            # The one place where replies come in: no key goes further, to disk or to the screen.
            return clean_record(await self._model.reply(request))
        except VidenceError as error:
            clean_error(error)
            raise
        except TimeoutError as error:
            raise self._late() from error
        except Exception as error:
            _log.debug("the model broke: %s", without_keys(repr(error)))
            raise RejectedRequestError(
                without_keys(f"the model {self._model.identity} broke: {type(error).__name__}: {error}")
            ) from error


async def said(model: Model, request: Request) -> Reply | VidenceError:
    """Return a local model's reply to a remote request, or the error for the remote `Asker`."""
    try:
        return clean_record(await model.reply(request))
    except VidenceError as error:
        clean_error(error)
        return error


@dataclass(kw_only=True)
class _Tries:
    """The tries of one request; times are in seconds of the clock."""

    n_sent: int = 0
    n_failed: int = 0
    """Times of the tries that count; an outage clears them."""
    first_s: float = 0.0
    sent_s: float = 0.0
    before_s: float = 0.0
    """If others were answered after this time, only this request fails; set by tries and outages."""
    has_sat_out: bool = False
    is_overload_spent: bool = False
    """Whether the patience for overload is used up, so that every refusal counts as a failed try."""

    def on_sent(self, now_s: float) -> None:
        """Record that the request is sent."""
        if not self.has_sat_out:
            self.before_s = self.sent_s if self.n_sent else now_s
        if self.n_failed == 0:
            self.first_s = now_s
        self.sent_s = now_s
        self.n_sent += 1

    def sit_out(self) -> None:
        """Wait for the end of an outage."""
        self.n_failed = self.n_sent = 0
        self.before_s = self.sent_s
        self.has_sat_out = True


class _EndError(Exception):
    """The end of a flow; `StopIteration` cannot be raised from a thread."""

    def __init__(self, stop: StopIteration) -> None:
        self.stop = stop
        super().__init__()


def _sent(flow: Flow[MadeT], replies: Sequence[Reply]) -> Sequence[Prompt | Ask] | Together:
    """Advance a flow in a thread, because parsing long replies can take seconds."""
    try:
        return flow.send(replies)
    except StopIteration as stop:
        raise _EndError(stop) from stop


async def drive(flow: Flow[MadeT], ask: AskModel) -> MadeT:
    """Run a flow to its end: send its requests to the models, pass replies back, and return its result.

    Requests yielded together are sent concurrently. `TransientModelError` and `RejectedRequestError` are
    thrown into the flow, which may handle them; unhandled ones are raised here, as is every error that ends
    the run.
    """
    with closing(flow):
        try:
            wanted = next(flow)
            while True:
                try:
                    if isinstance(wanted, Together):
                        await _all(wanted.flows, lambda flow: drive(flow, ask))
                        replies: Sequence[Reply] = ()
                    else:
                        asks = [Ask(prompt=entry) if isinstance(entry, Prompt) else entry for entry in wanted]
                        replies = await _all(asks, ask)
                except _NO_REPLY as error:
                    wanted = flow.throw(error)
                else:
                    if sum(len(reply.text) for reply in replies) > LONG_CHARACTERS:
                        wanted = await anyio.to_thread.run_sync(_sent, flow, replies)
                    else:
                        wanted = flow.send(replies)
        except (StopIteration, _EndError) as ended:
            stop = ended.stop if isinstance(ended, _EndError) else ended
            value: MadeT = stop.value
            return value


async def _all(things: Sequence[ThingT], work: Callable[[ThingT], Awaitable[MadeT]]) -> list[MadeT]:
    """Do work on all items concurrently; an error is raised after the others have ended."""
    if len(things) == 1:
        return [await work(things[0])]
    values: dict[int, MadeT] = {}
    errors: list[VidenceError] = []

    async def one(position: int) -> None:
        try:
            values[position] = await work(things[position])
        except VidenceError as error:
            errors.append(error)  # the others go on: they may be paid for already

    async with anyio.create_task_group() as group:
        for position in range(len(things)):
            group.start_soon(one, position)
    if errors:
        raise next((e for e in errors if not isinstance(e, _NO_REPLY)), errors[0])
    return [values[position] for position in range(len(things))]


class ItemFailedError(UsageError):
    """Raised if no question about an item can be asked; `failed` has the reason."""

    def __init__(self, failed: Failed) -> None:
        self.failed = failed
        super().__init__(failed.message)


def failure(error: VidenceError, stage: Stage) -> Failed:
    """Return the outcome of an item for an error."""
    if isinstance(error, ItemFailedError):
        return error.failed
    is_model = isinstance(error, _NO_REPLY)
    return Failed(stage="model" if is_model else stage, error=type(error).__name__, message=str(error))


def no_image(digest: str) -> bytes:
    """Reject image access, for flows whose prompts have no images.

    Raises:
        MediaError: always.
    """
    raise MediaError(f"a prompt names the image {digest[:12]}, and this flow has no images")


@dataclass(frozen=True, kw_only=True)
class Context:
    """Settings shared by all requests of one flow."""

    item_id: str = ""
    """The item that the requests are about, if any."""
    image: Callable[[str], bytes] = no_image
    """Returns an image's bytes by digest; called only when the image is sent."""
    model: str = ""
    """The default model's name."""
    stage: Stage = "prompting"
    """The stage named in the outcomes of failed items (see `ITEM_ERRORS`)."""
    repeat: int = 0
    n_repeats: int = 1
    """Separates the cached replies of repeated runs of one flow, including all samples of earlier ones."""
    shares_frames: bool = False
    """As in `Request`."""


@dataclass(kw_only=True)
class AskCount:
    """Numbers of paid replies (`cost` in US dollars) and of cached replies."""

    n_asked: int = 0
    n_remembered: int = 0
    cost: float = 0.0
    remembered: list[Reply] = field(default_factory=list)
    """The cached replies, if `keeps` is set."""
    keeps: bool = False

    def add(self, asked: CostedReply) -> None:
        """Count a reply."""
        if self.keeps and asked.is_remembered:
            self.remembered.append(asked.reply)
        self.n_remembered += asked.is_remembered
        self.n_asked += not asked.is_remembered
        self.cost += asked.cost


@dataclass(frozen=True, kw_only=True)
class ModelRules:
    """A model that an engine knows by a name."""

    spec: str
    budget: Budget
    sampling: Sampling | None = None
    """Default sampling; None: every request must state its own."""
    overrides: Mapping[str, float] = field(default_factory=dict)
    """Fields of `Sampling` that override those of requests."""


class PromptImages(Mapping[str, bytes]):
    """The images of a prompt by digest, read only when sent, so never for a cached reply."""

    def __init__(self, prompt: Prompt, image: Callable[[str], bytes]) -> None:
        self._digests = dict.fromkeys(part.digest for part in prompt.parts if isinstance(part, ImagePart))
        self._image = image

    def __getitem__(self, digest: str) -> bytes:
        if digest not in self._digests:
            raise KeyError(digest)
        return self._image(digest)

    def __contains__(self, digest: object) -> bool:
        return digest in self._digests

    def __iter__(self) -> Iterator[str]:
        return iter(self._digests)

    def __len__(self) -> int:
        return len(self._digests)


@dataclass(kw_only=True, eq=False)
class Engine(AbstractAsyncContextManager["Engine"]):
    """Runs flows; an async context manager that closes models and the cache at exit.

    A model is opened at its first use and stays open. The name ``""`` is the model under test; its spec is an
    alias. `again` is the command that continues after a limit. `memory` is the reply cache's file.
    `open_model` opens a model by its spec (`engine.executor`); None: through the catalog.
    """

    memory: Path
    limits: AskLimits
    on_event: Listener
    again: str = SAME_COMMAND
    open_model: Callable[[str], Model] | None = None
    count: AskCount = field(default_factory=AskCount, init=False)
    _memory: Memory | None = field(default=None, init=False)
    _rules: dict[str, ModelRules] = field(default_factory=dict, init=False)
    _models: dict[str, Model] = field(default_factory=dict, init=False)
    _askers: dict[str, Asker] = field(default_factory=dict, init=False)

    async def __aexit__(self, *_: object) -> None:
        try:
            with anyio.CancelScope(shield=True):
                for model in self._models.values():
                    await model.close()
        finally:
            if self._memory is not None:
                self._memory.close()

    def add(self, name: str, rules: ModelRules) -> None:
        """Register a model under a name."""
        self._rules[name] = rules

    def model(self, name: str) -> Model:
        """Return the opened model with this name.

        Raises:
            UnknownNameError: no model has this name.
            VidenceError: it cannot be opened.
        """
        name = self._known(name)
        if name not in self._models:
            spec = self._rules[name].spec
            self._models[name] = self.open_model(spec) if self.open_model else create("model", spec)
        return self._models[name]

    async def run(
        self, flow: Flow[MadeT], context: Context, *, count: AskCount | None = None
    ) -> MadeT | Failed:
        """Return a flow's result, or why its item failed.

        Args:
            flow: closed at the end in any case.
            context: settings shared by its requests.
            count: counts this flow's replies; `Engine.count` has those of all flows.

        Raises:
            BudgetSpentError: the spending limit is reached.
            VidenceError: no further item can be asked about.
        """
        try:
            return await self.drive(flow, context, count=count)
        except ITEM_ERRORS[context.stage] as error:
            return failure(error, context.stage)

    async def drive(self, flow: Flow[MadeT], context: Context, *, count: AskCount | None = None) -> MadeT:
        """Return a flow's result; like `run`, but errors of single items are raised, too."""

        async def ask(wanted: Ask) -> Reply:
            name = self._known(wanted.model or context.model)
            rules = self._rules[name]
            sampling = wanted.sampling or rules.sampling
            if sampling is None:
                raise UsageError(f"{rules.spec} was asked without saying how the reply is sampled")
            if rules.overrides:
                sampling = msgspec.structs.replace(sampling, **rules.overrides)
            request = Request(
                item_id=context.item_id,
                prompt=wanted.prompt,
                sampling=sampling,
                images=PromptImages(wanted.prompt, context.image),
                sample=wanted.sample * context.n_repeats + context.repeat,
                shares_frames=context.shares_frames,
            )
            asked = await self._asker(name).ask(request)
            for ask_count in (self.count, count):
                if ask_count is not None:
                    ask_count.add(asked)
            return asked.reply

        return await drive(flow, ask)

    def _known(self, name: str) -> str:
        if name in self._rules:
            return name
        if "" in self._rules and self._rules[""].spec == name:
            return ""
        raise UnknownNameError("model in the configuration", name, self._rules)

    def _asker(self, name: str) -> Asker:
        if name not in self._askers:
            model, limits = self.model(name), self.limits
            self._memory = self._memory or Memory(self.memory)
            most = min(limits.concurrency, model.max_in_flight or limits.concurrency)
            self._askers[name] = Asker(
                model,
                memory=self._memory,
                limits=Limits(
                    in_flight=AdaptiveLimit(most, clock=anyio.current_time),
                    pace=Pace(limits.requests_per_minute, limits.tokens_per_minute),
                    backoff=Backoff(rng=np.random.default_rng(limits.seed)),
                    budget=self._rules[name].budget,
                    attempts=limits.attempts,
                    patience_s=limits.patience_s,
                    timeout_s=limits.timeout_s,
                    again=self.again,
                ),
                on_event=self.on_event,
            )
        return self._askers[name]
