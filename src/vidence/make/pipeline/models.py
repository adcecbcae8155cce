"""The models that a maker asks: the only place where making meets the engine."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from vidence.contracts import Flow
from vidence.engine.engine import no_image
from vidence.engine.events import Event, Listener
from vidence.engine.jobs import Jobs, NamedModel, Spent
from vidence.engine.limits import AskLimits
from vidence.records import Failed

__all__ = ["AskLimits", "Event", "Listener", "Models", "NamedModel", "Spent", "ignore_event"]

T = TypeVar("T")


def ignore_event(event: Event) -> None:
    """The default listener of models; ignores events."""


class Models:
    """Models by the names of a configuration; a context manager, open while they are asked.

    A model is opened when it is asked first. Replies are remembered in the same file as those of runs.
    """

    def __init__(
        self,
        named: Mapping[str, str | NamedModel],
        *,
        memory: Path,
        limits: AskLimits,
        pictures: Callable[[str], bytes] = no_image,
        on_event: Listener = ignore_event,
    ) -> None:
        self.named = {n: NamedModel(spec=m) if isinstance(m, str) else m for n, m in named.items()}
        self._jobs = Jobs(self.named, memory=memory, limits=limits, pictures=pictures, on_event=on_event)

    def __enter__(self) -> Self:
        self._jobs.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._jobs.__exit__(kind, error, trace)

    @property
    def spent(self) -> Spent:
        """What was asked so far, and what it cost."""
        return self._jobs.spent

    def spec(self, name: str) -> str:
        """The spec of a model; empty where the configuration has none of this name."""
        return self.named[name].spec if name in self.named else ""

    def identity(self, name: str) -> str:
        """What tells a model from others, with how its replies are sampled; it is opened for this.

        Raises:
            UnknownNameError: no model has this name.
        """
        return self._jobs.identity(name)

    def ask(self, flows: Mapping[str, Flow[T]], *, model: str = "") -> dict[str, T | Failed]:
        """What came of each flow, by its name; flows that name no model ask `model`.

        A flow whose model gives no reply, or whose pictures cannot be read, has failed; the others go on.

        Raises:
            VidenceError: a model answers nobody any more; every reply so far is remembered.
        """
        return self._jobs.run(flows, model=model)
