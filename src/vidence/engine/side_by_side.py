"""Work that is done in worker processes, one piece beside the other, for callers that do not await."""

from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Final, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from vidence.engine.workers import MOST_BYTES, Workers
from vidence.errors import VidenceError

T = TypeVar("T")
# A piece of work may well take an hour on a large picture; a decoder that hangs must end some day.
_DEADLINE_S: Final = 24 * 3600.0

Piece = tuple[str, Callable[[], T]]
"""The file that the work is about, for messages, and the work; picklable, as `Workers.run` wants it."""


def side_by_side(
    pieces: Iterable[Piece[T]], *, n_workers: int, most_bytes: int = MOST_BYTES
) -> Iterator[tuple[int, T | VidenceError]]:
    """What comes of each piece of work and its number, in the order in which they end.

    Args:
        pieces: the work; the next piece is taken when a worker is free for it.
        n_workers: how many processes work at a time.
        most_bytes: how much memory each of them may have.

    Yields:
        What was made, or the error that a piece ended with; the others go on.
    """
    ended: SimpleQueue[tuple[int, T | VidenceError] | _End] = SimpleQueue()
    waiting = enumerate(pieces)

    async def work_on(workers: Workers) -> None:
        for number, (key, work) in waiting:
            try:
                ended.put((number, await workers.run(key, work, deadline_s=_DEADLINE_S)))
            except VidenceError as error:
                ended.put((number, error))

    async def all_of_them() -> None:
        problem: BaseException | None = None
        try:
            async with (
                Workers(n_workers, most_bytes=most_bytes) as workers,
                anyio.create_task_group() as tasks,
            ):
                for _ in range(n_workers):
                    tasks.start_soon(work_on, workers)
        except BaseException as error:
            problem = error
            raise
        finally:
            ended.put(_End(problem))

    with start_blocking_portal() as portal:
        working = portal.start_task_soon(all_of_them)
        try:
            while not isinstance(one := ended.get(), _End):
                yield one
        finally:
            working.cancel()
        if one.problem is not None:
            raise one.problem


class _End:
    """All pieces are done, or a fault of the program ended the work."""

    def __init__(self, problem: BaseException | None) -> None:
        self.problem = problem
