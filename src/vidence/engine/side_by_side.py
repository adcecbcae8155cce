"""Work that is done in other processes, one piece beside the other, for callers that do not await.

The processes are on this machine, or on those of a cluster; the callers do not see the difference.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final, Self, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from vidence.engine.environment import Environment
from vidence.engine.executors.executor import LOCAL, executor_of
from vidence.engine.executors.pieces import DEADLINE_S, End, Ended, Lost, Piece, Told
from vidence.engine.executors.replicas import piece_settings
from vidence.engine.workers import MOST_BYTES, Workers
from vidence.errors import VidenceError

T = TypeVar("T")
__all__ = ["Parallelism", "Piece", "side_by_side"]
# Results that nobody has taken yet; with more, no further piece is begun.
_MOST_WAITING: Final = 32
_LOOK_S: Final = 0.05


@dataclass(frozen=True, kw_only=True)
class Parallelism:
    """Where pieces of work are done, and how many at a time. Nothing of it changes what is made."""

    n_workers: int = 1
    """How many processes of this machine work."""
    most_bytes: int = MOST_BYTES
    """How much memory each of them may have; machines of a cluster have their own VIDENCE_WORKER_GB."""
    on: str = LOCAL
    """Here, or on the machines of a cluster (`executors.executor_of`)."""
    most_each: int | None = None
    """How many processes work on each machine of a cluster; None: as many as Ray counts processors."""
    gpus_each: int | None = None
    """For work that keeps a network: one process works on each machine of a cluster, or (not 0) for so many
    of its GPUs; None: it keeps none."""

    @classmethod
    def of(cls, environment: Environment, *, jobs: int | None = None) -> Self:
        """As an environment says; `jobs` is how many processes work, here or on each machine of a cluster.

        Raises:
            UsageError: the environment names no place to work, or GPUs, which pieces take as they need
                them; or Ray is not installed.
        """
        executor_of(environment.on)
        if environment.on != LOCAL:
            piece_settings(environment.on)
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


def _ignore(message: str) -> None:
    """The default listener."""


def side_by_side(
    pieces: Iterable[Piece[T]],
    parallel: Parallelism,
    *,
    on_trouble: Callable[[str], None] = _ignore,
) -> Iterator[tuple[int, T | VidenceError]]:
    """What comes of each piece of work and its number, in the order in which they end.

    Args:
        pieces: the work; the next piece is taken when a worker is free for it.
        parallel: where it is done.
        on_trouble: told what happens to machines of a cluster, while a result is waited for.

    Yields:
        What was made, or the error that a piece ended with; the others go on.

    Raises:
        UsageError: there is no cluster, or one of its machines has another version of vidence.
        VidenceError: no machine of the cluster works any more.
    """
    told: SimpleQueue[Told[T]] = SimpleQueue()

    async def has_room() -> None:
        while told.qsize() > _MOST_WAITING:
            await anyio.sleep(_LOOK_S)

    async def all_of_them() -> None:
        problem: BaseException | None = None
        try:
            if parallel.is_away:
                from vidence.engine.executors.ray_pieces import work

                await work(
                    pieces,
                    told.put,
                    has_room=has_room,
                    address=parallel.on,
                    most_each=parallel.most_each,
                    gpus_each=parallel.gpus_each,
                )
            else:
                await _work_here(pieces, told.put, has_room=has_room, parallel=parallel)
        except BaseException as error:
            problem = error
            raise
        finally:
            told.put(End(problem=problem))

    with start_blocking_portal() as portal:
        working = portal.start_task_soon(all_of_them)
        try:
            while not isinstance(one := told.get(), End):
                if isinstance(one, Lost):
                    on_trouble(one.message)
                else:
                    yield one.number, one.made
        finally:
            working.cancel()
        if one.problem is not None:
            raise one.problem


async def _work_here(
    pieces: Iterable[Piece[T]],
    tell: Callable[[Told[T]], None],
    *,
    has_room: Callable[[], Awaitable[None]],
    parallel: Parallelism,
) -> None:
    """Do the pieces in processes of this machine."""
    waiting = enumerate(pieces)

    async def work_on(workers: Workers) -> None:
        for number, (key, work) in waiting:
            try:
                tell(Ended(number=number, made=await workers.run(key, work, deadline_s=DEADLINE_S)))
            except VidenceError as error:
                tell(Ended(number=number, made=error))
            await has_room()

    async with (
        Workers(parallel.n_workers, most_bytes=parallel.most_bytes) as workers,
        anyio.create_task_group() as tasks,
    ):
        for _ in range(parallel.n_workers):
            tasks.start_soon(work_on, workers)
