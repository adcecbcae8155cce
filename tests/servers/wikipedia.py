"""A server that speaks ``action=query`` of Wikipedia's API over loopback, and fails on demand.

    with WikipediaServer({"Lens": None, "Lenses": "Lens", "Spin": "?"}) as server:
        server.faults = [503, "cut"]
        ...  # ask server.url, which has {language} in it

A title leads to another one, or is a page (None), or lists what its word may mean (``?``). Titles begin with
a capital letter there, whatever is asked.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, urlsplit

_MOST = 50


@dataclass(kw_only=True)
class WikipediaServer:
    """The server; a context manager. `asked` are language and titles of each call that it has had."""

    pages: Mapping[str, str | None]
    faults: list[int | str] = field(default_factory=list)
    asked: list[tuple[str, list[str]]] = field(default_factory=list)
    url: str = ""

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            def log_message(self, *words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/{{language}}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, call: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(call.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        _, language, *rest = parts.path.split("/")
        titles = query.get("titles", "").split("|")
        self.asked.append((language, titles))
        fault = self.faults.pop(0) if self.faults else None
        if rest != ["w", "api.php"] or query.get("action") != "query" or query.get("formatversion") != "2":
            return _send(call, 404, b"")
        if not call.headers.get("user-agent", "").startswith("vidence"):
            return _send(call, 403, b"a user agent is asked for")
        if len(titles) > _MOST:
            return _send(call, 200, b'{"error": {"code": "toomanyvalues"}}')
        body = self._found(titles)
        if fault == "cut":
            return _send(call, 200, body[:30])
        if fault == "part":
            return _send(call, 200, body.replace(b"{", b'{"continue": {"ppcontinue": "1"}, ', 1))
        if fault is not None:
            return _send(call, int(fault), b"<html>trouble</html>")
        return _send(call, 200, body)

    def _found(self, titles: list[str]) -> bytes:
        normal, moved, pages = [], [], {}
        for title in titles:
            at = title[:1].upper() + title[1:]
            if at != title:
                normal.append({"fromencoded": False, "from": title, "to": at})
            while (to := self.pages.get(at)) not in (None, "?"):
                moved.append({"from": at, "to": to})
                at = to
            if at not in self.pages:
                pages[at] = {"ns": 0, "title": at, "missing": True}
            elif self.pages[at] == "?":
                pages[at] = {"pageid": 1, "ns": 0, "title": at, "pageprops": {"disambiguation": ""}}
            else:
                pages[at] = {"pageid": 1, "ns": 0, "title": at}
        query = {"normalized": normal, "redirects": moved, "pages": list(pages.values())}
        return json.dumps({"batchcomplete": True, "query": query}).encode()


def _send(call: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
    call.send_response(status)
    call.send_header("content-type", "application/json")
    call.send_header("content-length", str(len(body)))
    call.end_headers()
    call.wfile.write(body)
