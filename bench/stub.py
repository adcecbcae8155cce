"""An instant server that speaks just enough of the OpenAI protocol, counts, and can be slow or broken.

Told to go by frames, it answers B to a question with the words ``[needs N]`` that comes with N images or
more, and A to one with fewer.

    python bench/stub.py --port-file FILE [--latency-s 1] [--fail-rate 0.1]

``GET /stats`` gives the counts as JSON, ``POST /reset`` starts them anew.
"""

import argparse
import asyncio
import json
import random
import re
import time
import zlib

NEEDS = re.compile(rb"\[needs (\d+)\]")
IMAGE = b'"type":"image_url"'


def reply(text: str) -> bytes:
    """A chat completion that says this."""
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {
            "id": "stub",
            "object": "chat.completion",
            "model": "stub",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 3, "total_tokens": 1003},
        }
    ).encode()


REPLIES = {letter: reply(f"Answer: {letter}") for letter in "AB"}


def letter_by_frames(body: bytes) -> str:
    """B where the question comes with the frames that it needs; its words stand behind the images."""
    needs = NEEDS.search(body, len(body) - 2000 if len(body) > 2000 else 0)
    return "B" if needs is not None and body.count(IMAGE) >= int(needs[1]) else "A"


class Counts:
    """What the server has seen; times are of the system-wide monotonic clock, in seconds."""

    def __init__(self) -> None:
        self.requests = 0
        self.answered = 0
        self.failed = 0
        self.body_bytes = 0
        self.bodies: dict[int, int] = {}
        self.first_s: float | None = None
        self.last_s: float | None = None
        self.in_flight = 0
        self.most_in_flight = 0

    def as_json(self) -> bytes:
        """The counts, with a checksum over the set of bodies."""
        repeated = sum(n - 1 for n in self.bodies.values())
        seen = zlib.crc32(json.dumps(sorted(self.bodies)).encode())
        shown = {k: v for k, v in vars(self).items() if k != "bodies"}
        return json.dumps(
            shown
            | {"distinct_bodies": len(self.bodies), "repeated_bodies": repeated, "bodies_checksum": seen}
        ).encode()


async def read_request(reader: asyncio.StreamReader) -> tuple[str, bytes] | None:
    """Method and path, and the body; None at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return first.rsplit(" ", 1)[0], body


class Stub:
    """The server: one object for all connections."""

    def __init__(self, latency_s: float, fail_rate: float) -> None:
        self.latency_s = latency_s
        self.fail_rate = fail_rate
        self.by_frames = False
        self.counts = Counts()
        self.random = random.Random(0)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until it ends."""
        try:
            while (request := await read_request(reader)) is not None:
                status, body = await self.answer(*request)
                kind = "content-type: application/json"
                head = f"HTTP/1.1 {status}\r\n{kind}\r\ncontent-length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client was killed: that is what some measurements do
        finally:
            writer.close()

    async def answer(self, what: str, body: bytes) -> tuple[str, bytes]:
        """Status and body for one request."""
        if what.startswith("GET /stats"):
            return "200 OK", self.counts.as_json()
        if what.startswith("POST /reset"):
            self.counts = Counts()
            settings = json.loads(body or b"{}")
            self.latency_s = settings.get("latency_s", self.latency_s)
            self.fail_rate = settings.get("fail_rate", self.fail_rate)
            self.by_frames = settings.get("by_frames", self.by_frames)
            return "200 OK", b"{}"
        return await self.complete(body)

    async def complete(self, body: bytes) -> tuple[str, bytes]:
        """One chat completion."""
        counts = self.counts
        now_s = time.monotonic()
        counts.first_s = now_s if counts.first_s is None else counts.first_s
        counts.last_s = now_s
        counts.requests += 1
        counts.body_bytes += len(body)
        key = zlib.crc32(body)
        counts.bodies[key] = counts.bodies.get(key, 0) + 1
        counts.in_flight += 1
        counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
        try:
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            if self.random.random() < self.fail_rate:
                counts.failed += 1
                return "503 Service Unavailable", b'{"error": {"message": "too busy"}}'
            counts.answered += 1
            return "200 OK", REPLIES[letter_by_frames(body) if self.by_frames else "A"]
        finally:
            counts.in_flight -= 1


async def main() -> None:
    """Serve on a free port of the loopback address until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--latency-s", type=float, default=0.0)
    parser.add_argument("--fail-rate", type=float, default=0.0)
    options = parser.parse_args()
    stub = Stub(options.latency_s, options.fail_rate)
    server = await asyncio.start_server(stub.serve, "127.0.0.1", 0, limit=2**26)
    with open(options.port_file, "w", encoding="utf-8") as file:
        file.write(str(server.sockets[0].getsockname()[1]))
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
