"""Where work is done: in processes of this machine, or where the executor that `--on` names does it.

The executors of other machines are a wing (`engine.cluster`): files that the catalogue finds by name.
"""

from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol, Self, TypeAlias, TypeVar

from vidence.catalog import create, names, parse_spec
from vidence.contracts import Model
from vidence.engine.environment import Environment
from vidence.engine.workers import MOST_BYTES, Workers
from vidence.errors import UsageError

T = TypeVar("T")
LOCAL: Final = "local"
Opener: TypeAlias = Callable[[str], Model]
"""Opens the model of a spec."""


class Processes(Protocol):
    """Processes that do work; `workers.Workers` are those of this machine."""

    @property
    def n_places(self) -> int:
        """How many functions they do at a time."""
        ...

    async def run(self, key: str, function: Callable[[], T], *, deadline_s: float) -> T:
        """What a function returns; see `Workers.run`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Parallelism:
    """Where pieces of work are done, and how many at a time. Nothing of it changes what is made."""

    n_workers: int = 1
    """How many processes of this machine work."""
    most_bytes: int = MOST_BYTES
    """How much memory each of them may have; other machines have their own VIDENCE_WORKER_GB."""
    on: str = LOCAL
    """Here, or on other machines (`executor_of`)."""
    most_each: int | None = None
    """How many processes work on each of them; None: one for each processor."""
    gpus_each: int | None = None
    """For work that keeps a network: one process works on each machine, or (not 0) for so many of its GPUs;
    None: it keeps none."""

    @classmethod
    def of(cls, environment: Environment, *, jobs: int | None = None) -> Self:
        """As an environment says; `jobs` is how many processes work, here or on each of the other machines.

        Raises:
            UsageError: the environment names no place to work, or one that is not installed.
        """
        executor_of(environment.on)
        return cls(
            n_workers=environment.n_workers if jobs is None else jobs,
            most_bytes=environment.worker_max_bytes,
            on=environment.on,
            most_each=jobs,
        )

    @property
    def is_away(self) -> bool:
        """Whether the work is done by other machines: what is written there is not here."""
        return self.on != LOCAL

    @property
    def has_others(self) -> bool:
        """Whether there is more to work with than one process of this machine."""
        return self.is_away or self.n_workers > 1


class Executor(Protocol):
    """Does work for commands that run here: they alone ask, remember and write."""

    def processes(
        self, wanted: Parallelism, *, on_trouble: Callable[[str], None]
    ) -> AbstractAsyncContextManager[Processes]:
        """Processes that work until the context is left; `on_trouble` is told of machines that are lost."""
        ...

    def opener(self, specs: Collection[str]) -> Opener | None:
        """How models are opened whose weights are not in this process; None: all are.

        Args:
            specs: all models that will be opened.
        """
        ...


class LocalExecutor:
    """The `Executor` of this machine."""

    def processes(self, wanted: Parallelism, *, on_trouble: Callable[[str], None]) -> Workers:
        """Worker processes of this machine."""
        return Workers(wanted.n_workers, most_bytes=wanted.most_bytes)

    def opener(self, specs: Collection[str]) -> None:
        """Models are opened in this process."""
        return


def executor_of(on: str) -> Executor:
    """The executor of that name.

    Args:
        on: ``local``, or the name of an executor with its address and its settings behind it.

    Raises:
        UsageError: there is none of that name, a setting is wrong, or what it needs is not installed.
    """
    if on == LOCAL:
        return LocalExecutor()
    others = names("executor")
    if parse_spec(on).name not in others:
        there = (
            ", ".join((LOCAL, *others)) if others else f"{LOCAL} (no cluster is installed: engine/cluster)"
        )
        raise UsageError(f"--on {on!r} is no place to work; expected {there}")
    executor: Executor = create("executor", on)
    return executor
