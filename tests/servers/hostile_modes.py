"""What a hostile server does wrong with connections, the size of answers and their framing.

A mode is a function of a `Call`; `expects` says what every question must come to: ``answer`` (the reply
"Answer: A"), ``empty`` (a reply without words), or a pattern of the one message with which it fails or the
run ends. What an answer says, and its status, is `hostile_answers`.
"""

import asyncio
import json
import socket
import struct
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

MB = 10**6
OUTAGE_S = 0.7


@dataclass(frozen=True)
class Mode:
    """What a mode does, and what must come of it."""

    name: str
    expects: str
    act: Callable[["Call"], Awaitable[None]]
    is_body: bool
    """Whether it is about the body of an answer, so that it is tried in every protocol."""


MODES: dict[str, Mode] = {}
Act = Callable[["Call"], Awaitable[None]]


def mode(expects: str, *, is_body: bool = False) -> Callable[[Act], Act]:
    """Make a function a mode."""

    def made(act: Act) -> Act:
        name = act.__name__.strip("_")
        MODES[name] = Mode(name, expects, act, is_body)
        return act

    return made


@dataclass
class Server:
    """What all connections share."""

    port: int = 0
    n_requests: Counter[str] = field(default_factory=Counter)
    first_s: dict[str, float] = field(default_factory=dict)


