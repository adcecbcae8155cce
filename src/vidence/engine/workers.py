"""Worker processes of this machine: they cannot block the event loop, and can be killed.

Unlike `multiprocessing` and `anyio.to_process`, a worker never runs the user's script again, so that
a script needs no ``if __name__ == "__main__"``.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from types import TracebackType
from typing import Final, TypeVar, cast

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream

from vidence.engine.worker import HEADER, Outcome
from vidence.errors import DecodeTimeoutError, MediaError, VidenceError

T = TypeVar("T")
# A decoder holds some pictures at a time; one of 8K takes 0.1 GB as RGB.
MOST_BYTES: Final = 4 * 2**30
NO_BOUND_BYTES: Final = 2**62
"""For networks on a device: their libraries reserve far more addresses than they use memory."""
_EXIT_S: Final = 2.0
# Libraries of linear algebra set memory aside for a thread on each core, and decoders use none.
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Sent by somebody else, such as a system that is out of memory; decoders that crash send themselves others.
_FROM_OUTSIDE: Final = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")


class _KilledError(Exception):
    """Somebody else killed a worker; the message is the name of the signal."""


class Workers(AbstractAsyncContextManager["Workers"]):
    """At most so many worker processes, started when needed and ended on leaving the context.

    A worker has its own session: Ctrl-C in a terminal reaches the run, which ends its workers. One
    whose parent was killed ends after its job, or by an alarm soon after the job's deadline. What a worker
    starts is in its process group, and ends with it.

    Args:
        most: how many workers there may be.
        most_bytes: how much memory each of them may have (on Linux; elsewhere there is no bound).
        n_threads: with how many threads the linear algebra of each of them works.
    """

    def __init__(self, most: int, *, most_bytes: int = MOST_BYTES, n_threads: int = 1) -> None:
        self.n_places = most
        self._free = anyio.CapacityLimiter(most)
        self._threads = dict.fromkeys(_THREADS, str(n_threads))
        self._most_bytes = most_bytes
        self._idle: list[Process] = []

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        async with anyio.create_task_group() as tasks:
            for process in self._idle:
                tasks.start_soon(_dismiss, process)

    async def run(self, key: str, function: Callable[[], T], *, deadline_s: float) -> T:
        """What `function` returns; it must be picklable, and so must be what it returns.

        A worker that is killed from outside gets one more try.

        Args:
            key: the file that the work is about, for messages.
            function: a function, or a `functools.partial` of one.
            deadline_s: how long it may take, in seconds, without waiting for its turn; it is then killed.

        Raises:
            DecodeTimeoutError: it did not finish.
            MediaError: its process crashed or was killed twice, it took too much memory, or it raised
                something unforeseen.
            VidenceError: as it raised it.
        """
        job = pickle.dumps((key, deadline_s, function), protocol=pickle.HIGHEST_PROTOCOL)
        async with self._free:
            try:
                is_made, outcome = await self._tried(key, job, deadline_s=deadline_s)
            except _KilledError:
                try:
                    is_made, outcome = await self._tried(key, job, deadline_s=deadline_s)
                except _KilledError as error:
                    raise MediaError(
                        f"{key}: its decoder was killed from outside twice ({error}), as a system does that "
                        "is out of memory; it is set aside: free memory, or lower VIDENCE_WORKER_GB"
                    ) from error
        if not is_made:
            raise cast("VidenceError", outcome)
        return cast("T", outcome)

    async def _tried(self, key: str, job: bytes, *, deadline_s: float) -> Outcome:
        """The outcome of a job.

        Raises:
            _KilledError: somebody else killed the worker.
            MediaError: as `run`.
        """
        process = await self._process()
        try:
            with anyio.fail_after(deadline_s):
                outcome = await _exchange(process, job)
        except TimeoutError as error:
            await _end(process)
            raise DecodeTimeoutError(
                f"{key}: the decoder did not finish within {deadline_s:g} s "
                "and was stopped; the setting decode_timeout_s says how long it may take"
            ) from error
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError) as error:
            with anyio.move_on_after(_EXIT_S):
                await process.wait()
            killed_by = _killed_by(process.returncode)
            await _end(process)
            if killed_by in _FROM_OUTSIDE:
                raise _KilledError(killed_by) from error
            by = f" ({killed_by})" if killed_by else ""
            raise MediaError(f"{key}: the decoder crashed on this file{by}; it is set aside") from error
        except BaseException:
            await _end(process)
            raise
        self._idle.append(process)
        return outcome

    async def _process(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
            await _end(process)
        with anyio.CancelScope(shield=True):  # a process that nobody knows would stay
            started = await anyio.open_process(
                [sys.executable, "-c", f"from vidence.engine.worker import serve; serve({self._most_bytes})"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | self._threads | {"PYTHONPATH": os.pathsep.join(sys.path)},
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
    try:
        with anyio.move_on_after(_EXIT_S, shield=True):
            await process.aclose()  # kills it when the time is up
    finally:
        _kill_group(process)


async def _end(process: Process) -> None:
    """Kill a process and wait for its end, also while the run is being cancelled."""
    with anyio.CancelScope(shield=True):
        _kill_group(process)
        if process.returncode is None:
            process.kill()
        await process.aclose()


def _kill_group(process: Process) -> None:
    """Kill a worker and all that it started; the group has the number of the worker as long as one lives."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(process.pid, signal.SIGKILL)


def _killed_by(returncode: int | None) -> str:
    """The name of the signal that ended a process; empty where none did."""
    if returncode is None or returncode >= 0:
        return ""
    known = {int(one): one.name for one in signal.Signals}
    return known.get(-returncode, f"signal {-returncode}")
