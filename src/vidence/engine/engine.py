"""The one driver of flows: named models, the memory of replies, limits and budgets."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

import anyio
import msgspec
import numpy as np

from vidence.contracts import Ask, Flow, MadeT, Model, Request
from vidence.engine.drive import Asked, Asker, drive
from vidence.engine.events import Listener
from vidence.engine.limits import AdaptiveLimit, AskLimits, Backoff, Budget, Limits
from vidence.engine.prepare import open_model
from vidence.engine.store import Memory
from vidence.errors import (
    DataError,
    MediaError,
    RejectedRequestError,
    TransientModelError,
    UnknownNameError,
    UsageError,
    VidenceError,
)
from vidence.records import Failed, ImagePart, Prompt, Reply, Sampling

Stage = Literal["media", "selection", "prompting"]
_NO_REPLY = (TransientModelError, RejectedRequestError)
# By stage, what goes wrong with one item; every other error ends the run.
ITEM_ERRORS: Final[Mapping[Stage, tuple[type[VidenceError], ...]]] = {
    "media": (*_NO_REPLY, MediaError),
    "prompting": (*_NO_REPLY, MediaError, UsageError),
    "selection": (*_NO_REPLY, MediaError, UsageError, DataError),
}


class ItemFailedError(UsageError):
    """Nothing can be asked about an item; `failed` says why."""

    def __init__(self, failed: Failed) -> None:
        self.failed = failed
        super().__init__(failed.message)


def failure(error: VidenceError, stage: Stage) -> Failed:
    """An error about one item, as its outcome."""
    if isinstance(error, ItemFailedError):
        return error.failed
    is_model = isinstance(error, _NO_REPLY)
    return Failed(stage="model" if is_model else stage, error=type(error).__name__, message=str(error))


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What a run takes from the machine: folders and workers. Nothing of it changes a number."""

    cache_root: Path
    cache_max_bytes: int = 20 * 2**30
    n_workers: int = 2

    @property
    def memory(self) -> Path:
        """The file of remembered replies, unless a plan names another."""
        return self.cache_root / "replies.sqlite"


