"""Many flows of a construction step, driven against models that are named in its configuration.

Construction does not wait: its steps are flows, and this is where they are sent off. From outside it is an
ordinary object; inside, an event loop in a thread of its own asks many things at the same time.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
import anyio.lowlevel
import msgspec
import numpy as np
from anyio.from_thread import BlockingPortal, start_blocking_portal

from vidence.catalog import parse_spec
from vidence.contracts import Ask, Flow, MadeT, Model, Request
from vidence.engine.drive import Asker, drive, first_error
from vidence.engine.events import Errand, Listener
from vidence.engine.limits import AdaptiveLimit, Backoff, Budget, Limits
from vidence.engine.prepare import open_model
from vidence.engine.specs import without_sampling
from vidence.engine.store import Memory
from vidence.errors import (
    BudgetSpentError,
    MediaError,
    RejectedRequestError,
    TransientModelError,
    UnknownNameError,
    UsageError,
)
from vidence.records import Failed, ImagePart, Prompt, Record, Reply, Sampling

Pictures = Callable[[str], bytes]


class NamedModel(Record, kw_only=True, omit_defaults=True):
    """A model that steps ask by name. Prices are US dollars per million tokens.

    ``temperature``, ``top_p`` and ``max_tokens`` in `spec` hold whatever a step would like.
    """

    spec: str
    price_in: float = 0.0
    price_out: float = 0.0


class ErrandRules(Record, kw_only=True, omit_defaults=True):
    """How much at once, how long, how dear. Units: seconds, US dollars. `attempts` counts the first try."""

    concurrency: int = 16
    timeout_s: float = 180.0
    attempts: int = 6
    max_cost: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("concurrency", "timeout_s", "attempts", "max_cost"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise UsageError(f"{name} is {value}; expected more than 0")


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What errands did so far. `n_asked` replies were asked for, `n_remembered` came from the memory."""

    n_asked: int
    n_remembered: int
    cost: float
    input_tokens: int
    output_tokens: int


@dataclass(kw_only=True)
class _Others(Budget):
    """What all other models of the same errands have spent, for the limit that they share."""

    purses: Mapping[str, Budget] = field(default_factory=dict)
    name: str = ""

    @property
    def cost(self) -> float:
        return sum(purse.cost for name, purse in self.purses.items() if name != self.name)


@dataclass(frozen=True, kw_only=True)
class _Seat:
    """One model at work."""

    model: Model
    asker: Asker
    drawn: Mapping[str, object]

    def sampling(self, wanted: Sampling | None) -> Sampling:
        return msgspec.structs.replace(wanted or Sampling(), **self.drawn)


class _Lazy(Mapping[str, bytes]):
    """The images of a prompt; one is read when it is sent, so never where the reply is remembered."""

    def __init__(self, prompt: Prompt, pictures: Pictures) -> None:
        self._digests = dict.fromkeys(part.digest for part in prompt.parts if isinstance(part, ImagePart))
        self._pictures = pictures

    def __getitem__(self, digest: str) -> bytes:
        if digest not in self._digests:
            raise KeyError(digest)
        return self._pictures(digest)

    def __iter__(self) -> Iterator[str]:
        return iter(self._digests)

    def __len__(self) -> int:
        return len(self._digests)


def no_pictures(digest: str) -> bytes:
    """For errands that show nothing.

    Raises:
        MediaError: always.
    """
    raise MediaError(f"a prompt names the picture {digest[:12]}, and these errands have no pictures")


