"""How much a browser may send: no page takes files, and what is longer than any form is not read."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from vidence.studio.headers import Application

MOST_BYTES: Final = 2 * 2**20
_WORDS: Final = b"more was sent than any page takes; nothing was saved"
_Message = MutableMapping[str, Any]


def with_limit(application: Application) -> Application:
    """The application, which is given no body of more than `MOST_BYTES`: 413, whatever length was said."""

    async def wrapped(
        scope: _Message, receive: Callable[[], Awaitable[Any]], send: Callable[[_Message], Awaitable[None]]
    ) -> None:
        if scope["type"] == "http" and _length(scope) > MOST_BYTES:
            await _refuse(send)
            return
        n_read, is_over = 0, False

        async def counted() -> _Message:
            nonlocal n_read, is_over
            message: _Message = await receive()
            n_read += len(message.get("body", b""))
            if n_read > MOST_BYTES and not is_over:
                is_over = True
                await _refuse(send)
            return {"type": "http.disconnect"} if is_over else message

        async def answered(message: _Message) -> None:
            if not is_over:
                await send(message)

        await application(scope, counted, answered)

    return wrapped


def _length(scope: _Message) -> int:
    """The length that a request says, 0 where it says none that can be read."""
    said = next((value for name, value in scope.get("headers", ()) if name.lower() == b"content-length"), b"")
    return int(said) if said.isdigit() else 0


async def _refuse(send: Callable[[_Message], Awaitable[None]]) -> None:
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(_WORDS)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": _WORDS})
