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


def several(expects: str, *, is_body: bool = False, **makes: Callable[["Call"], Awaitable[None]]) -> None:
    """Make modes of functions without a name."""
    MODES.update({name: Mode(name, expects, act, is_body) for name, act in makes.items()})


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

    async def for_ever(self, part: bytes, *, pause_s: float = 0.0) -> None:
        """Send the same until the client has enough."""
        while True:
            await self.raw(part)
            await asyncio.sleep(pause_s)

    def end(self) -> None:
        """Close the connection behind what was sent."""
        self.writer.close()


OK, NO_ANSWER = b"HTTP/1.1 200 OK\r\n", "no reply within|did not answer within"


def sends(make: Callable[[Call], bytes], *, ends: bool = False, waits: bool = False) -> Act:
    """Bytes as they are, after which the connection may be closed or kept without a word."""

    async def act(call: Call) -> None:
        await call.raw(make(call))
        if ends:
            call.end()
        if waits:
            await asyncio.sleep(60)

    return act


def floods(head: bytes, part: bytes, *, pause_s: float = 0.0) -> Act:
    """A beginning, and then the same without end."""

    async def act(call: Call) -> None:
        await call.raw(head)
        await call.for_ever(part, pause_s=pause_s)

    return act


def says(make: Callable[[Call], tuple[bytes, ...]]) -> Act:
    """A whole answer: its body, and a status and headers where they are not the usual."""

    async def act(call: Call) -> None:
        body, *more = make(call)
        await call.answer(body, *more)

    return act


def resets(call: Call) -> bytes:
    linger = struct.pack("ii", 1, 0)
    call.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    return b""


several("answer", is_body=True, fine=says(lambda call: (call.good(),)))
several(
    "no request has succeeded.* broke",
    reset=sends(resets, ends=True),
    hang_up=sends(lambda _: b"", ends=True),
)


@mode("answer")
async def outage(call: Call) -> None:
    if time.monotonic() - call.server.first_s[call.mode] < OUTAGE_S:
        call.end()
    else:
        await call.answer(call.good())


several(
    "broke",
    is_body=True,
    half_close=sends(lambda call: OK + b"content-length: 1000\r\n\r\n" + call.good()[:20], ends=True),
)
several(
    NO_ANSWER,
    silent=sends(lambda _: b"", waits=True),
    slow_header=floods(OK + b"x: ", b"x", pause_s=0.1),
    length_too_long=sends(lambda call: OK + b"content-length: 100000\r\n\r\n" + call.good(), waits=True),
)
several(NO_ANSWER, is_body=True, slow_body=floods(OK + b"content-length: 100000\r\n\r\n", b" ", pause_s=0.1))
several(
    "broke",
    endless_header=floods(OK, b"x-more: " + b"y" * 1000 + b"\r\n"),
    endless_status_line=floods(b"HTTP/1.1 200 ", b"O" * 10_000),
)
HINT = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
several(f"{NO_ANSWER}|broke", flood_103=floods(b"", HINT * 100, pause_s=0.001))


def whole(body: bytes, head: bytes = OK) -> bytes:
    """A whole answer as it goes over the line."""
    return head + b"content-length: %d\r\n\r\n" % len(body) + body


several(
    "answer",
    some_103=sends(lambda call: b"HTTP/1.1 100 Continue\r\n\r\n" + HINT * 10 + whole(call.good())),
    second_answer_at_once=sends(lambda call: whole(call.good()) + whole(call.good("Answer: D SMUGGLED"))),
    keeps_closing=sends(lambda call: whole(call.good()), ends=True),
)
several("answer|broke", garbage_behind=sends(lambda call: whole(call.good() + b" ") + b"\x00garbage" * 10))


