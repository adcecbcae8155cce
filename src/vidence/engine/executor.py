"""Executors: run work in processes of this machine, or where `--on` says.

Executors for other machines are a wing (`engine.cluster`): files that the catalogue finds by name.
"""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, Protocol, Self, TypeAlias, TypeVar, cast

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream

from vidence.catalog import create, names, parse_spec
from vidence.contracts import Model
from vidence.engine.bounds import Bounds
from vidence.engine.environment import MOST_BYTES, Environment
from vidence.engine.outcomes import Outcome, loads, no_result
from vidence.engine.worker import HEADER
from vidence.errors import DecodeTimeoutError, MediaError, UsageError, VidenceError
from vidence.media.address import MediaPath

T = TypeVar("T")
NO_BOUND_BYTES: Final = 2**62
"""No memory limit for networks on a GPU: their libraries reserve far more address space than they use."""
_EXIT_S: Final = 2.0
_KEPT: Final = ("facts", "frames", "silent")  # folders of our cache into which workers write
# Libraries of linear algebra set memory aside for a thread on each core, and decoders use none.
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Sent by somebody else, such as a system that is out of memory; decoders that crash send themselves others.
_FROM_OUTSIDE: Final = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")


class _KilledError(Exception):
    """A worker was killed by a signal; the message is the signal's name."""


NOTHING: Final = Bounds()


