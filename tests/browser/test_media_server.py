"""The addresses of media on a real server: ranges, tokens, and many viewers who paused."""

import asyncio
import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from vidence.studio.rules.ranges import MOST_BYTES
from videos.stamped import write

HERE = Path(__file__).parent
N_VIEWERS = 200


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Media:
    """A running server; `cookie` lets in, `tokens` are by name, `files` what lies behind them."""

    address: str
    cookie: str
    tokens: dict[str, str]
    files: dict[str, Path]

    def ask(self, path: str, *, method: str = "GET", **headers: str) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection(self.address, timeout=30)
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in {"Cookie": self.cookie, **said}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        found = Answer(
            status=answer.status,
            headers={name.lower(): value for name, value in answer.getheaders()},
            body=answer.read(),
        )
        connection.close()
        return found

    def file(self, name: str) -> str:
        return f"/media/{self.tokens[name]}/file"


@pytest.fixture(scope="module")
def media(serve_script, tmp_path_factory) -> Media:
    pytest.importorskip("django")
    folder = tmp_path_factory.mktemp("media")
    film = write(folder / "film.mp4", numbers=range(24))
    large = folder / "large.mp4"
    large.write_bytes(film.read_bytes() + np.random.default_rng(0).bytes(3 * MOST_BYTES))
    Image.new("RGB", (32, 24), "red").save(folder / "picture.png")
    (folder / "plan.toml").write_text("key = 'secret'")
    named = {"film": "video", "large": "video", "picture": "image", "plan": "video"}
    files = {"film": film, "large": large, "picture": folder / "picture.png", "plan": folder / "plan.toml"}
    words = (f"{name}={kind}={files[name]}" for name, kind in named.items())
    door = urlsplit(serve_script("serve_players.py", folder / "studio", *words))
    outside = Media(address=door.netloc, cookie="", tokens={}, files={})
    cookie = outside.ask(f"{door.path}?{door.query}").headers["set-cookie"].partition(";")[0]
    inside = Media(address=door.netloc, cookie=cookie, tokens={}, files=files)
    tokens = json.loads(inside.ask("/tokens").body)
    return Media(address=door.netloc, cookie=cookie, tokens=tokens, files=files)


def test_a_range_is_answered_with_its_bytes(media):
    content = media.files["film"].read_bytes()
    answer = media.ask(media.file("film"), Range="bytes=-500")
    assert (answer.status, answer.body) == (206, content[-500:])
    size = len(content)
    assert answer.headers["content-range"] == f"bytes {size - 500}-{size - 1}/{size}"
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_a_part_has_at_most_two_mebibytes_and_the_next_one_follows(media):
    content = media.files["large"].read_bytes()
    got = b""
    while len(got) < len(content):
        answer = media.ask(media.file("large"), Range=f"bytes={len(got)}-")
        assert answer.status == 206
        assert 0 < len(answer.body) <= MOST_BYTES
        got += answer.body
    assert got == content


def test_many_hostile_ranges_leave_nothing_open(media, rng):
    before = json.loads(media.ask("/threads").body)

    def header(i: int) -> str:
        a, b = (int(one) for one in rng.integers(-5, 200_000, 2))
        kinds = (
            f"bytes={a}-{b}",
            f"bytes={a}-",
            f"bytes=-{b}",
            f"bytes={a}-{b},{b}-{a}",
            "bytes=" + "0-," * 500,
        )
        return kinds[i % len(kinds)]

    headers = [header(i) for i in range(2_000)]

    def all_of(some: list[str]) -> set[int]:
        connection = http.client.HTTPConnection(media.address, timeout=60)
        statuses = set()
        for one in some:
            connection.request(
                "HEAD" if len(one) % 2 else "GET",
                media.file("picture"),
                headers={"Cookie": media.cookie, "Range": one},
            )
            answer = connection.getresponse()
            answer.read()
            statuses.add(answer.status)
        connection.close()
        return statuses

    with ThreadPoolExecutor(4) as four:
        found = set().union(*four.map(all_of, (headers[i::4] for i in range(4))))
    assert found <= {200, 206, 416}
    assert json.loads(media.ask("/threads").body)["kb"] < before["kb"] + 10_000
    after = json.loads(media.ask("/threads").body)
    assert after["open"] <= before["open"] + 8
    assert after["threads"] <= before["threads"] + 8


def test_viewers_who_paused_keep_nobody_waiting(media):
    """They read the first bytes of a large file and stop; pages and other parts are answered meanwhile."""
    host, port = media.address.split(":")
    request = f"GET {media.file('large')} HTTP/1.1\r\nHost: {media.address}\r\nCookie: {media.cookie}\r\n\r\n"

    async def watch() -> tuple[list[bytes], list[Answer], dict[str, int]]:
        async def pause() -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
            reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 12)
            writer.write(request.encode())
            return reader, writer, await reader.readline()

        paused = []
        for _ in range(N_VIEWERS // 20):
            paused += await asyncio.gather(*(pause() for _ in range(20)))
        answers = [await asyncio.to_thread(media.ask, "/") for _ in range(5)]
        answers.append(await asyncio.to_thread(media.ask, media.file("large"), Range="bytes=5-9"))
        answers.append(await asyncio.to_thread(media.ask, f"/media/{media.tokens['film']}/still/3.jpg"))
        during = json.loads((await asyncio.to_thread(media.ask, "/threads")).body)
        for _, writer, _ in paused:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for _, writer, _ in paused), return_exceptions=True)
        return [status for _, _, status in paused], answers, during

    before = json.loads(media.ask("/threads").body)
    with ThreadPoolExecutor(1) as apart:  # in this thread the loop of the browser's tests may run
        statuses, answers, during = apart.submit(asyncio.run, watch()).result()
    assert statuses == [b"HTTP/1.1 200 OK\r\n"] * N_VIEWERS
    assert {one.status for one in answers} == {200, 206}
    assert during["threads"] <= before["threads"] + 24  # reads run in a bounded number of threads
    for _ in range(200):  # the server closes what the viewers left, in its own time
        after = json.loads(media.ask("/threads").body)
        if after["open"] <= before["open"] + 8:
            break
    assert after["open"] <= before["open"] + 8
    assert after["threads"] <= before["threads"] + 24
