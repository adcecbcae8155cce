"""HTTP connections to one server with aiohttp, imported at the first request because that is slow."""

import select
import socket
import ssl
import urllib.request
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection

from vidence.ask.models.answers import Server

CONNECT_TIMEOUT_S: Final = 10.0
_LONGEST_HEADER: Final = 2**16
_MOST_HEADERS: Final = 1_000
_SENT_AT_ONCE_BYTES: Final = 2**17  # fewer cost time for each, more are copied where the server reads slowly
_LOOPBACK: Final = {"localhost", "127.0.0.1", "::1"}


class Body(aiohttp.Payload):
    """A body in pieces, of which only a few are joined at a time.

    Attributes:
        is_sent: whether all of it was passed to the system.
    """

    def __init__(self, pieces: Sequence[bytes | memoryview]) -> None:
        super().__init__(pieces, content_type="application/json")
        self._pieces = pieces
        self._size = sum(map(len, pieces))  # many servers take no body without its length
        self.is_sent = not self._size

    async def write(self, writer: AbstractStreamWriter) -> None:
        """See `aiohttp.Payload.write`."""
        await self.write_with_length(writer, None)

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """See `aiohttp.Payload.write_with_length`; the body is always written completely."""
        gathered: list[bytes | memoryview] = []
        n_bytes = 0
        for part in self._parts():
            if gathered and n_bytes + len(part) > _SENT_AT_ONCE_BYTES:
                await writer.write(b"".join(gathered))
                gathered, n_bytes = [], 0
            gathered.append(part)
            n_bytes += len(part)
        await writer.write(b"".join(gathered))
        self.is_sent = True

    def _parts(self) -> Iterator[bytes | memoryview]:
        """Yield the pieces, splitting long ones, such as videos."""
        for piece in self._pieces:
            if len(piece) <= _SENT_AT_ONCE_BYTES:
                yield piece
            else:
                view = memoryview(piece)
                yield from (
                    view[start : start + _SENT_AT_ONCE_BYTES]
                    for start in range(0, len(piece), _SENT_AT_ONCE_BYTES)
                )

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """See `aiohttp.Payload.decode`."""
        return b"".join(self._pieces).decode(encoding, errors)


class Connector(aiohttp.TCPConnector):
    """Keeps connections open, but does not reuse one with unread data.

    Data that arrives before a request belongs to another one: a server that sends two answers to one request
    would give the second to the next question on the same connection.
    """

    def __init__(self, context: ssl.SSLContext | bool) -> None:
        super().__init__(limit=0, ssl=context)
        self._used: weakref.WeakSet[ResponseHandler] = weakref.WeakSet()

    async def connect(
        self, req: ClientRequest, traces: list[aiohttp.tracing.Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """See `aiohttp.BaseConnector.connect`."""
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is not None and not (protocol in self._used and _has_something_to_read(protocol)):
                self._used.add(protocol)
                return connection
            connection.close()


def _has_something_to_read(protocol: ResponseHandler) -> bool:
    if protocol.should_close or protocol.transport is None:
        return True
    connected: socket.socket = protocol.transport.get_extra_info("socket")
    if not hasattr(select, "poll"):  # Windows, where any number can be given to it
        return bool(select.select([connected], [], [], 0)[0])
    waiting = select.poll()
    waiting.register(connected, select.POLLIN)
    return bool(waiting.poll(0))


def opened(server: Server, headers: Mapping[str, str]) -> aiohttp.ClientSession:
    """Open a session of connections to one server.

    Args:
        server: the server.
        headers: sent with every request.
    """
    context: ssl.SSLContext | bool = True
    if server.address.startswith("https:"):
        import httpx2

        context = httpx2.create_ssl_context()
    return aiohttp.ClientSession(
        connector=Connector(context),
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
        proxy=_proxy_of(server),
        max_headers=_MOST_HEADERS,
        max_line_size=_LONGEST_HEADER,
        max_field_size=_LONGEST_HEADER,
    )


def _proxy_of(server: Server) -> str | None:
    """Return the environment's proxy for a server; none for localhost, which a proxy cannot reach."""
    if server.host in _LOOPBACK or urllib.request.proxy_bypass(server.host):
        return None
    named = urllib.request.getproxies()
    return named.get(server.address.partition(":")[0]) or named.get("all")
