"""Request limits: bounded bodies, and no NUL characters, which Postgres rejects."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Final, cast

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

Application = Callable[..., Awaitable[None]]
Message = MutableMapping[str, object]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MOST_BYTES: Final = 2 * 2**20
_REFUSAL: Final = b"more was sent than any page takes; nothing was saved"
_GONE: Final[Message] = {"type": "http.disconnect"}


def with_limit(application: Application) -> Application:
    """Limit body sizes: Django reads a whole body before checking its length.

    Returns:
        An application that answers 413 to a length of more than `MOST_BYTES`, and hangs up on a body that
        becomes longer than it said.
    """

    async def bounded(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _length(scope) > MOST_BYTES:
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": 413, "headers": headers})
            await send({"type": "http.response.body", "body": _REFUSAL})
            return
        n_bytes = 0

        async def counted() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(cast("bytes", message.get("body", b"")))
            return message if n_bytes <= MOST_BYTES else _GONE

        await application(scope, counted, send)

    return bounded


class NulMiddleware(MiddlewareMixin):
    """Rejects NUL characters in an address or a form."""

    def process_request(self, request: HttpRequest) -> None:
        """Check what was sent.

        Raises:
            BadRequest: it holds one.
        """
        for given in (request.GET, request.POST):
            if any("\0" in entry for name, values in given.lists() for entry in (name, *values)):
                raise BadRequest("a text with the character NUL")


def _length(scope: Message) -> int:
    """Return the declared length of a request; 0 if there is no valid one."""
    headers = cast("Iterable[tuple[bytes, bytes]]", scope.get("headers", ()))
    claimed = next((value for name, value in headers if name.lower() == b"content-length"), b"")
    return int(claimed) if claimed.isdigit() else 0
