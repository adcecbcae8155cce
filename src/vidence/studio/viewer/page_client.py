"""The pages of this process, asked for without a server: what a browser would get, in the same words."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast
from urllib.parse import unquote, urlsplit

import anyio

from vidence.studio.bodies import Application, Message

_HOST: Final = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was answered; `body` is empty if it went into a file."""

    status: int
    body: bytes
    headers: dict[str, str]


class Asker:
    """One browser of an application in this process, which keeps its cookie.

    Args:
        application: as a server calls it.
        cookie: of a session that there is.
    """

    def __init__(self, application: Application, *, cookie: str = "") -> None:
        self._application, self._cookie = application, cookie

    async def get(self, address: str, *, into: Path | None = None) -> Answer:
        """Ask for an address.

        Args:
            address: its path and query.
            into: a file for the body of a good answer.
        """
        status, headers, parts = 0, dict[str, str](), list[bytes]()
        has_asked = False
        with ExitStack() as opened:
            file: BinaryIO | None = None

            async def receive() -> Message:
                nonlocal has_asked
                if has_asked:  # nobody goes away
                    await anyio.sleep_forever()
                has_asked = True
                return {"type": "http.request", "body": b"", "more_body": False}

            async def send(message: Message) -> None:
                nonlocal status, file
                if message["type"] == "http.response.start":
                    status = cast("int", message["status"])
                    pairs = cast("Iterable[tuple[bytes, bytes]]", message["headers"])
                    headers.update({k.decode("latin-1").lower(): v.decode("latin-1") for k, v in pairs})
                    if into is not None and status == 200:
                        file = opened.enter_context(into.open("wb"))
                    return
                body = cast("bytes", message.get("body", b""))
                if file is not None:
                    file.write(body)
                else:
                    parts.append(body)

            await self._application(self._scope(address), receive, send)
        if "set-cookie" in headers and not self._cookie:  # the first is that of the session
            self._cookie = headers["set-cookie"].split(";", 1)[0]
        return Answer(status=status, body=b"".join(parts), headers=headers)

    def _scope(self, address: str) -> Message:
        split = urlsplit(address)
        headers = [(b"host", _HOST.encode())]
        headers += [(b"cookie", self._cookie.encode())] if self._cookie else []
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": unquote(split.path),
            "raw_path": split.path.encode(),
            "query_string": split.query.encode(),
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 0),
            "server": (_HOST, 80),
        }
