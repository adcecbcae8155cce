"""A server that speaks the Hugging Face hub's API for data sets over loopback, and fails on demand.

It lists (in pages), resolves, redirects large files to another host, serves ranges, asks for a token where a
data set is gated, and can answer a request with an error or cut a body short:

    with Hub() as hub:
        hub.add("yale-nlp/MMVU", {"validation.json": b"[]"}, licence="cc-by-4.0")
        hub.faults["validation.json"] = [429, "cut"]
        ...  # ask hub.url

It also serves plain files below ``/raw``, as the address of a repository's raw files does.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_loopback"  # noqa: S105
_LARGE_BYTES = 1_000


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """One data set: its revisions, each a commit with its files, and who may read it."""

    files: Mapping[str, Mapping[str, bytes]]
    names: Mapping[str, str]
    licence: str
    gated: str | bool

    def commit(self, revision: str) -> str | None:
        """The commit of a branch or commit; None where there is no such revision."""
        found = self.names.get(revision, revision)
        return found if found in self.files else None


@dataclass(kw_only=True)
class Hub:
    """The server; a context manager. `requests` are method, path and the range that was asked for."""

    faults: dict[str, list[int | str]] = field(default_factory=dict)
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    raw: dict[str, bytes] = field(default_factory=dict)
    is_damaging: bool = False
    page: int = 3
    url: str = ""
    sets: dict[str, DataSet] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)

    def add(
        self, name: str, files: Mapping[str, bytes], *, licence: str = "", gated: str | bool = False
    ) -> str:
        """Add a data set, or a newer revision of it on ``main``; its commit."""
        before = self.sets.get(name)
        words = json.dumps({path: hashlib.sha1(data).hexdigest() for path, data in files.items()})  # noqa: S324
        commit = hashlib.sha1(words.encode()).hexdigest()  # noqa: S324
        self.sets[name] = DataSet(
            files={**(before.files if before else {}), commit: dict(files)},
            names={**(before.names if before else {}), "main": commit},
            licence=licence,
            gated=gated,
        )
        return commit

    def __enter__(self) -> Self:
        hub = self

        class Handler(_Handler):
            server_of = hub

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


def git_sha1(data: bytes) -> str:
    """The id that git gives to a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()  # noqa: S324


