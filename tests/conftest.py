"""What all tests share: where the check files are, a cache folder of their own, and no way out."""

import gc
import ipaddress
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
# Read when the hub's library is imported; processes that tests start have it too.
os.environ["HF_HUB_OFFLINE"] = "1"
# `make coverage` and `make test-long` draw all; `make test` draws some of it.
IS_THOROUGH = os.environ.get("VIDENCE_TESTS") == "thorough"
# Tests measure no time: a busy machine is no reason to fail.
settings.register_profile(
    "no-clock",
    max_examples=100 if IS_THOROUGH else 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("no-clock")
# The background job of a shell ignores Ctrl-C, and so would all that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What was collected stays: no later collection of garbage goes over its millions of objects."""
    gc.collect()
    gc.freeze()


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable, ROOT.parent / "shared" / default))


@pytest.fixture(scope="session")
def checks_dir() -> Path:
    """The folder of check files; tests that need a file in it call `need`."""
    return _folder("VIDENCE_CHECKS", "checks")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real clips and questions."""
    return _folder("VIDENCE_DATA", "data")


def need(path: Path) -> Path:
    """The path, or a skip that says what is absent and how to provide it."""
    if not path.exists():
        pytest.skip(f"{path} is not there; set VIDENCE_CHECKS / VIDENCE_DATA to folders that have it")
    return path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's cache, settings, or what they have said."""
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("VIDENCE_SETTINGS", str(tmp_path_factory.getbasetemp() / "settings.toml"))
    monkeypatch.setenv("VIDENCE_STATE", str(tmp_path_factory.getbasetemp() / f"state-{os.urandom(6).hex()}"))


class OutsideError(RuntimeError):
    """A test reached for the network; no OSError, which code under test would take for a bad connection."""


_OWN = {one.address for card in psutil.net_if_addrs().values() for one in card}


def _is_here(host: object) -> bool:
    text = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback or text in _OWN
    except ValueError:
        return text == "localhost"


def _refuse_outside(host: object) -> None:
    if not _is_here(host):
        raise OutsideError(f"a test wants to reach {host!r}; tests use no network but loopback")


@pytest.fixture(scope="session", autouse=True)
def _no_way_out() -> Iterator[None]:
    """Sockets of this process connect to this machine alone, and no other machine's name is looked up."""
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo
    internet = (socket.AF_INET, socket.AF_INET6)

    def connect_here(self: socket.socket, address: tuple[object, ...]) -> None:
        if self.family in internet:
            _refuse_outside(address[0])
        return connect(self, address)

    def connect_ex_here(self: socket.socket, address: tuple[object, ...]) -> int:
        if self.family in internet:
            _refuse_outside(address[0])
        return connect_ex(self, address)

    def names_here(host: object, *more: object, **named: object) -> list[tuple[object, ...]]:
        if host is not None:
            _refuse_outside(host)
        return getaddrinfo(host, *more, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect_here)
        patch.setattr(socket.socket, "connect_ex", connect_ex_here)
        patch.setattr(socket, "getaddrinfo", names_here)
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded generator."""
    return np.random.default_rng(0)
