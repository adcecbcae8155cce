"""A server that keeps objects as S3 does, and as any web server: on loopback, by ranges, failing on demand.

It answers HEAD and GET with ``Range`` and ``If-Match``, lists a bucket (ListObjectsV2, in pages), and counts
the bytes that it sends:

    with Objects() as server:
        server.put("lab", "videos/a.mp4", data)
        ...  # s3://lab/videos/a.mp4 with AWS_ENDPOINT_URL=server.url, or server.url + "/lab/videos/a.mp4"
        server.sent["lab/videos/a.mp4"]
"""

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest

from vidence.media import remote

KEYS = {
    "AWS_ACCESS_KEY_ID": "loopback",
    "AWS_SECRET_ACCESS_KEY": "not-a-real-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/nonexistent",
    "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
}
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


@dataclass(frozen=True, kw_only=True)
class Object:
    """The bytes of an object, and when they were put, in seconds."""

    data: bytes
    changed_s: int

    @cached_property
    def etag(self) -> str:
        """As S3 makes it of an object that was put in one piece."""
        return hashlib.md5(self.data, usedforsecurity=False).hexdigest()


@dataclass(kw_only=True)
class Objects:
    """The server, a context manager.

    `faults` are by object, and each is met by one GET: a status, or ``cut`` (the connection breaks in the
    middle of the body), or ``short`` (the body is shorter and says so). `always` are statuses that every
    request of an object gets. `requests` are method, object and range.
    """

    objects: dict[str, Object] = field(default_factory=dict)
    faults: dict[str, list[int | str]] = field(default_factory=dict)
    always: dict[str, int] = field(default_factory=dict)
    sent: Counter[str] = field(default_factory=Counter)
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    page: int = 1000
    has_ranges: bool = True
    has_versions: bool = True
    url: str = ""
    _clock_s: int = 1_700_000_000

    def put(self, bucket: str, key: str, data: bytes) -> None:
        """Keep an object, or another one in its place."""
        self._clock_s += 1
        self.objects[f"{bucket}/{key}"] = Object(data=data, changed_s=self._clock_s)

    def __enter__(self) -> Self:
        owner = self

        class Handler(_Handler):
            server_of = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def on_loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[Objects]:
    """A server to which addresses of S3 lead, with keys for it; no pause is made before another try."""
    pytest.importorskip("aiohttp", reason="addresses of the web need aiohttp: pip install 'vidence[remote]'")
    monkeypatch.setattr(remote, "_PAUSES_S", {"http": (0.0, 0.0, 0.0)})
    monkeypatch.setattr(remote, "_PAUSES_OF_STORES_S", (0.0,))
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with Objects() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        yield server
        remote._file_system.cache_clear()
        with suppress(ImportError):
            from s3fs import S3FileSystem

            S3FileSystem.clear_instance_cache()  # the next server has another port


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection; `server_of` holds what there is."""

    server_of: Objects
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        owner, parts = self.server_of, urlsplit(self.path)
        name = unquote(parts.path).strip("/")
        owner.requests.append((self.command, name, self.headers.get("Range", "")))
        if "list-type" in parts.query:
            self._list(name, {key: values[0] for key, values in parse_qs(parts.query).items()})
            return
        fault: int | str = owner.always.get(name, 0)
        if not fault and self.command == "GET" and owner.faults.get(name):
            fault = owner.faults[name].pop(0)
        if isinstance(fault, int) and fault:
            self._send(fault, _error("AccessDenied" if fault == 403 else "InternalError"))
        elif (found := owner.objects.get(name)) is None:
            self._send(404, _error("NoSuchKey"))
        elif self.headers.get("If-Match", f'"{found.etag}"').strip('"') != found.etag:
            self._send(412, _error("PreconditionFailed"))
        else:
            self._object(name, found, fault=str(fault or ""))

    def _object(self, name: str, found: Object, *, fault: str) -> None:
        headers = {"Last-Modified": formatdate(found.changed_s, usegmt=True), "ETag": f'"{found.etag}"'}
        if not self.server_of.has_versions:
            headers = {}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        body, status = found.data, 200
        if asked and self.server_of.has_ranges:
            start, end = int(asked[1]), min(int(asked[2] or len(body)), len(body) - 1)
            headers["Content-Range"] = f"bytes {start}-{end}/{len(body)}"
            body, status = body[start : end + 1], 206
        if self.server_of.has_ranges:
            headers["Accept-Ranges"] = "bytes"
        if fault == "short":
            body = body[: len(body) // 2]
        if self.command == "GET":
            self.server_of.sent[name] += len(body)
        self._send(status, body, headers, is_cut=fault == "cut")

    def _list(self, bucket: str, query: dict[str, str]) -> None:
        """One page of the objects below a prefix; those in folders below it stand together."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        keys, folders = [], set()
        for name in sorted(self.server_of.objects):
            key = name.removeprefix(f"{bucket}/")
            if key == name or not key.startswith(prefix):
                continue
            inner, mark, _ = key.removeprefix(prefix).partition(delimiter) if delimiter else (key, "", "")
            if mark:
                folders.add(f"{prefix}{inner}{mark}")
            else:
                keys.append(key)
        start = int(query.get("continuation-token", "0"))
        end = start + min(self.server_of.page, int(query.get("max-keys", "1000")))
        rows = "".join(self._row(bucket, key) for key in keys[start:end])
        rows += "".join(
            f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in sorted(folders)
        )
        more = f"<NextContinuationToken>{end}</NextContinuationToken>" if end < len(keys) else ""
        is_cut = "true" if more else "false"
        self._send(
            200,
            f'<ListBucketResult xmlns="{NAMESPACE}"><Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix>'
            f"<KeyCount>{len(keys[start:end]) + len(folders)}</KeyCount>"
            f"<IsTruncated>{is_cut}</IsTruncated>{more}{rows}</ListBucketResult>".encode(),
        )

    def _row(self, bucket: str, key: str) -> str:
        found = self.server_of.objects[f"{bucket}/{key}"]
        return (
            f"<Contents><Key>{escape(key)}</Key><Size>{len(found.data)}</Size><ETag>&quot;{found.etag}&quot;</ETag>"
            f"<LastModified>2026-01-01T00:00:{found.changed_s % 60:02d}.000Z</LastModified></Contents>"
        )

    def _send(
        self, status: int, body: bytes, headers: dict[str, str] | None = None, *, is_cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(body[: len(body) // 2] if is_cut else body)
        if is_cut:
            self.close_connection = True


def _error(code: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
