"""Connections: how a body is handed over, which proxy is asked, whose certificates count."""

import anyio
import pytest
from aiohttp.abc import AbstractStreamWriter

from vidence.ask.models.answers import Server
from vidence.ask.models.connection import Body, opened


class Written(AbstractStreamWriter):
    """Keeps what is written."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    async def write(self, chunk: bytes) -> None:
        self.parts.append(bytes(chunk))

    async def write_eof(self, chunk: bytes = b"") -> None: ...

    async def drain(self) -> None: ...

    def enable_compression(self, encoding: str = "deflate", strategy: int | None = None) -> None: ...

    def enable_chunking(self) -> None: ...

    async def write_headers(self, status_line: str, headers: object) -> None: ...


@pytest.mark.parametrize(
    "pieces", [[b"{}"], [b"a" * 10, b"b" * 400_000, b"c"], [b"x" * 131_072] * 3, [b"small"] * 50_000, []]
)
def test_a_body_is_written_whole_in_parts_of_128_kib_at_most(pieces: list[bytes]) -> None:
    body, written = Body(pieces), Written()
    assert body.is_sent is not bool(pieces)
    anyio.run(body.write, written)
    assert b"".join(written.parts) == b"".join(pieces) == body.decode().encode()
    assert body.size == sum(map(len, pieces))
    assert max(map(len, written.parts)) <= 2**17
    assert len(written.parts) <= body.size / 2**16 + 1
    assert body.is_sent


@pytest.mark.parametrize(
    ("address", "proxy"),
    [
        ("http://api.example/v1", "http://127.0.0.1:1"),
        ("https://api.example/v1", "http://127.0.0.1:2"),
        ("http://inside.example/v1", None),
        ("http://localhost:8000/v1", None),
        ("http://127.0.0.1:8000/v1", None),
    ],
)
def test_the_proxy_of_the_environment_is_asked_but_never_for_this_machine(
    address: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("http", ":1"), ("https", ":2")):
        monkeypatch.setenv(f"{name}_proxy", f"http://127.0.0.1{value}")
    monkeypatch.setenv("no_proxy", "inside.example")

    async def go() -> str | None:
        async with opened(Server(address=address, key_env="K", key=""), {}) as session:
            assert not session.trust_env  # which would send what ~/.netrc holds, too
            return session._default_proxy

    assert anyio.run(go) == proxy