def _row(name: str, data: bytes) -> dict[str, object]:
    """A file as the hub lists it."""
    row: dict[str, object] = {"type": "file", "path": name, "size": len(data), "oid": git_sha1(data)}
    if len(data) >= _LARGE_BYTES:
        row["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
    return row


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection; `server_of` holds what there is."""

    server_of: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        """What the hub knows of some paths (``paths-info``), and what is put there, with the token alone."""
        parts = unquote(urlsplit(self.path).path).strip("/").split("/")
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        self.server_of.requests.append(("POST", "/".join(parts), body))
        if parts[-1] == "validate-yaml":
            self._send(200, b'{"errors": [], "warnings": []}')
            return
        if parts[1] == "repos" or parts[4] in ("preupload", "commit", "tag"):
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self._send(401, b'{"error": "a token that may write is wanted"}')
            elif not self._failed(parts[-2]):
                self._take(parts, body)
            return
        data_set = self.server_of.sets.get("/".join(parts[2:4]))
        commit = None if data_set is None else data_set.commit(parts[5])
        if data_set is None or commit is None:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})
            return
        is_json = self.headers.get("Content-Type", "").startswith("application/json")
        asked = json.loads(body)["paths"] if is_json else parse_qs(body)["paths"]
        files = data_set.files[commit]
        rows = [_row(path, files[path]) for path in asked if path in files]
        folders = [path for path in asked if any(name.startswith(f"{path}/") for name in files)]
        rows += [{"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in folders]
        self._send(200, json.dumps(rows).encode())

    def _take(self, parts: list[str], body: str) -> None:
        """Make a data set, say how files are sent (all with the commit), add a commit, or a tag."""
        hub, lines = self.server_of, [json.loads(line) for line in body.splitlines()]
        name = "/".join(parts[2:4])
        if parts[1] == "repos":
            name = f"{lines[0]['organization']}/{lines[0]['name']}"
            self._send(
                409 if name in hub.sets else 200, json.dumps({"url": f"{hub.url}/datasets/{name}"}).encode()
            )
            if name not in hub.sets:
                hub.add(name, {".gitattributes": b""})
                hub.private |= {name} if lines[0].get("visibility") == "private" else set()
            return
        data_set = hub.sets[name]
        commit = str(data_set.commit(parts[5]))
        if parts[4] == "preupload":
            asked = [
                {"path": one["path"], "uploadMode": "regular", "shouldIgnore": False}
                for one in lines[0]["files"]
            ]
            self._send(200, json.dumps({"files": asked}).encode())
        elif parts[4] == "tag":
            hub.sets[name] = replace(data_set, names={**data_set.names, lines[0]["tag"]: commit})
            self._send(200, b"{}")
        else:
            files = dict(data_set.files[commit])
            for line in lines:
                if line["key"] == "deletedFile":
                    del files[line["value"]["path"]]
                elif line["key"] == "file":
                    files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            commit = hub.add(name, files)
            self._send(
                200,
                json.dumps(
                    {"commitUrl": f"{hub.url}/datasets/{name}/commit/{commit}", "commitOid": commit}
                ).encode(),
            )

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        hub, split = self.server_of, urlsplit(self.path)
        path = unquote(split.path)
        hub.requests.append((self.command, path, self.headers.get("Range", "")))
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        hub.tokens.append(token)
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "datasets"]:
            name, rest = "/".join(parts[2:4]), parts[4:]
        elif parts[0] == "datasets":
            name, rest = "/".join(parts[1:3]), parts[3:]
        elif parts[0] == "raw":
            self._send_file(hub.raw.get("/".join(parts[1:])), {}, name="/".join(parts[1:]))
            return
        elif parts[0] == "lfs":
            self._send_lfs(parts[1])
            return
        else:
            self._send(404, b"{}")
            return
        data_set = hub.sets.get(name)
        if data_set is None:
            self._send(401 if not token else 404, b"{}", {"X-Error-Code": "RepoNotFound"})
            return
        revision = rest[1] if len(rest) > 1 else "main"
        commit = data_set.commit(revision)
        if commit is None:
            self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            return
        kind = rest[0] if rest else "revision"
        if kind == "revision":
            self._send_info(name, data_set, commit)
        elif kind == "tree":
            inside = "".join(f"{part}/" for part in rest[2:])
            files = {name: data for name, data in data_set.files[commit].items() if name.startswith(inside)}
            self._send_tree(files, split.query, path)
        else:
            self._resolve(data_set, commit, "/".join(rest[2:]), token)

    def _send_info(self, name: str, data_set: DataSet, commit: str) -> None:
        if self._failed("info"):
            return
        info = {
            "_id": "1",
            "id": name,
            "sha": commit,
            "private": False,
            "gated": data_set.gated,
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": [f"license:{data_set.licence}"] if data_set.licence else [],
            "cardData": {"license": data_set.licence} if data_set.licence else None,
            "siblings": [{"rfilename": path} for path in data_set.files[commit]],
        }
        self._send(200, json.dumps(info).encode())

    def _send_tree(self, files: Mapping[str, bytes], query: str, path: str) -> None:
        page = self.server_of.page
        start = int(parse_qs(query).get("cursor", ["0"])[0])
        rows = []
        for name, data in sorted(files.items()):
            rows.append(_row(name, data))
        more = {}
        if start + page < len(rows):
            more["Link"] = f'<{self.server_of.url}{path}?recursive=true&cursor={start + page}>; rel="next"'
        self._send(200, json.dumps(rows[start : start + page]).encode(), more)

    def _resolve(self, data_set: DataSet, commit: str, path: str, token: str) -> None:
        if data_set.gated and token != TOKEN:
            self._send(403 if token else 401, b"{}", {"X-Error-Code": "GatedRepo"})
            return
        data = data_set.files[commit].get(path)
        if data is None:
            self._send(404, b"{}", {"X-Error-Code": "EntryNotFound"})
            return
        headers = {"X-Repo-Commit": commit}
        if len(data) < _LARGE_BYTES:
            self._send_file(data, headers | {"ETag": f'"{git_sha1(data)}"'}, name=path)
            return
        sha256 = hashlib.sha256(data).hexdigest()
        elsewhere = self.server_of.url.replace(
            "127.0.0.1", "localhost"
        )  # the library follows no redirect at home
        headers |= {"X-Linked-Etag": f'"{sha256}"', "X-Linked-Size": str(len(data))}
        self._send(302, b"", headers | {"Location": f"{elsewhere}/lfs/{sha256}"})

    def _send_lfs(self, sha256: str) -> None:
        for data_set in self.server_of.sets.values():
            for files in data_set.files.values():
                for path, data in files.items():
                    if hashlib.sha256(data).hexdigest() == sha256:
                        self._send_file(data, {"ETag": f'"{sha256}"'}, name=path)
                        return
        self._send(404, b"{}")

    def _send_file(self, data: bytes | None, headers: Mapping[str, str], *, name: str) -> None:
        if data is None:
            self._send(404, b"")
            return
        if self.command == "GET" and self._failed(name, data):
            return
        if self.server_of.is_damaging and self.command == "GET":
            data = data[:-1] + bytes([data[-1] ^ 1])
        asked = self.headers.get("Range", "").removeprefix("bytes=")
        if not asked:
            self._send(200, data, {**headers, "Accept-Ranges": "bytes"})
            return
        first, _, last = asked.partition("-")
        start, end = int(first), int(last or len(data) - 1)
        where = {"Content-Range": f"bytes {start}-{end}/{len(data)}"}
        self._send(206, data[start : end + 1], {**headers, **where})

    def _failed(self, name: str, data: bytes = b"") -> bool:
        """Whether this request is answered with the next fault of its file."""
        faults = self.server_of.faults.get(name, [])
        if not faults:
            return False
        fault = faults.pop(0)
        if fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
            return True
        assert isinstance(fault, int)
        self._send(fault, b"{}", {"Retry-After": "0"})
        return True

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
