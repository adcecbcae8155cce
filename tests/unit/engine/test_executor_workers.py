"""Worker processes: they hang, crash, raise and outlive nobody."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import psutil
import pytest

from servers.virtual_time import in_loop
from vidence.engine.bounds import Bounds
from vidence.engine.executor import NO_BOUND_BYTES, Workers
from vidence.errors import DataError, DecodeTimeoutError, MediaError


def raise_it(error: Exception) -> None:
    raise error


def print_and_add(first: int, second: int) -> int:
    os.write(1, b"a library that prints")
    return first + second


def children() -> list[psutil.Process]:
    """The workers of this process (other tests may have left helpers of `multiprocessing`)."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it ends while it is looked at
            if "vidence.engine.worker" in " ".join(process.cmdline()):
                found.append(process)
    return found


@in_loop
async def test_one_that_hangs_is_killed_and_the_next_one_works():
    async with Workers(1) as workers:
        with pytest.raises(DecodeTimeoutError, match=r"film\.mp4: the decoder did not finish within 0\.5 s"):
            await workers.run("film.mp4", partial(time.sleep, 60), deadline_s=0.5)
        assert await workers.run("film.mp4", os.getpid, deadline_s=30) != os.getpid()
    assert children() == []


def test_a_signal_that_ended_one_is_named_and_an_end_of_its_own_has_none():
    async def go(work) -> str:
        async with Workers(1) as workers:
            with pytest.raises(MediaError, match="the decoder crashed") as crashed:
                await workers.run("film.mp4", work, deadline_s=30)
        return str(crashed.value)

    assert "SIGABRT" in anyio.run(go, os.abort)
    for status in (0, 1, 3):
        said = anyio.run(go, partial(os._exit, status))
        assert "SIG" not in said
        assert "signal" not in said


@in_loop
async def test_one_that_died_while_it_was_idle_is_replaced():
    async with Workers(1) as workers:
        pid = await workers.run("film.mp4", os.getpid, deadline_s=30)
        os.kill(pid, signal.SIGKILL)
        (idle,) = workers._idle
        with anyio.fail_after(60):
            while idle.returncode is None:
                await anyio.sleep(0.01)
        assert await workers.run("film.mp4", os.getpid, deadline_s=30) != pid


def start_a_child(log: Path) -> None:
    child = subprocess.Popen(["sleep", "300"])
    log.write_text(str(child.pid))


def start_a_child_and(log: Path, end: Callable[[], object]) -> None:
    start_a_child(log)
    end()


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs the process groups of Unix")
@pytest.mark.parametrize(
    ("end", "deadline_s"), [(partial(time.sleep, 300), 2.0), (os.abort, 60.0), (os.getpid, 60.0)]
)
@in_loop
async def test_what_a_worker_started_ends_with_it(end, deadline_s: float, tmp_path: Path):
    """Ghostscript went on at full load after its worker was killed."""
    async with Workers(1, bounds=Bounds(writes=(tmp_path,))) as workers:
        with suppress(MediaError):
            await workers.run(
                "film.mp4", partial(start_a_child_and, tmp_path / "pid", end), deadline_s=deadline_s
            )
    pid = int((tmp_path / "pid").read_text())
    with suppress(psutil.NoSuchProcess):
        child = psutil.Process(pid)
        assert child.status() == psutil.STATUS_ZOMBIE or psutil.wait_procs([child], timeout=60)[0]


def count_and_die(log: Path, signal_number: int, n_times: int) -> int:
    """Be killed the first `n_times` times that this is called."""
    with log.open("a") as file:
        file.write("x")
    if log.stat().st_size <= n_times:
        os.kill(os.getpid(), signal_number)
        time.sleep(60)
    return log.stat().st_size


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@in_loop
async def test_one_that_is_killed_from_outside_gets_one_more_try(number: int, tmp_path: Path):
    async with Workers(1, bounds=Bounds(writes=(tmp_path,))) as workers:
        once = partial(count_and_die, tmp_path / "once", number, 1)
        assert await workers.run("film.mp4", once, deadline_s=60) == 2
        twice = partial(count_and_die, tmp_path / "twice", number, 2)
        said = rf"film\.mp4: its decoder was killed twice \({signal.Signals(number).name}\)"
        with pytest.raises(MediaError, match=said):
            await workers.run("film.mp4", twice, deadline_s=60)
        assert (tmp_path / "twice").stat().st_size == 2
    assert children() == []