def no_image(digest: str) -> bytes:
    """For flows whose prompts have no images.

    Raises:
        MediaError: always.
    """
    raise MediaError(f"a prompt names the picture {digest[:12]}, and there are no pictures here")


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the asks of one flow have in common."""

    item_id: str = ""
    """The item that they are about, if there is one."""
    image: Callable[[str], bytes] = no_image
    """The bytes of an image by its digest; called only when the image is sent."""
    model: str = ""
    """The name of the model for asks that name none."""
    stage: Stage = "prompting"
    """What the flow does, for outcomes of items that fail (see `ITEM_ERRORS`)."""
    repeat: int = 0
    n_repeats: int = 1
    """Tell the replies of several runs of the same flow apart, all samples of the first of them included."""

    def sample(self, wanted: Ask) -> int:
        """The number of a reply among all replies to the same prompt."""
        return wanted.sample * self.n_repeats + self.repeat


@dataclass(kw_only=True)
class AskCount:
    """Replies that were asked for and paid (`cost` in US dollars), and replies out of the memory."""

    n_asked: int = 0
    n_remembered: int = 0
    cost: float = 0.0

    def add(self, asked: Asked, budget: Budget) -> None:
        """Count one reply."""
        self.n_remembered += asked.is_remembered
        self.n_asked += not asked.is_remembered
        self.cost += 0.0 if asked.is_remembered else budget.price(asked.reply)


@dataclass(frozen=True, kw_only=True)
class ModelRules:
    """A model that an engine knows by a name."""

    spec: str
    budget: Budget
    sampling: Sampling | None = None
    """How replies are sampled where an ask does not say; None: every ask must say."""
    overrides: Mapping[str, object] = field(default_factory=dict)
    """Fields of `Sampling` that hold whatever an ask says."""

    def sampling_of(self, wanted: Ask) -> Sampling:
        """How the reply to an ask is sampled.

        Raises:
            UsageError: neither the ask nor the rules say.
        """
        sampling = wanted.sampling or self.sampling
        if sampling is None:
            raise UsageError(f"{self.spec} was asked without saying how the reply is sampled")
        return msgspec.structs.replace(sampling, **self.overrides) if self.overrides else sampling


class PromptImages(Mapping[str, bytes]):
    """The images of a prompt by digest; one is read when it is sent, so never for a remembered reply."""

    def __init__(self, prompt: Prompt, image: Callable[[str], bytes]) -> None:
        self._digests = dict.fromkeys(part.digest for part in prompt.parts if isinstance(part, ImagePart))
        self._image = image

    def __getitem__(self, digest: str) -> bytes:
        if digest not in self._digests:
            raise KeyError(digest)
        return self._image(digest)

    def __iter__(self) -> Iterator[str]:
        return iter(self._digests)

    def __len__(self) -> int:
        return len(self._digests)


class Engine:
    """Runs flows; an async context manager, which closes models and memory at its end.

    A model is opened when it is first asked or looked at, and stays open. The name ``""`` is the model under
    test; its spec is another name for it.
    """

    def __init__(self, *, memory: Path, limits: AskLimits, on_event: Listener) -> None:
        self.count = AskCount()
        self._limits = limits
        self._on_event = on_event
        self._memory_path = memory
        self._memory: Memory | None = None
        self._rules: dict[str, ModelRules] = {}
        self._models: dict[str, Model] = {}
        self._askers: dict[str, Asker] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with anyio.CancelScope(shield=True):
                for model in self._models.values():
                    await model.close()
        finally:
            if self._memory is not None:
                self._memory.close()

    def add(self, name: str, rules: ModelRules) -> None:
        """Make a model known under a name."""
        self._rules[name] = rules

    def model(self, name: str) -> Model:
        """The model of that name, opened.

        Raises:
            UnknownNameError: no model has this name.
            VidenceError: it cannot be opened.
        """
        name = self._known(name)
        if name not in self._models:
            self._models[name] = open_model(self._rules[name].spec)
        return self._models[name]

    async def run(
        self, flow: Flow[MadeT], context: Context, *, count: AskCount | None = None
    ) -> MadeT | Failed:
        """What a flow makes, or why nothing came of its item.

        Args:
            flow: it is closed at the end, whatever happens.
            context: what its asks have in common.
            count: counts the replies of this flow; those of all flows are in `Engine.count`.

        Raises:
            BudgetSpentError: the limit of spending is reached.
            VidenceError: no further item can be asked about.
        """
        try:
            return await self.drive(flow, context, count=count)
        except ITEM_ERRORS[context.stage] as error:
            return failure(error, context.stage)

    async def drive(self, flow: Flow[MadeT], context: Context, *, count: AskCount | None = None) -> MadeT:
        """What a flow makes; like `run`, but errors of one item are raised, too."""

        async def ask(wanted: Ask) -> Reply:
            name = self._known(wanted.model or context.model)
            asker = self._asker(name)
            request = Request(
                item_id=context.item_id,
                prompt=wanted.prompt,
                sampling=self._rules[name].sampling_of(wanted),
                images=PromptImages(wanted.prompt, context.image),
                sample=context.sample(wanted),
            )
            asked = await asker.ask(request)
            self.count.add(asked, asker.budget)
            if count is not None:
                count.add(asked, asker.budget)
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
            model, limits = self.model(name), self._limits
            if self._memory is None:
                self._memory = Memory(self._memory_path)
            most = min(limits.concurrency, model.max_in_flight or limits.concurrency)
            self._askers[name] = Asker(
                model,
                memory=self._memory,
                limits=Limits(
                    in_flight=AdaptiveLimit(most, clock=anyio.current_time),
                    backoff=Backoff(rng=np.random.default_rng(limits.seed)),
                    budget=self._rules[name].budget,
                    attempts=limits.attempts,
                    timeout_s=limits.timeout_s,
                ),
                on_event=self._on_event,
            )
        return self._askers[name]
