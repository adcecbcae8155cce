"""Nothing in the process of the tests reaches another machine; this machine can be reached."""

import asyncio
import os
import socket
from collections.abc import Iterator

import aiohttp
import anyio
import httpx2
import pytest

from servers.openai_stub import OpenAIStub

# An address that documentation may use and no machine has; a name that no machine has.
OUTSIDE, NAMELESS = "192.0.2.1", "machine.invalid"
REFUSED = "tests use no network but loopback"


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("host", [OUTSIDE, NAMELESS])
def test_no_socket_connects_to_another_machine(host: str) -> None:
    with socket.socket() as one:
        one.settimeout(0.2)
        with pytest.raises(RuntimeError, match=REFUSED):
            one.connect((host, 80))
        with pytest.raises(RuntimeError, match=REFUSED):
            one.connect_ex((host, 80))
    with pytest.raises(RuntimeError, match=REFUSED):
        socket.create_connection((host, 80), timeout=0.2)


def test_no_socket_connects_to_another_machine_by_ipv6() -> None:
    with socket.socket(socket.AF_INET6) as one:
        one.settimeout(0.2)
        with pytest.raises(RuntimeError, match=REFUSED):
            one.connect(("2001:db8::1", 80, 0, 0))


@pytest.mark.parametrize("host", [OUTSIDE, NAMELESS])
def test_what_connects_in_an_event_loop_is_stopped_too(host: str) -> None:
    async def by_asyncio() -> None:
        await asyncio.wait_for(asyncio.open_connection(host, 80), timeout=0.5)

    async def by_anyio() -> None:
        with anyio.fail_after(0.5):
            await anyio.connect_tcp(host, 80)

    async def by_httpx2() -> None:
        async with httpx2.AsyncClient(timeout=0.5, trust_env=False) as client:
            await client.get(f"http://{host}/")

    async def by_aiohttp() -> None:
        timeout = aiohttp.ClientTimeout(total=0.5)
        async with aiohttp.ClientSession(timeout=timeout) as client, client.get(f"http://{host}/"):
            pass

    for way in (by_asyncio, by_anyio, by_httpx2, by_aiohttp):
        with pytest.raises((RuntimeError, ExceptionGroup)) as found:
            anyio.run(way)
        error: BaseException = found.value
        while isinstance(error, ExceptionGroup):  # of tasks that try one address each
            (error,) = error.exceptions
        assert REFUSED in str(error), way


def test_this_machine_is_reached(listening: int) -> None:
    for host in ("127.0.0.1", "localhost"):
        with socket.create_connection((host, listening), timeout=5):
            pass
    with socket.socket() as one:
        assert one.connect_ex(("127.0.0.1", listening)) == 0
    with OpenAIStub(answer="A") as server:
        assert httpx2.get(f"{server.base_url}/models", trust_env=False).status_code


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets in the file system")
def test_sockets_in_the_file_system_stay_open(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # such names must be short
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as one:
        server.bind("s")
        server.listen()
        one.connect("s")
        one.sendall(b"hello")
        accepted, _ = server.accept()
        with accepted:
            assert accepted.recv(5) == b"hello"


def test_the_hub_is_not_asked() -> None:
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    constants = pytest.importorskip("huggingface_hub.constants")
    assert constants.HF_HUB_OFFLINE