@in_loop
async def test_one_that_crashes_by_itself_gets_no_other_try(tmp_path: Path):
    async with Workers(1, bounds=Bounds(writes=(tmp_path,))) as workers:
        crash = partial(count_and_die, tmp_path / "log", signal.SIGSEGV, 1)
        with pytest.raises(MediaError, match=r"the decoder crashed on this file \(SIGSEGV\)"):
            await workers.run("film.mp4", crash, deadline_s=60)
    assert (tmp_path / "log").stat().st_size == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold processes to the limit")
@in_loop
async def test_memory_is_bound():
    async with Workers(1, most_bytes=2**29) as workers:
        pid = await workers.run("film.mp4", os.getpid, deadline_s=30)
        said = r"film\.mp4: reading it takes more than 0\.5 GB .*; VIDENCE_WORKER_GB allows more"
        for work in (partial(bytes, 2**30), partial(bytes, 2**28)):  # the second does not fit when sent
            with pytest.raises(MediaError, match=said):
                await workers.run("film.mp4", work, deadline_s=30)
        assert await workers.run("film.mp4", os.getpid, deadline_s=30) == pid


@in_loop
async def test_errors_of_the_work_come_out_and_the_worker_goes_on():
    async with Workers(1) as workers:
        pid = await workers.run("film.mp4", os.getpid, deadline_s=30)
        with pytest.raises(DataError, match="as it was raised"):
            await workers.run("f", partial(raise_it, DataError("as it was raised")), deadline_s=30)
        with pytest.raises(MediaError, match=r"film\.mp4: .* ended with ZeroDivisionError: by 0"):
            await workers.run("film.mp4", partial(raise_it, ZeroDivisionError("by 0")), deadline_s=30)
        assert await workers.run("film.mp4", os.getpid, deadline_s=30) == pid


@in_loop
async def test_what_the_work_prints_does_not_get_among_its_results():
    async with Workers(1) as workers:
        assert await workers.run("film.mp4", partial(print_and_add, 1, 2), deadline_s=30) == 3


@in_loop
async def test_waiting_for_a_worker_does_not_count_and_no_more_than_allowed_exist():
    done: list[float] = []

    async def one(workers: Workers) -> None:
        await workers.run("film.mp4", partial(time.sleep, 0.9), deadline_s=3)
        done.append(anyio.current_time())
        assert len(children()) == 1

    async with Workers(1) as workers:
        await workers.run("film.mp4", os.getpid, deadline_s=30)
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(one, workers)
    assert len(done) == 4


@pytest.mark.parametrize("delay_s", [0.0, 0.1])
@in_loop
async def test_cancelling_at_any_time_leaves_no_process(delay_s: float):
    async with Workers(2) as workers:
        with anyio.move_on_after(delay_s) as scope:
            await workers.run("film.mp4", partial(time.sleep, 60), deadline_s=120)
        assert scope.cancelled_caught
        assert children() == []


SCRIPT = """
import signal, sys, time
from functools import partial
import anyio
from vidence.engine.executor import Workers
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
open(sys.argv[1], "a").write("started\\n")

async def go():
    async with Workers(1) as workers, anyio.create_task_group() as tasks:
        print(await workers.run("f", __import__("os").getpid, deadline_s=30), flush=True)
        await workers.run("f", partial(time.sleep, 60), deadline_s=float(sys.argv[2]))

anyio.run(go)
"""


def start(tmp_path: Path, deadline_s: float) -> tuple[subprocess.Popen[str], psutil.Process]:
    script = tmp_path / "unguarded.py"
    script.write_text(textwrap.dedent(SCRIPT))
    log = tmp_path / "log"
    process = subprocess.Popen(
        [sys.executable, str(script), str(log), str(deadline_s)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    worker = psutil.Process(int(process.stdout.readline()))
    process.stdout.close()
    # A script without `if __name__ == "__main__"` is not run again in its workers.
    assert log.read_text() == "started\n"
    return process, worker


def test_ctrl_c_ends_run_and_worker(tmp_path: Path):
    process, worker = start(tmp_path, 60)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) != 0
    assert psutil.wait_procs([worker], timeout=60)[1] == []


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs the alarms of Unix")
def test_a_worker_that_hangs_ends_even_when_its_parent_was_killed(tmp_path: Path):
    process, worker = start(tmp_path, 2)
    process.kill()
    process.wait()
    assert psutil.wait_procs([worker], timeout=60)[1] == []


def test_linear_algebra_has_as_many_threads_as_are_said():
    async def threads(**more: int) -> str:
        async with Workers(1, **more) as workers:
            return await workers.run("a.mp4", partial(os.getenv, "OMP_NUM_THREADS"), deadline_s=60)

    assert anyio.run(threads) == "1"
    assert anyio.run(partial(threads, n_threads=3, most_bytes=NO_BOUND_BYTES)) == "3"
