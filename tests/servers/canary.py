"""A server that counts who comes, keeps what they bring, and gives back the key that it was sent.

It is a proxy, too: a request for another machine ends here, and no name is looked up.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Canary(ThreadingHTTPServer):
    """`seen` are the first lines and headers of all requests; `echo` says where the key is put back."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[str] = []
        self.echo = ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Canary

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append(f"{self.requestline}\n{self.headers}")
        key = self.headers.get("authorization", "")
        echo = self.server.echo
        message: dict[str, object] = {"role": "assistant", "content": "Answer: A"}
        if echo in {"content", "reasoning_content", "refusal"}:
            message[echo] = f"Answer: A. You sent {key}"
        whole: dict[str, object] = {
            "model": f"m {key}" if echo == "model" else "m",
            "choices": [{"message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1},
        }
        status = 200
        if echo == "error":
            status, whole = 400, {"error": {"message": f"bad {key}, as {key[:20]!r}", "code": key}}
        elif echo == "not-json":
            whole = {"choices": f"none for {key}"}
        body = json.dumps(whole).encode()
        self.send_response(status, f"said {key}" if echo == "reason" else None)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET = do_CONNECT = _answer

    def log_message(self, format: str, *args: object) -> None:
        return


@contextmanager
def canary() -> Iterator[Canary]:
    with Canary() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
