"""What the loopback servers of plain APIs share: a thread that answers GET, faults to come, and replies."""

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, urlsplit


@dataclass(kw_only=True)
class Loopback(ABC):
    """A server on loopback, a context manager. The next of `faults` goes with the next call; None is none."""

    faults: list[int | str | None] = field(default_factory=list)
    url: str = ""

    @abstractmethod
    def answer(self, call: BaseHTTPRequestHandler, path: str, query: dict[str, str]) -> None:
        """Answer a call with `send`."""

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                values = {name: values[0] for name, values in parse_qs(parts.query).items()}
                server.answer(self, parts.path, values)

            def log_message(self, *words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def fault(self) -> int | str | None:
        """The fault of this call."""
        return self.faults.pop(0) if self.faults else None


def send(call: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
    """Answer with JSON."""
    call.send_response(status)
    call.send_header("content-type", "application/json")
    call.send_header("content-length", str(len(body)))
    call.end_headers()
    call.wfile.write(body)
