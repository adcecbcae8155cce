"""A server that does one thing wrong: the first part of the path names its mode.

    python -m servers.hostile_stub --port-file FILE

Every other path gives the counts of requests by the first part of their paths.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from servers import hostile_answers
from servers.hostile_modes import MODES, Call, Server

__all__ = ["MODES", "hostile_answers"]


async def _requests(reader: asyncio.StreamReader) -> AsyncIterator[tuple[str, dict[str, str], bytes]]:
    """Path, headers and body of each request of a connection."""
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines if ": " in line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        yield first.split(" ")[1], headers, body


async def _serve(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        async for path, headers, body in _requests(reader):
            name = path.split("/")[1]
            n_before = server.n_requests[name]
            server.n_requests[name] += 1
            server.first_s.setdefault(name, time.monotonic())
            call = Call(server, name, path, headers, body, writer, n_before)
            if name in MODES:
                await MODES[name].act(call)
            else:
                await call.answer(json.dumps(server.n_requests).encode())
            if writer.is_closing():
                return
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
        pass
    finally:
        writer.close()


async def main() -> None:
    """Serve on a free port of the loopback address until the parent is gone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port-file", required=True)
    options = parser.parse_args()
    server, parent = Server(), os.getppid()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _serve(server, reader, writer)

    listening = await asyncio.start_server(connected, "127.0.0.1", 0, limit=2**26, backlog=2048)
    server.port = listening.sockets[0].getsockname()[1]
    path = Path(options.port_file)
    path.with_suffix(".new").write_text(str(server.port), encoding="utf-8")
    path.with_suffix(".new").rename(path)
    while os.getppid() == parent:
        await asyncio.sleep(0.5)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