class Workers(AbstractAsyncContextManager["Workers"]):
    """A pool of worker processes, started when needed and ended when the context exits.

    Each worker has its own session: Ctrl-C in a terminal reaches the run, which ends its workers. A worker
    whose parent was killed ends after its job, or by an alarm soon after the job's deadline. Processes that a
    worker starts are in its process group and end with it.

    Args:
        most: the maximum number of workers.
        most_bytes: memory limit per worker (Linux only).
        n_threads: threads of linear algebra per worker.
        bounds: what workers may access.
    """

    def __init__(
        self, most: int, *, most_bytes: int = MOST_BYTES, n_threads: int = 1, bounds: Bounds = NOTHING
    ) -> None:
        self.n_places = most
        self._free = anyio.CapacityLimiter(most)
        own = mkdtemp(prefix="vidence-")
        self._clear = weakref.finalize(self, shutil.rmtree, own, ignore_errors=True)
        self._environment = (
            bounds.environment
            | dict.fromkeys(_THREADS, str(n_threads))
            | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": own}
        )
        self._first = _framed(pickle.dumps(replace(bounds, writes=(*bounds.writes, Path(own))).rules))
        self._most_bytes = most_bytes
        self._idle: list[Process] = []

    async def __aexit__(self, *_: object) -> None:
        try:
            async with anyio.create_task_group() as tasks:
                for process in self._idle:
                    tasks.start_soon(_dismiss, process)
        finally:
            self._clear()

    async def run(self, key: str, function: Callable[[], T], *, deadline_s: float) -> T:
        """Return the result of `function`; function and result must be picklable.

        A worker killed by a signal is retried once.

        Args:
            key: the file that the work is about, for messages.
            function: a function, or a `functools.partial` of one.
            deadline_s: time limit in seconds, excluding the wait for a worker; the worker is then killed.

        Raises:
            DecodeTimeoutError: the time limit was exceeded.
            MediaError: the process crashed or was killed twice, exceeded its memory, or raised an unexpected
                exception.
            VidenceError: raised by the function.
        """
        job = _framed(pickle.dumps((key, deadline_s, function), protocol=pickle.HIGHEST_PROTOCOL))
        async with self._free:
            try:
                is_made, outcome = await self._tried(key, job, deadline_s=deadline_s)
            except _KilledError:
                try:
                    is_made, outcome = await self._tried(key, job, deadline_s=deadline_s)
                except _KilledError as error:
                    raise MediaError(
                        f"{key}: its decoder was killed twice ({error}), probably because memory ran out; it "
                        "is skipped: free memory, or lower VIDENCE_WORKER_GB"
                    ) from error
        if not is_made:
            raise cast("VidenceError", outcome)
        return cast("T", outcome)

    async def _tried(self, key: str, job: bytes, *, deadline_s: float) -> Outcome:
        """Return the outcome of a job.

        Raises:
            _KilledError: the worker was killed by a signal.
            MediaError: as for `run`.
        """
        process, first = await self._process()
        try:
            with anyio.fail_after(deadline_s):
                content = await _exchange(process, first + job, most_bytes=self._most_bytes)
            outcome = _checked(key, loads(key, content))
        except TimeoutError as error:
            await _end(process)
            raise DecodeTimeoutError(
                f"{key}: the decoder did not finish within {deadline_s:g} s; decode_timeout_s allows more"
            ) from error
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError) as error:
            with anyio.move_on_after(_EXIT_S):
                await process.wait()
            killed_by = _killed_by(process.returncode)
            await _end(process)
            if killed_by in _FROM_OUTSIDE:
                raise _KilledError(killed_by) from error
            by = f" ({killed_by})" if killed_by else ""
            raise MediaError(f"{key}: the decoder crashed on this file{by}; it is skipped") from error
        except BaseException:
            await _end(process)
            raise
        self._idle.append(process)
        return outcome

    async def _process(self) -> tuple[Process, bytes]:
        """Return a worker and the message that it needs before its job."""
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process, b""
            await _end(process)
        with anyio.CancelScope(shield=True):  # a process that nobody knows would stay
            started = await anyio.open_process(
                # -P: modules that lie in the folder where the command was begun are not its libraries.
                [
                    sys.executable,
                    "-Pc",
                    f"from vidence.engine.worker import serve; serve({self._most_bytes})",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment,
                start_new_session=True,
            )
        return started, self._first


def _framed(content: bytes) -> bytes:
    return HEADER.pack(len(content)) + content


async def _exchange(process: Process, message: bytes, *, most_bytes: int) -> bytes:
    """Return a worker's answer; empty if the answer exceeds the size limit."""
    sent = cast("ByteSendStream", process.stdin)
    received = BufferedByteReceiveStream(cast("ByteReceiveStream", process.stdout))
    await sent.send(message)
    (length,) = HEADER.unpack(await received.receive_exactly(HEADER.size))
    return await received.receive_exactly(length) if length <= most_bytes else b""


def _checked(key: str, came: object) -> Outcome:
    match came:
        case (True, _) | (False, VidenceError()):
            return cast("Outcome", came)
    raise no_result(key, f"a {type(came).__name__}")


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
    """Kill a worker and all processes that it started; the group id is the worker's process id."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(process.pid, signal.SIGKILL)


def _killed_by(returncode: int | None) -> str:
    """Return the name of the signal that ended a process; empty if none did."""
    if returncode is None or returncode >= 0:
        return ""
    known = {int(signals): signals.name for signals in signal.Signals}
    return known.get(-returncode, f"signal {-returncode}")


LOCAL: Final = "local"
Opener: TypeAlias = Callable[[str], Model]
"""Opens a model by its spec."""


class Processes(Protocol):
    """Processes that run work; `workers.Workers` are those of this machine."""

    @property
    def n_places(self) -> int:
        """Return how many functions run at a time."""

    async def run(self, key: str, function: Callable[[], T], *, deadline_s: float) -> T:
        """Return a function's result; see `Workers.run`."""


@dataclass(frozen=True, kw_only=True)
class Parallelism:
    """Where work runs, and how many pieces at a time; results do not depend on it."""

    n_workers: int = 1
    """Processes on this machine."""
    most_bytes: int = MOST_BYTES
    """Memory limit per process; other machines use their own VIDENCE_WORKER_GB."""
    on: str = LOCAL
    """This machine, or others (`executor_of`)."""
    most_each: int | None = None
    """Processes per other machine; None: one per processor."""
    gpus_each: int | None = None
    """For work that keeps a network: one process works on each machine, or (not 0) for so many of its GPUs;
    None: it keeps none."""
    bounds: Bounds = NOTHING
    """What the work may access."""

    @classmethod
    def of(cls, environment: Environment, *, jobs: int | None = None) -> Self:
        """Return the parallelism of an environment; `jobs` is the number of processes per machine.

        Raises:
            UsageError: the environment names an unknown executor, or one that is not installed.
        """
        executor_of(environment.on)
        return cls(
            n_workers=environment.n_workers if jobs is None else jobs,
            most_bytes=environment.worker_max_bytes,
            on=environment.on,
            most_each=jobs,
            bounds=Bounds(writes=tuple(environment.cache_root / name for name in _KEPT)),
        )

    def touching(self, reads: Iterable[MediaPath], *writes: Path) -> Self:
        """Return the same for work that also reads these files and writes to these folders."""
        writes = (*self.bounds.writes, *writes)
        return replace(self, bounds=Bounds(reads=tuple(dict.fromkeys(reads)), writes=writes))

    @property
    def is_away(self) -> bool:
        """Whether the work runs on other machines, so that files it writes are not here."""
        return self.on != LOCAL

    @property
    def has_others(self) -> bool:
        """Whether more than one process of this machine can work."""
        return self.is_away or self.n_workers > 1


class Executor(Protocol):
    """Runs work for commands; only the command's own process sends requests, caches and writes."""

    def processes(
        self, wanted: Parallelism, *, on_trouble: Callable[[str], None]
    ) -> AbstractAsyncContextManager[Processes]:
        """Start worker processes that run until the context exits; `on_trouble` receives lost machines."""

    def opener(self, specs: Collection[str]) -> Opener | None:
        """Return how to open models with weights elsewhere; None if all open in this process.

        Args:
            specs: all models that will be opened.
        """


class LocalExecutor:
    """The `Executor` of this machine."""

    def processes(self, wanted: Parallelism, *, on_trouble: Callable[[str], None]) -> Workers:
        """Return worker processes of this machine."""
        return Workers(wanted.n_workers, most_bytes=wanted.most_bytes, bounds=wanted.bounds)

    def opener(self, specs: Collection[str]) -> None:
        """Return None: models open in this process."""


def executor_of(on: str) -> Executor:
    """Return the executor with this name.

    Args:
        on: ``local``, or an executor's name followed by its address and settings.

    Raises:
        UsageError: an unknown name, an invalid setting, or a missing package.
    """
    if on == LOCAL:
        return LocalExecutor()
    others = names("executor")
    if parse_spec(on).name not in others:
        there = (
            ", ".join((LOCAL, *others)) if others else f"{LOCAL} (no cluster is installed: engine/cluster)"
        )
        raise UsageError(f"--on {on!r} is unknown; expected {there}")
    executor: Executor = create("executor", on)
    return executor
