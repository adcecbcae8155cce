"""A server that speaks ``action=query`` of Wikipedia's API over loopback, and fails on demand.

    with WikipediaServer({"Lens": None, "Lenses": "Lens", "Spin": "?"}) as server:
        server.faults = [503, "cut"]
        ...  # ask server.url, which has {language} in it

A title leads to another one, or is a page (None), or lists what its word may mean (``?``). Titles begin with
a capital letter there, whatever is asked.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Self

from servers.loopback import Loopback, send

_MOST = 50


@dataclass(kw_only=True)
class WikipediaServer(Loopback):
    """The server; a context manager. `asked` are language and titles of each call that it has had."""

    pages: Mapping[str, str | None]
    asked: list[tuple[str, list[str]]] = field(default_factory=list)

    def __enter__(self) -> Self:
        super().__enter__()
        self.url += "/{language}"
        return self

    def answer(self, call: BaseHTTPRequestHandler, path: str, query: dict[str, str]) -> None:
        _, language, *rest = path.split("/")
        titles = query.get("titles", "").split("|")
        self.asked.append((language, titles))
        fault = self.fault()
        if rest != ["w", "api.php"] or query.get("action") != "query" or query.get("formatversion") != "2":
            return send(call, 404, b"")
        if not call.headers.get("user-agent", "").startswith("vidence"):
            return send(call, 403, b"a user agent is asked for")
        if len(titles) > _MOST:
            return send(call, 200, b'{"error": {"code": "toomanyvalues"}}')
        body = self._found(titles)
        if fault == "cut":
            return send(call, 200, body[:30])
        if fault == "part":
            return send(call, 200, body.replace(b"{", b'{"continue": {"ppcontinue": "1"}, ', 1))
        if fault is not None:
            return send(call, int(fault), b"<html>trouble</html>")
        return send(call, 200, body)

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
