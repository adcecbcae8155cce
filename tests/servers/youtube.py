"""A server that speaks ``videos.list`` of the YouTube Data API v3 over loopback, and fails on demand.

    with YouTubeServer({"aqz-KE-bpKQ": "creativeCommon"}) as server:
        server.faults = [503, "cut", "quotaExceeded"]
        ...  # ask server.url

A licence of None is a video that it does not list.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from servers.loopback import Loopback, send

KEY = "key-of-the-loopback-server"
_MOST = 50


@dataclass(kw_only=True)
class YouTubeServer(Loopback):
    """The server; a context manager. `asked` are the ids of each call that it has had."""

    licences: Mapping[str, str | None]
    asked: list[list[str]] = field(default_factory=list)

    def answer(self, call: BaseHTTPRequestHandler, path: str, query: dict[str, str]) -> None:
        ids = query.get("id", "").split(",")
        self.asked.append(ids)
        fault = self.fault()
        if path != "/youtube/v3/videos":
            return send(call, 404, _error(404, "notFound"))
        if query.get("key") != KEY:
            return send(call, 400, _error(400, "keyInvalid"))
        if len(ids) > _MOST:
            return send(call, 400, _error(400, "invalidFilters"))
        if fault == "cut":
            return send(call, 200, self._listed(ids)[:40])
        if isinstance(fault, str):
            return send(call, 403, _error(403, fault))
        if fault is not None:
            return send(call, fault, b"<html>trouble</html>")
        return send(call, 200, self._listed(ids))

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
