"""A small server that speaks OpenAI's chat completions and responses over loopback, and fails on demand.

It runs in a thread of its own and needs nothing but the standard library, so that unit, end-to-end
and speed tests can use it, also against a `vidence` in another process:

    with OpenAIStub(answer="B", latency_s=0.1) as server:
        server.canned.append(Canned(status=429, headers={"retry-after": "1"}))
        ...  # ask server.base_url
    assert server.n_requests == 2
"""

import asyncio
import json
import random
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

Body = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Canned:
    """An answer that is given instead of a reply.

    `body` None gives the usual error object. With `drop` the connection is closed after the first
    half of the body.
    """

    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay_s: float = 0.0
    drop: bool = False


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Body:
        """The JSON that was sent."""
        return json.loads(self.raw)


@dataclass(kw_only=True)
class OpenAIStub:
    """The server; a context manager.

    `answer` is what it says, or a function of the body. `letter_logps` are reported where log-probabilities
    are asked for, each as the token with a space before it, or a function of the body gives them; None
    ignores the wish, as some servers do. `takes_schemas` False rejects requests that want a reply of some
    schema, naming the field, as servers without structured output do. `reasoning` is what it claims to have
    thought; over the Responses API it is sent where a summary is asked for. `key` is what it lets in; None
    lets everybody in. `canned` answers are used up first; `canned_for` may choose one for any request;
    `failure_rate` of the others get status 500, drawn with `seed`. Without `keep_bodies` only the sizes of
    requests are counted.
    """

    answer: str | Callable[[Body], str] = "A"
    letter_logps: Mapping[str, float] | Callable[[Body], Mapping[str, float]] | None = None
    takes_schemas: bool = True
    reasoning: str = ""
    key: str | None = None
    latency_s: float = 0.0
    failure_rate: float = 0.0
    seed: int = 0
    keep_bodies: bool = True
    canned: deque[Canned] = field(default_factory=deque)
    canned_for: Callable[[Seen], Canned | None] | None = None
    requests: list[Seen] = field(default_factory=list)
    n_requests: int = 0
    n_bytes: int = 0
    n_connections: int = 0
    most_in_flight: int = 0
    base_url: str = ""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._rng = random.Random(self.seed)
        self._in_flight = 0
        self._open: set[asyncio.Task[None]] = set()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.n_connections += 1
        try:
            while await self._serve_one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client went away, or the server stops
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        seen = Seen(method=method, path=path, headers=headers, raw=raw)
        self.n_requests += 1
        self.n_bytes += len(raw)
        if self.keep_bodies:
            self.requests.append(seen)
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            reply = self._reply(seen)
            await asyncio.sleep(reply.delay_s)
        finally:
            self._in_flight -= 1
        return await _send(writer, reply)

    def _reply(self, seen: Seen) -> Canned:
        if self.canned:
            return self.canned.popleft()
        chosen = self.canned_for(seen) if self.canned_for else None
        if chosen is not None:
            return chosen
        if self.key is not None and seen.headers.get("authorization") != f"Bearer {self.key}":
            return Canned(status=401, body=_error(f"wrong key: {seen.headers.get('authorization')}"))
        if self._rng.random() < self.failure_rate:
            return Canned(status=500)
        routes = {"/v1/chat/completions": self._completion, "/v1/responses": self._response}
        if seen.method != "POST" or seen.path not in routes:
            return Canned(status=404, body=_error(f"no route {seen.method} {seen.path}"))
        field = "response_format" if "response_format" in seen.body else "text.format"
        if not self.takes_schemas and {"response_format", "text"} & seen.body.keys():
            return Canned(status=400, body=_error(f"{field} of type json_schema is not supported"))
        body = json.dumps(routes[seen.path](seen.body)).encode()
        return Canned(status=200, body=body, delay_s=self.latency_s)

    def _say(self, body: Body) -> tuple[str, int, bool]:
        """The text, its tokens, and whether it is cut off."""
        text = self.answer(body) if callable(self.answer) else self.answer
        words = text.split(" ")
        names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
        limit = next((body[name] for name in names if name in body), len(words))
        is_cut = limit < len(words)
        return " ".join(words[:limit]) if is_cut else text, min(len(words), limit), is_cut

    def _first_position(self, body: Body) -> list[Body] | None:
        if self.letter_logps is None:
            return None
        logps = self.letter_logps(body) if callable(self.letter_logps) else self.letter_logps
        top = [{"token": f" {letter}", "logprob": logp} for letter, logp in logps.items()]
        return [{**max(top, key=lambda t: t["logprob"]), "top_logprobs": top[: body["top_logprobs"]]}]

    def _completion(self, body: Body) -> Body:
        text, n_tokens, is_cut = self._say(body)
        reasoning = {"reasoning_content": self.reasoning} if self.reasoning else {}
        choice: Body = {
            "index": 0,
            "message": {"role": "assistant", "content": text, **reasoning},
            "finish_reason": "length" if is_cut else "stop",
            "logprobs": None,
        }
        if body.get("logprobs") and self.letter_logps is not None:
            choice["logprobs"] = {"content": self._first_position(body)}
        return {
            "id": f"stub-{self.n_requests}",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": 7, "completion_tokens": n_tokens},
        }

    def _response(self, body: Body) -> Body:
        text, n_tokens, is_cut = self._say(body)
        piece: Body = {"type": "output_text", "text": text, "annotations": []}
        if "message.output_text.logprobs" in body.get("include", ()):
            piece["logprobs"] = self._first_position(body)
        output: list[Body] = [{"type": "message", "role": "assistant", "content": [piece]}]
        if self.reasoning and body.get("reasoning", {}).get("summary"):
            summary = [{"type": "summary_text", "text": self.reasoning}]
            output.insert(0, {"type": "reasoning", "id": "rs_1", "summary": summary})
        return {
            "id": f"resp_{self.n_requests}",
            "object": "response",
            "status": "incomplete" if is_cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "error": None,
            "model": body["model"],
            "output": output,
            "usage": {
                "input_tokens": 7,
                "output_tokens": n_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }


def completion(message: Mapping[str, object], **choice: object) -> bytes:
    """The body of a completion whose message is given as it is, for `Canned`."""
    return json.dumps({"model": "stub", "choices": [{"index": 0, "message": message, **choice}]}).encode()


def _error(message: str, **fields: object) -> bytes:
    return json.dumps({"error": {"message": message, "type": "stub", "code": None, **fields}}).encode()


async def _send(writer: asyncio.StreamWriter, reply: Canned) -> bool:
    """Whether the connection stays open."""
    body = _error(f"asked to answer {reply.status}") if reply.body is None else reply.body
    headers = {"content-type": "application/json", "content-length": str(len(body)), **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} Stub", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
    writer.write(body[: len(body) // 2] if reply.drop else body)
    await writer.drain()
    return not reply.drop
