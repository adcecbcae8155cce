"""A worker process: runs one job after the other, until its parent closes the pipe or dies.

Imports little, so that a worker starts at once. The parent's side is `workers.py`.
"""

import os
import pickle
import signal
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Final, cast

from vidence.engine.outcomes import dumps
from vidence.engine.sandbox import Rules, confine
from vidence.errors import MediaError, VidenceError

HEADER: Final = struct.Struct(">Q")  # the length of the pickle that follows
_GRACE_S: Final = 2.0

Job = tuple[str, float, Callable[[], object]]  # the file it is about, the deadline in seconds, the work


def serve(most_bytes: int) -> None:
    """Read jobs from standard input, preceded by the rules, and answer on standard output.

    Args:
        most_bytes: memory limit of this process. Systems that do not limit address space (Windows, macOS)
            ignore it.
    """
    _bound_memory(most_bytes)
    jobs, outcomes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)  # what a library prints must not get among the outcomes
    rules = cast("Rules | None", _read(jobs))
    job = cast(
        "Job | None", _read(jobs)
    )  # it brings the libraries that it needs: no file of others is open yet
    if rules is not None:
        confine(rules)
    while job is not None:
        _end_at(job[1] + _GRACE_S)
        content = _done(job, most_bytes)
        _end_at(0)
        outcomes.write(HEADER.pack(len(content)) + content)
        outcomes.flush()
        job = cast("Job | None", _read(jobs))


def _bound_memory(most_bytes: int) -> None:
    with suppress(ImportError, ValueError, OSError):  # unknown, or refused: macOS
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _read(jobs: BinaryIO) -> object:
    header = jobs.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    content: object = pickle.loads(jobs.read(length))  # noqa: S301 - our own parent wrote it
    return content


def _end_at(seconds: float) -> None:
    """Have the system end this process then, even inside a decoder or without a parent; 0: never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _done(job: Job, most_bytes: int) -> bytes:
    """Return the outcome of a job as bytes."""
    try:
        return _made(job)
    except VidenceError as known:
        return dumps((False, known))
    except MemoryError:
        error = MediaError(
            f"{job[0]}: reading it takes more than {most_bytes / 2**30:g} GB of memory; VIDENCE_WORKER_GB "
            "allows more"
        )
        return dumps((False, error))


def _made(job: Job) -> bytes:
    name, _, work = job
    try:
        return dumps((True, work()))
    except (VidenceError, MemoryError):
        raise
    except Exception as error:
        raise MediaError(
            f"{name}: reading it ended with {type(error).__name__}: {error}; it is skipped"
        ) from error
