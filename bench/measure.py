"""Run a command and say what it took: wall, CPU of the whole process tree, memory, requests."""

import json
import os
import platform
import resource
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Taken:
    """What a command took. Seconds, and MB of 10^6 bytes; `first_request_s` counts from its start."""

    wall_s: float
    cpu_s: float
    rss_mb: float
    first_request_s: float | None
    between_s: float | None
    stats: dict[str, float]
    output: str
    returncode: int


class _Watcher(threading.Thread):
    """Peak memory of a process tree, shared pages counted once, and the CPU of processes that are gone."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.peak_bytes = 0
        self.cpu_s: dict[int, float] = {}
        self.stopping = threading.Event()

    def run(self) -> None:
        while not self.stopping.wait(0.05):
            self.look()

    def look(self) -> None:
        try:
            root = psutil.Process(self.pid)
            tree = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        total = 0
        for process in tree:
            try:
                memory = process.memory_info()
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += memory.rss if process.pid == self.pid else memory.rss - memory.shared
            self.cpu_s[process.pid] = times.user + times.system
        self.peak_bytes = max(self.peak_bytes, total)


def run(command: Sequence[str], *, env: dict[str, str] | None = None, stub: "Stub | None" = None) -> Taken:
    """Run to the end and measure; the stub's counts are reset before."""
    if stub is not None:
        stub.reset()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start_s = time.monotonic()
    process = subprocess.Popen(
        command, env=os.environ | (env or {}), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    watcher = _Watcher(process.pid)
    watcher.start()
    output, _ = process.communicate()
    wall_s = time.monotonic() - start_s
    watcher.stopping.set()
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    waited_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    stats = stub.stats() if stub is not None else {}
    first_s, last_s = stats.get("first_s"), stats.get("last_s")
    return Taken(
        wall_s=wall_s,
        cpu_s=max(waited_s, sum(watcher.cpu_s.values())),
        rss_mb=watcher.peak_bytes / 1e6,
        first_request_s=None if first_s is None else first_s - start_s,
        between_s=None if first_s is None or last_s is None else last_s - first_s,
        stats=stats,
        output=output,
        returncode=process.returncode,
    )


class Stub:
    """A stub server in a process of its own."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"

    def _call(self, path: str, body: bytes | None = None) -> dict[str, float]:
        request = urllib.request.Request(
            self.address + path, data=body, method="GET" if body is None else "POST"
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            found: dict[str, float] = json.load(answer)
            return found

    def stats(self) -> dict[str, float]:
        """What it has counted since the last reset."""
        return self._call("/stats")

    def reset(self) -> None:
        """Count anew."""
        self._call("/reset", b"{}")

    def set(self, *, latency_s: float = 0.0, fail_rate: float = 0.0, by_frames: bool = False) -> None:
        """Be slow, be broken, be right with enough frames."""
        settings = {"latency_s": latency_s, "fail_rate": fail_rate, "by_frames": by_frames}
        self._call("/reset", json.dumps(settings).encode())


@contextmanager
def stub_server(folder: Path) -> Iterator[Stub]:
    """Start a stub; it is stopped at the end."""
    port_file = folder / "port"
    port_file.unlink(missing_ok=True)
    process = subprocess.Popen([sys.executable, str(HERE / "stub.py"), "--port-file", str(port_file)])
    try:
        deadline = time.monotonic() + 10
        while not port_file.exists() or not port_file.read_text():
            if time.monotonic() > deadline:
                raise TimeoutError("the stub server did not start within 10 s")
            time.sleep(0.02)
        yield Stub(int(port_file.read_text()))
    finally:
        process.kill()
        process.wait()


def machine() -> str:
    """The facts of this machine that figures depend on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line
        ]
        model = names[0] if names else model
    memory_gb = psutil.virtual_memory().total / 2**30
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return (
        f"{model}, {len(os.sched_getaffinity(0))} cores, {memory_gb:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}; load averages at the start {load}"
    )
