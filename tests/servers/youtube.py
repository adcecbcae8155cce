"""A server that speaks ``videos.list`` of the YouTube Data API v3 over loopback, and fails on demand.

    with YouTubeServer({"aqz-KE-bpKQ": "creativeCommon"}) as server:
        server.faults = [503, "cut", "quotaExceeded"]
        ...  # ask server.url

A licence of None is a video that it does not list.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, urlsplit

KEY = "key-of-the-loopback-server"
_MOST = 50


@dataclass(kw_only=True)
class YouTubeServer:
    """The server; a context manager. `asked` are the ids of each call that it has had."""

    licences: Mapping[str, str | None]
    faults: list[int | str | None] = field(default_factory=list)
    asked: list[list[str]] = field(default_factory=list)
    url: str = ""

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

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

    def answer(self, call: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(call.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        ids = query.get("id", "").split(",")
        self.asked.append(ids)
        fault = self.faults.pop(0) if self.faults else None
        if parts.path != "/youtube/v3/videos":
            return _send(call, 404, _error(404, "notFound"))
        if query.get("key") != KEY:
            return _send(call, 400, _error(400, "keyInvalid"))
        if len(ids) > _MOST:
            return _send(call, 400, _error(400, "invalidFilters"))
        if fault == "cut":
            return _send(call, 200, self._listed(ids)[:40])
        if isinstance(fault, str):
            return _send(call, 403, _error(403, fault))
        if fault is not None:
            return _send(call, fault, b"<html>trouble</html>")
        return _send(call, 200, self._listed(ids))

    def _listed(self, ids: list[str]) -> bytes:
        items = [_video(one, licence) for one in ids if (licence := self.licences.get(one)) is not None]
        page = {"totalResults": len(items), "resultsPerPage": len(items)}
        body = {"kind": "youtube#videoListResponse", "etag": "e", "items": items, "pageInfo": page}
        return json.dumps(body).encode()


def _video(video: str, licence: str) -> dict[str, object]:
    return {
        "kind": "youtube#video",
        "etag": "e",
        "id": video,
        "snippet": {"publishedAt": "2024-05-01T10:00:00Z", "title": f"film {video}", "tags": ["a"]},
        "contentDetails": {"duration": "PT6M13S", "caption": "false", "licensedContent": True},
        "status": {"uploadStatus": "processed", "privacyStatus": "public", "license": licence},
    }


def _error(status: int, reason: str) -> bytes:
    errors = [{"message": "no", "domain": "youtube.quota", "reason": reason}]
    return json.dumps({"error": {"code": status, "message": f"refused: {reason}", "errors": errors}}).encode()


def _send(call: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
    call.send_response(status)
    call.send_header("content-type", "application/json")
    call.send_header("content-length", str(len(body)))
    call.end_headers()
    call.wfile.write(body)
