"""Run work in other processes for synchronous callers.

The processes are on this machine or on others (`engine.executor`). Video files are probed this way, and this
process caches the results.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Final, TypeAlias, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from vidence.engine.executor import Parallelism, Processes, executor_of
from vidence.errors import MediaError, VidenceError
from vidence.media.files import MediaFacts, cached_facts, keep_facts, look_into

T = TypeVar("T")
Piece: TypeAlias = tuple[str, Callable[[], T]]
"""The file that the work is about, for messages, and the work, picklable as for `Workers.run`."""
DEADLINE_S: Final = 24 * 3600.0
"""Time limit in seconds: large pictures may take an hour, but a decoder that hangs must be ended."""
# Results that nobody has taken yet; with more, no further piece is begun.
_MOST_WAITING: Final = 32
_LOOK_S: Final = 0.05


def side_by_side(
    pieces: Iterable[Piece[T]],
    parallel: Parallelism,
    *,
    on_trouble: Callable[[str], None] = lambda message: None,
    deadline_s: float = DEADLINE_S,
) -> Iterator[tuple[int, T | VidenceError]]:
    """Run pieces of work in parallel; yield each number and result in order of completion.

    Args:
        pieces: the work; the next piece is taken when a worker is free.
        parallel: where it runs.
        on_trouble: receives problems of other machines while waiting.
        deadline_s: time limit per piece.

    Yields:
        The result, or the error of the piece; other pieces continue.

    Raises:
        VidenceError: the executor cannot be used.
    """
    queue: SimpleQueue[tuple[int, T | VidenceError] | str | None] = SimpleQueue()
    waiting = enumerate(pieces)

    async def work_on(processes: Processes) -> None:
        result: T | VidenceError
        for number, (key, work) in waiting:
            try:
                result = await processes.run(key, work, deadline_s=deadline_s)
            except VidenceError as error:
                result = error
            queue.put((number, result))
            while queue.qsize() > _MOST_WAITING:
                await anyio.sleep(_LOOK_S)

    async def all_of_them() -> None:
        try:
            executor = executor_of(parallel.on)
            async with (
                executor.processes(parallel, on_trouble=queue.put) as processes,
                anyio.create_task_group() as tasks,
            ):
                for _ in range(processes.n_places):
                    tasks.start_soon(work_on, processes)
        finally:
            queue.put(None)

    with start_blocking_portal() as portal:
        working = portal.start_task_soon(all_of_them)
        try:
            while (news := queue.get()) is not None:
                if isinstance(news, str):
                    on_trouble(news)
                else:
                    yield news
            working.result()
        finally:
            working.cancel()


@dataclass(frozen=True, kw_only=True)
class ProbedFile:
    """The facts of a file, or why it cannot be read; `was_kept` if they were cached."""

    made: MediaFacts | MediaError
    was_kept: bool


def look_side_by_side(
    files: Sequence[Path], parallel: Parallelism, *, cache_root: Path, on_trouble: Callable[[str], None]
) -> Iterator[tuple[int, ProbedFile]]:
    """Probe video files in parallel; yield each number and result as it becomes known.

    Args:
        files: the files.
        parallel: where to probe.
        cache_root: where facts are cached; cached files are not probed again.
        on_trouble: receives problems of cluster machines.

    Raises:
        VidenceError: the work cannot continue.
    """
    missing: list[int] = []
    for number, file in enumerate(files):
        known = cached_facts(file, kind="video", cache_root=cache_root)
        if known is None:
            missing.append(number)
        else:
            yield number, ProbedFile(made=known, was_kept=True)
    pieces = ((str(files[number]), partial(look_into, files[number], kind="video")) for number in missing)
    parallel = parallel.touching(files[number] for number in missing)
    for piece, result in side_by_side(pieces, parallel, on_trouble=on_trouble) if missing else ():
        if isinstance(result, MediaError):
            yield missing[piece], ProbedFile(made=result, was_kept=False)
        elif isinstance(result, VidenceError):
            raise result
        else:
            facts = keep_facts(result, cache_root=cache_root)
            yield missing[piece], ProbedFile(made=facts, was_kept=False)
