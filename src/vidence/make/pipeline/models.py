"""Models used by a maker; the only place where makers use the engine."""

from collections.abc import Callable, Mapping
from pathlib import Path

from vidence.engine.engine import no_image
from vidence.engine.events import Event, Listener
from vidence.engine.executor import LOCAL
from vidence.engine.jobs import Jobs, NamedModel
from vidence.engine.limits import AskLimits

__all__ = ["AskLimits", "Event", "Listener", "Models", "NamedModel", "ignore_event"]


def ignore_event(event: Event) -> None:
    """The default listener of models; ignores events."""


class Models(Jobs):
    """The models of a configuration; a context manager that closes them."""

    def __init__(
        self,
        named: Mapping[str, str | NamedModel],
        *,
        memory: Path,
        limits: AskLimits,
        pictures: Callable[[str], bytes] = no_image,
        on_event: Listener = ignore_event,
        on: str = LOCAL,
    ) -> None:
        self.named = {n: NamedModel(spec=m) if isinstance(m, str) else m for n, m in named.items()}
        super().__init__(
            self.named, memory=memory, limits=limits, pictures=pictures, on_event=on_event, on=on
        )

    def spec(self, name: str) -> str:
        """The spec of a model; empty if the configuration names none."""
        return self.named[name].spec if name in self.named else ""
