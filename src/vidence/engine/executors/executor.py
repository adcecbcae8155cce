"""What executors promise, and the one that an environment names."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from vidence.engine.session import Session, ShownSubject, Todo
from vidence.engine.views import DecodeCount
from vidence.errors import UsageError

DoneT = TypeVar("DoneT")
DoneT_co = TypeVar("DoneT_co", covariant=True)
LOCAL: Final = "local"
RAY: Final = "ray"
_EXPECTED: Final = (
    f"{LOCAL}, {RAY} (the cluster that this machine is part of), or ray://HOST:10001; these two "
    "may have settings, as ray?replicas=2..8"
)


class Task(Protocol[DoneT_co]):
    """What is done with one question: a function of a module or an object that can be pickled.

    It writes nothing: what it makes is kept by the process that began the session.
    """

    async def __call__(self, session: Session, subject: ShownSubject) -> DoneT_co:
        """What is made of a question that is shown, by a session that may stand on another machine."""
        ...


@dataclass(frozen=True, kw_only=True)
class Duty(Generic[DoneT]):
    """What is to be done, and what becomes of what was made."""

    todo: Todo
    """The questions, each with its repeat."""
    task: Task[DoneT]
    """What is done with each of them."""
    keep: Callable[[DoneT], None]
    """Called by the process that began the session, with what was made of each question, once for each."""
    together: Callable[[], AbstractContextManager[None]]
    """A transaction of the store into which `keep` writes."""
    n_consumers: int
    """How many questions are worked on at a time, on all machines together."""
    most_each: int | None
    """How many of them at most by one process: as many as its model takes; None: no bound."""
    count: DecodeCount
    """Counts what is decoded, on all machines together."""


class Executor(Protocol):
    """Does what is to be done for a session."""

    async def work(self, session: Session, duty: Duty[DoneT]) -> None:
        """Show every question, do the task with it, and keep what was made.

        Raises:
            BudgetSpentError: the budget ends it early.
            VidenceError: no further question can be asked.
        """
        ...


class LocalExecutor:
    """The `Executor` of this machine: decoding in worker processes, asking in this one."""

    async def work(self, session: Session, duty: Duty[DoneT]) -> None:
        """Show every question, do the task with it, and keep what was made; see `Executor.work`."""

        async def ask(subject: ShownSubject) -> None:
            duty.keep(await duty.task(session, subject))

        n_consumers = min(duty.n_consumers, duty.most_each or duty.n_consumers)
        await session.work(duty.todo, ask, n_consumers=n_consumers, count=duty.count)


def executor_of(on: str) -> Executor:
    """The executor of that name.

    Args:
        on: ``local``, ``ray``, or the address of a cluster, with settings behind a question mark.

    Raises:
        UsageError: it is none of these, or Ray is not installed.
    """
    if on == LOCAL:
        return LocalExecutor()
    if on.partition("?")[0] == RAY or on.startswith("ray://"):
        from vidence.engine.executors.ray import RayExecutor

        return RayExecutor(on)
    raise UsageError(f"--on {on!r} is no place to work; expected {_EXPECTED}")