class Errands:
    """Runs flows to their ends; use it as a context manager.

    A model is opened when the first flow asks it, and stays open until the end. Replies are remembered in
    the same file as those of runs, so that nothing is asked twice, whatever ended the session before.
    """

    def __init__(
        self,
        models: Mapping[str, NamedModel],
        *,
        memory: Path,
        rules: ErrandRules | None = None,
        pictures: Pictures = no_pictures,
        on_event: Listener = lambda event: None,
    ) -> None:
        self._models = dict(models)
        self._memory_path = memory
        self._rules = rules = rules or ErrandRules()
        self._pictures = pictures
        self._on_event = on_event
        self._exits = ExitStack()
        self._portal: BlockingPortal | None = None
        self._memory: Memory | None = None
        self._seats: dict[str, _Seat] = {}
        self._purses: dict[str, Budget] = {}
        self._n_asked = self._n_remembered = 0
        if rules.max_cost is not None and not any(m.price_in or m.price_out for m in models.values()):
            raise UsageError(
                "max_cost needs prices: give a model price_in and price_out in US dollars per million tokens"
            )

    def __enter__(self) -> Self:
        self._memory = self._exits.enter_context(Memory(self._memory_path))
        self._portal = self._exits.enter_context(start_blocking_portal())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._portal is not None:
                self._portal.call(self._close)
        finally:
            self._seats.clear()
            self._portal = None
            self._exits.__exit__(kind, error, trace)

    @property
    def names(self) -> tuple[str, ...]:
        """The models that can be asked."""
        return tuple(self._models)

    @property
    def spent(self) -> Spent:
        """What was done so far."""
        purses = self._purses.values()
        return Spent(
            n_asked=self._n_asked,
            n_remembered=self._n_remembered,
            cost=sum(p.cost for p in purses),
            input_tokens=sum(p.input_tokens for p in purses),
            output_tokens=sum(p.output_tokens for p in purses),
        )

    def identity(self, name: str) -> str:
        """What tells a model from others, with how its replies are drawn; it is opened for this.

        Raises:
            UnknownNameError: no model has this name.
        """
        self._check(name)
        seat = self._open_portal().call(self._seat, name)
        drawn = msgspec.json.encode(seat.drawn, order="sorted").decode() if seat.drawn else ""
        return seat.model.identity + drawn

    def run(self, flows: Mapping[str, Flow[MadeT]], *, model: str = "") -> dict[str, MadeT | Failed]:
        """What came of each flow, under its name, in the order given.

        A flow whose model gives no reply, or whose pictures cannot be read, has failed; the others go on.

        Args:
            flows: by names, which progress displays show.
            model: the name of the model that asks without a name of their own are put to.

        Raises:
            UnknownNameError: a model that is not named in the configuration.
            BudgetSpentError: the limit of spending is reached; every reply so far is remembered.
            ModelError: a model answers nobody any more; every reply so far is remembered.
        """
        if model:
            self._check(model)
        future = self._open_portal().start_task_soon(self._run_all, flows, model)
        try:
            found = future.result()
        except BaseException:
            future.cancel()  # Ctrl-C: what is in flight is given up, what was answered is remembered
            raise
        return {name: found[name] for name in flows}

    # ----------------------------------------------------------------------- inside the event loop

    def _open_portal(self) -> BlockingPortal:
        if self._portal is None:
            raise UsageError("errands are run inside a with statement: with Errands(...) as errands")
        return self._portal

    def _check(self, name: str) -> None:
        if name not in self._models:
            raise UnknownNameError("model in the configuration", name, self._models)

    async def _seat(self, name: str) -> _Seat:
        if name not in self._seats:
            self._check(name)
            named, rules = self._models[name], self._rules
            spec, drawn = without_sampling(parse_spec(named.spec))
            model = open_model(spec)
            budget = Budget(
                price_in=named.price_in,
                price_out=named.price_out,
                max_cost=rules.max_cost,
                beside=_Others(purses=self._purses, name=name),
            )
            self._purses[name] = budget
            limits = Limits(
                in_flight=AdaptiveLimit(
                    min(rules.concurrency, model.max_in_flight or rules.concurrency),
                    clock=anyio.current_time,
                ),
                backoff=Backoff(rng=np.random.default_rng(rules.seed)),
                budget=budget,
                attempts=rules.attempts,
                timeout_s=rules.timeout_s,
            )
            if self._memory is None:
                raise UsageError("errands are run inside a with statement: with Errands(...) as errands")
            asker = Asker(model, memory=self._memory, limits=limits, on_event=self._on_event)
            self._seats[name] = _Seat(model=model, asker=asker, drawn=drawn)
        return self._seats[name]

    async def _close(self) -> None:
        with anyio.CancelScope(shield=True):
            for seat in self._seats.values():
                await seat.model.close()

    async def _run_all(self, flows: Mapping[str, Flow[MadeT]], model: str) -> dict[str, MadeT | Failed]:
        waiting = iter(flows.items())
        found: dict[str, MadeT | Failed] = {}
        spent: list[BudgetSpentError] = []

        async def work() -> None:
            for name, flow in waiting:
                await anyio.lowlevel.checkpoint()  # a flow that asks nobody would not let Ctrl-C in
                try:
                    made = await self._run_one(flow, model)
                except BudgetSpentError as error:
                    spent.append(error)
                    return
                found[name] = made
                self._on_event(Errand(name=name, failed=made if isinstance(made, Failed) else None))

        with first_error():
            async with anyio.create_task_group() as tasks:
                for _ in range(min(self._rules.concurrency, len(flows))):
                    tasks.start_soon(work)
        if spent:
            raise spent[0]
        return found

    async def _run_one(self, flow: Flow[MadeT], default: str) -> MadeT | Failed:
        async def ask(wanted: Ask) -> Reply:
            seat = await self._seat(wanted.model or default)
            request = Request(
                item_id="",
                prompt=wanted.prompt,
                sampling=seat.sampling(wanted.sampling),
                images=_Lazy(wanted.prompt, self._pictures),
                sample=wanted.sample,
            )
            asked = await seat.asker.ask(request)
            self._n_remembered += asked.is_remembered
            self._n_asked += not asked.is_remembered
            return asked.reply

        try:
            return await drive(flow, ask)
        except (TransientModelError, RejectedRequestError) as error:
            return Failed(stage="model", error=type(error).__name__, message=str(error))
        except MediaError as error:
            return Failed(stage="media", error=type(error).__name__, message=str(error))
