"""A Ray cluster whose machines are processes of this one, and work for it that leaves marks."""

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest

from servers import weights_standin
from vidence import catalog

TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 4}
"""Of every cluster of the tests."""
STORE_BYTES = 80 * 2**20  # the least that Ray takes
PATIENCE_S = 30.0


def want_token(patch: pytest.MonkeyPatch) -> None:
    """Have the clusters that are started from now on want the token."""
    from ray._private.authentication_test_utils import reset_auth_token_state

    for name, value in TOKEN.items():
        patch.setenv(name, value)
    reset_auth_token_state()  # Ray read the environment when it was imported


@contextmanager
def cluster(folder: Path, *, n_machines: int = 2) -> Iterator[Any]:
    """Machines with a processor each, which have the model `weights_standin`.

    Drivers from outside reach the cluster at its `vidence_address`; `vidence_node` is the last machine.
    """
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(weights_standin.install(folder / "plugin")))
        catalog.forget()
        patch.setenv("VIDENCE_CACHE", str(folder / "cache"))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        patch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        want_token(patch)
        size = {"num_cpus": 1, "object_store_memory": STORE_BYTES}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        head = {**size, "include_dashboard": False, "ray_client_server_port": port}
        found = Cluster(initialize_head=True, head_node_args=head)
        found.vidence_address = f"ray://127.0.0.1:{port}"
        for _ in range(n_machines - 1):
            found.vidence_node = found.add_node(**size)
        patch.setenv("RAY_ADDRESS", found.address)
        try:
            yield found
        finally:
            found.shutdown()
            catalog.forget()


@contextmanager
def connection(address: str) -> Iterator[None]:
    """This process as a driver of a cluster."""
    import ray

    ray.init(address=address, namespace="vidence", log_to_driver=False, logging_level="ERROR")
    try:
        yield
    finally:
        ray.shutdown()


def workers() -> list[psutil.Process]:
    """The actors that work, on machines that this process has started."""
    return _processes("ray::Machine")


def decoders() -> list[psutil.Process]:
    """The processes in which the work itself is done."""
    return _processes("vidence.engine.worker")


def _processes(name: str) -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if any(name in word for word in process.cmdline()):
                found.append(process)
    return sorted(found, key=lambda process: process.pid)


def kill_one() -> None:
    """End one of the actors that work."""
    workers()[0].kill()


def wait_for(is_so: Callable[[], object]) -> None:
    """Wait until something is so, for a while at most."""
    end_s = time.monotonic() + PATIENCE_S
    while not is_so() and time.monotonic() < end_s:
        time.sleep(0.02)


def mark(folder: Path, name: str, takes_s: float = 0.0) -> str:
    """A piece of work: leaves a file of its own in a folder each time that it is begun."""
    (folder / f"{name} {uuid4().hex}").touch()
    time.sleep(takes_s)
    return name


def hold(folder: Path, name: str) -> str:
    """A piece of work that lasts until there is a file of that name; see `holder`."""
    part = folder / f"{name}.part"
    part.write_text(str(os.getppid()))
    part.rename(folder / f"{name}.by")
    wait_for((folder / name).exists)
    return name


def holder(folder: Path, name: str) -> psutil.Process:
    """The actor that does this piece of work."""
    by = folder / f"{name}.by"
    wait_for(by.exists)
    return psutil.Process(int(by.read_text()))


def marks(folder: Path) -> list[str]:
    """The names under which work was begun."""
    return sorted(path.name.split()[0] for path in folder.iterdir())