def bomb(bits: int) -> bytes:
    """A thousand million blanks, packed into one million bytes; `bits` as zlib names the format."""
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    first, second = (packer.compress(b" " * MB) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + second * 999  # behind a full flush each part is packed alike


def packed(body: bytes) -> bytes:
    """The body as gzip."""
    return zlib.compress(body, wbits=31)


CLOSE, GZIP = b"connection: close\r\n\r\n", ("200 OK", "content-encoding: gzip")
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"
several(
    "more than [0-9.]+ MB",
    is_body=True,
    endless_body=floods(OK + CLOSE, b" " * 65536),
    endless_chunks=floods(CHUNKED, b"10000\r\n" + b" " * 65536 + b"\r\n"),
    a_terabyte=floods(OK + b"content-length: 1000000000000\r\n\r\n", b"[" * 65536),
    endless_error=floods(b"HTTP/1.1 400 Bad Request\r\n" + CLOSE, b"x" * 65536),
    gzip_bomb=says(lambda _: (bomb(31), *GZIP)),
    deflate_bomb=says(lambda _: (bomb(15), "200 OK", "content-encoding: deflate")),
)
several(
    "more than [0-9.]+ MB",
    raw_deflate_bomb=says(lambda _: (bomb(-15), "200 OK", "content-encoding: deflate")),
    bomb_as_error=says(lambda _: (bomb(31), "500 No", "content-encoding: gzip")),
)
several(
    "packed several times",
    is_body=True,
    packed_twice=says(lambda call: (packed(packed(call.good())), "200 OK", "content-encoding: gzip, gzip")),
    packed_in_two_headers=says(lambda _: (packed(bomb(31)), *GZIP, "content-encoding: gzip")),
)
several("answer", is_body=True, packed_once=says(lambda call: (packed(call.good()), *GZIP)))
several("broke|not JSON", is_body=True, packed_badly=says(lambda _: (b"\x1f\x8b\x08\x00garbage", *GZIP)))
several(
    "broke|not JSON",
    not_packed_at_all=says(lambda call: (call.good(), *GZIP)),
    packed_and_cut=says(lambda call: (packed(call.good())[:60], *GZIP)),
)


@mode(NO_ANSWER)
async def packed_nothings(call: Call) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    await call.head("200 OK", "content-encoding: gzip", "connection: close")
    while True:
        await call.raw(packer.compress(b"") + packer.flush(zlib.Z_SYNC_FLUSH) * 100)
        await asyncio.sleep(0.001)


@mode("answer")
async def single_bytes(call: Call) -> None:
    await call.raw(CHUNKED)
    for code in call.good():
        await call.raw(chunk(bytes([code])))
    await call.raw(b"0\r\n\r\n")


several(
    "answer",
    is_body=True,
    packed_in_an_unknown_way=says(lambda call: (call.good(), "200 OK", "content-encoding: x-own")),
    two_megabytes=says(lambda call: (call.good(more={"padding": "x" * 2 * MB}),)),
)


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n" % len(data) + data + b"\r\n"


@mode("broke")
async def endless_trailers(call: Call) -> None:
    await call.raw(CHUNKED, chunk(call.good()), b"0\r\n")
    await call.for_ever(b"x: " + b"y" * 1000 + b"\r\n")


several("broke|more than|no reply within", endless_chunk_extension=floods(CHUNKED + b"5;", b"x" * 65536))
several(
    "not JSON|broke|second answer",
    length_too_short=sends(lambda call: whole(call.good()[:20]) + call.good()[20:]),
)
several(
    "broke",
    bad_chunk_size=sends(lambda call: CHUNKED + b"zz\r\n" + call.good()),
    huge_chunk_size=sends(lambda call: CHUNKED + b"f" * 30 + b"\r\n" + call.good(), ends=True),
    negative_length=sends(lambda call: OK + b"content-length: -5\r\n\r\n" + call.good()),
    two_lengths=sends(lambda call: whole(call.good(), OK + b"content-length: 5\r\n")),
    length_and_chunks=sends(
        lambda call: OK + b"content-length: 5\r\n" + CHUNKED[17:] + chunk(call.good()) + b"0\r\n\r\n"
    ),
    no_status=sends(lambda call: call.good(), ends=True),
    bad_status=sends(lambda call: whole(call.good(), b"HTTP/1.1 abc OK\r\n")),
    http_2=sends(lambda _: b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" * 10, ends=True),
    header_without_colon=sends(lambda call: whole(call.good(), OK + b"what is this\r\n")),
    header_with_nul=sends(lambda call: whole(call.good(), OK + b"x: a\x00b\r\n")),
)
several(
    "answer",
    trailers=sends(lambda call: CHUNKED + chunk(call.good()) + b"0\r\nx: y\r\n\r\n"),
    http_1_0=sends(lambda call: b"HTTP/1.0 200 OK\r\n\r\n" + call.good(), ends=True),
    line_feeds_alone=sends(lambda call: whole(call.good()).replace(b"\r\n", b"\n")),
    many_cookies=sends(
        lambda call: whole(call.good(), OK + b"set-cookie: c=%s; Domain=.example\r\n" % (b"v" * 40) * 900)
    ),
    wrong_type=sends(lambda call: whole(call.good(), OK + b"content-type: image/png; charset=utf-99\r\n")),
)
