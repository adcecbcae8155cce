"""Worker processes of this machine: they cannot block the event loop, and can be killed.

Unlike `multiprocessing` and `anyio.to_process`, a worker never runs the user's script again, so that
a script needs no ``if __name__ == "__main__"``.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TypeVar, cast

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream

from vidence.engine.worker import HEADER, Outcome
from vidence.errors import DecodeTimeoutError, MediaError, VidenceError

T = TypeVar("T")
_EXIT_S = 2.0


class Workers(AbstractAsyncContextManager["Workers"]):
    """At most so many worker processes, started when needed and ended on leaving the context.

    A worker has its own session: Ctrl-C in a terminal reaches the run, which ends its workers. One
    whose parent was killed ends after its job, or by an alarm soon after the job's deadline.
    """

    def __init__(self, most: int) -> None:
        self._free = anyio.CapacityLimiter(most)
        self._idle: list[Process] = []

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        async with anyio.create_task_group() as tasks:
            for process in self._idle:
                tasks.start_soon(_dismiss, process)

    async def run(self, key: str, function: Callable[[], T], *, deadline_s: float) -> T:
        """What `function` returns; it must be picklable, and so must be what it returns.

        Args:
            key: the file that the work is about, for messages.
            function: a function, or a `functools.partial` of one.
            deadline_s: how long it may take, in seconds, without waiting for its turn; it is then killed.

        Raises:
            DecodeTimeoutError: it did not finish.
            MediaError: its process crashed, or it raised something unforeseen.
            VidenceError: as it raised it.
        """
        job = pickle.dumps((key, deadline_s, function), protocol=pickle.HIGHEST_PROTOCOL)
        async with self._free:
            process = await self._process()
            try:
                with anyio.fail_after(deadline_s):
                    is_made, outcome = await _exchange(process, job)
            except TimeoutError as error:
                await _end(process)
                raise DecodeTimeoutError(
                    f"{key}: the decoder did not finish within {deadline_s:g} s "
                    "and was stopped; --decode-timeout sets how long it may take"
                ) from error
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError) as error:
                await _end(process)
                raise MediaError(f"{key}: the decoder crashed on this file; it is set aside") from error
            except BaseException:
                await _end(process)
                raise
            self._idle.append(process)
        if not is_made:
            raise cast("VidenceError", outcome)
        return cast("T", outcome)

    async def _process(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
            await _end(process)
        with anyio.CancelScope(shield=True):  # a process that nobody knows would stay
            started = await anyio.open_process(
                [sys.executable, "-c", "from vidence.engine.worker import serve; serve()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                start_new_session=True,
            )
        return started  # noqa: RET504 - a return inside the scope is none to mypy


async def _exchange(process: Process, job: bytes) -> Outcome:
    sent = cast("ByteSendStream", process.stdin)
    received = BufferedByteReceiveStream(cast("ByteReceiveStream", process.stdout))
    await sent.send(HEADER.pack(len(job)) + job)
    (length,) = HEADER.unpack(await received.receive_exactly(HEADER.size))
    outcome: Outcome = pickle.loads(await received.receive_exactly(length))  # noqa: S301 - our own worker wrote it
    return outcome


async def _dismiss(process: Process) -> None:
    """Close the pipe of an idle process and wait for its end."""
    with anyio.move_on_after(_EXIT_S, shield=True):
        await process.aclose()  # kills it when the time is up


async def _end(process: Process) -> None:
    """Kill a process and wait for its end, also while the run is being cancelled."""
    with anyio.CancelScope(shield=True):
        if process.returncode is None:
            process.kill()
        await process.aclose()