@dataclass
class Call:
    """One request, and the connection to answer on."""

    server: Server
    mode: str
    path: str
    headers: dict[str, str]
    body: bytes
    writer: asyncio.StreamWriter
    n_before: int

    @property
    def key(self) -> str:
        """The key that came with the request."""
        return self.headers.get("authorization", "").removeprefix("Bearer ") or self.headers.get(
            "x-goog-api-key", ""
        )

    def good(
        self, text: str = "Answer: A", *, usage: object = None, more: dict[str, object] | None = None
    ) -> bytes:
        """The body of a good answer in the protocol that was spoken; `usage` for each count of tokens."""
        n_in, n_out = (10, 2) if usage is None else (usage, usage)
        if self.path.endswith("/responses"):
            said: dict[str, object] = {
                "status": "completed",
                "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}],
                "usage": {"input_tokens": n_in, "output_tokens": n_out},
            }
        elif self.path.endswith("/messages"):
            said = {
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": n_in, "output_tokens": n_out},
            }
        elif self.path.endswith(":generateContent"):
            said = {
                "candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": n_in, "candidatesTokenCount": n_out},
            }
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            said = {"choices": [choice], "usage": {"prompt_tokens": n_in, "completion_tokens": n_out}}
        return json.dumps(said | (more or {})).encode()

    async def raw(self, *parts: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(b"".join(parts))
        await self.writer.drain()

    async def head(self, status: str = "200 OK", *lines: str) -> None:
        """Send a status and headers."""
        shown = "".join(f"{line}\r\n" for line in ("content-type: application/json", *lines))
        await self.raw(f"HTTP/1.1 {status}\r\n{shown}\r\n".encode("latin-1"))

    async def answer(self, body: bytes, status: str = "200 OK", *lines: str) -> None:
        """Send a whole answer."""
        await self.head(status, f"content-length: {len(body)}", *lines)
        await self.raw(body)

    async def error(self, status: str, message: object = "no", *lines: str) -> None:
        """Send an error as the protocols write it."""
        await self.answer(json.dumps({"error": {"message": message}}).encode(), status, *lines)

    async def chunk(self, data: bytes) -> None:
        """Send one chunk of a chunked body."""
        await self.raw(b"%x\r\n" % len(data), data, b"\r\n")

    async def for_ever(self, part: bytes, *, pause_s: float = 0.0) -> None:
        """Send the same until the client has enough."""
        while True:
            await self.raw(part)
            await asyncio.sleep(pause_s)

    def end(self) -> None:
        """Close the connection behind what was sent."""
        self.writer.close()


@mode("nothing was ever answered.* broke")
async def reset(call: Call) -> None:
    call.writer.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    call.end()


@mode("nothing was ever answered.* broke")
async def hang_up(call: Call) -> None:
    call.end()


@mode("answer")
async def outage(call: Call) -> None:
    if time.monotonic() - call.server.first_s[call.mode] < OUTAGE_S:
        call.end()
    else:
        await call.answer(call.good())


@mode("broke", is_body=True)
async def half_close(call: Call) -> None:
    await call.head("200 OK", "content-length: 1000")
    await call.raw(call.good()[:20])
    call.end()


@mode("no reply within|did not answer within")
async def silent(call: Call) -> None:
    await asyncio.sleep(60)


@mode("no reply within|did not answer within")
async def slow_header(call: Call) -> None:
    await call.raw(b"HTTP/1.1 200 OK\r\nx: ")
    await call.for_ever(b"x", pause_s=0.1)


@mode("no reply within|did not answer within", is_body=True)
async def slow_body(call: Call) -> None:
    await call.head("200 OK", "content-length: 100000")
    await call.for_ever(b" ", pause_s=0.1)


@mode("no reply within|did not answer within")
async def length_too_long(call: Call) -> None:
    await call.head("200 OK", "content-length: 100000")
    await call.raw(call.good())
    await asyncio.sleep(60)


@mode("broke")
async def endless_header(call: Call) -> None:
    await call.raw(b"HTTP/1.1 200 OK\r\n")
    await call.for_ever(b"x-more: " + b"y" * 1000 + b"\r\n")


@mode("broke")
async def endless_status_line(call: Call) -> None:
    await call.raw(b"HTTP/1.1 200 ")
    await call.for_ever(b"O" * 10_000)


@mode("no reply within|did not answer within|broke")
async def flood_103(call: Call) -> None:
    await call.for_ever(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" * 100, pause_s=0.001)


@mode("answer")
async def some_103(call: Call) -> None:
    await call.raw(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" * 10)
    await call.answer(call.good())


@mode("answer")
async def second_answer_at_once(call: Call) -> None:
    good, other = call.good(), call.good("Answer: D SMUGGLED")
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n"
    await call.raw(head % len(good), good, head % len(other), other)


@mode("answer|broke")
async def garbage_behind(call: Call) -> None:
    await call.answer(call.good() + b" ")
    await call.raw(b"\x00garbage" * 10)


@mode("answer")
async def keeps_closing(call: Call) -> None:
    await call.answer(call.good())
    call.end()


@mode("more than [0-9.]+ MB", is_body=True)
async def endless_body(call: Call) -> None:
    await call.head("200 OK", "connection: close")
    await call.for_ever(b" " * 65536)


@mode("more than [0-9.]+ MB", is_body=True)
async def endless_chunks(call: Call) -> None:
    await call.head("200 OK", "transfer-encoding: chunked")
    await call.for_ever(b"10000\r\n" + b" " * 65536 + b"\r\n")


@mode("more than [0-9.]+ MB", is_body=True)
async def a_terabyte(call: Call) -> None:
    await call.head("200 OK", "content-length: 1000000000000")
    await call.for_ever(b"[" * 65536)


@mode("more than [0-9.]+ MB", is_body=True)
async def endless_error(call: Call) -> None:
    await call.head("400 Bad Request", "connection: close")
    await call.for_ever(b"x" * 65536)


def bomb(bits: int) -> bytes:
    """A thousand million blanks, packed into one million bytes; `bits` as zlib names the format."""
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    first, second = (packer.compress(b" " * MB) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + second * 999  # behind a full flush each part is packed alike


@mode("no reply within|did not answer within")
async def packed_nothings(call: Call) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    await call.head("200 OK", "content-encoding: gzip", "connection: close")
    while True:
        await call.raw(packer.compress(b"") + packer.flush(zlib.Z_SYNC_FLUSH) * 100)
        await asyncio.sleep(0.001)


@mode("answer")
async def single_bytes(call: Call) -> None:
    await call.head("200 OK", "transfer-encoding: chunked")
    for code in call.good():
        await call.chunk(bytes([code]))
    await call.raw(b"0\r\n\r\n")


@mode("broke")
async def bad_chunk_size(call: Call) -> None:
    await call.head("200 OK", "transfer-encoding: chunked")
    await call.raw(b"zz\r\n", call.good())


@mode("broke")
async def huge_chunk_size(call: Call) -> None:
    await call.head("200 OK", "transfer-encoding: chunked")
    await call.raw(b"f" * 30, b"\r\n", call.good())
    call.end()


@mode("broke|more than")
async def endless_chunk_extension(call: Call) -> None:
    await call.head("200 OK", "transfer-encoding: chunked")
    await call.raw(b"5;")
    await call.for_ever(b"x" * 65536)


@mode("broke")
async def endless_trailers(call: Call) -> None:
    await call.head("200 OK", "transfer-encoding: chunked")
    await call.chunk(call.good())
    await call.raw(b"0\r\n")
    await call.for_ever(b"x: " + b"y" * 1000 + b"\r\n")


@mode("answer")
async def trailers(call: Call) -> None:
    await call.head("200 OK", "transfer-encoding: chunked", "trailer: x")
    await call.chunk(call.good())
    await call.raw(b"0\r\nx: y\r\n\r\n")


@mode("not JSON|broke|second answer")
async def length_too_short(call: Call) -> None:
    body = call.good()
    await call.head("200 OK", f"content-length: {len(body) // 2}")
    await call.raw(body)


@mode("broke")
async def negative_length(call: Call) -> None:
    await call.head("200 OK", "content-length: -5")
    await call.raw(call.good())


@mode("broke")
async def two_lengths(call: Call) -> None:
    await call.head("200 OK", "content-length: 5", "content-length: 50")
    await call.raw(call.good())


@mode("answer")
async def length_and_chunks(call: Call) -> None:
    await call.head("200 OK", "content-length: 5", "transfer-encoding: chunked")
    await call.chunk(call.good())
    await call.raw(b"0\r\n\r\n")


@mode("broke")
async def no_status(call: Call) -> None:
    await call.raw(call.good())
    call.end()


@mode("broke")
async def http_2(call: Call) -> None:
    await call.raw(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" * 10)
    call.end()


@mode("answer")
async def http_1_0(call: Call) -> None:
    await call.raw(b"HTTP/1.0 200 OK\r\n\r\n", call.good())
    call.end()


@mode("answer")
async def line_feeds_alone(call: Call) -> None:
    body = call.good()
    await call.raw(b"HTTP/1.1 200 OK\ncontent-length: %d\n\n" % len(body), body)


@mode("answer")
async def wrong_type(call: Call) -> None:
    body = call.good()
    await call.raw(b"HTTP/1.1 200 OK\r\ncontent-type: image/png; charset=utf-99\r\n")
    await call.raw(b"content-length: %d\r\n\r\n" % len(body), body)
