"""How much a browser may send, and how slowly: no page takes files, and nobody is waited for without end."""

import asyncio
from typing import Final

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

from vidence.studio.headers import Application, Message, Receive, Send

MOST_BYTES: Final = 2 * 2**20
MOST_S: Final = 60.0
"""Within which a body has to be there, from when it is first asked for."""
_TOO_MUCH: Final = (413, b"more was sent than any page takes; nothing was saved")
_TOO_SLOW: Final = (408, b"what was sent did not arrive in time; nothing was saved")
_GONE: Final[Message] = {"type": "http.disconnect"}


def with_limit(application: Application, *, most_s: float = MOST_S) -> Application:
    """The application, which is given no body of more than `MOST_BYTES`, nor one that trickles.

    Args:
        application: what answers.
        most_s: how long a whole body may take.

    Returns:
        One that answers 413 to what is too long, whatever length was said, and 408 to what is too slow.
    """

    async def wrapped(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _length(scope) > MOST_BYTES:
            await _refuse(send, *_TOO_MUCH)
            return
        body = _Body(receive, send, most_s=most_s)

        async def answered(message: Message) -> None:
            if not body.is_refused:
                await send(message)

        await application(scope, body.next, answered)

    return wrapped


class Texts(MiddlewareMixin):
    """Refuses what holds the sign NUL, in an address or a form: no text of Postgres can hold it."""

    def process_request(self, request: HttpRequest) -> None:
        """Look at what was sent.

        Raises:
            BadRequest: it holds one.
        """
        for given in (request.GET, request.POST):
            if any("\0" in one for name, values in given.lists() for one in (name, *values)):
                raise BadRequest("a text with the sign NUL")


class _Body:
    """What comes in of one request, until it is too much or too slow: that is answered here."""

    def __init__(self, receive: Receive, send: Send, *, most_s: float) -> None:
        self._receive, self._send, self._most_s = receive, send, most_s
        self._end: float | None = None
        self._n_bytes, self._is_whole = 0, False
        self.is_refused = False

    async def next(self) -> Message:
        """The next piece. After the last one it is waited for without end: for the browser to go away."""
        message: Message
        if self.is_refused:
            return _GONE
        if self._is_whole:
            message = await self._receive()
            return message
        now = asyncio.get_running_loop().time()
        self._end = now + self._most_s if self._end is None else self._end
        try:
            message = await asyncio.wait_for(self._receive(), self._end - now)
        except TimeoutError:
            return await self._refused(*_TOO_SLOW)
        self._n_bytes += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        return message if self._n_bytes <= MOST_BYTES else await self._refused(*_TOO_MUCH)

    async def _refused(self, status: int, words: bytes) -> Message:
        self.is_refused = True
        await _refuse(self._send, status, words)
        return _GONE


def _length(scope: Message) -> int:
    """The length that a request says, 0 where it says none that can be read."""
    said = next((value for name, value in scope.get("headers", ()) if name.lower() == b"content-length"), b"")
    return int(said) if said.isdigit() else 0


async def _refuse(send: Send, status: int, words: bytes) -> None:
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(words)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words})
